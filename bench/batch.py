#!/usr/bin/env python3
"""Many files: a loop of single calls, one worker, and as many as there are processors, in turn, on the same images.

usage: bench/batch.py PROGRAM [FILES [WIDTHxHEIGHT [ROUNDS [FILTER...]]]], such as
       bench/batch.py build/tilewise 24 1500x1000 7 box -r 2"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time


def make_images(program, folder, count, width, height):
    """Gradients and steps with a little noise, of three channels: PNGs of about half their pixels' bytes."""
    draw = random.Random(1)
    for index in range(count):
        noise = draw.randbytes(width * 3 * 8)
        rows = []
        for y in range(height):
            at = y * 977 * (index + 1) % (len(noise) - width * 3)
            grey = y * 200 // height
            rows.append(bytes(grey + x // 12 % 40 + (n >> 5) & 255 for x, n in enumerate(noise[at : at + width * 3])))
        body = b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)
        name = folder / "in" / f"{index:03}.png"
        copy = [program, "box", "-r", "0", "--device", "cpu", "--format", "png", "-", "-"]
        subprocess.run(copy, input=body, check=True, stdout=name.open("wb"))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    width, height = map(int, sys.argv[3].split("x")) if len(sys.argv) > 3 else (1500, 1000)
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    line = [program, *(sys.argv[5:] or ["box", "-r", "2"])]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        make_images(program, folder, count, width, height)
        os.chdir(folder)
        names = sorted(os.listdir("in"))
        pixels = sum(os.path.getsize("in/" + one) for one in names) / count
        print(f"{count} PNG of {width}x{height}, {pixels / 1e6:.2f} MB each: {' '.join(line[1:])}")

        def loop():
            for one in names:
                subprocess.run([*line, "in/" + one, "out/" + one], check=True)

        ways = {
            "a call a file": loop,
            "--threads 1": lambda: subprocess.run([*line, "-q", "--threads", "1", "in/*.png", "out/"], check=True),
            "all threads": lambda: subprocess.run([*line, "-q", "in/*.png", "out/"], check=True),
        }
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way, work in ways.items():
                times[way].append(seconds(work))
        for way, taken in times.items():
            shares = [a / b for a, b in zip(times["a call a file"], taken)]
            print(f"{way:14} {statistics.median(taken):.3f} s ({min(taken):.3f} to {max(taken):.3f}), "
                  f"{statistics.median(shares):.2f} times a call a file ({min(shares):.2f} to {max(shares):.2f})")


if __name__ == "__main__":
    main()
