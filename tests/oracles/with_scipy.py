"""Every filter beside SciPy's ndimage, with all five borders and a constant."""

import numpy as np
from scipy import ndimage

from case import comparison, near, saturated, turned, wrapped
from tilewise import FLOATS, INTEGERS, MORPHOLOGIES, ROUNDINGS, TYPES

MODES = {"zero": "constant", "replicate": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "wrap"}
MORPHOLOGY = {"erode": ndimage.grey_erosion, "dilate": ndimage.grey_dilation, "open": ndimage.grey_opening,
              "close": ndimage.grey_closing, "gradient": ndimage.morphological_gradient,
              "tophat": ndimage.white_tophat, "blackhat": ndimage.black_tophat}
FAR = 9  # sides of the image that a window has where SciPy's reflect is in question


def outside(border):
    return {"mode": MODES[border]} if isinstance(border, str) else {"mode": "constant", "cval": border}


def placed(shape, anchor, border):
    """SciPy names an anchor by its distance from the middle."""
    return {"origin": (anchor[1] - shape[0] // 2, anchor[0] - shape[1] // 2), **outside(border)}


def sums(image, mask, border, anchor):
    """In f64, which holds every sum of integers here."""
    return ndimage.correlate(image.astype(np.float64), mask.astype(np.float64), **placed(mask.shape, anchor, border))


def rounding_bound(image, mask, border, anchor, dtype):
    """What float sums may differ by: a rounding a tap, and some for what is done with the sum."""
    return np.finfo(dtype).eps * (mask.size + 3) * sums(np.abs(image.astype(np.float64)), np.abs(mask), border, anchor)


def reached(marked, footprint, anchor, border):
    """Where a window holds a marked pixel."""
    return ndimage.maximum_filter(marked, footprint=footprint, **placed(
        footprint.shape, anchor, border if isinstance(border, str) else "zero"))


def afar(image, border, shape, ours, filtered):
    """Explains where SciPy agrees once the image has been reflected for it."""
    def explains():
        height, width = shape
        if border != "reflect" or (height <= 4 * image.shape[0] and width <= 4 * image.shape[1]):
            return False
        padded = np.pad(image, ((height, height), (width, width)), "symmetric")
        return ours == filtered(padded)[height:-height, width:-width]
    return {"reflect from afar": explains}


# ---- sums ----


@comparison("ndimage.correlate")
def correlate(case):
    image, border = case.image(INTEGERS), case.border()
    shape = case.window(image, case.pick([9, 25]), FAR)
    anchor, mask, dtype = case.anchor(shape), case.mask(shape), case.pick(TYPES)
    divisor, offset, rounding = case.pick([1, 1, 2, 7, -6]), case.number_of(-9, 9), case.pick(ROUNDINGS)
    case.tell(type=dtype, divisor=divisor, offset=offset, rounding=rounding)

    def theirs(picture):
        exact = sums(picture, mask, border, anchor).astype(np.int64)
        nearest = rounding == "nearest"
        quotient = (2 * exact + divisor) // (2 * divisor) if nearest else exact // divisor
        return saturated(quotient + offset, dtype)

    ours = case.tilewise.correlate(image, mask, border, dtype, divisor, offset, rounding, anchor)
    case.compare(ours, theirs(image), afar(image, border, shape, ours, theirs))


@comparison("ndimage.convolve")
def convolve(case):
    image, border = case.image(INTEGERS), case.border()
    shape = case.window(image, case.pick([9, 25]), FAR)
    anchor, mask = case.anchor(shape), case.mask(shape)

    def theirs(picture):
        return ndimage.convolve(picture.astype(np.float64), mask, **placed(shape, anchor, border))

    ours = case.tilewise.convolve(image, mask, border, FLOATS[1], anchor=anchor)
    case.compare(ours, theirs(image), afar(image, border, shape, ours, theirs))


@comparison("ndimage.correlate of floats")
def correlate_floats(case):
    image, border = case.image(FLOATS), case.border()
    shape = case.window(image)
    anchor = case.anchor(shape)
    mask = case.random.standard_normal(shape).astype(image.dtype)  # as f32 images read it
    ours = case.tilewise.correlate(image, mask.astype(np.float64), border, anchor=anchor)
    theirs = sums(image, mask, border, anchor)
    case.compare(ours, theirs.astype(image.dtype), {
        "order of additions": lambda: near(ours, theirs, rounding_bound(image, mask, border, anchor, image.dtype))})


@comparison("ndimage.correlate to integers")
def correlate_to_integers(case):
    image, border = case.image(INTEGERS[:3]), case.border()
    shape = case.window(image)
    anchor = case.anchor(shape)
    mask = case.mask(shape, 3) / 8  # products and sums that floats hold exactly
    exact = sums(image, mask, border, anchor)
    theirs = ndimage.correlate(image, mask, image.dtype, **placed(shape, anchor, border))
    ours = case.tilewise.correlate(image, mask, border, anchor=anchor)
    limits = np.iinfo(image.dtype)
    case.compare(ours, theirs, {
        "C conversion": lambda: (ours == saturated(np.rint(exact), image.dtype)) &
        ((theirs == np.trunc(exact)) | (exact < limits.min) | (exact > limits.max))})


@comparison("ndimage.correlate1d, twice")
def sepconv(case):
    image, border = case.image(TYPES), case.border()
    shape = case.window(image)
    anchor = case.anchor(shape)
    column, row = case.mask(shape[0]), case.mask(shape[1])
    theirs = image.astype(np.float64)
    for axis, mask, side, place in ((1, row, shape[1], anchor[0]), (0, column, shape[0], anchor[1])):
        theirs = ndimage.correlate1d(theirs, mask, axis, origin=place - side // 2, **outside(border))
    ours = case.tilewise.sepconv(image, row, column, border, FLOATS[1], anchor)
    # a constant is outside of the image, not of the sums of its rows
    if not isinstance(border, str) and border != 0:
        theirs = sums(image, np.outer(column, row), border, anchor)
    bound = rounding_bound(image, np.outer(column, row), border, anchor, FLOATS[image.dtype != FLOATS[0]])
    case.compare(ours, theirs, {"order of additions": lambda: image.dtype in FLOATS and near(ours, theirs, bound)})


@comparison("ndimage.sobel, prewitt, laplace")
def derivative(case):
    image, border, along_y = case.image(INTEGERS[:3]), case.border(), case.number_of(0, 1)
    name = case.pick(["sobel", "prewitt", "laplacian"])
    case.tell(derivative=name, along_y=along_y)
    if name == "laplacian":
        theirs = ndimage.laplace(image, np.int32, **outside(border))
    elif isinstance(border, str):
        theirs = getattr(ndimage, name)(image, 1 - along_y, np.int32, **outside(border))
    else:
        return  # the second pass would take the constant for sums
    mask = case.tilewise.derivative_mask(name, along_y)
    case.compare(case.tilewise.correlate(image, mask, border, INTEGERS[3]), theirs)


# ---- means ----


@comparison("ndimage.uniform_filter")
def box(case):
    image, border, rounding = case.image(INTEGERS), case.border(), case.pick(ROUNDINGS)
    shape = case.window(image)
    anchor, count = case.anchor(shape), shape[0] * shape[1]
    case.tell(rounding=rounding)
    # in f64, and near enough to tell the exact sum
    means = ndimage.uniform_filter(image.astype(np.float64), shape, **placed(shape, anchor, border))
    exact = np.rint(means * count).astype(np.int64)
    theirs = exact // count if rounding == "floor" else (2 * exact + count) // (2 * count)
    case.compare(case.tilewise.box(image, shape, border, rounding, anchor), theirs.astype(image.dtype))


@comparison("ndimage.uniform_filter of floats")
def box_floats(case):
    image, border = case.image(FLOATS), case.border()
    shape = case.window(image)
    anchor = case.anchor(shape)
    ours = case.tilewise.box(image, shape, border, anchor=anchor)
    theirs = ndimage.uniform_filter(image.astype(np.float64), shape, **placed(shape, anchor, border))
    # running sums: their rounding is that of the largest sum of the line
    bound = 4 * np.finfo(image.dtype).eps * np.max(np.abs(image)) + np.finfo(np.float64).eps * 9 * sum(image.shape)
    case.compare(ours, theirs.astype(image.dtype), {"order of additions": lambda: near(ours, theirs, bound)})


@comparison("ndimage.uniform_filter of NaN")
def box_nan(case):
    image, border = case.image(FLOATS).copy(), case.border()
    shape = case.window(image)
    image[case.random.random(image.shape) < 0.02] = case.pick([np.nan, np.inf])
    ours = case.tilewise.box(image, shape, border)
    theirs = ndimage.uniform_filter(image.astype(np.float64), shape, **outside(border))
    touched = reached(~np.isfinite(image), np.ones(shape), (shape[1] // 2, shape[0] // 2), border)
    case.compare(np.isfinite(ours), np.isfinite(theirs), {"NaN spreads": lambda: np.isfinite(ours) == ~touched})


@comparison("ndimage.uniform_filter to integers")
def box_truncated(case):
    image, border = case.image(INTEGERS[:3]), case.border()
    shape = case.window(image)
    ours = case.tilewise.box(image, shape, border)
    theirs = ndimage.uniform_filter(image, shape, **outside(border))

    def explains():
        passes = image
        for axis in (0, 1):
            ones = np.ones(shape[axis], np.int32)
            sum_of = ndimage.correlate1d(passes.astype(np.int64), ones, axis, **outside(border))
            passes = np.trunc(sum_of / shape[axis]).astype(np.int64)
        return theirs == passes
    case.compare(ours, theirs, {"truncated passes": explains})


# ---- gaussians ----


def gaussian_in_f64(image, sigmas, radii, border, between=np.asarray):
    """`between` is done to the result of each pass."""
    passes = image.astype(np.float64)
    for axis in (0, 1):
        passes = between(ndimage.gaussian_filter1d(passes, sigmas[axis], axis, radius=radii[axis], **outside(border)))
    return passes


def gaussian_problem(case, types):
    """Sigmas and radii of the axes y and x."""
    image, border = case.image(types), case.border()
    sigmas, truncate = case.random.uniform(0.2, 4, 2), case.pick([2, 2.5, 3, 4])
    case.tell(sigmas=sigmas, truncate=truncate)
    return image, border, sigmas, truncate, np.ceil(truncate * sigmas).astype(int)


@comparison("ndimage.gaussian_filter")
def gaussian(case):
    image, border, sigmas, truncate, radii = gaussian_problem(case, TYPES[1:])
    ours = case.tilewise.gaussian(image, sigmas[1], sigmas[0], border, truncate=truncate)
    theirs = gaussian_in_f64(image, sigmas, radii, border)
    bound = 30 * np.finfo(np.float64).eps * np.max(np.abs(image.astype(np.float64)), initial=9)
    if image.dtype in INTEGERS:
        case.compare(ours, saturated(np.rint(theirs), image.dtype))
    else:
        case.compare(ours, theirs.astype(image.dtype), {
            "order of additions": lambda: near(ours, theirs, bound + np.finfo(image.dtype).eps * np.abs(theirs))})


@comparison("ndimage.gaussian_filter u8")
def gaussian_u8(case):
    image, border, sigmas, truncate, radii = gaussian_problem(case, TYPES[:1])
    ours = case.tilewise.gaussian(image, sigmas[1], sigmas[0], border, truncate=truncate)
    theirs = np.rint(gaussian_in_f64(image, sigmas, radii, border)).astype(np.uint8)
    case.compare(ours, theirs, {"fixed point": lambda: near(ours, theirs, 1)})


@comparison("ndimage.gaussian_filter as it comes")
def gaussian_as_it_comes(case):
    image, border, sigmas, truncate, _ = gaussian_problem(case, INTEGERS)
    radii = [int(truncate * sigma + 0.5) for sigma in sigmas]
    ours = case.tilewise.gaussian(image, sigmas[1], sigmas[0], border, truncate=truncate)
    theirs = ndimage.gaussian_filter(image, sigmas, truncate=truncate, **outside(border))

    def supported():
        """Ours with SciPy's support is the rounded exact result; then only SciPy's conversions remain."""
        taps = tuple(2 * radius + 1 for radius in radii)
        again = case.tilewise.gaussian(image, sigmas[1], sigmas[0], border, taps)
        exact = gaussian_in_f64(image, sigmas, radii, border)
        return near(again, np.rint(exact), 1 if image.dtype == np.uint8 else 0) & truncated()

    def truncated():
        return near(theirs, gaussian_in_f64(image, sigmas, radii, border, np.trunc), 0)

    same = [int(np.ceil(truncate * sigma)) for sigma in sigmas] == radii
    case.compare(ours, theirs, {"truncated passes" if same else "support": supported})


# ---- order filters ----


def order_filters(case, image, border, footprint, anchor):
    """Two functions of an image: ours and SciPy's."""
    name = case.pick(["minimum", "maximum", "median", "rank", "percentile"])
    percentile = case.pick([0, 10, 25, 33.3, 50, 90, 100])
    rank = case.number_of(0, np.count_nonzero(footprint) - 1)
    case.tell(filter=name, percentile=percentile, rank=rank)
    tilewise, where = case.tilewise, {"footprint": footprint, **placed(footprint.shape, anchor, border)}
    return {
        "minimum": (tilewise.min(image, footprint, border, anchor),
                    lambda picture: ndimage.minimum_filter(picture, **where)),
        "maximum": (tilewise.max(image, footprint, border, anchor),
                    lambda picture: ndimage.maximum_filter(picture, **where)),
        "median": (tilewise.median(image, footprint, border, anchor),
                   lambda picture: ndimage.median_filter(picture, **where)),
        "rank": (tilewise.rank(image, footprint, border, rank, anchor),
                 lambda picture: ndimage.rank_filter(picture, rank, **where)),
        "percentile": (tilewise.percentile(image, footprint, border, percentile, anchor),
                       lambda picture: ndimage.percentile_filter(picture, percentile, **where)),
    }[name]


@comparison("ndimage order filters")
def order(case):
    image, border = case.image(TYPES), case.border()
    shape = case.window(image, case.pick([9, 25]), FAR)
    anchor, footprint = case.anchor(shape), case.footprint(shape)
    if image.dtype in FLOATS and case.chance(0.5):
        image = case.random.choice(np.array([-1, -0.0, 0.0], image.dtype), image.shape)
    ours, theirs = order_filters(case, image, border, footprint, anchor)
    result = theirs(image)
    case.compare(ours, result, {
        **afar(image, border, shape, ours, theirs),
        "signed zeros": lambda: (ours == 0) & (result == 0)}, zeros=True)


@comparison("ndimage order filters of NaN")
def order_nan(case):
    image, border = case.image(FLOATS).copy(), case.border()
    shape = case.window(image)
    anchor, footprint = case.anchor(shape), case.footprint(shape)
    image[case.random.random(image.shape) < 0.05] = np.nan
    ours, theirs = order_filters(case, image, border, footprint, anchor)
    # whole rectangles are done line by line, along which a NaN has effects beyond the window
    case.compare(ours, theirs(image), {
        "NaN in order": lambda: footprint.all() | reached(np.isnan(image), footprint, anchor, border)})


# ---- morphology ----


def difference(larger, smaller):
    """In integers that hold it; floats as they are."""
    return larger - smaller if larger.dtype in FLOATS else larger.astype(np.int64) - smaller.astype(np.int64)


def turned_morphology(case, image, name, footprint, border):
    """What SciPy does, in our erosions and dilations: exact, before it is made an element."""
    tilewise = case.tilewise
    other, anchor = turned(footprint, (footprint.shape[1] // 2, footprint.shape[0] // 2))

    def dilated(picture):
        return tilewise.max(picture, other, border, anchor)

    def eroded(picture):
        return tilewise.min(picture, footprint, border)

    return {"erode": lambda: eroded(image), "dilate": lambda: dilated(image),
            "open": lambda: dilated(eroded(image)), "close": lambda: eroded(dilated(image)),
            "gradient": lambda: difference(dilated(image), eroded(image)),
            "tophat": lambda: difference(image, dilated(eroded(image))),
            "blackhat": lambda: difference(eroded(dilated(image)), image)}[name]()


def morphology_causes(case, image, name, footprint, border, ours, theirs):
    exact = turned_morphology(case, image, name, footprint, border)
    fits = exact == saturated(exact, image.dtype)

    def turned_only():
        return fits & (theirs == exact)

    def wraps():
        return ~fits & (theirs == (wrapped(exact, image.dtype) if image.dtype in INTEGERS else exact))
    return {"turned dilation": turned_only, "wrapped difference": wraps}


@comparison("ndimage morphology")
def morphology(case):
    image, border, name = case.image(TYPES), case.border(), case.pick(MORPHOLOGIES)
    shape = case.window(image)
    footprint = case.footprint(shape)
    case.tell(morphology=name)
    ours = case.tilewise.morph(image, name, footprint, border)
    theirs = MORPHOLOGY[name](image, footprint=footprint, **outside(border))
    case.compare(ours, theirs, morphology_causes(case, image, name, footprint, border, ours, theirs))
