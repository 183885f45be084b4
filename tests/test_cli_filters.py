#!/usr/bin/env python3
"""The filters of the command beside box: each against a small answer worked out here, their masks, footprints and errors.

usage: test_cli_filters.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import struct
import sys
import unittest

sys.dont_write_bytecode = True

from test_cli import FILTERS, CommandTest, npy, pgm, pgm_rows, run

RAMP = [[10 * x + 50 * y for x in range(5)] for y in range(4)]
DOT = [[9 * (x == y == 2) for x in range(5)] for y in range(5)]
COUNT = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def at(rows, x, y):
    """Border replicate."""
    return rows[min(max(y, 0), len(rows) - 1)][min(max(x, 0), len(rows[0]) - 1)]


def window(rows, x, y, width, height, anchor=None):
    left, top = anchor or (width // 2, height // 2)
    return [[at(rows, x - left + i, y - top + j) for i in range(width)] for j in range(height)]


def correlated(rows, mask, divisor=1, offset=0, low=0, high=255, anchor=None):
    def value(x, y):
        part = window(rows, x, y, len(mask[0]), len(mask), anchor)
        total = sum(m * v for line, values in zip(mask, part) for m, v in zip(line, values))
        return min(max(total // divisor + offset, low), high)

    return [[value(x, y) for x in range(len(rows[0]))] for y in range(len(rows))]


def ordered(rows, choose, width=3, height=3):
    def value(x, y):
        return choose(sorted(v for line in window(rows, x, y, width, height) for v in line))

    return [[value(x, y) for x in range(len(rows[0]))] for y in range(len(rows))]


def difference(a, b):
    return [[max(p - q, 0) for p, q in zip(r, s)] for r, s in zip(a, b)]


def npy_values(data, kind):
    length = struct.unpack_from("<H", data, 8)[0]
    body = data[10 + length:]
    return list(struct.unpack("<%d%s" % (len(body) // struct.calcsize(kind), kind), body))


class FilterTest(CommandTest):
    def filtered(self, command, *options, rows=RAMP):
        return pgm_rows(self.works(command, *options, "-", "-", stdin=pgm(rows)))


class Answers(FilterTest):
    """Every command once, by the default border."""

    def test_correlate_and_convolve(self):
        text = "1 2 3; 4 5 6; 7 8 9"
        self.assertEqual(self.filtered("correlate", "--mask", text, "--divisor", "45"), correlated(RAMP, COUNT, 45))
        turned = [row[::-1] for row in COUNT[::-1]]
        self.assertEqual(self.filtered("convolve", "--mask", text, "--divisor", "45"), correlated(RAMP, turned, 45))
        spread = [[0] * 5, *([0, *(9 * v for v in row), 0] for row in COUNT), [0] * 5]
        self.assertEqual(self.filtered("convolve", "--mask", text, rows=DOT), spread)

    def test_anchor_of_a_mask(self):
        mask = [[0, 0, 1]]
        self.assertEqual(self.filtered("correlate", "--mask", "0 0 1", "--anchor", "2,0"), RAMP)
        self.assertEqual(self.filtered("correlate", "--mask", "0 0 1", "--anchor", "0,0"),
                         correlated(RAMP, mask, anchor=(0, 0)))
        self.assertEqual(self.filtered("convolve", "--mask", "1 0 0", "--anchor", "0,0"), RAMP)
        self.assertEqual(self.filtered("convolve", "--mask", "1 2", rows=DOT), correlated(DOT, [[2, 1]], anchor=(0, 0)))

    def test_sepconv(self):
        product = [[a * b for a in (1, 2, 3)] for b in (1, 4)]
        for column in ("1 4", "1;4"):
            self.assertEqual(self.filtered("sepconv", "--row", "1 2 3", "--col", column, "--divisor", "sum"),
                             correlated(RAMP, product, 30))
        # an integer row stays with a float column: both are floats then
        self.assertEqual(self.filtered("sepconv", "--row", "1", "--col", "1.0"), RAMP)

    def test_gaussian(self):
        flat = [[77] * 6] * 4
        for options in ([], ["--sigma", "3"], ["--sigma", "0,2"], ["-r", "1"], ["--size", "5x3", "--truncate", "2"]):
            self.assertEqual(self.filtered("gaussian", *options, rows=flat), flat)
        self.assertEqual(self.filtered("gaussian", "--sigma", "0"), RAMP)
        done = self.works("gaussian", "--sigma", "1.5,0", "--border", "zero", "-", "-",
                          stdin=npy((1, 15), "<f8", struct.pack("<15d", *[0] * 7, 1, *[0] * 7)))
        values = npy_values(done, "d")
        self.assertEqual([v > 0 for v in values], [1 <= x <= 13 for x in range(15)])
        self.assertAlmostEqual(sum(values), 1, places=14)

    def test_derivatives(self):
        across = {"sobel": (1, 2, 1), "scharr": (3, 10, 3), "prewitt": (1, 1, 1)}
        for name, weights in across.items():
            x = [[-w, 0, w] for w in weights]
            y = [list(column) for column in zip(*x)]
            self.assertEqual(self.filtered(name, "--divisor", "16"), correlated(RAMP, x, 16))
            self.assertEqual(self.filtered(name, "--axis", "x", "--offset", "1"), correlated(RAMP, x, 1, 1))
            self.assertEqual(self.filtered(name, "--axis", "y", "--divisor", "-16", "--offset", "200"),
                             correlated(RAMP, y, -16, 200))
        self.assertEqual(self.filtered("laplacian", "--offset", "128"),
                         correlated(RAMP, [[0, 1, 0], [1, -4, 1], [0, 1, 0]], 1, 128))

    def test_output_types(self):
        self.works("sobel", "--dtype", "i16", "in.pgm", "out.npy")
        mask = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
        impulse = [[255 * (x == y == 2) for x in range(5)] for y in range(5)]
        self.assertEqual(npy_values(self.read("out.npy"), "h"), sum(correlated(impulse, mask, low=-9999, high=9999), []))
        self.works("correlate", "--mask", "0.5", "--dtype", "f32", "in.pgm", "out.npy")
        self.assertEqual(max(npy_values(self.read("out.npy"), "f")), 127.5)
        self.works("sepconv", "--row", "1", "--col", "3", "--dtype", "u16", "in.pgm", "out.npy")
        self.assertEqual(max(npy_values(self.read("out.npy"), "H")), 765)
        self.fails(2, ["correlate", "--mask", "1", "--dtype", "f32", "in.pgm", "out.png"], "f32")
        self.fails(2, ["median", "--dtype", "u16", "in.pgm", "out.png"], "u16", "u8")

    def test_order_filters(self):
        rows = [[(37 * (x + 7 * y) + 11) % 256 for x in range(7)] for y in range(5)]
        for command, choose in ((["min"], min), (["max"], max), (["median"], lambda v: v[4]),
                                (["rank", "--k", "1"], lambda v: v[1]), (["rank", "--k", "8"], max),
                                (["rank", "--percentile", "25"], lambda v: v[2]),
                                (["rank", "--percentile", "100"], max)):
            self.assertEqual(self.filtered(*command, rows=rows), ordered(rows, choose))
        self.assertEqual(self.filtered("median", "--size", "2x2", rows=rows), ordered(rows, lambda v: v[2], 2, 2))
        self.assertEqual(self.filtered("min", "-r", "2", rows=rows), ordered(rows, min, 5, 5))

    def test_morphology(self):
        rows = [[(37 * (x + 9 * y) + 11) % 256 for x in range(9)] for y in range(7)]
        low, high = ordered(rows, min), ordered(rows, max)
        opened, closed = ordered(low, max), ordered(high, min)
        for command, expected in (("open", opened), ("close", closed), ("gradient", difference(high, low)),
                                  ("tophat", difference(rows, opened)), ("blackhat", difference(closed, rows))):
            for options in ([], ["--variant", "reference"]):
                self.assertEqual(self.filtered(command, *options, rows=rows), expected, (command, options))

    def test_iterations(self):
        rows = [[(37 * (x + 9 * y) + 11) % 256 for x in range(9)] for y in range(7)]
        twice = ordered(ordered(rows, max), max)
        for options in ([], ["--variant", "reference"]):
            self.assertEqual(self.filtered("max", "--iterations", "2", *options, rows=rows), twice)
        middle = lambda values: values[len(values) // 2]
        self.assertEqual(self.filtered("median", "--iterations", "2", rows=rows), ordered(ordered(rows, middle), middle))
        self.assertEqual(self.filtered("rank", "--k", "8", "--iterations", "2", rows=rows), twice)
        closed = ordered(ordered(twice, min), min)
        self.assertEqual(self.filtered("close", "--iterations", "2", rows=rows), closed)

    def test_progress_of_several_steps(self):
        for line in (["open", "--iterations", "3"], ["min", "--iterations", "4"], ["gradient"]):
            text = run(*line, "--progress", "always", "in.pgm", "out.pgm").stderr
            shares = [int(part.split()[-2]) for part in text.split(b"\r") if part.endswith(b"%")]
            self.assertEqual(shares, sorted(shares))
            self.assertTrue(shares and shares[-1] <= 100)

    def test_default_borders(self):
        """replicate for all but box; a constant image shows it."""
        flat = [[100] * 4] * 3
        options = {"correlate": ["--mask", "1 1 1; 1 1 1; 1 1 1", "--divisor", "sum"],
                   "sepconv": ["--row", "1 1 1", "--col", "1 1 1", "--divisor", "9"], "rank": ["--k", "0"]}
        options["convolve"] = options["correlate"]
        for command in FILTERS[:FILTERS.index("transpose")]:
            value = {"sobel": 0, "scharr": 0, "prewitt": 0, "laplacian": 0, "gradient": 0, "tophat": 0, "blackhat": 0}
            got = self.filtered(command, *options.get(command, []), rows=flat)
            if command == "box":
                self.assertNotEqual(got, flat)
            else:
                self.assertEqual(got, [[value.get(command, 100)] * 4] * 3, command)
        self.assertEqual(self.filtered("min", "--border", "zero", rows=flat)[0], [0] * 4)
        self.assertEqual(self.filtered("min", "--border", "ignore", rows=flat), flat)
        self.assertEqual(self.filtered("close", "--border", "ignore", rows=flat), flat)

    def test_view_and_page(self):
        part = [row[1:4] for row in RAMP[1:3]]
        self.assertEqual(self.filtered("max", "--view", "1,1,3,2"), ordered(part, max))
        self.assertEqual(self.filtered("sobel", "--view", "1,1,3,2", "--page", "0"),
                         correlated(part, [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]))

    def test_every_variant_gives_the_same_bytes(self):
        rows = [[(37 * (x + 61 * y) + 11) % 256 for x in range(61)] for y in range(23)]
        for command, options, describe in (
            ("correlate", ["--mask", "1 -2 3; 0 5 0"], []), ("sepconv", ["--row", "1 2 1", "--col", "1 0 -1"], []),
            ("gaussian", ["--sigma", "1.2"], []), ("max", ["--size", "5x4"], ["--window", "5x4"]),
            ("median", ["--shape", "ellipse", "--size", "5"], ["--shape", "ellipse", "--window", "5"]),
        ):
            listed = self.works("explain", "--list", command, "--json", "--size", "61x23", *(describe or options))
            usable = [v for v in json.loads(listed)["variants"] if v["applies"]]
            expected = self.filtered(command, *options, "--variant", "reference", rows=rows)
            for variant in usable:
                got = self.filtered(command, *options, "--variant", variant["name"], "--device", variant["device"],
                                    rows=rows)
                self.assertEqual(got, expected, (command, variant))


class Masks(FilterTest):
    MASK = [[1, -2, 3], [-4, 5, -6]]

    def mask_works(self, text, divisor="1"):
        return self.filtered("correlate", "--mask", text, "--divisor", divisor)

    def test_ways_to_write_one(self):
        expected = correlated(RAMP, self.MASK)
        for text in ("1 -2 3; -4 5 -6", "1,-2,3;-4,5,-6", " 1 , -2 , +3 ;\t-4 5\t-6 ;", "1 -2 3\n-4 5 -6\n",
                     "1 -2 3.0; -4 5 -6", "1e0 -2 3; -4 .5e1 -6."):
            self.assertEqual(self.mask_works(text), expected, text)

    def test_files(self):
        expected = correlated(RAMP, self.MASK)
        flat = sum(self.MASK, [])
        columns = [1, -4, -2, 5, 3, -6]
        fortran = npy((2, 3), "<i4", struct.pack("<6i", *columns)).replace(b"False", b"True ")
        for name, data in (
            ("mask.txt", b"1 -2 3\n-4 5 -6\n"), ("mask.csv", b"1,-2,3\r\n-4,5,-6\r\n"),
            ("marked.csv", b"\xef\xbb\xbf1,-2,3\r\n-4,5,-6\r\n"), ("mask", b"\n1 -2 3;-4 5 -6"),
            ("i1.npy", npy((2, 3), "|i1", struct.pack("6b", *flat))),
            ("i2.npy", npy((2, 3), ">i2", struct.pack(">6h", *flat))),
            ("i4.npy", npy((2, 3), "<i4", struct.pack("<6i", *flat))),
            ("i8.npy", npy((2, 3), "<i8", struct.pack("<6q", *flat))),
            ("big.npy", npy((2, 3), ">i8", struct.pack(">6q", *flat))),
            ("f4.npy", npy((2, 3), "<f4", struct.pack("<6f", *flat))),
            ("f8.npy", npy((2, 3), ">f8", struct.pack(">6d", *flat))),
            ("fortran.npy", fortran), ("no ending", npy((2, 3), "<i4", struct.pack("<6i", *flat))),
        ):
            self.assertEqual(self.mask_works(self.write(name, data)), expected, name)
        self.write("row.npy", npy((3,), "|u1", b"\1\2\1"))
        self.assertEqual(self.mask_works("row.npy", "sum"), correlated(RAMP, [[1, 2, 1]], 4))
        self.write("1", b"3")
        self.assertEqual(self.mask_works("./1", "3"), RAMP)
        self.assertEqual(self.mask_works("1"), RAMP)

    def test_integers_stay_integers(self):
        # 16777217 is no f32
        self.assertEqual(self.filtered("correlate", "--mask", "16777217 -16777216", "--anchor", "0,0", rows=[[7, 7]]),
                         [[7, 7]])
        self.assertNotEqual(
            self.filtered("correlate", "--mask", "16777217. -16777216", "--anchor", "0,0", rows=[[7, 7]]), [[7, 7]])
        # the quotient of integers is floored, that of floats rounded
        self.assertEqual(self.filtered("correlate", "--mask", "1", "--divisor", "4", rows=[[7]]), [[1]])
        self.assertEqual(self.filtered("correlate", "--mask", "1", "--divisor", "4", "--rounding", "nearest", rows=[[7]]),
                         [[2]])
        self.assertEqual(self.filtered("correlate", "--mask", "1.0", "--divisor", "4", rows=[[7]]), [[2]])
        self.assertEqual(self.filtered("correlate", "--mask", "1.0", "--divisor", "0.5", "--offset", "0.6", rows=[[7]]),
                         [[15]])

    def test_wrong_masks(self):
        self.write("ragged", b"1 2\n3\n")
        self.write("cut.npy", npy((2, 2), "<i4", b"123"))
        self.write("nan.npy", npy((1, 1), "<f4", struct.pack("<f", float("nan"))))
        self.write("cube.npy", npy((2, 2, 2), "|u1", bytes(8)))
        self.write("complex.npy", npy((1, 1), "<c8", bytes(8)))
        self.write("wide.npy", npy((1, 256), "|u1", bytes(256)))
        self.write("huge.npy", npy((1 << 40, 1 << 40), "|u1", b""))
        self.write("nul", b"1 2\0 3")
        self.write("empty", b"")
        for text, code, words in (
            ("", 2, []), (" ", 2, []), (";", 2, []), ("1 2; 3", 2, ["row 2", "1", "2"]), ("1,,2", 2, ["1,,2"]),
            ("1;;2", 2, ["row 2"]), ("1 2,", 2, []), ("1e", 2, ["'1e'"]), ("1 2 x", 2, ["'1 2 x'"]), ("1-2", 2, ["1-2"]),
            ("1 0x2", 2, ["0x2"]), ("1 nan", 2, ["1 nan"]), ("1e999", 2, ["1e999"]), ("no-such-file", 2, ["no-such-file"]),
            ("2147483648", 2, ["2147483648", "float"]), ("1 " * 256, 2, ["255"]), ("1;" * 256, 2, ["255"]),
            ("ragged", 2, ["ragged", "row 2"]), ("cut.npy", 3, ["cut.npy"]), ("nan.npy", 2, ["nan.npy"]),
            ("cube.npy", 2, ["cube.npy"]), ("complex.npy", 3, ["c8"]), ("wide.npy", 2, ["256", "255"]),
            ("huge.npy", 2, ["huge.npy"]), ("nul", 3, ["nul"]), ("empty", 2, ["empty"]), (".", 3, []),
        ):
            with self.subTest(text=text):
                self.fails(code, ["correlate", "in.pgm", "out.pgm", "--mask", text], "--mask", *words)
        self.fails(2, ["correlate", "in.pgm", "out.pgm", "--mask", "/dev/zero"], "--mask /dev/zero")

    def test_divisors(self):
        self.fails(2, ["correlate", "--mask", "1 -1", "--divisor", "sum", "in.pgm", "out.pgm"], "--divisor sum", "is 0")
        self.fails(2, ["sepconv", "--row", "1 -1", "--col", "1", "--divisor", "sum", "in.pgm", "o.pgm"], "is 0")
        self.fails(2, ["sobel", "--divisor", "sum", "in.pgm", "out.pgm"], "is 0")
        for value in ("0", "-0", "0.0", "", "nan", "inf", "1x", "Sum"):
            self.fails(2, ["correlate", "--mask", "1", "--divisor", value, "in.pgm", "out.pgm"], "--divisor '%s'" % value)
        for value in ("0.5", "1e20", "9007199254740993"):
            self.fails(2, ["correlate", "--mask", "1", "--divisor", value, "in.pgm", "out.pgm"], "divisor ", "whole", "2^53")
        for value, there in (("1e-50", "is 0 in f32"), ("-1e300", "is -inf in f32")):
            self.fails(2, ["correlate", "--mask", "1.0", "--divisor", value, "in.pgm", "out.pgm"], value[-2:], there)
        self.fails(2, ["correlate", "--mask", "1", "--offset", "0.5", "in.pgm", "out.pgm"], "offset 0.5", "whole")
        self.fails(2, ["correlate", "--mask", "1", "--offset", "one", "in.pgm", "out.pgm"], "--offset 'one'")


class Footprints(FilterTest):
    ROWS = [[(37 * (x + 9 * y) + 11) % 256 for x in range(9)] for y in range(7)]

    def highest(self, places):
        def value(x, y):
            part = window(self.ROWS, x, y, len(places[0]), len(places))
            return max(v for line, row in zip(places, part) for p, v in zip(line, row) if p)

        return [[value(x, y) for x in range(9)] for y in range(7)]

    def test_shapes(self):
        cross = [[0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 1, 0, 0]]
        ellipse = [[0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 0]]
        self.assertEqual(self.filtered("max", "--shape", "cross", "--size", "5x3", rows=self.ROWS), self.highest(cross))
        self.assertEqual(self.filtered("max", "--shape", "ellipse", "-r", "2", rows=self.ROWS), self.highest(ellipse))
        self.assertEqual(self.filtered("max", "--shape", "rect", rows=self.ROWS), self.highest([[1] * 3] * 3))

    def test_files(self):
        places = [[1, 0, 1], [0, 0, 1]]
        expected = self.highest(places)
        flat = bytes(sum(places, []))
        for name, data in (("f.txt", b"1 0 1\n0 0 1\n"), ("u1.npy", npy((2, 3), "|u1", flat)),
                           ("bool.npy", npy((2, 3), "|b1", flat)), ("f8.npy", npy((2, 3), "<f8", struct.pack("<6d", *flat))),
                           ("i8.npy", npy((2, 3), ">i8", struct.pack(">6q", *flat)))):
            self.assertEqual(self.filtered("max", "--footprint", self.write(name, data), rows=self.ROWS), expected, name)
        self.assertEqual(self.filtered("max", "--footprint", "1 0 1; 0 0 1", rows=self.ROWS), expected)
        self.assertEqual(self.filtered("min", "--footprint", "0 0 1", "--anchor", "2,0", rows=self.ROWS), self.ROWS)

    def test_wrong_ones(self):
        self.write("empty.txt", b"0 0\n0 0\n")
        for line, words in (
            (["max", "--footprint", "empty.txt"], ["--footprint", "empty.txt", "at least one"]),
            (["median", "--footprint", "0 2"], ["--footprint '0 2'", "2"]),
            (["median", "--footprint", "0 0.5"], ["--footprint", "0.5"]),
            (["median", "--footprint", "1 1; 1"], ["--footprint", "row 2"]),
            (["median", "--footprint", "missing"], ["--footprint 'missing'"]),
            (["median", "--footprint", "1 " * 1024], ["--footprint", "1023"]),
            (["median", "--footprint", "1 1", "--size", "3"], ["--footprint", "--size"]),
            (["median", "--footprint", "1 1", "--shape", "cross"], ["--footprint", "--shape"]),
            (["median", "--footprint", "1 1", "--anchor", "2,0"], ["--anchor 2,0", "2x1"]),
            (["median", "--shape", "circle"], ["--shape 'circle'"]),
            (["median", "--shape", "cross", "--size", "2000x3"], ["--size 2000x3", "1023"]),
        ):
            with self.subTest(line=line):
                self.fails(2, [*line, "in.pgm", "out.pgm"], *words)


class Stats(FilterTest):
    """Figures against those worked out here."""

    def figures(self, *options, rows=RAMP):
        text = self.works("stats", "--json", *options, "-", stdin=pgm(rows))
        result = json.loads(text)
        self.assertEqual((result["schema"], result["width"], result["height"], result["dtype"], len(result["channels"])),
                         ("tilewise.stats/1", len(rows[0]), len(rows), "u8", 1))
        return result["channels"][0]

    @staticmethod
    def expected(values, places):
        mean = sum(values) / len(values)
        var = sum((v - mean) ** 2 for v in values) / len(values)
        return {"sum": sum(values), "mean": mean, "var": var, "std": var ** 0.5, "min": min(values), "max": max(values),
                "argmin": places[values.index(min(values))], "argmax": places[values.index(max(values))],
                "count_nonzero": sum(v != 0 for v in values)}

    def same(self, got, wanted):
        self.assertEqual(list(got), list(wanted))
        for name in wanted:
            if name in ("mean", "var", "std"):
                self.assertAlmostEqual(got[name], wanted[name], 9)
            else:
                self.assertEqual(got[name], wanted[name])

    def test_all(self):
        values = [v for row in RAMP for v in row]
        places = [[x, y] for y, row in enumerate(RAMP) for x in range(len(row))]
        self.same(self.figures(), self.expected(values, places))
        self.same(self.figures(rows=DOT), self.expected([v for row in DOT for v in row],
                                                        [[x, y] for y in range(5) for x in range(5)]))

    def test_lines(self):
        rows = self.figures("--axis", "x")
        for y, row in enumerate(RAMP):
            self.same({name: values[y] for name, values in rows.items()},
                      self.expected(row, [[x, y] for x in range(len(row))]))
        columns = self.figures("--axis", "y")
        for x in range(len(RAMP[0])):
            self.same({name: values[x] for name, values in columns.items()},
                      self.expected([row[x] for row in RAMP], [[x, y] for y in range(len(RAMP))]))

    def test_choice_view_and_histogram(self):
        self.assertEqual(list(self.figures("--figures", "max,sum")), ["sum", "max"])
        text = self.works("stats", "--json", "--figures", "sum", "--view", "1,1,2,2", "-", stdin=pgm(RAMP))
        self.assertEqual(json.loads(text)["channels"], [{"sum": 60 + 70 + 110 + 120}])
        counts = self.figures("--figures", "sum", "--histogram", rows=DOT)["histogram"]
        self.assertEqual((len(counts), counts[0], counts[9], sum(counts)), (256, 24, 1, 25))

    def test_text(self):
        text = self.works("stats", "--figures", "sum,argmax", "--axis", "y", "-", stdin=pgm(COUNT)).decode()
        self.assertEqual(text, "column\tchannel\tsum\targmax\n0\t0\t12\t[0,2]\n1\t0\t15\t[1,2]\n2\t0\t18\t[2,2]\n")

    def test_floats_and_exact_sums(self):
        nan = struct.pack("<4f", 1, float("nan"), float("-inf"), 2)
        channel = json.loads(self.works("stats", "--json", "-", stdin=npy((1, 4), "<f4", nan)))["channels"][0]
        self.assertEqual((channel["sum"], channel["min"], channel["max"], channel["argmin"], channel["argmax"]),
                         ("NaN", "-Infinity", "NaN", [2, 0], [1, 0]))
        low = struct.pack("<3i", -2147483648, -2147483648, 5)
        channel = json.loads(self.works("stats", "--json", "-", stdin=npy((1, 3), "<i4", low)))["channels"][0]
        self.assertEqual((channel["sum"], channel["min"], channel["count_nonzero"]), (-4294967291, -2147483648, 3))

    def test_every_variant_gives_the_same_text(self):
        texts = {self.works("stats", "--json", "--axis", axis, "--variant", name, "--device", "cpu", "-", stdin=pgm(RAMP))
                 for axis in ("all",) for name in ("reference", "c")}
        self.assertEqual(len(texts), 1)

    def test_wrong_lines(self):
        self.fails(2, ["stats", "--figures", "sums", "in.pgm"], "'sums'", "count_nonzero")
        self.fails(2, ["stats", "--axis", "z", "in.pgm"], "--axis 'z'", "all")
        self.fails(2, ["bench", "box", "--figures", "sum"], "--figures", "box")


class Usage(FilterTest):
    def test_wrong_lines(self):
        for line, words in (
            (["correlate"], ["--mask"]), (["convolve"], ["--mask"]), (["sepconv", "--row", "1"], ["--row", "--col"]),
            (["sepconv", "--row", "1 2; 3 4", "--col", "1"], ["--row", "2x2"]), (["rank"], ["--k", "--percentile"]),
            (["rank", "--k", "9"], ["--k 9", "0 to 8"]), (["rank", "--k", "2", "--size", "2x1"], ["--k 2", "0 to 1"]),
            (["rank", "--k", "1", "--percentile", "1"], ["--k", "--percentile"]), (["rank", "--k", "-1"], ["--k '-1'"]),
            (["rank", "--percentile", "101"], ["--percentile '101'"]), (["rank", "--percentile", "nan"], ["'nan'"]),
            (["median", "--border", "ignore"], ["--border 'ignore'"]), (["gaussian", "--border", "ignore"], ["'ignore'"]),
            (["gaussian", "--size", "4x3"], ["--size 4x3", "odd"]), (["gaussian", "--sigma", "-1"], ["--sigma '-1'"]),
            (["gaussian", "--sigma", "1,"], ["--sigma '1,'"]), (["gaussian", "--sigma", "1,2,3"], ["--sigma '1,2,3'"]),
            (["gaussian", "--sigma", "1e9"], ["sigma 1e+09", "give a size"]), (["gaussian", "--truncate", "0"], ["--truncate '0'"]),
            (["gaussian", "--anchor", "0,0"], ["--anchor"]), (["sobel", "--axis", "z"], ["--axis 'z'"]),
            (["sobel", "--size", "5"], ["--size"]), (["laplacian", "--axis", "x"], ["--axis"]),
            (["max", "--iterations", "0"], ["--iterations '0'"]), (["box", "--iterations", "2"], ["--iterations"]),
            (["open", "--variant", "spiral"], ["--variant", "spiral"]), (["correlate", "--size", "3", "--mask", "1"], ["--size"]),
            (["correlate", "--mask", "1 2", "--anchor", "0,1"], ["--anchor 0,1", "2x1"]),
            (["max", "--border", "constant:256"], ["256", "u8"]),
        ):
            with self.subTest(line=line):
                self.fails(2, [*line, "in.pgm", "out.pgm"], *words)

    def test_a_wrong_mask_is_told_before_the_input_is_read(self):
        self.fails(2, ["correlate", "--mask", "1 2; 3", "missing.pgm", "out.pgm"], "--mask")


class Problems(CommandTest):
    """verify, bench and explain for these filters."""

    def explained(self, *line):
        return json.loads(self.works("explain", "--list", "--json", *line))["problem"]

    def test_explain(self):
        self.assertRegex(self.explained("correlate"), r"^correlate u8 .* s3x3 a1,1 replicate .* int:\w+ d1 o0")
        self.assertRegex(self.explained("correlate", "--window", "5x4"), r" s5x4 a2,2 .* int:")
        self.assertRegex(self.explained("correlate", "--mask", "1.5 2", "--divisor", "sum"), r" s2x1 .*float:\w+ d3.5 ")
        self.assertRegex(self.explained("correlate", "-r", "3"), r" s7x7 .* int:")
        self.assertRegex(self.explained("sobel", "--border", "wrap"), r"^correlate .* s3x3 .* wrap ")
        self.assertRegex(self.explained("sepconv", "--row", "1 2", "--col", "1 2 3"), r"^sepconv .* s2x3 ")
        self.assertRegex(self.explained("sepconv", "--window", "7x5"), r" s7x5 ")
        self.assertRegex(self.explained("gaussian", "--sigma", "2,1"), r" s17x9 .* sigma2,1")
        self.assertRegex(self.explained("median", "--window", "5x5"), r"^rank .* k12")
        self.assertRegex(self.explained("rank", "--percentile", "50"), r"^rank .* k4")
        self.assertRegex(self.explained("max", "--border", "ignore", "--shape", "cross"), r"^max .* ignore .*shape:")
        self.assertRegex(self.explained("box"), r"^box .* zero ")

    def test_options_of_other_filters_are_refused(self):
        self.fails(2, ["bench", "box", "--sigma", "2"], "--sigma", "box")
        self.fails(2, ["explain", "--list", "median", "--k", "2"], "--k", "median")
        self.fails(2, ["explain", "--list", "sobel", "--window", "5"], "5x5", "--window")
        self.fails(2, ["explain", "--list", "sobel", "-r", "2"], "5x5", "--window")
        self.fails(2, ["explain", "--list", "correlate", "--mask", "1", "--window", "5"], "--mask", "--window")
        self.fails(2, ["explain", "--list", "median", "--border", "ignore"], "ignore")
        self.fails(2, ["explain", "--list", "gaussian", "--window", "4"], "--window 4x4")
        self.fails(2, ["explain", "--list", "correlate", "--window", "300x1"], "300x1", "255")
        self.fails(2, ["explain", "--list", "open"], "'open'", "min and max")
        self.fails(2, ["bench", "rank", "--size", "9"], "--k")

    def test_verify(self):
        for op in ("correlate", "sepconv", "gaussian", "min", "max", "median", "rank"):
            lines = self.works("verify", op, "--device", "cpu", "--cases", "2").decode().splitlines()
            self.assertGreaterEqual(len(lines), 2)
            for line in lines:
                self.assertRegex(line, r"\A\d+x\d+(, \w+=PASS)+\Z")

    def test_bench(self):
        for op, more in (("correlate", []), ("gaussian", ["--sigma", "2"]), ("median", ["--window", "5x5"])):
            line = ["bench", op, "--size", "64x48", "--device", "cpu", "--threads", "1", "--variant", "c", "--json", *more]
            rows = json.loads(self.works(*line))["variants"]
            self.assertEqual([(row["name"], row["timed"]) for row in rows], [("c", True)])

    def test_bench_of_another_type(self):
        line = ["bench", "sobel", "--to", "i16", "--size", "64x48", "--device", "cpu", "--threads", "1", "--json"]
        for more in ([], ["--pitch", "odd"], ["--pitch", "67"]):
            result = json.loads(self.works(*line, *more))
            self.assertRegex(result["problem"], "^correlate u8>i16 ")
            self.assertEqual((result["dtype"], result["out_dtype"]), ("u8", "i16"))
            for row in [result["copy"], *result["variants"]]:
                self.assertTrue(row["timed"], row)
                time = row["kernel_ms"]["median"]
                self.assertAlmostEqual(row["gbps"], 64 * 48 * 3 / time / 1e6, delta=row["gbps"] / 1e3)
        self.fails(2, ["bench", "median", "--to", "i16", "--size", "64"], "i16", "u8")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
