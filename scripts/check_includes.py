#!/usr/bin/env python3
"""Who may include whom: checks every #include of src/ and include/ against the table of docs/design.md."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Patterns of files, most special first -> what their lines may name. `<*>` headers that are neither
# CUDA's, OpenMP's, a codec's nor SIMD's count as the C library's and are free everywhere but in exact.h.
RULES = [
    ("include/tilewise_mpi.h", ["tilewise.h", "<mpi.h>"]),
    ("include/*", []),
    ("src/core/exact.h", []),
    ("src/core/wide.h", ["core/exact.h"]),
    ("src/core/*", ["tilewise.h", "core/*"]),
    ("src/ops/*", ["core/*", "ops/*"]),
    ("src/cpu/*", ["core/*", "cpu/*", "<omp.h>", "<immintrin.h>", "<cpuid.h>"]),
    ("src/cuda/*.cu", ["core/exact.h", "cuda/cuda.h", "cuda/*_kernels.h", "cuda/*.cuh", "<cuda_fp16.h>"]),
    ("src/cuda/*.cuh", ["core/exact.h", "core/wide.h", "cuda/cuda.h", "cuda/*_kernels.h", "cuda/*.cuh"]),
    ("src/cuda/cuda.h", ["core/exact.h"]),
    ("src/cuda/*_kernels.h", []),
    ("src/cuda/*", ["core/*", "cuda/*.h", "<cuda_runtime_api.h>", "<omp.h>"]),
    ("src/io/*", ["tilewise.h", "core/base.h", "core/image.h", "io/*", "<png.h>", "<jpeglib.h>", "<jerror.h>", "<tiffio.h>", "<zlib.h>"]),
    ("src/mpi/command.*", ["tilewise_mpi.h", "io/io.h", "cli/*", "mpi/*"]),
    ("src/mpi/absent.c", ["mpi/command.h"]),
    ("src/mpi/*", ["tilewise_mpi.h", "core/*", "ops/sample.h", "mpi/*"]),
    ("src/verify/*", ["tilewise.h", "core/plan.h", "core/explain.h", "core/element.h", "core/measure.h", "core/random.h", "verify/*"]),
    ("src/cli/*", ["tilewise.h", "io/io.h", "verify/verify.h", "verify/bench.h", "verify/explain.h", "cli/*", "mpi/command.h", "<jansson.h>"]),
]

STANDARD = set(
    "assert ctype errno fcntl float inttypes limits math sched setjmp signal stdarg stdatomic stdbool stddef stdint stdio "
    "stdlib malloc string strings time unistd getopt glob poll pthread sys/mman sys/stat sys/time sys/types sys/resource sys/ioctl sys/file sys/wait spawn".split()
)
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')


def allowed(path, what):
    patterns = next((names for files, names in RULES if fnmatch.fnmatch(path, files)), None)
    if patterns is None:
        return False
    if what.startswith("<") and what[1:-3] in STANDARD:
        few = path.startswith("include/") or path == "src/core/exact.h"
        return what[1:-3] in ("stdint", "stdbool", "stddef", "math") if few else True
    return any(fnmatch.fnmatch(what.strip('"'), pattern) for pattern in patterns)


def main():
    wrong = 0
    files = [p for folder in ("include", "src") for p in sorted((ROOT / folder).rglob("*")) if p.is_file()]
    for file in files:
        if file.suffix not in (".c", ".h", ".cu", ".cuh", ".def", ".inc"):
            continue
        path = file.relative_to(ROOT).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and not allowed(path, match.group(1)):
                print(f"{path}:{number}: may not include {match.group(1)} (see 'Who may include whom' in docs/design.md)")
                wrong += 1
    print(f"{len(files)} files, {wrong} includes against the rules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
