"""The library for NumPy arrays, through ctypes: just what the comparisons call.

An array of height x width or height x width x channels is an image, a slice of a larger one is a view."""

import ctypes

import numpy as np

TYPES = [np.dtype(name) for name in ("u1", "u2", "i2", "i4", "f4", "f8")]
STATS = np.dtype([("sum_low", "u8"), ("sum_high", "i8"), ("sum", "f8"), ("mean", "f8"), ("var", "f8"), ("std", "f8"),
                  ("min", "f8"), ("max", "f8"), ("argmin_x", "i8"), ("argmin_y", "i8"), ("argmax_x", "i8"),
                  ("argmax_y", "i8"), ("count_nonzero", "u8")])
ELEMENTS = TYPES + [np.dtype(name) for name in ("u4", "i8", "u8")] + [STATS]
INTEGERS = TYPES[:4]
FLOATS = TYPES[4:]
BORDERS = ["zero", "constant", "replicate", "reflect", "mirror", "wrap", "ignore"]
ROUNDINGS = ["floor", "nearest"]
SHAPES = ["rect", "cross", "ellipse"]
DERIVATIVES = ["sobel", "scharr", "prewitt", "laplacian"]
TURNS = [None, "transpose", "flip-horizontal", "rotate-90", "flip-vertical", "rotate-270", "rotate-180", "transverse"]
AXES = ["x", "y", "all"]
ALL_FIGURES = 511
MORPHOLOGIES = ["erode", "dilate", "open", "close", "gradient", "tophat", "blackhat"]
CPU = 1


class Refused(Exception):
    """The library's message."""


class Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("width", ctypes.c_int64), ("height", ctypes.c_int64),
                ("pitch", ctypes.c_int64), ("channels", ctypes.c_int32), ("type", ctypes.c_int),
                ("memory", ctypes.c_int)]


class Border(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int), ("value", ctypes.c_double)]


class Window(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("width", "height", "anchor_x", "anchor_y")]


class Values(ctypes.Structure):
    _fields_ = [("integers", ctypes.c_void_p), ("floats", ctypes.c_void_p)]


class Box(ctypes.Structure):
    _fields_ = [("window", Window), ("border", Border), ("rounding", ctypes.c_int)]


class Correlate(ctypes.Structure):
    _fields_ = [("window", Window), ("mask", Values), ("divisor", ctypes.c_double), ("offset", ctypes.c_double),
                ("border", Border), ("rounding", ctypes.c_int)]


class Sepconv(ctypes.Structure):
    _fields_ = [("window", Window), ("row", Values), ("column", Values), ("divisor", ctypes.c_double),
                ("offset", ctypes.c_double), ("border", Border), ("rounding", ctypes.c_int)]


class Gaussian(ctypes.Structure):
    _fields_ = [("sigma_x", ctypes.c_double), ("sigma_y", ctypes.c_double), ("truncate", ctypes.c_double),
                ("width", ctypes.c_int32), ("height", ctypes.c_int32), ("border", Border)]


class Order(ctypes.Structure):
    _fields_ = [("window", Window), ("footprint", ctypes.c_void_p), ("border", Border)]


class Table(ctypes.Structure):
    _fields_ = [("table", ctypes.c_void_p), ("channels", ctypes.c_int32)]


class Reduce(ctypes.Structure):
    _fields_ = [("axis", ctypes.c_int), ("figures", ctypes.c_uint)]


class Scan(ctypes.Structure):
    _fields_ = [("axis", ctypes.c_int), ("exclusive", ctypes.c_bool)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("backend", ctypes.c_int), ("device", ctypes.c_int), ("devices", ctypes.c_void_p),
                ("device_count", ctypes.c_int), ("threads", ctypes.c_int), ("device_memory", ctypes.c_uint64),
                ("allocator", ctypes.c_void_p * 3), ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]


def image_of(array):
    channels = 1 if array.ndim == 2 else array.shape[2]
    size = array.itemsize
    if array.strides[1] != channels * size or (array.ndim == 3 and array.strides[2] != size):
        raise ValueError("the pixels of a row are not one after the other")
    # the stride of a single row may be anything
    pitch = array.strides[0] if array.shape[0] > 1 else array.shape[1] * channels * size
    return Image(array.ctypes.data, array.shape[1], array.shape[0], pitch, channels, ELEMENTS.index(array.dtype), 0)


def border_of(border):
    """A name, or a number for a constant."""
    return Border(BORDERS.index(border), 0) if isinstance(border, str) else Border(BORDERS.index("constant"), border)


def window_of(shape, anchor):
    """Of the shape (height, width) of a mask; an anchor (x, y)."""
    height, width = shape
    x, y = anchor or (width // 2, height // 2)
    return Window(width, height, x, y)


def values_of(array):
    """C-ordered int32 or float64, which the caller keeps alive."""
    address = array.ctypes.data
    return Values(address, None) if array.dtype.kind == "i" else Values(None, address)


class Tilewise:
    """A context; every filter returns a new array."""

    def __init__(self, path, threads):
        self.functions = ctypes.CDLL(path)
        self.functions.tw_error_message.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        options = ContextOptions(backend=CPU, threads=threads)
        self.check(self.functions.tw_context_create(ctypes.byref(options), ctypes.byref(self.context)))

    def close(self):
        self.functions.tw_context_destroy(self.context)

    def check(self, status):
        if status != 0:
            raise Refused(self.functions.tw_error_message().decode())

    def call(self, function, image, result, *arguments):
        """function(context, src, dst, arguments...)"""
        source, target = image_of(image), image_of(result)
        self.check(getattr(self.functions, function)(self.context, ctypes.byref(source), ctypes.byref(target),
                                                   *arguments))
        return result

    def filtered(self, function, image, params, *rest, type=None, before=()):
        """function(context, src, dst, `before`..., params, rest...)"""
        return self.call(function, image, np.empty(image.shape, type or image.dtype), *before, ctypes.byref(params),
                         *rest)

    def box(self, image, shape, border="zero", rounding="floor", anchor=None):
        params = Box(window_of(shape, anchor), border_of(border), ROUNDINGS.index(rounding))
        return self.filtered("tw_box", image, params)

    def correlate(self, image, mask, border="zero", type=None, divisor=1, offset=0, rounding="floor", anchor=None,
                  function="tw_correlate"):
        mask = np.ascontiguousarray(mask, np.int32 if mask.dtype.kind in "iu" else np.float64)
        params = Correlate(window_of(mask.shape, anchor), values_of(mask), divisor, offset, border_of(border),
                           ROUNDINGS.index(rounding))
        return self.filtered(function, image, params, type=type)

    def convolve(self, *arguments, **options):
        return self.correlate(*arguments, **options, function="tw_convolve")

    def sepconv(self, image, row, column, border="zero", type=None, anchor=None):
        kind = np.int32 if row.dtype.kind in "iu" else np.float64
        row, column = np.ascontiguousarray(row, kind), np.ascontiguousarray(column, kind)
        params = Sepconv(window_of((column.size, row.size), anchor), values_of(row), values_of(column), 1, 0,
                         border_of(border), 0)
        return self.filtered("tw_sepconv", image, params, type=type)

    def gaussian(self, image, sigma_x, sigma_y, border, shape=(0, 0), truncate=4):
        params = Gaussian(sigma_x, sigma_y, truncate, shape[1], shape[0], border_of(border))
        return self.filtered("tw_gaussian", image, params)

    def order(self, function, image, footprint, border, anchor, *rest, before=()):
        """`footprint`: the shape of a whole rectangle, or an array."""
        if isinstance(footprint, tuple):
            params = Order(window_of(footprint, anchor), None, border_of(border))
        else:
            footprint = np.ascontiguousarray(footprint, np.uint8)
            params = Order(window_of(footprint.shape, anchor), footprint.ctypes.data, border_of(border))
        return self.filtered(function, image, params, *rest, before=before)

    def min(self, image, footprint, border, anchor=None):
        return self.order("tw_min", image, footprint, border, anchor)

    def max(self, image, footprint, border, anchor=None):
        return self.order("tw_max", image, footprint, border, anchor)

    def median(self, image, footprint, border, anchor=None):
        return self.order("tw_median", image, footprint, border, anchor)

    def rank(self, image, footprint, border, rank, anchor=None):
        return self.order("tw_rank", image, footprint, border, anchor, ctypes.c_int64(rank))

    def percentile(self, image, footprint, border, percentile, anchor=None):
        count = np.prod(footprint) if isinstance(footprint, tuple) else np.count_nonzero(footprint)
        rank_of = self.functions.tw_percentile_rank
        rank_of.restype = ctypes.c_int64
        rank = rank_of(ctypes.c_int64(int(count)), ctypes.c_double(percentile))
        return self.rank(image, footprint, border, rank, anchor)

    def morph(self, image, morphology, footprint, border, anchor=None, iterations=1):
        return self.order("tw_morph", image, footprint, border, anchor, iterations, None,
                          before=(MORPHOLOGIES.index(morphology),))

    def turn(self, image, turn):
        number = TURNS.index(turn)
        height, width = image.shape[1::-1] if number & 1 else image.shape[:2]
        return self.call("tw_transpose", image, np.empty((height, width) + image.shape[2:], image.dtype), number)

    def lut(self, image, table):
        """`table`: entries, or channels x entries."""
        params = Table(table.ctypes.data, 1 if table.ndim == 1 else table.shape[0])
        return self.filtered("tw_lut", image, params, type=table.dtype)

    def histogram(self, image):
        entries = 256 ** image.itemsize
        return self.call("tw_histogram", image, np.empty((1, entries) + image.shape[2:], np.uint64))

    def reduce(self, image, axis):
        height, width = image.shape[:2]
        shape = {"x": (height, 1), "y": (1, width), "all": (1, 1)}[axis] + image.shape[2:]
        return self.call("tw_reduce", image, np.empty(shape, STATS),
                         ctypes.byref(Reduce(AXES.index(axis), ALL_FIGURES)))

    def scan(self, image, axis, exclusive, type):
        return self.call("tw_scan", image, np.empty(image.shape, type),
                         ctypes.byref(Scan(AXES.index(axis), exclusive)))

    def integral(self, image, type):
        height, width = image.shape[:2]
        return self.call("tw_integral", image, np.empty((height + 1, width + 1) + image.shape[2:], type))

    def derivative_mask(self, derivative, along_y):
        mask = np.empty((3, 3), np.int32)
        self.check(self.functions.tw_derivative_mask(DERIVATIVES.index(derivative), int(along_y),
                                                   ctypes.c_void_p(mask.ctypes.data)))
        return mask

    def footprint(self, shape, width, height):
        result = np.empty((height, width), np.uint8)
        self.check(self.functions.tw_footprint(SHAPES.index(shape), width, height, ctypes.c_void_p(result.ctypes.data)))
        return result
