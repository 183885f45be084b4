#!/usr/bin/env python3
"""Medians and maxima by NPP and CuPy on the GPU, beside a plain copy of the same images in the same run.

    python3 bench/peers_order.py npp max|median WINDOW [SIDE]       by libnppif, found by the loader or as $NPP
    python3 bench/peers_order.py cupy max|median WINDOW [SIDE]

A SIDE x SIDE u8 image (default 16384), random bytes. NPP's median has no border: it gets the inner part alone.
"""
import ctypes
import os
import sys

import cupy
import cupyx.scipy.ndimage

REPETITIONS = 5
REPLICATE = 2  # NPP's border


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class StreamContext(ctypes.Structure):
    _fields_ = [("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("multiprocessors", ctypes.c_int),
                ("threads_per_multiprocessor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
                ("shared", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("flags", ctypes.c_uint), ("reserved", ctypes.c_int)]


def device_ms(work):
    """Times by events around one call, after a warm-up, sorted."""
    times = []
    for i in range(REPETITIONS + 1):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work(i % 2)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return sorted(times[1:])


def npp_work(name, window, src, dst):
    side = src[0].shape[0]
    has = cupy.cuda.runtime.getDeviceProperties(0)
    context = StreamContext(None, 0, has["multiProcessorCount"], has["maxThreadsPerMultiProcessor"],
                            has["maxThreadsPerBlock"], has["sharedMemPerBlock"], has["major"], has["minor"], 0, 0)
    path = os.environ.get("NPP", "libnppif.so")
    ctypes.CDLL(path.replace("nppif", "nppc"), mode=ctypes.RTLD_GLOBAL)
    npp = ctypes.CDLL(path)
    mask, anchor = Size(window, window), Point(window // 2, window // 2)
    inner = Size(side - window + 1, side - window + 1)
    buffer = cupy.empty(1, dtype=cupy.uint8)
    if name == "median":
        size = ctypes.c_uint64(0)
        npp.nppiFilterMedianGetBufferSize_8u_C1R_Ctx(inner, mask, ctypes.byref(size), context)
        buffer = cupy.empty(size.value + 1024, dtype=cupy.uint8)

    def address(image, offset=0):
        return ctypes.c_void_p(image.data.ptr + offset)

    def work(i):
        if name == "median":
            status = npp.nppiFilterMedian_8u_C1R_Ctx(address(src[i], window // 2 * (side + 1)), side, address(dst[i]),
                                                     side, inner, mask, anchor, address(buffer), context)
        else:
            status = npp.nppiFilterMaxBorder_8u_C1R_Ctx(address(src[i]), side, Size(side, side), Point(0, 0),
                                                        address(dst[i]), side, Size(side, side), mask, anchor,
                                                        REPLICATE, context)
        if status != 0:
            sys.exit(f"NPP's status {status}")

    return work


def cupy_work(name, window, src, dst):
    filter_of = {"max": cupyx.scipy.ndimage.maximum_filter, "median": cupyx.scipy.ndimage.median_filter}[name]
    return lambda i: filter_of(src[i], window, output=dst[i], mode="nearest")


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ("npp", "cupy") or sys.argv[2] not in ("max", "median"):
        sys.exit(__doc__)
    peer, name, window = sys.argv[1], sys.argv[2], int(sys.argv[3])
    side = int(sys.argv[4]) if len(sys.argv) > 4 else 16384
    src = [cupy.random.randint(0, 256, (side, side), dtype=cupy.uint8) for _ in range(2)]
    dst = [cupy.empty_like(image) for image in src]
    copy = device_ms(lambda i: cupy.copyto(dst[i], src[i]))
    times = device_ms({"npp": npp_work, "cupy": cupy_work}[peer](name, window, src, dst))
    middle = REPETITIONS // 2
    print(f"{peer} {name} {window}x{window} {side}x{side}: {times[middle]:.4f} ms ({times[0]:.4f} to {times[-1]:.4f}), "
          f"copy {copy[middle]:.4f} ms, share {copy[middle] / times[middle]:.4f}")


if __name__ == "__main__":
    main()
