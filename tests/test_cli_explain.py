#!/usr/bin/env python3
"""explain on the command line: counts of what kernels do to memory, maps of banks.

usage: test_cli_explain.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import os
import pathlib
import sys
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True

from test_cli import CommandTest


class Explained(CommandTest):
    """What variants do to memory, in numbers that can be checked by hand; no GPU is needed, but a build with CUDA."""

    def setUp(self):
        super().setUp()
        listed = json.loads(self.works("explain", "--list", "box", "--json"))["variants"]
        if not any(variant["described"] for variant in listed):
            self.skipTest("this build describes no variant")

    def explained(self, *line):
        result = json.loads(self.works("explain", *line, "--json"))
        self.assertEqual(result["schema"], "tilewise.explain.variant/1")
        return result

    @staticmethod
    def access(result, what, memory, direction="load"):
        (found,) = [a for a in result["accesses"] if (a["what"], a["memory"], a["direction"]) == (what, memory, direction)]
        return found

    def test_window(self):
        direct = self.explained("box", "--variant", "direct", "--block", "16x16")
        source = self.access(direct, "source", "global")
        self.assertEqual(source["block"]["elements"], 2304)
        self.assertEqual(source["block"]["requests"], 72)
        self.assertEqual(direct["global_loads"]["block"], source["block"])
        self.assertEqual((direct["barriers"], direct["shared_bytes"]), (0, 0))
        tiled = self.explained("box", "--variant", "tiled", "--block", "16x16")
        self.assertEqual(self.access(tiled, "source", "global")["block"]["elements"], 324)
        self.assertEqual(self.access(tiled, "tile", "shared")["block"]["elements"], 2304)
        self.assertEqual((tiled["barriers"], tiled["shared_bytes"]), (1, 324))
        five = self.explained("correlate", "--variant", "tiled", "--window", "5", "--dtype", "f32")
        self.assertEqual(five["shared_bytes"], 4 * 36 * 36)
        self.assertEqual(self.access(five, "mask", "constant")["request"], {"least": 1, "most": 1})
        text = self.works("explain", "box", "--variant", "tiled").decode()
        self.assertRegex(text, r"(?m)^global   load   source +1 \|        11       324 ")
        self.assertRegex(text, r"(?m)^shared memory +324 bytes a block$")
        self.assertRegex(text, r"(?m)^registers")

    def test_banks(self):
        degrees = {"shared": 32, "padded": 1, "swizzled": 1}
        for variant, degree in degrees.items():
            tile = self.access(self.explained("transpose", "--dtype", "f32", "--variant", variant), "tile", "shared")
            self.assertEqual(tile["banks"]["degree"], degree, variant)
            self.assertEqual(tile["banks"]["lanes"], [0] * 32 if degree == 32 else list(range(32)))
            self.assertEqual(tile["block"]["cycles"], 32 * degree)
            self.assertEqual(tile["block"]["conflicts"], 32 * (degree - 1))
        rows = self.explained("transpose", "--dtype", "f32", "--variant", "rows")
        self.assertEqual(self.access(rows, "source", "global")["request"], {"least": 4, "most": 4})
        self.assertEqual(self.access(rows, "output", "global", "store")["request"], {"least": 32, "most": 32})
        # f32 of a block of 16 columns: two rows of a tile 18 wide, 2 words of which lie in the banks of others
        tile = self.access(self.explained("box", "--dtype", "f32", "--variant", "tiled"), "tile", "shared")
        self.assertEqual(tile["banks"]["degree"], 2)

    def test_lanes(self):
        """A leaf's 128 lanes of 8 bytes are folded in seven steps; neighbours spread those who work over all warps."""
        folds = {name: self.explained("stats", "--figures", "sum", "--variant", name) for name in
                 ("neighboured", "interleaved", "shared", "unrolled", "shuffle")}
        self.assertEqual(self.access(folds["neighboured"], "lanes", "global", "store")["block"]["requests"], 4 + 5 * 4 + 2 + 1)
        self.assertEqual(self.access(folds["interleaved"], "lanes", "global", "store")["block"]["requests"], 4 + 2 + 6)
        for direction, steps in (("load", 2 * 2 + 2 + 5), ("store", 4 + 2 + 5)):
            self.assertEqual(self.access(folds["unrolled"], "lanes", "shared", direction)["block"]["requests"], steps)
        self.assertEqual([folds[name]["barriers"] for name in folds], [7, 7, 7, 2, 1])
        self.assertEqual([folds[name]["shared_bytes"] for name in folds], [0, 0, 1024, 1024, 32])

    def test_pixels(self):
        for pixels, cycles, options in (("different", 32, ()), ("flat", 1, ("--flat",))):
            result = self.explained("lut", "--variant", "constant", *options)
            self.assertEqual(result["pixels"], pixels)
            self.assertEqual(self.access(result, "table", "constant")["request"], {"least": cycles, "most": cycles})

    def test_additions(self):
        """32 neighbours with 32 values, multiples of 8, meet in four banks; with one value they add to one word."""
        line = ["explain", "histogram", "--variant", "shared", "--svg", "banks.svg"]
        for options, red in ((["--dtype", "u8"], 32), (["--dtype", "u8", "--flat"], 0), (["--dtype", "u16", "--flat"], 1)):
            text = self.works(*line, *options).decode()
            self.assertRegex(text, r"(?m)^global adds ")
            self.assertRegex(text, r"(?m)^global stores  a block: requests 0, ")
            drawn = pathlib.Path("banks.svg").read_text()
            self.assertEqual((drawn.count("table, add, "), drawn.count('fill="#c0392b"')), (1, red), options)
        self.assertNotIn("global adds", self.works("explain", "box", "--variant", "direct").decode())
        # rows of 33 bytes: of every four columns one is free of conflicts
        padded = self.works("explain", "transpose", "--variant", "padded").decode()
        self.assertRegex(padded, r"(?m)^shared   load   tile .* up to 2-way ")

    def test_map(self):
        self.works("explain", "transpose", "--dtype", "f32", "--variant", "shared", "--svg", "banks.svg")
        drawn = pathlib.Path("banks.svg").read_text()
        self.assertEqual(drawn.count('fill="#c0392b"'), 32)
        self.assertIn("32-way conflict", drawn)
        xml.dom.minidom.parseString(drawn)
        self.assertEqual(self.works("explain", "transpose", "--dtype", "f32", "--variant", "shared", "--svg", "-"),
                         drawn.encode())
        self.fails(2, ["explain", "box", "--variant", "direct", "--svg", "none.svg"], "none.svg", "direct")
        self.fails(4, ["explain", "box", "--variant", "tiled", "--svg", "no/such/map.svg"], "no/such/map.svg")
        self.assertFalse(os.path.exists("none.svg"))

    def test_refusals(self):
        self.fails(2, ["explain", "box", "--variant", "tiled", "--block", "1024x1024"], "1024x1024", "1024 threads")
        self.fails(2, ["explain", "transpose", "--variant", "shared", "--block", "16x16"], "16x16", "32x8 threads")
        self.fails(2, ["explain", "flip", "--axis", "both", "--variant", "shared"], "shared", "flip")
        self.fails(5, ["explain", "box", "--variant", "direct", "--window", "60001"], "smaller window")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
