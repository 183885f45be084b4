#!/usr/bin/env python3
"""transpose, rotate, flip and lut on the command line: pixels, sizes, types, and what a file says beside its pixels.

usage: test_cli_turns.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import struct
import sys
import unittest

sys.dont_write_bytecode = True

from test_cli import CommandTest, npy, pgm, pgm_rows, png, tiff, tiff_doubles

ROWS = [[10 * y + x for x in range(5)] for y in range(3)]
TRANSPOSED = [list(column) for column in zip(*ROWS)]
SCALE, TIES, MATRIX = 33550, 33922, 34264


def mirrored(rows):
    return [row[::-1] for row in rows]


TURNS = {
    ("transpose",): TRANSPOSED,
    ("rotate", "--degrees", "90"): mirrored(TRANSPOSED),
    ("rotate", "--degrees", "180"): mirrored(ROWS)[::-1],
    ("rotate", "--degrees", "270"): TRANSPOSED[::-1],
    ("flip", "--axis", "horizontal"): mirrored(ROWS),
    ("flip", "--axis", "vertical"): ROWS[::-1],
    ("flip", "--axis", "both"): mirrored(ROWS)[::-1],
}


class Turns(CommandTest):
    def test_pixels(self):
        for line, expected in TURNS.items():
            for more in ([], ["--variant", "reference"]):
                with self.subTest(line=line, more=more):
                    self.assertEqual(pgm_rows(self.works(*line, *more, "-", "-", stdin=pgm(ROWS))), expected)

    def test_a_view_is_turned_alone(self):
        rows = pgm_rows(self.works("transpose", "--view", "1,1,3,2", "-", "-", stdin=pgm(ROWS)))
        self.assertEqual(rows, [[11, 21], [12, 22], [13, 23]])

    def test_channels_stay_together(self):
        out = self.works("transpose", "-", "-", stdin=npy((1, 3, 3), "|u1", bytes(range(9))))
        self.assertIn(b"'shape': (3, 1, 3)", out)
        self.assertEqual(out[-9:], bytes(range(9)))

    def test_wrong_lines(self):
        for line, words in ((["rotate"], ["--degrees"]), (["rotate", "--degrees", "45"], ["'45'", "90, 180 or 270"]),
                            (["flip"], ["--axis"]), (["flip", "--axis", "x"], ["'x'", "horizontal"]),
                            (["transpose", "--dtype", "f32"], ["--dtype f32", "u8"]),
                            (["transpose", "--border", "zero"], ["--border"]), (["transpose", "-r", "1"], ["-r"])):
            with self.subTest(line=line):
                self.fails(2, [*line, "in.pgm", "out.pgm"], *words)

    def test_problems(self):
        text = self.works("explain", "--list", "--json", "rotate", "--degrees", "270", "--size", "30x20")
        self.assertRegex(json.loads(text)["problem"], r"^transpose u8 c1 30x20 \w+ rotate-270$")
        self.fails(2, ["bench", "transpose", "--to", "f32", "--size", "8"], "--to f32")
        self.fails(2, ["bench", "flip", "--size", "8"], "--axis")


class Metadata(CommandTest):
    def place(self, data, x, y):
        """Where the file's matrix, or its scale and point, put the raster position."""
        matrix = tiff_doubles(data, MATRIX)
        if matrix:
            return [matrix[i] * x + matrix[i + 1] * y + matrix[i + 3] for i in (0, 4)]
        scale, tie = tiff_doubles(data, SCALE), tiff_doubles(data, TIES)
        return [tie[3] + (x - tie[0]) * scale[0], tie[4] - (y - tie[1]) * scale[1]]

    def test_every_corner_keeps_its_place(self):
        width, height = 5, 3
        moved = {
            ("transpose",): lambda x, y: (y, x),
            ("rotate", "--degrees", "90"): lambda x, y: (height - y, x),
            ("rotate", "--degrees", "180"): lambda x, y: (width - x, height - y),
            ("rotate", "--degrees", "270"): lambda x, y: (y, width - x),
            ("flip", "--axis", "horizontal"): lambda x, y: (width - x, y),
            ("flip", "--axis", "vertical"): lambda x, y: (x, height - y),
        }
        slanted = [2.0, 0.5, 0.0, 1000.0, -0.25, 3.0, 0.0, 2000.0] + [0.0] * 7 + [1.0]
        for doubles in ({SCALE: [10.0, 20.0, 0.0], TIES: [1.0, 2.0, 0.0, 500.0, 700.0, 0.0]}, {MATRIX: slanted}):
            source = tiff([ROWS], doubles)
            self.write("in.tif", source)
            for line, to in moved.items():
                with self.subTest(line=line, doubles=doubles):
                    self.works(*line, "in.tif", "out.tif")
                    result = self.read("out.tif")
                    self.assertIsNone(tiff_doubles(result, SCALE))
                    for x, y in ((0, 0), (width, 0), (0, height), (2, 1)):
                        for a, b in zip(self.place(result, *to(x, y)), self.place(source, x, y)):
                            self.assertAlmostEqual(a, b)

    def test_ground_points_go_with_their_pixels(self):
        self.write("in.tif", tiff([ROWS], {TIES: [0.0, 0.0, 0.0, 7.0, 8.0, 0.0, 5.0, 1.0, 0.0, 9.0, 6.0, 0.0]}))
        self.works("rotate", "--degrees", "90", "in.tif", "out.tif")
        self.assertEqual(tiff_doubles(self.read("out.tif"), TIES),
                         [3.0, 0.0, 0.0, 7.0, 8.0, 0.0, 2.0, 5.0, 0.0, 9.0, 6.0, 0.0])

    def test_what_cannot_be_turned_is_dropped(self):
        for doubles in ({SCALE: [10.0, 20.0, 0.0]}, {SCALE: [1.0, 2.0], TIES: [0.0] * 5}, {MATRIX: [1.0] * 15}):
            with self.subTest(doubles=doubles):
                self.write("in.tif", tiff([ROWS], doubles))
                self.works("transpose", "in.tif", "out.tif")
                for tag in (SCALE, TIES, MATRIX):
                    self.assertIsNone(tiff_doubles(self.read("out.tif"), tag))

    def exif(self, orientation):
        """A block with a maker's name, an orientation and a resolution of 300 x 100 an inch."""
        entries = [(0x10f, 2, 4, 0x636261), (0x112, 3, 1, orientation), (0x11a, 5, 1, 74), (0x11b, 5, 1, 82),
                   (0x128, 3, 1, 2)]
        body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        return b"II*\0\x08\0\0\0" + body + b"\0\0\0\0" + struct.pack("<IIII", 300, 1, 100, 1)

    def short_tag(self, data, wanted):
        order = "<" if data[:2] == b"II" else ">"
        (at,) = struct.unpack_from(order + "I", data, 4)
        for entry in range(struct.unpack_from(order + "H", data, at)[0]):
            tag, kind, count, value = struct.unpack_from(order + "HHIH", data, at + 2 + 12 * entry)
            if tag == wanted:
                return value
        return None

    def test_the_orientation_becomes_one_and_the_resolution_turns(self):
        physical = struct.pack(">IIB", 11811, 3937, 1)
        self.write("in.png", png(ROWS, [(b"pHYs", physical), (b"eXIf", self.exif(6))]))
        self.works("rotate", "--degrees", "90", "in.png", "out.png")
        result = self.read("out.png")
        at = result.index(b"pHYs")
        self.assertEqual(struct.unpack_from(">IIB", result, at + 4), (3937, 11811, 1))
        at = result.index(b"eXIf")
        (size,) = struct.unpack_from(">I", result, at - 4)
        self.assertEqual(self.short_tag(result[at + 4 : at + 4 + size], 0x112), 1)
        self.assertIn(b"abc", result[at:])
        self.works("flip", "--axis", "horizontal", "in.png", "out.tif")
        self.assertEqual(self.short_tag(self.read("out.tif"), 274), 1)

    def test_an_orientation_in_xmp_becomes_one(self):
        xmp = b"XML:com.adobe.xmp\0\0\0\0\0" + b'<x tiff:Orientation="8"/><tiff:Orientation>3</tiff:Orientation>'
        self.write("in.png", png(ROWS, [(b"iTXt", xmp)]))
        self.works("transpose", "in.png", "out.png")
        result = self.read("out.png")
        self.assertIn(b'tiff:Orientation="1"', result)
        self.assertIn(b"<tiff:Orientation>1</tiff:Orientation>", result)


class Tables(CommandTest):
    def table(self, values, kind="|u1", rows=1):
        shape = (len(values),) if rows == 1 else (rows, len(values) // rows)
        code = {"|u1": "B", "<u2": "H", "<i8": "q", "<f4": "f", "<f8": "d"}[kind]
        return self.write("table.npy", npy(shape, kind, struct.pack("<%d%s" % (len(values), code), *values)))

    def test_bytes(self):
        self.table([255 - i for i in range(256)])
        expected = [[255 - v for v in row] for row in ROWS]
        self.assertEqual(pgm_rows(self.works("lut", "--table", "table.npy", "-", "-", stdin=pgm(ROWS))), expected)
        self.table([255 - i for i in range(256)], "<i8")
        self.assertEqual(pgm_rows(self.works("lut", "--table", "table.npy", "-", "-", stdin=pgm(ROWS))), expected)
        self.write("table.txt", " ".join(str(255 - i) for i in range(256)).encode())
        self.assertEqual(pgm_rows(self.works("lut", "--table", "table.txt", "-", "-", stdin=pgm(ROWS))), expected)

    def test_a_row_for_each_channel(self):
        self.table([(i + 100 * c) % 256 for c in range(3) for i in range(256)], rows=3)
        out = self.works("lut", "--table", "table.npy", "-", "-", stdin=npy((1, 2, 3), "|u1", bytes([1, 2, 3, 4, 5, 6])))
        self.assertEqual(list(out[-6:]), [1, 102, 203, 4, 105, 206])

    def test_the_type_of_the_result(self):
        for values, more, kind in (([i for i in range(256)], [], b"|u1"), ([i + 1 for i in range(256)], [], b"<u2"),
                                   ([-i for i in range(256)], [], b"<i2"), ([-99999] * 256, [], b"<i4"),
                                   ([0.5] * 256, [], b"<f4"), ([0.1] * 256, [], b"<f8"),
                                   ([0.1] * 256, ["--dtype", "f32"], b"<f4"), ([7] * 256, ["--dtype", "i32"], b"<i4")):
            with self.subTest(values=values[:2], more=more):
                self.table(values, "<f8")
                out = self.works("lut", "--table", "table.npy", *more, "-", "-", stdin=npy((3, 5), "|u1", bytes(15)))
                self.assertIn(b"'descr': '%s'" % kind, out)

    def test_floats_that_are_no_numbers(self):
        values = [float("-inf"), float("nan"), -0.0, *range(3, 256)]
        self.table(values, "<f4")
        source = npy((1, 4), "|u1", bytes(range(4)))
        out = self.works("lut", "--table", "table.npy", "-", "-", stdin=source)
        self.assertIn(b"'descr': '<f4'", out)
        self.assertEqual(out[-16:], struct.pack("<4f", *values[:4]))
        self.fails(2, ["lut", "--table", "table.npy", "--dtype", "u8", "-", "out.npy"], "inf", "u8", stdin=source)
        self.table([-0.0] * 256, "<f4")
        self.assertIn(b"'descr': '<f4'", self.works("lut", "--table", "table.npy", "-", "-", stdin=source))
        out = self.works("lut", "--table", "table.npy", "--dtype", "u8", "-", "-", stdin=source)
        self.assertEqual(out[-4:], bytes(4))
        self.table([1, float("inf"), 1], "<f4")
        self.fails(2, ["correlate", "--mask", "table.npy", "in.pgm", "out.pgm"], "--mask", "NaN or an infinity")

    def test_words(self):
        self.table([(3 * i) % 65536 for i in range(65536)], "<u2")
        source = npy((1, 3), "<u2", struct.pack("<3H", 1, 40000, 65535))
        out = self.works("lut", "--table", "table.npy", "-", "-", stdin=source)
        self.assertEqual(struct.unpack("<3H", out[-6:]), (3, 120000 % 65536, 3 * 65535 % 65536))

    def test_wrong_tables(self):
        self.fails(2, ["lut", "in.pgm", "out.pgm"], "--table")
        self.table([1] * 255)
        self.fails(2, ["lut", "--table", "table.npy", "in.pgm", "out.pgm"], "255 entries", "256")
        self.table([1] * 512, rows=2)
        self.fails(2, ["lut", "--table", "table.npy", "in.pgm", "out.pgm"], "2 rows")
        self.table([2**53 + 1] * 256, "<i8")
        self.fails(2, ["lut", "--table", "table.npy", "in.pgm", "out.npy"], "table.npy", "2^53")
        self.table([0.5] * 256, "<f8")
        self.fails(2, ["lut", "--table", "table.npy", "--dtype", "u8", "in.pgm", "out.pgm"], "0.5", "u8")
        self.fails(2, ["lut", "--table", "table.npy", "in.pgm", "out.png"], "f32")
        self.fails(3, ["lut", "--table", "missing.npy", "in.pgm", "out.pgm"], "missing.npy")
        self.fails(2, ["lut", "--table", "table.npy", "-", "out.npy"], "f32",
                   stdin=npy((1, 1), "<f4", struct.pack("<f", 1)))

    def test_bench_and_verify(self):
        for op in ("lut", "transpose"):
            for line in self.works("verify", op, "--device", "cpu", "--cases", "3").decode().splitlines():
                self.assertRegex(line, r"\A\d+x\d+(, \w+=PASS)+\Z")
        for op, more in (("lut", ["--to", "f32"]), ("transpose", []), ("rotate", ["--degrees", "90"])):
            line = ["bench", op, "--size", "64x48", "--device", "cpu", "--threads", "1", "--json", *more]
            for row in json.loads(self.works(*line))["variants"]:
                self.assertTrue(row["timed"], row)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
