#!/usr/bin/env python3
"""The mean by CuPy and PyTorch on the GPU, beside a plain copy of the same images in the same run.

    python3 bench/peers_gpu.py [SIDE]       a SIDE x SIDE u8 image (default 16384), windows 3x3 and 31x31

PyTorch has no u8 pooling: it gets f16, which holds every byte. A round trip is host clock around upload, filter and
download of ordinary memory.
"""
import sys
import time

import cupy
import cupyx.scipy.ndimage
import numpy
import torch

REPETITIONS = 9


def device_ms(work):
    """Medians of events around one call, after two warm-ups."""
    times = []
    for i in range(REPETITIONS + 2):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work(i)
        end.record()
        end.synchronize()
        torch.cuda.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return sorted(times[2:])


def host_ms(work):
    times = []
    for _ in range(REPETITIONS + 2):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times[2:])


def show(name, times, copy):
    middle = times[len(times) // 2]
    print(f"{name:34} {middle:10.4f} ms ({times[0]:.4f} to {times[-1]:.4f}), share of copy {copy / middle:.4f}", flush=True)


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    images = [cupy.random.randint(0, 256, (side, side), dtype=cupy.uint8) for _ in range(3)]
    results = [cupy.empty_like(images[0]) for _ in range(3)]
    print(f"{side}x{side} u8, CuPy {cupy.__version__}, PyTorch {torch.__version__}")
    times = device_ms(lambda i: cupy.copyto(results[i % 3], images[i % 3]))
    copy = times[len(times) // 2]
    show("copy (CuPy)", times, copy)
    for window in (3, 31):
        show(f"CuPy uniform_filter {window}x{window}", device_ms(
            lambda i: cupyx.scipy.ndimage.uniform_filter(images[i % 3], window, output=results[i % 3], mode="constant")), copy)
    halves = [torch.as_tensor(image, device="cuda").half()[None, None] for image in images[:2]]
    # PyTorch works on a stream of its own default: the legacy one, as CuPy's events
    show("PyTorch avg_pool2d 3x3 f16", device_ms(lambda i: torch.nn.functional.avg_pool2d(halves[i % 2], 3, 1, 1)), copy)
    del halves

    host = numpy.random.randint(0, 256, (side, side), dtype=numpy.uint8)
    out = numpy.empty_like(host)
    image = images[0]

    def round_trip():
        image.set(host)
        cupyx.scipy.ndimage.uniform_filter(image, 3, output=results[0], mode="constant")
        results[0].get(out=out)

    times = host_ms(round_trip)
    print(f"{'CuPy round trip, ordinary memory':34} {times[len(times) // 2]:10.4f} ms ({times[0]:.4f} to {times[-1]:.4f})")


main()
