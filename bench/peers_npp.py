"""NVIDIA's NPP on CuPy arrays, through its C interface. Every function returns work(i), one call on images src[i], dst[i]."""
import ctypes
import ctypes.util
import glob
import sys

import cupy
import numpy

REPLICATE = 2     # NppiBorderType: the only border that all of these filters have
MASK_3_X_3 = 200  # NppiMaskSize
PLACES = ("/usr/local/cuda*/lib64", *(f"{folder}/nvidia/*/lib" for folder in sys.path))  # the toolkit's, then pip's


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class StreamContext(ctypes.Structure):
    _fields_ = [("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("multiprocessors", ctypes.c_int),
                ("threads_per_multiprocessor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
                ("shared", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("flags", ctypes.c_uint), ("reserved", ctypes.c_int)]


def library(name):
    found = ctypes.util.find_library(name)
    for place in PLACES:
        found = found or next(iter(sorted(glob.glob(f"{place}/lib{name}.so*"))), None)
    if not found:
        raise OSError(f"no lib{name}")
    return ctypes.CDLL(found, mode=ctypes.RTLD_GLOBAL)


def load():
    library("nppc")  # the others need it
    return {name: library(name) for name in ("nppif", "nppim")}


def context():
    has = cupy.cuda.runtime.getDeviceProperties(0)
    return StreamContext(None, 0, has["multiProcessorCount"], has["maxThreadsPerMultiProcessor"],
                         has["maxThreadsPerBlock"], has["sharedMemPerBlock"], has["major"], has["minor"], 0, 0)


def address(array, elements=0):
    return ctypes.c_void_p(array.data.ptr + elements * array.itemsize)


def bordered(name, src, dst, *rest, part="nppif"):
    """A filter with a border: `rest` is what stands between the region and the border, arrays for their addresses."""
    function = getattr(load()[part], name)
    size, here = Size(src[0].shape[1], src[0].shape[0]), context()

    def work(i):
        between = [address(each) if isinstance(each, cupy.ndarray) else each for each in rest]
        status = function(address(src[i]), src[i].strides[0], size, Point(0, 0), address(dst[i]), dst[i].strides[0],
                          size, *between, REPLICATE, here)
        if status != 0:
            raise OSError(f"{name}: status {status}")

    return work


def window(side):
    return Size(side, side), Point(side // 2, side // 2)


def box(src, dst, side):
    return bordered("nppiFilterBoxBorder_8u_C1R_Ctx", src, dst, *window(side))


def correlate(src, dst, mask, divisor):
    """`mask` is the same turned by 180 degrees: it does not matter in which order NPP wants it."""
    values, shape = cupy.asarray(mask), window(len(mask))
    if src[0].dtype == numpy.float32:
        return bordered("nppiFilterBorder_32f_C1R_Ctx", src, dst, values, *shape)
    if values.dtype == numpy.float32:
        return bordered("nppiFilterBorder32f_8u_C1R_Ctx", src, dst, values, *shape)
    return bordered("nppiFilterBorder_8u_C1R_Ctx", src, dst, values, *shape, divisor)


def gaussian(src, dst, weights):
    values = cupy.asarray(weights, dtype=cupy.float32)
    return bordered("nppiFilterGaussAdvancedBorder_8u_C1R_Ctx", src, dst, len(weights), values)


def maximum(src, dst, side):
    return bordered("nppiFilterMaxBorder_8u_C1R_Ctx", src, dst, *window(side))


def dilate(src, dst):
    return bordered("nppiDilate3x3Border_8u_C1R_Ctx", src, dst, part="nppim")


def sobel(src, dst):
    return bordered("nppiFilterSobelVertBorder_8u16s_C1R_Ctx", src, dst, MASK_3_X_3)


def laplacian(src, dst):
    return bordered("nppiFilterLaplaceBorder_8u16s_C1R_Ctx", src, dst, MASK_3_X_3)


def median(src, dst, side):
    """Without a border: it makes the inner part alone."""
    npp, here = load()["nppif"], context()
    kind = {"uint8": "8u", "uint16": "16u", "float32": "32f"}[src[0].dtype.name]
    function, needed = (getattr(npp, f"nppiFilterMedian{name}_{kind}_C1R_Ctx") for name in ("", "GetBufferSize"))
    height, width = src[0].shape
    inner, first = Size(width - side + 1, height - side + 1), side // 2 * (width + 1)
    bytes_needed = ctypes.c_uint64(0)
    needed(inner, window(side)[0], ctypes.byref(bytes_needed), here)
    buffer = cupy.empty(bytes_needed.value + 1024, dtype=cupy.uint8)

    def work(i):
        status = function(address(src[i], first), src[i].strides[0], address(dst[i], first), dst[i].strides[0], inner,
                          *window(side), address(buffer), here)
        if status != 0:
            raise OSError(f"median: status {status}")

    return work
