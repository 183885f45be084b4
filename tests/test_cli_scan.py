#!/usr/bin/env python3
"""scan and integral on the command line: sums, types, sizes.

usage: test_cli_scan.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import struct
import sys
import unittest
from itertools import accumulate

sys.dont_write_bytecode = True

from test_cli import CommandTest, npy, pgm

ROWS = [[10 * y + x for x in range(5)] for y in range(3)]
FLAT = [value for row in ROWS for value in row]
LINES = {
    (): [sum_ for row in ROWS for sum_ in accumulate(row)],
    ("--axis", "x", "--exclusive"): [sum_ for row in ROWS for sum_ in accumulate([0] + row[:-1])],
    ("--axis", "y"): [sum(ROWS[j][x] for j in range(y + 1)) for y in range(3) for x in range(5)],
    ("--axis", "all"): list(accumulate(FLAT)),
    ("--axis", "all", "--exclusive"): list(accumulate([0] + FLAT[:-1])),
}
CODES = {"<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q", "<f4": "f", "<f8": "d"}


class Sums(CommandTest):
    def sums(self, kind, count, *line, stdin):
        """The elements of the .npy that the command writes."""
        self.works(*line, "-", "out.npy", stdin=stdin)
        result = self.read("out.npy")
        self.assertIn(b"'descr': '%s'" % kind.encode(), result)
        code = CODES[kind]
        return list(struct.unpack("<%d%s" % (count, code), result[-count * struct.calcsize("<" + code):]))

    def test_lines(self):
        for more, expected in LINES.items():
            for variant in ([], ["--variant", "reference"]):
                with self.subTest(more=more, variant=variant):
                    self.assertEqual(self.sums("<u4", 15, "scan", *more, *variant, stdin=pgm(ROWS)), expected)

    def test_integral(self):
        sums = self.sums("<u4", 24, "integral", stdin=pgm(ROWS))
        self.assertIn(b"'shape': (4, 6)", self.read("out.npy"))
        self.assertEqual(sums, [sum(sum(row[:x]) for row in ROWS[:y]) for y in range(4) for x in range(6)])

    def test_the_type_of_the_result(self):
        for source, width, more, kind in (("|u1", 3, [], "<u4"), ("<u2", 3, [], "<u4"), ("<u2", 65537, [], "<u4"),
                                          ("<u2", 65538, [], "<u8"), ("<i2", 65536, [], "<i4"), ("<i2", 65537, [], "<i8"),
                                          ("<i4", 3, [], "<i8"), ("<f4", 3, [], "<f4"), ("<f8", 3, [], "<f8"),
                                          ("<f4", 3, ["--dtype", "f64"], "<f8"), ("|u1", 3, ["--dtype", "f64"], "<f8"),
                                          ("|u1", 3, ["--dtype", "u64"], "<u8")):
            with self.subTest(source=source, width=width, more=more):
                stdin = npy((1, width), source, bytes(width * int(source[-1])))
                self.assertEqual(self.sums(kind, width, "scan", *more, stdin=stdin), [0] * width)

    def test_wrong_lines(self):
        source = {"stdin": pgm(ROWS)}
        self.fails(2, ["scan", "--axis", "z", "-", "out.npy"], "'z'", "x, y or all", **source)
        self.fails(2, ["scan", "--dtype", "u8", "-", "out.npy"], "u8", "u32", **source)
        self.fails(2, ["scan", "--dtype", "i32", "-", "out.npy"], "i32 of u8", "u32 or u64", **source)
        self.fails(2, ["scan", "-", "out.png"], "u32", ".npy", **source)
        self.fails(2, ["integral", "--exclusive", "-", "out.npy"], "--exclusive", **source)
        self.fails(2, ["integral", "--dtype", "f32", "-", "out.npy"], "f32", **source)
        self.fails(5, ["scan", "--dtype", "i32", "-", "out.npy"], "65537 values of i16", "i32",
                   stdin=npy((1, 65537), "<i2", bytes(2 * 65537)))
        self.fails(2, ["explain", "lut", "--to", "u32", "--list"], "u32")

    def test_bench_and_verify(self):
        for op in ("scan", "integral"):
            for line in self.works("verify", op, "--device", "cpu", "--cases", "3").decode().splitlines():
                self.assertRegex(line, r"\A\d+x\d+(, \w+=PASS)+\Z")
        for line in (["scan", "--axis", "all", "--exclusive"], ["scan", "--axis", "y", "--to", "f64"], ["integral"]):
            line = ["bench", *line, "--size", "64x48", "--device", "cpu", "--threads", "1", "--json"]
            for row in json.loads(self.works(*line))["variants"]:
                self.assertTrue(row["timed"], row)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
