"""Borders beside numpy.pad, order filters beside numpy.sort, which places NaN as we do; turns, tables, reductions."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from case import BORDERS, comparison, near
from tilewise import AXES, FLOATS, INTEGERS, TURNS, TYPES

MODES = {"zero": "constant", "replicate": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}


def outside(border):
    return {"mode": MODES[border]} if isinstance(border, str) else {"mode": "constant", "constant_values": border}


def single_tap(dx, dy):
    """A mask of one tap that reads the pixel at (x + dx, y + dy), and its anchor."""
    anchor = (max(-dx, 0), max(-dy, 0))
    mask = np.zeros((abs(dy) + 1, abs(dx) + 1), np.int32)
    mask[anchor[1] + dy, anchor[0] + dx] = 1
    return mask, anchor


def compare_border(case, padded, borders):
    """`padded(image, border, radius)` is the image with so many pixels around."""
    image = case.image(TYPES[:3], largest=case.pick([2, 5, 30]))
    border, radius = case.border(borders), 40
    dx, dy = (case.number_of(-radius, radius) for _ in range(2))
    case.tell(dx=dx, dy=dy)
    mask, anchor = single_tap(dx, dy)
    height, width = image.shape
    theirs = padded(image, border, radius)[radius + dy:radius + dy + height, radius + dx:radius + dx + width]
    case.compare(case.tilewise.correlate(image, mask, border, anchor=anchor), theirs)


@comparison("numpy.pad")
def pad(case):
    compare_border(case, lambda image, border, radius: np.pad(image, radius, **outside(border)), BORDERS)


@comparison("numpy.sort")
def sort(case):
    image = case.image(FLOATS, largest=20).copy()
    special = case.random.random(image.shape)
    for limit, value in ((0.05, -np.inf), (0.1, np.inf), (0.2, np.nan)):
        image[special < limit] = value
        special[special < limit] = 1
    border, shape = case.border(), case.window(image, 5)
    height, width = shape
    x, y = case.anchor(shape)
    padded = np.pad(image, ((y, height - 1 - y), (x, width - 1 - x)), **outside(border))
    ordered = np.sort(sliding_window_view(padded, shape).reshape(image.shape + (-1,)), axis=-1)
    rank = case.number_of(0, height * width - 1)
    case.tell(rank=rank)
    case.compare(case.tilewise.rank(image, shape, border, rank, (x, y)), ordered[..., rank])


# ---- whole images ----


@comparison("numpy.rot90, flip, swapaxes")
def turn(case):
    image, name = case.image(TYPES, (1, 2, 3, 4)), case.pick(TURNS[1:])
    case.tell(turn=name)
    theirs = {"transpose": lambda: np.swapaxes(image, 0, 1), "flip-horizontal": lambda: np.fliplr(image),
              "rotate-90": lambda: np.rot90(image, -1), "flip-vertical": lambda: np.flipud(image),
              "rotate-270": lambda: np.rot90(image), "rotate-180": lambda: np.rot90(image, 2),
              "transverse": lambda: np.rot90(np.swapaxes(image, 0, 1), 2)}[name]()
    ours = case.tilewise.turn(image, name)
    assert ours.shape == theirs.shape
    case.compare(ours, theirs, zeros=True)


@comparison("numpy.take")
def lut(case):
    image, dtype = case.image(TYPES[:2], (1, 2, 3, 4)), case.pick(TYPES)
    entries = 256 ** image.itemsize
    channels = 1 if image.ndim == 2 else image.shape[2]
    case.tell(type=dtype)
    table = (case.random.standard_normal((channels, entries)) * 100).astype(np.int8).astype(dtype)
    if case.chance(0.5):
        table = table[0]
    theirs = table[image] if table.ndim == 1 else table[np.arange(channels), image.reshape(image.shape[:2] + (-1,))]
    case.compare(case.tilewise.lut(image, table), theirs)


@comparison("numpy.bincount")
def histogram(case):
    image = case.image(TYPES[:2], (1, 2, 3, 4))
    ours = case.tilewise.histogram(image)
    channels = image.reshape(image.shape[0] * image.shape[1], -1).astype(np.int64)
    theirs = np.stack([np.bincount(channel, minlength=256 ** image.itemsize) for channel in channels.T], axis=1)
    case.compare(ours, theirs)


SUMS = {"u1": ["u4", "u8", "f8"], "u2": ["u4", "u8", "f8"], "i2": ["i4", "i8", "f8"], "i4": ["i8", "f8"],
        "f4": ["f4", "f8"], "f8": ["f8"]}


def compare_sums(case, image, ours, theirs):
    """`theirs`: the same sums in int64 or f64, in an order of their own."""
    if image.dtype in INTEGERS:
        case.compare(ours, theirs.astype(ours.dtype))
        return
    bound = np.finfo(np.float64).eps * image.size * np.abs(image).astype(np.float64).sum()
    if ours.dtype == np.float32:
        bound += np.finfo(np.float32).eps * np.abs(theirs)
    case.compare(ours, theirs.astype(ours.dtype), {"order of additions": lambda: near(ours, theirs, bound)})


@comparison("numpy.cumsum")
def scan(case):
    image, axis, exclusive = case.image(TYPES, (1, 2, 3, 4)), case.pick(AXES), case.chance(0.3)
    dtype = np.dtype(case.pick(SUMS[image.dtype.str[1:]]))
    case.tell(axis=axis, exclusive=exclusive, type=dtype)
    values = image.astype(np.int64 if image.dtype in INTEGERS else np.float64)
    lines = values.reshape((1, -1) + values.shape[2:]) if axis == "all" else values
    along = 0 if axis == "y" else 1
    theirs = np.cumsum(lines, along)
    if exclusive:
        theirs = np.concatenate([np.zeros_like(np.take(theirs, [0], along)),
                                 np.delete(theirs, theirs.shape[along] - 1, along)], along)
    compare_sums(case, image, case.tilewise.scan(image, axis, exclusive, dtype), theirs.reshape(image.shape))


@comparison("numpy.cumsum along both axes")
def integral(case):
    image = case.image(TYPES, (1, 2, 3, 4))
    dtype = np.dtype(case.pick([kind for kind in SUMS[image.dtype.str[1:]] if kind != "f4"]))
    case.tell(type=dtype)
    theirs = np.zeros((image.shape[0] + 1, image.shape[1] + 1) + image.shape[2:],
                      np.int64 if image.dtype in INTEGERS else np.float64)
    theirs[1:, 1:] = image.astype(theirs.dtype).cumsum(1).cumsum(0)
    compare_sums(case, image, case.tilewise.integral(image, dtype), theirs)


@comparison("numpy.sum, var, argmin and so on")
def reduce(case):
    image, axis = case.image(TYPES, (1, 2, 3, 4)).copy(), case.pick(AXES)
    case.tell(axis=axis)
    if image.dtype in FLOATS and case.chance(0.5):
        image[case.random.random(image.shape) < 0.05] = np.inf
    ours = case.tilewise.reduce(image, axis)
    height, width = image.shape[:2]
    pixels = image.reshape(height, width, -1)
    if axis == "all":
        pixels = pixels.reshape(1, height * width, -1)
    along = 0 if axis == "y" else 1
    exact = pixels.astype(np.int64 if image.dtype in INTEGERS else np.float64)
    count = exact.shape[along]
    with np.errstate(invalid="ignore"):
        sums, variance = exact.sum(along), exact.astype(np.float64).var(along)
        magnitude = np.finfo(np.float64).eps * count * np.abs(exact).sum(along)
        spread = np.finfo(np.float64).eps * (count + 9) * (np.abs(exact).max(along).astype(np.float64) + 1) ** 2

    def figure(name, theirs, bound=None):
        mine = ours[name].reshape(theirs.shape)
        case.compare(mine, theirs, bound is not None and {"order of additions": lambda: near(mine, theirs, bound)})

    if image.dtype in INTEGERS:
        figure("sum_low", sums.astype(np.uint64))
        figure("sum_high", sums >> 63)
        figure("mean", sums / count)
    else:
        figure("mean", sums / count, magnitude)
    figure("sum", sums.astype(np.float64), None if image.dtype in INTEGERS else magnitude)
    figure("var", variance, spread)
    figure("min", exact.min(along).astype(np.float64))
    figure("max", exact.max(along).astype(np.float64))
    figure("count_nonzero", np.count_nonzero(exact, along).astype(np.uint64))
    for name in ("argmin", "argmax"):
        place = getattr(exact, name)(along)
        x = {"x": place, "y": np.arange(width)[:, np.newaxis], "all": place % width}[axis]
        y = {"x": np.arange(height)[:, np.newaxis], "y": place, "all": place // width}[axis]
        figure(name + "_x", np.broadcast_to(x, place.shape))
        figure(name + "_y", np.broadcast_to(y, place.shape))
