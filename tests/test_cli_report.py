#!/usr/bin/env python3
"""`tilewise bench --report`: the page, and what happens where it cannot be made.

usage: test_cli_report.py PROGRAM [TEST...]; the tests run in folders of their own."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True

from test_cli import CommandTest, run

LINE = ("bench", "box", "--size", "70x30", "--device", "cpu", "--threads", "1", "--variant", "c,reference")


class ReportTest(CommandTest):
    def with_gnuplot(self, script):
        """An environment whose gnuplot is this shell script."""
        (self.folder / "bin").mkdir()
        self.write("bin/gnuplot", b"#!/bin/sh\n" + script.encode())
        (self.folder / "bin/gnuplot").chmod(0o755)
        return {**os.environ, "PATH": "%s:%s" % (self.folder / "bin", os.environ["PATH"])}

    def test_the_page(self):
        text = self.works(*LINE, "--size", "600x300", "--report", "a/b", "--dtype", "u16").decode()
        self.assertTrue(text.endswith("Report: a/b/bench-box-cpu.html\n"))
        sizes = re.findall(r"(?m)^box u16 c1 (\S+) ", text)
        self.assertEqual(sizes, ["300x150", "600x300"])
        page = self.read("a/b/bench-box-cpu.html").decode()
        for words in (*sizes, "tilewise bench box", "plain copy", "reference", "GB/s", "share of a plain copy", "</html>"):
            self.assertIn(words, page)
        self.assertEqual(os.listdir(self.folder / "a/b"), ["bench-box-cpu.html"])

    def test_the_users_own_settings_do_not_count(self):
        self.write(".gnuplot", b"exit status 7\n")
        self.works(*LINE, "--report", ".", env={**os.environ, "HOME": str(self.folder)})

    def test_without_gnuplot(self):
        self.fails(2, [*LINE, "--report", "a"], "gnuplot-nox", env={**os.environ, "PATH": str(self.folder)})
        self.assertFalse((self.folder / "a").exists())

    def test_a_gnuplot_that_fails(self):
        script = '[ "$1" = --version ] && exit 0\necho "line 1: no such terminal" >&2\nexit 1\n'
        self.write("bench-box-cpu.html", b"old")
        done = self.run_with(self.with_gnuplot(script))
        self.check_failure(done, 1, "no such terminal")
        self.assertEqual(self.read("bench-box-cpu.html"), b"old")

    def test_a_gnuplot_that_draws_something_else(self):
        done = self.run_with(self.with_gnuplot("echo no picture\n"))
        self.check_failure(done, 1, "no SVG")
        self.assertFalse((self.folder / "bench-box-cpu.html").exists())

    def run_with(self, environment):
        return run(*LINE, "--report", ".", env=environment)

    def test_a_folder_that_cannot_be(self):
        environment = self.with_gnuplot("exit 0\n")
        self.fails(4, [*LINE, "--report", "in.pgm"], "in.pgm", env=environment)
        self.fails(4, [*LINE, "--report", "in.pgm/deep"], "in.pgm", env=environment)

    def test_wrong_usage(self):
        self.fails(2, [*LINE, "--report", ""], "--report")
        self.fails(2, [*LINE, "--report", "a", "--json"], "--json")
        self.fails(2, [*LINE, "--report", "a", "--pitch", "128"], "--pitch")
        self.fails(2, ["explain", "--list", "box", "--report", "a"], "--report")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
