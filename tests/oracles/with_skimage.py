"""scikit-image's footprints in our filters, its morphology, medians, derivatives and rank filters."""

import numpy as np
from skimage import draw, filters, morphology
from skimage.filters import rank
from skimage.morphology import footprints

from case import comparison, near, wrapped
from tilewise import FLOATS, INTEGERS, TYPES
from with_numpy import BORDERS
from with_scipy import MODES, difference, morphology_causes, outside

SHAPES = {"disk": lambda r, s: morphology.disk(r), "diamond": lambda r, s: morphology.diamond(r),
          "ellipse": lambda r, s: footprints.ellipse(r + 1, s), "square": lambda r, s: morphology.square(r + 1),
          "rectangle": lambda r, s: morphology.rectangle(r + 1, s),
          "octagon": lambda r, s: morphology.octagon(r + 1, s), "star": lambda r, s: morphology.star(s)}
MORPHOLOGY = {"erode": morphology.erosion, "dilate": morphology.dilation, "open": morphology.opening,
              "close": morphology.closing, "tophat": morphology.white_tophat, "blackhat": morphology.black_tophat}


def shape(case, image):
    """A footprint by scikit-image, at most four times the image's size."""
    while True:
        name = case.pick(list(SHAPES))
        footprint = SHAPES[name](case.number_of(0, 4), case.number_of(1, 4))
        if all(have <= 4 * side for have, side in zip(footprint.shape, image.shape)):
            case.tell(shape=name, window=footprint.shape)
            return footprint


@comparison("skimage.morphology")
def morphologies(case):
    image, name = case.image(TYPES), case.pick(list(MORPHOLOGY))
    footprint = shape(case, image)
    case.tell(morphology=name)
    theirs = MORPHOLOGY[name](image, footprint)
    ours = case.tilewise.morph(image, name, footprint, "reflect")
    height, width = footprint.shape

    def morph(picture, morphology):
        return case.tilewise.morph(picture, morphology, footprint, "reflect", ((width - 1) // 2, (height - 1) // 2))

    def even_footprints():
        """Anchored one pixel earlier; open and close after the edge has been replicated along the even sides."""
        if height % 2 and width % 2:
            return False
        if name in ("erode", "dilate"):
            return theirs == morph(image, name)
        below, right = (side * (side % 2 == 0) for side in footprint.shape)
        padded = np.pad(image, ((below, below), (right, right)), "edge")
        part = morph(padded, {"tophat": "open", "blackhat": "close"}.get(name, name))
        part = part[below:below + image.shape[0], right:right + image.shape[1]]
        exact = {"tophat": lambda: difference(image, part), "blackhat": lambda: difference(part, image)}
        result = exact.get(name, lambda: part)()
        return theirs == (wrapped(result, image.dtype) if image.dtype in INTEGERS else result)
    case.compare(ours, theirs, {"even footprints": even_footprints,
                                **morphology_causes(case, image, name, footprint, "reflect", ours, theirs)})


@comparison("skimage.filters.median")
def median(case):
    image, border = case.image(TYPES), case.border()
    footprint = shape(case, image)
    mode = outside(border)
    case.compare(case.tilewise.median(image, footprint, border), filters.median(image, footprint, **mode))


@comparison("skimage.filters.sobel, scharr, prewitt")
def derivative(case):
    image, border = case.image(FLOATS[1:]), case.border([name for name in BORDERS if name != "constant"])
    name, along_y = case.pick(["sobel", "scharr", "prewitt"]), case.number_of(0, 1)
    case.tell(derivative=name, along_y=along_y)
    theirs = getattr(filters, name)(image, axis=1 - along_y, mode=MODES[border])
    divisor = {"sobel": 4, "scharr": 16, "prewitt": 3}[name]
    ours = case.tilewise.correlate(image, case.tilewise.derivative_mask(name, along_y), border, divisor=divisor)
    bound = 30 * np.finfo(np.float64).eps * np.max(np.abs(image))
    case.compare(ours, theirs, {"order of additions": lambda: near(ours, theirs, bound)})


@comparison("skimage.filters.rank")
def ranks(case):
    image = case.image(INTEGERS[:1])
    footprint = shape(case, image)
    name = case.pick(["minimum", "maximum", "gradient", "sum", "median", "mean", "percentile"])
    percentile = case.pick([0, 10, 25, 50, 90, 100])
    case.tell(filter=name, percentile=percentile)
    theirs = getattr(rank, name)(image, footprint, **({"p0": percentile / 100} if name == "percentile" else {}))
    tilewise, ones = case.tilewise, footprint.astype(np.int32)
    ours = {"minimum": lambda: tilewise.min(image, footprint, "ignore"),
            "maximum": lambda: tilewise.max(image, footprint, "ignore"),
            "gradient": lambda: tilewise.morph(image, "gradient", footprint, "ignore"),
            "sum": lambda: tilewise.correlate(image, ones, "zero"),
            "median": lambda: tilewise.median(image, footprint, "reflect"),
            "mean": lambda: tilewise.correlate(image, ones, "reflect", divisor=int(ones.sum())),
            "percentile": lambda: tilewise.percentile(image, footprint, "reflect", percentile)}[name]()
    inside = tilewise.correlate(np.ones_like(image), ones, "zero", INTEGERS[3])
    case.compare(ours, theirs, {
        "wrapped sum": lambda: name == "sum" and theirs == tilewise.correlate(image, ones, "zero", INTEGERS[3]) % 256,
        "outside ignored": lambda: (name in ("median", "mean", "percentile")) & (inside < ones.sum())})


# ---- shapes ----


@comparison("skimage.draw.ellipse")
def ellipse(case):
    height, width = case.number_of(1, 40), case.number_of(1, 40)
    case.tell(width=width, height=height)
    theirs = np.zeros((height, width), np.uint8)
    theirs[draw.ellipse((height - 1) / 2, (width - 1) / 2, height / 2, width / 2, theirs.shape)] = 1
    case.compare(case.tilewise.footprint("ellipse", width, height), theirs)


@comparison("skimage.morphology.disk")
def disk(case):
    radius = case.number_of(0, 30)
    case.tell(radius=radius)
    ours = case.tilewise.footprint("ellipse", 2 * radius + 1, 2 * radius + 1)
    theirs = morphology.disk(radius)
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    squares = x ** 2 + y ** 2
    case.compare(ours, theirs, {
        "disk": lambda: (squares > radius ** 2) & (squares <= (radius + 0.5) ** 2) & (ours > theirs)})
