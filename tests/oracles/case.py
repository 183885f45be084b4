"""A random problem, and the comparison of its two results."""

import collections
import zlib

import numpy as np

from causes import CAUSES
from tilewise import FLOATS, INTEGERS

BORDERS = ["zero", "constant", "replicate", "reflect", "mirror", "wrap"]

COMPARISONS = {}  # name -> a function of a Case, which compares once


def comparison(name):
    def register(function):
        COMPARISONS[name] = function
        return function
    return register


class Ledger:
    """What has been compared, and how each difference was explained."""

    def __init__(self):
        self.served = collections.Counter()
        self.elements = collections.Counter()
        self.causes = collections.Counter()  # (cause, name) -> elements
        self.failures = collections.defaultdict(list)  # name -> sentences


def differs(ours, theirs, zeros):
    """Where two arrays differ; all NaN are one, and so are the two zeros unless asked."""
    different = ours != theirs
    if ours.dtype.kind == "f":
        different &= ~(np.isnan(ours) & np.isnan(theirs))
        if zeros:
            different |= (ours == 0) & (theirs == 0) & (np.signbit(ours) != np.signbit(theirs))
    return different


class Case:
    """Reproducible by its name and number."""

    def __init__(self, tilewise, ledger, name, number):
        self.tilewise = tilewise
        self.ledger = ledger
        self.name = name
        self.number = number
        self.random = np.random.default_rng([zlib.crc32(name.encode()), number])
        self.told = []

    def tell(self, **facts):
        self.told += ["%s %s" % (key, str(value).replace("\n", "")) for key, value in facts.items()]

    # ---- what is drawn ----

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def chance(self, probability):
        return self.random.random() < probability

    def number_of(self, low, high):
        """A whole number from low to high."""
        return int(self.random.integers(low, high + 1))

    def image(self, types, channels=(1,), largest=None):
        """Any values of the type, in a view of a larger image now and then."""
        dtype = self.pick(types)
        limit = largest or self.pick([3, 24, 24, 24, 24, 120])
        shape = (self.number_of(1, limit), self.number_of(1, limit))
        count = self.pick(channels)
        if count > 1:
            shape += (count,)
        parent = (shape[0] + self.number_of(0, 2), shape[1] + self.number_of(0, 2)) + shape[2:]
        if dtype in INTEGERS:
            limits = np.iinfo(dtype)
            # flat regions, too: ties and equal neighbours
            low, high = self.pick([(limits.min, limits.max), (0, 3)])
            whole = self.random.integers(low, high, parent, dtype, endpoint=True)
        else:
            whole = (self.random.standard_normal(parent) * self.pick([1, 1000])).astype(dtype)
        self.tell(image="%s %s" % (dtype, shape))
        return whole[:shape[0], :shape[1]]

    def border(self, choices=BORDERS):
        """A name, or the number of a constant, which every type holds."""
        border = self.pick(choices)
        border = self.number_of(0, 9) if border == "constant" else border
        self.tell(border=border)
        return border

    def window(self, image, largest=9, sides=4, odd=False):
        """The shape (height, width) of a window, at most so many of the image's sides."""
        shape = tuple(self.number_of(1, min(self.pick([3, largest]), sides * side)) for side in image.shape[:2])
        if odd:
            shape = tuple(side - 1 | 1 for side in shape)
        self.tell(window=shape)
        return shape

    def anchor(self, shape):
        """(x, y), the middle for half of them."""
        if self.chance(0.5):
            return shape[1] // 2, shape[0] // 2
        anchor = (self.number_of(0, shape[1] - 1), self.number_of(0, shape[0] - 1))
        self.tell(anchor=anchor)
        return anchor

    def mask(self, shape, largest=9):
        mask = self.random.integers(-largest, largest + 1, shape, dtype=np.int32)
        self.tell(mask=mask.tolist())
        return mask

    def footprint(self, shape):
        """The whole rectangle, one with holes, or one that a turn leaves as it is."""
        footprint = np.ones(shape, np.uint8)
        if self.chance(0.7):
            footprint = (self.random.random(shape) < 0.6).astype(np.uint8)
            footprint[self.number_of(0, shape[0] - 1), self.number_of(0, shape[1] - 1)] = 1
            if self.chance(0.5):
                footprint |= footprint[::-1, ::-1]
        self.tell(footprint=footprint.tolist())
        return footprint

    # ---- the comparison ----

    def compare(self, ours, theirs, causes=None, zeros=False):
        """`causes`: name -> a function that tells which elements the cause explains."""
        theirs = np.asarray(theirs).reshape(ours.shape)
        self.ledger.served[self.name] += 1
        self.ledger.elements[self.name] += ours.size
        left = differs(ours, theirs, zeros)
        for cause, explains in (causes or {}).items():
            if cause not in CAUSES:
                raise KeyError(cause)
            if not left.any():
                return
            explained = left & explains()
            self.ledger.causes[cause, self.name] += np.count_nonzero(explained)
            left &= ~explained
        if left.any():
            place = tuple(int(i) for i in np.argwhere(left)[0])
            self.ledger.failures[self.name].append("%s:%d: %d of %d differ, at %s ours is %r, theirs %r\n    %s" % (
                self.name, self.number, np.count_nonzero(left), ours.size, place, ours[place].item(),
                theirs[place].item(), ", ".join(self.told)))


# ---- what several comparisons need to explain a difference ----


def saturated(exact, dtype):
    """Integers of any size as elements of `dtype`."""
    if dtype in FLOATS:
        return exact.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(exact, limits.min, limits.max).astype(dtype)


def wrapped(exact, dtype):
    """The lowest bits of int64 integers."""
    return exact.astype(np.int64).astype(dtype)


def near(ours, theirs, bound):
    with np.errstate(invalid="ignore"):  # the difference of two infinities is no number, and not near
        return np.abs(ours.astype(np.float64) - theirs) <= bound


def symmetric(footprint, anchor):
    height, width = footprint.shape
    return anchor == ((width - 1) / 2, (height - 1) / 2) and np.array_equal(footprint, footprint[::-1, ::-1])


def turned(footprint, anchor):
    """The window turned by 180 degrees."""
    height, width = footprint.shape
    return footprint[::-1, ::-1], (width - 1 - anchor[0], height - 1 - anchor[1])
