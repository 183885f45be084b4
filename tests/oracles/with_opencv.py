"""Filters beside OpenCV, which has no wrap here, and of types and channels only some."""

import cv2
import numpy as np

from case import comparison, near, saturated, symmetric, wrapped
from tilewise import FLOATS, INTEGERS, MORPHOLOGIES, TYPES
from with_numpy import compare_border
from with_scipy import difference, rounding_bound

cv2.setNumThreads(1)
U8, U16, I16, I32, F32, F64 = TYPES
BORDERS = {"zero": cv2.BORDER_CONSTANT, "replicate": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT,
           "mirror": cv2.BORDER_REFLECT_101}
PADDED = {**BORDERS, "wrap": cv2.BORDER_WRAP}
DEPTHS = {U8: cv2.CV_8U, U16: cv2.CV_16U, I16: cv2.CV_16S, I32: cv2.CV_32S, F32: cv2.CV_32F, F64: cv2.CV_64F}
# the type of an image and of what filters make of it
PAIRS = [(U8, U8), (U8, I16), (U8, F32), (U8, F64), (U16, U16), (U16, F32), (U16, F64), (I16, I16), (I16, F32),
         (I16, F64), (F32, F32), (F64, F64)]
CHANNELS = (1, 2, 3, 4)
ZEROS = (0, 0, 0, 0)  # the value outside, for each channel


def each_channel(function, image):
    """function(a channel) of every channel."""
    if image.ndim == 2:
        return function(image)
    return np.stack([function(image[..., i]) for i in range(image.shape[2])], axis=2)


def sum_causes(image, mask, border, anchor, ours, theirs, offset=0):
    """Sums in f32 are exact below 2^24; those of floats are as exact as their order."""
    def bound(dtype):
        error = each_channel(lambda one: rounding_bound(one, mask, border, anchor, dtype), image)
        return error + np.finfo(dtype).eps * abs(offset)

    def beyond_f32():
        # by a unit where the result is rounded to an integer
        unit = 1 if ours.dtype in INTEGERS else 0
        error = bound(F32)
        return (image.dtype in INTEGERS) & (error > (mask.size + 3) / 2) & near(ours, theirs, error + unit)
    return {"f32 sums": beyond_f32,
            "order of additions": lambda: image.dtype in FLOATS and near(ours, theirs, bound(image.dtype))}


@comparison("cv2.copyMakeBorder")
def border(case):
    def padded(image, name, radius):
        return cv2.copyMakeBorder(image, radius, radius, radius, radius, PADDED[name])
    compare_border(case, padded, list(PADDED))


@comparison("cv2.filter2D")
def filter2d(case):
    dtype, to = case.pick(PAIRS)
    image, border = case.image([dtype], CHANNELS), case.border(list(BORDERS))
    shape = case.window(image)
    anchor, mask, offset = case.anchor(shape), case.mask(shape), case.number_of(-20, 20)
    case.tell(type=to, offset=offset)
    theirs = cv2.filter2D(image, DEPTHS[to], mask.astype(np.float32), anchor=anchor, delta=offset,
                          borderType=BORDERS[border])
    ours = case.tilewise.correlate(image, mask, border, to, offset=offset, anchor=anchor)
    theirs = theirs.reshape(ours.shape)

    def fourier():
        # its rounding is that of the largest sums, not of each
        if mask.size < 50:
            return False
        largest = np.max(np.abs(image.astype(np.float64)), initial=9) * np.sum(np.abs(mask))
        precision = np.finfo(F64 if image.dtype == F64 else F32).eps
        return near(ours, theirs, 4 * precision * largest + (1 if to in INTEGERS else 0))
    case.compare(ours, theirs, {**sum_causes(image, mask, border, anchor, ours, theirs, offset), "Fourier": fourier})


@comparison("cv2.filter2D to the nearest")
def filter2d_nearest(case):
    image, border = case.image([U8, I16], CHANNELS), case.border(list(BORDERS))
    shape = case.window(image, 6)
    anchor, mask = case.anchor(shape), case.mask(shape)
    theirs = cv2.filter2D(image, -1, mask.astype(np.float32) / 8, anchor=anchor, borderType=BORDERS[border])
    ours = case.tilewise.correlate(image, mask, border, divisor=8, rounding="nearest", anchor=anchor)
    exact = case.tilewise.correlate(image, mask, border, F64, anchor=anchor) / 8
    case.compare(ours, theirs, {
        "ties to even": lambda: (exact - np.floor(exact) == 0.5) & (ours == np.rint(exact) + 1)})
    # the same mask as floats rounds as OpenCV does
    case.compare(case.tilewise.correlate(image, mask / 8, border, anchor=anchor), theirs)


@comparison("cv2.sepFilter2D")
def sepconv(case):
    dtype, to = case.pick(PAIRS)
    image, border = case.image([dtype], CHANNELS), case.border(list(BORDERS))
    shape = case.window(image)
    anchor, column, row = case.anchor(shape), case.mask(shape[0]), case.mask(shape[1])
    case.tell(type=to)
    theirs = cv2.sepFilter2D(image, DEPTHS[to], row.astype(np.float32), column.astype(np.float32), anchor=anchor,
                             borderType=BORDERS[border])
    ours = case.tilewise.sepconv(image, row, column, border, to, anchor)
    case.compare(ours, theirs, sum_causes(image, np.outer(column, row), border, anchor, ours,
                                          theirs.reshape(ours.shape)))


@comparison("cv2.Sobel, Scharr, Laplacian")
def derivative(case):
    dtype, to = case.pick(PAIRS)
    image, border, along_y = case.image([dtype], CHANNELS), case.border(list(BORDERS)), case.number_of(0, 1)
    name = case.pick(["sobel", "scharr", "laplacian"])
    case.tell(type=to, derivative=name, along_y=along_y)
    options = {"ddepth": DEPTHS[to], "borderType": BORDERS[border]}
    theirs = {"sobel": lambda: cv2.Sobel(image, dx=1 - along_y, dy=along_y, ksize=3, **options),
              "scharr": lambda: cv2.Scharr(image, dx=1 - along_y, dy=along_y, **options),
              "laplacian": lambda: cv2.Laplacian(image, ksize=1, **options)}[name]()
    mask = case.tilewise.derivative_mask(name, along_y)
    ours = case.tilewise.correlate(image, mask, border, to)
    case.compare(ours, theirs, sum_causes(image, mask, border, (1, 1), ours, theirs.reshape(ours.shape)))


# ---- means ----


@comparison("cv2.boxFilter, not divided")
def box_sum(case):
    image, border = case.image(INTEGERS, CHANNELS), case.border(list(BORDERS))
    shape = case.window(image)
    anchor = case.anchor(shape)
    theirs = cv2.boxFilter(image, cv2.CV_32S, shape[::-1], anchor=anchor, normalize=False, borderType=BORDERS[border])
    ones = np.ones(shape, np.int32)
    ours = case.tilewise.correlate(image, ones, border, I32, anchor=anchor)
    theirs = theirs.reshape(ours.shape)
    exact = case.tilewise.correlate(image, ones, border, F64, anchor=anchor)
    case.compare(ours, theirs, {"32-bit sums": lambda: (ours != exact) & (theirs == wrapped(exact, I32))})


@comparison("cv2.blur")
def blur(case):
    image, border = case.image(TYPES, CHANNELS), case.border(list(BORDERS))
    shape = case.window(image)
    anchor, count = case.anchor(shape), shape[0] * shape[1]
    theirs = cv2.blur(image, shape[::-1], anchor=anchor, borderType=BORDERS[border])
    ours = case.tilewise.box(image, shape, border, "nearest", anchor)
    theirs = theirs.reshape(ours.shape)
    exact = case.tilewise.correlate(image, np.ones(shape, np.int32), border, F64, anchor=anchor)

    def ties():
        return (np.mod(2 * exact + count, 2 * count) == 0) & (ours == theirs + 1)

    def in_32_bits():
        # f32 holds 24 bits of the quotient
        mean = wrapped(exact, I32) / count
        return near(theirs, mean, 2 * np.finfo(F32).eps * np.abs(mean) + 1)

    def one_more():
        return count & (count - 1) == 0 and theirs == np.floor((exact + 1) / count + 0.5) % 256
    if image.dtype in FLOATS:
        bound = (12 * np.finfo(image.dtype).eps + 40 * sum(image.shape) * np.finfo(F64).eps) * np.max(np.abs(image))
        case.compare(ours, theirs, {"order of additions": lambda: near(ours, theirs, bound)})
    else:
        case.compare(ours, theirs, {"ties to even": ties, "32-bit sums": lambda: image.dtype == I32 and in_32_bits(),
                                    "one more": lambda: image.dtype == U8 and one_more()})


@comparison("cv2.GaussianBlur")
def gaussian(case):
    image, border = case.image([U8, U16, I16, F32, F64], CHANNELS), case.border(list(BORDERS))
    sigmas = case.random.uniform(0.3, 4, 2)
    taps = case.window(image, 15, odd=True)
    case.tell(sigmas=sigmas)
    theirs = cv2.GaussianBlur(image, taps[::-1], sigmaX=sigmas[1], sigmaY=sigmas[0], borderType=BORDERS[border])
    ours = case.tilewise.gaussian(image, sigmas[1], sigmas[0], border, taps)
    theirs = theirs.reshape(ours.shape)
    magnitude = np.max(np.abs(image.astype(np.float64)))
    bound = 30 * np.finfo(F64 if image.dtype == F64 else F32).eps * magnitude + (image.dtype == I16)
    case.compare(ours, theirs, {
        "OpenCV's fixed point": lambda: image.dtype in (U8, U16) and near(ours, theirs, 2),
        "order of additions": lambda: image.dtype not in (U8, U16) and near(ours, theirs, bound)})


# ---- order filters ----


@comparison("cv2.medianBlur")
def median(case):
    dtype = case.pick([U8, U8, U16, I16, F32])
    image = case.image([dtype], (1, 3, 4))
    side = case.pick([3, 5, 7, 9, 15, 31] if dtype == U8 else [3, 5])
    case.tell(side=side)
    case.compare(case.tilewise.median(image, (side, side), "replicate"), cv2.medianBlur(image, side))


def outside(border):
    return {} if border == "ignore" else {"borderType": BORDERS[border], "borderValue": ZEROS}


def largest_finite(ours, theirs):
    """Where no pixel takes part."""
    return ours.dtype in FLOATS and np.isinf(ours) & (np.abs(theirs) == np.finfo(ours.dtype).max)


@comparison("cv2.erode, cv2.dilate")
def erode_dilate(case):
    image, border = case.image([U8, U16, I16, F32, F64], CHANNELS), case.border(list(BORDERS) + 4 * ["ignore"])
    shape = case.window(image)
    name, iterations = case.pick(MORPHOLOGIES[:2]), case.number_of(1, 3)
    anchor, footprint = case.anchor(shape), case.footprint(shape)
    case.tell(morphology=name, iterations=iterations)
    theirs = getattr(cv2, name)(image, footprint, anchor=anchor, iterations=iterations, **outside(border))
    ours = case.tilewise.morph(image, name, footprint, border, anchor, iterations)
    theirs = theirs.reshape(ours.shape)

    def larger():
        if not footprint.all():
            return False
        window = tuple(side + (iterations - 1) * (side - 1) for side in shape)
        far = (anchor[0] * iterations, anchor[1] * iterations)
        return theirs == case.tilewise.morph(image, name, window, border, far)
    case.compare(ours, theirs, {"no infinity": lambda: largest_finite(ours, theirs), "one larger window": larger})


@comparison("cv2.morphologyEx")
def morphology(case):
    image, border = case.image([U8, U16, I16, F32, F64], CHANNELS), case.border(list(BORDERS) + 4 * ["ignore"])
    shape = case.window(image)
    name = case.pick(MORPHOLOGIES[2:])
    anchor, footprint = case.anchor(shape), case.footprint(shape)
    case.tell(morphology=name)
    theirs = cv2.morphologyEx(image, getattr(cv2, "MORPH_" + name.upper()), footprint, anchor=anchor, **outside(border))
    ours = case.tilewise.morph(image, name, footprint, border, anchor)
    theirs = theirs.reshape(ours.shape)

    def passes(*filters):
        result = image
        for filter in filters:
            # the largest finite value where ours is an infinity
            result = np.nan_to_num(filter(result, footprint, border, anchor))
        return result

    def nothing_turned():
        if name == "gradient" or symmetric(footprint, anchor):
            return False
        lowest, highest = case.tilewise.min, case.tilewise.max
        exact = {"open": lambda: passes(lowest, highest), "close": lambda: passes(highest, lowest),
                 "tophat": lambda: difference(image, passes(lowest, highest)),
                 "blackhat": lambda: difference(passes(highest, lowest), image)}[name]()
        return theirs == saturated(exact, image.dtype)
    case.compare(ours, theirs, {"no infinity": lambda: largest_finite(ours, theirs), "nothing turned": nothing_turned})


@comparison("cv2.getStructuringElement")
def shape(case):
    name = case.pick(["rect", "cross", "ellipse"])
    height, width = case.number_of(1, 24), case.number_of(1, 24)
    case.tell(shape=name, width=width, height=height)
    ours = case.tilewise.footprint(name, width, height)
    theirs = cv2.getStructuringElement(getattr(cv2, "MORPH_" + name.upper()), (width, height))

    def rounded_rows():
        radius, middle = height // 2, width // 2
        y, x = np.mgrid[:height, :width]
        from_middle = np.minimum(np.abs(y - radius), radius)
        half = np.rint(middle * np.sqrt((radius ** 2 - from_middle ** 2) / max(radius, 1) ** 2))
        return (name == "ellipse") & (theirs == (np.abs(x - middle) <= half))
    case.compare(ours, theirs, {"OpenCV's ellipse": rounded_rows})
