#!/usr/bin/env python3
"""The filters of NPP, CuPy and PyTorch (cuDNN) on the GPU, and tilewise's on the same work in the same run.

    python3 bench/peers_gpu.py TILEWISE [--side N] [--by WORDS] [--list] [PROBLEM...]

TILEWISE is the command. Images of N x N (16384) pixels, random, on the device; the border is replicate. A problem is a name
from --list, or the beginning of names; without one, all of them, which takes some minutes. WORDS, separated by commas, choose
the variants and peers in whose names they are. Each peer's result on a small image is compared with that of tilewise; what a
peer lacks is said in its line. The copy has as many bytes as the problem's images, by CuPy beside peers and by tilewise
beside its variants. PyTorch has no filters of bytes: it gets f32 or f16, converted before the clock runs.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import time

import numpy

try:
    import cupy
    import cupyx.scipy.ndimage as ndimage
    import peers_npp
except ImportError:
    cupy = None
try:
    import torch
except ImportError:
    torch = None

TYPES = {"uint8": "u8", "uint16": "u16", "int16": "i16", "float32": "f32"}
PAIRS = 3  # of images, taken in turn: 16384x16384 bytes are beyond the caches
CHECKED = 701  # the side of the image whose result is compared
BORDER = 32  # of it: peers that have another border, or none, still agree inside


# ---- Clocks

def events_ms(work, calls):
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for i in range(calls):
        work(i % PAIRS)
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end) / calls


def measure(work):
    """Milliseconds a call, sorted: nine figures of about 20 ms, fewer where a call takes long."""
    events_ms(work, 1)
    once = events_ms(work, 1)
    if once > 400:
        return [once]
    return sorted(events_ms(work, max(1, min(100, int(20 / once)))) for _ in range(9 if once < 50 else 3))


def middle(times):
    return times[len(times) // 2]


# ---- Masks

def mask_of(side):
    """Small positive integers that are no product of a column and a row, and the same turned by 180 degrees."""
    at = numpy.arange(side) - side // 2
    x, y = numpy.meshgrid(at, at)
    return (1 + (3 * x * x + 5 * x * y + 2 * y * y) % 7).astype(numpy.int32)


def mean_of(side):
    """The same as f32, with the sum 1."""
    return (mask_of(side) / mask_of(side).sum()).astype(numpy.float32)


def gaussian_weights(sigma):
    at = numpy.arange(-math.ceil(4 * sigma), math.ceil(4 * sigma) + 1)
    weights = numpy.exp(-at * at / (2 * sigma * sigma))
    return weights / weights.sum()


# ---- Peers: functions of (src, dst), lists of PAIRS images, that return work(i), a call on one of these pairs

def torch_peer(function, dtype):
    """PyTorch makes a new result each time: the last one is work.last."""
    def peer(src, _):
        images = [torch.as_tensor(image, device="cuda").to(dtype)[None, None] for image in src]

        def work(i):
            work.last = function(images[i])

        return work

    return peer


def torch_correlate(mask, name):
    def peer(src, dst):
        dtype = getattr(torch, name)
        weights = torch.as_tensor(mask, device="cuda").to(dtype)[None, None]
        return torch_peer(lambda image: torch.nn.functional.conv2d(image, weights, padding=len(mask) // 2), dtype)(src, dst)

    return peer


def torch_pool(name, side):
    def peer(src, dst):
        pool = getattr(torch.nn.functional, name)
        return torch_peer(lambda image: pool(image, side, 1, side // 2), torch.float16)(src, dst)

    return peer


def cupy_peer(name, *arguments):
    def peer(src, dst):
        function = getattr(ndimage, name)
        values = [cupy.asarray(each) if isinstance(each, numpy.ndarray) else each for each in arguments]
        return lambda i: function(src[i], *values, output=dst[i], mode="nearest")

    return peer


def cupy_round_trip(name, *arguments):
    """With the upload from ordinary memory and the download to it."""
    def peer(src, dst):
        host = cupy.asnumpy(src[0])
        result = numpy.empty_like(host)
        filtered = cupy_peer(name, *arguments)(src, dst)

        def work(i):
            src[i].set(host)
            filtered(i)
            dst[i].get(out=result)

        work.round_trip = True
        return work

    return peer


def npp_peer(name, *arguments):
    return lambda src, dst: getattr(peers_npp, name)(src, dst, *arguments)


def correlate_peers(side):
    mask, mean = mask_of(side), mean_of(side)
    return {
        "NPP, int mask": npp_peer("correlate", mask, int(mask.sum())),
        "NPP, f32 mask": npp_peer("correlate", mean, 1),
        "CuPy correlate": cupy_peer("correlate", mean),
        "cuDNN by PyTorch, f16": torch_correlate(mean, "float16"),
        "cuDNN by PyTorch, f32": torch_correlate(mean, "float32"),
    }


def correlate_f32_peers(side):
    mean = mean_of(side)
    return {
        "NPP": npp_peer("correlate", mean, 1),
        "CuPy correlate": cupy_peer("correlate", mean),
        "cuDNN by PyTorch, f32": torch_correlate(mean, "float32"),
    }


def gaussian_peers(sigma):
    return {
        "NPP": npp_peer("gaussian", gaussian_weights(sigma)),
        "CuPy gaussian_filter": cupy_peer("gaussian_filter", sigma),
    }


def box_peers(side):
    return {
        "NPP": npp_peer("box", side),
        "CuPy uniform_filter": cupy_peer("uniform_filter", side),
        "PyTorch avg_pool2d, f16": torch_pool("avg_pool2d", side),
        "CuPy, round trip": cupy_round_trip("uniform_filter", side),
    }


def max_peers(side):
    peers = {
        "NPP max": npp_peer("maximum", side),
        "CuPy maximum_filter": cupy_peer("maximum_filter", side),
        "PyTorch max_pool2d, f16": torch_pool("max_pool2d", side),
    }
    return {"NPP dilate": npp_peer("dilate"), **peers} if side == 3 else peers


def median_peers(side):
    return {
        "NPP, inner part": npp_peer("median", side),
        "CuPy median_filter": cupy_peer("median_filter", side),
    }


SOBEL_PEERS = {"NPP": npp_peer("sobel"), "CuPy sobel": cupy_peer("sobel", 1)}
LAPLACIAN_PEERS = {"NPP (of 8 neighbours)": npp_peer("laplacian"), "CuPy laplace": cupy_peer("laplace")}


# ---- Problems

class Problem:
    """`command` is tilewise's, with its options; `variants` are those that are timed."""

    def __init__(self, name, command, peers, variants, src="uint8", dst=None, mask=None):
        self.name = name
        self.command = command.split()
        self.peers = peers
        self.variants = variants
        self.src = numpy.dtype(src)
        self.dst = numpy.dtype(dst or src)
        self.mask = mask

    def choose(self, words):
        """Leaves the variants and peers with one of the words in their names."""
        def chosen(name):
            return any(word in name for word in words)

        self.variants = ",".join(filter(chosen, self.variants.split(",")))
        self.peers = {name: peer for name, peer in self.peers.items() if chosen(name)}

    def options(self, folder):
        """The options, with a mask in a file."""
        options = self.command[1:] + ["--border", "replicate", "--device", "cuda"]
        if self.mask is not None:
            path = f"{folder}/{self.name}.npy"
            numpy.save(path, self.mask)
            options += ["--mask", path]
        return options


def correlate_problem(side, variants):
    mask = mask_of(side)
    return Problem(f"correlate-{side}x{side}", f"correlate --divisor {mask.sum()}", correlate_peers(side), variants,
                   mask=mask)


def correlate_f32_problem(side, variants):
    return Problem(f"correlate-f32-{side}x{side}", "correlate", correlate_f32_peers(side), variants, src="float32",
                   mask=mean_of(side))


def median_wide_problem(dtype, side, variants):
    return Problem(f"median-{TYPES[dtype]}-{side}x{side}", f"median --radius {side // 2}", median_peers(side), variants,
                   src=dtype)


PROBLEMS = [
    Problem("box-3x3", "box --radius 1", box_peers(3), "registers"),
    Problem("box-31x31", "box --radius 15", box_peers(31), "tensor"),
    correlate_problem(5, "registers,tensor,direct,readonly,tiled,texture"),
    correlate_problem(15, "tensor"),
    correlate_f32_problem(5, "registers"),
    correlate_f32_problem(15, "blocked"),
    correlate_f32_problem(31, "blocked"),
    Problem("gaussian-1", "gaussian --sigma 1", gaussian_peers(1), "tensor"),
    Problem("gaussian-5", "gaussian --sigma 5", gaussian_peers(5), "tensor"),
    Problem("max-3x3", "max --radius 1", max_peers(3), "registers,tiled,direct"),
    Problem("max-31x31", "max --radius 15", max_peers(31), "herk"),
    Problem("median-3x3", "median --radius 1", median_peers(3), "registers"),
    Problem("median-5x5", "median --radius 2", median_peers(5), "columns"),
    Problem("median-15x15", "median --radius 7", median_peers(15), "histogram"),
    median_wide_problem("uint16", 15, "places"),
    median_wide_problem("float32", 7, "halving"),
    median_wide_problem("float32", 15, "places"),
    median_wide_problem("float32", 31, "places"),
    Problem("sobel", "sobel", SOBEL_PEERS, "registers", dst="int16"),
    Problem("laplacian", "laplacian", LAPLACIAN_PEERS, "registers", dst="int16"),
]


def random_image(dtype, side):
    if dtype.kind == "u":
        return cupy.random.randint(0, 256**dtype.itemsize, (side, side), dtype=dtype)
    return cupy.random.randint(0, 256, (side, side), dtype=cupy.uint8).astype(dtype) / dtype.type(255)


def images(problem, side):
    src = [random_image(problem.src, side) for _ in range(PAIRS)]
    return src, [cupy.zeros((side, side), dtype=problem.dst) for _ in range(PAIRS)]


# ---- Results

def ours(tilewise, problem, folder, image):
    numpy.save(f"{folder}/in.npy", image)
    subprocess.run([tilewise, problem.command[0], *problem.options(folder), "--dtype", TYPES[problem.dst.name],
                    f"{folder}/in.npy", f"{folder}/out.npy"], check=True, stdout=subprocess.DEVNULL)
    return numpy.load(f"{folder}/out.npy")


def compared(work, dst, expected):
    """What the peer's result on the small image is, beside `expected`."""
    dst[0].fill(0)
    work(0)
    cupy.cuda.Device().synchronize()
    got = dst[0]
    if hasattr(work, "last"):  # floats: their whole part, but for rounding just below it
        got = cupy.asarray(work.last[0, 0].float())
        if dst[0].dtype == numpy.uint8:
            got = cupy.floor(got + 1e-3)
    far = numpy.abs(cupy.asnumpy(got).astype(numpy.float64) - expected)
    inner = far[BORDER:-BORDER, BORDER:-BORDER]
    differ = numpy.count_nonzero(inner)
    text = "same" if differ == 0 else f"{100 * differ / inner.size:.2g} % differ, by at most {inner.max():.2g}"
    return text + ("; another border" if far.max() > 2 * inner.max() else "")


def show(who, times, copy, best, result=""):
    """`best`: the milliseconds of tilewise."""
    print(f"  {who:26} {middle(times):10.4f} ms ({times[0]:.4f} to {times[-1]:.4f})  share {copy / middle(times):.4f}  "
          f"{middle(times) / best:9.2f} times ours  {result}", flush=True)


def bench_ours(tilewise, problem, side, folder):
    """Prints the variants' lines; the fastest's median is returned, and that of its round trip."""
    command = [tilewise, "bench", problem.command[0], *problem.options(folder), "--size", f"{side}x{side}", "--dtype",
               TYPES[problem.src.name], "--variant", problem.variants, "--json"]
    if problem.dst != problem.src:
        command += ["--to", TYPES[problem.dst.name]]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    timed = [variant for variant in report["variants"] if variant["timed"]]
    print(f"  {'copy kernel':26} {report['copy']['kernel_ms']['median']:10.4f} ms")
    best = min(timed, key=lambda variant: variant["kernel_ms"]["median"])
    for variant in timed:
        figures = variant["kernel_ms"]
        show("tilewise " + variant["name"], [figures["min"], figures["median"], figures["max"]],
             variant["share_of_copy"]["median"] * figures["median"], best["kernel_ms"]["median"])
    round_trip = best["roundtrip_ms"]["median"]
    print(f"  {'tilewise, round trip':26} {round_trip:10.4f} ms")
    return best["kernel_ms"]["median"], round_trip


def copy_ms(problem, side):
    """Of as many bytes as the filter reads and writes."""
    size = side * side * (problem.src.itemsize + problem.dst.itemsize) // 2
    rows = [cupy.empty(size, dtype=cupy.uint8) for _ in range(2 * PAIRS)]
    return measure(lambda i: cupy.copyto(rows[2 * i], rows[2 * i + 1]))


def run_problem(tilewise, problem, side, folder):
    print(f"{problem.name}, {side}x{side} {problem.src.name} to {problem.dst.name}", flush=True)
    best, round_trip = bench_ours(tilewise, problem, side, folder)
    if not cupy:
        print("  no peers: CuPy, which holds their images, cannot be imported")
        return
    copy = copy_ms(problem, side)
    show("copy by CuPy", copy, middle(copy), best)
    small, large = images(problem, CHECKED), images(problem, side)
    expected = ours(tilewise, problem, folder, cupy.asnumpy(small[0][0])).astype(numpy.float64)
    for name, make in problem.peers.items():
        try:
            result = compared(make(*small), small[1], expected)
            work = make(*large)
            show(name, measure(work), middle(copy), round_trip if hasattr(work, "round_trip") else best, result)
        except Exception as error:  # what a peer cannot do is no reason to stop
            print(f"  {name:26} not measured: {type(error).__name__} {error}"[:200], flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
        if torch:
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilewise")
    parser.add_argument("--side", type=int, default=16384)
    parser.add_argument("--by", metavar="WORDS")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("problems", nargs="*")
    arguments = parser.parse_intermixed_args()
    names = arguments.problems or [""]
    chosen = [problem for name in names for problem in PROBLEMS if problem.name.startswith(name)]
    if arguments.list or not chosen:
        print("\n".join(problem.name for problem in PROBLEMS))
        sys.exit(not arguments.list)
    for problem in chosen:
        if arguments.by:
            problem.choose(arguments.by.split(","))
        if not problem.variants:
            parser.error(f"--by {arguments.by} leaves no variant of {problem.name}: peers are compared with one")
    if torch:
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    if cupy:
        print(f"CuPy {cupy.__version__} on {cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for problem in chosen:
            begin = time.monotonic()
            run_problem(arguments.tilewise, problem, arguments.side, folder)
            print(f"  ({time.monotonic() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
