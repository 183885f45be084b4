"""Borders beside numpy.pad, order filters beside numpy.sort, which places NaN as we do."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from case import BORDERS, comparison
from tilewise import FLOATS, TYPES

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
