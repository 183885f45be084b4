#!/usr/bin/env python3
"""Many files on one command line: each as if it were alone, whatever happens to the others.

usage: test_cli_batch.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import os
import pathlib
import pty
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

from test_cli import IMPULSE, PROGRAM, CommandTest, npy, pgm, png, run, tiff

MEBIBYTE = 1 << 20


def noise(width, height, seed):
    return [[(37 * x + 101 * y + seed * x * y) % 251 for x in range(width)] for y in range(height)]


class BatchTest(CommandTest):
    def setUp(self):
        super().setUp()
        os.remove("in.pgm")
        os.mkdir("in")

    def images(self, count, ending="png"):
        """Images of several sizes: their names, in order."""
        make = {"png": png, "pgm": pgm, "tif": lambda rows: tiff([rows])}[ending]
        return [self.write("in/%02d.%s" % (i, ending), make(noise(20 + i % 3, 15, i))) for i in range(count)]

    def alone(self, *line, out="alone"):
        """What the command makes of each input when it is called for it alone."""
        os.makedirs(out, exist_ok=True)
        *options, names = line
        for name in names:
            self.works(*options, name, "%s/%s" % (out, os.path.basename(name)))
        return self.contents(out)

    def contents(self, folder):
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}

    def summary(self, done, code, text):
        """Checks the code, and the last line of stderr; returns the lines before it."""
        *lines, last = done.stderr.decode().splitlines()
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(last, r"\Atilewise: %s, in \d+\.\d\d s\Z" % text)
        return lines

    def lines(self, done):
        """The objects of a run with --json, without their times."""
        objects = [json.loads(line) for line in done.stdout.decode().splitlines()]
        for one in objects:
            if one.get("status") != "skipped":
                self.assertGreaterEqual(one.pop("milliseconds"), 0)
        return objects


class Results(BatchTest):
    def test_as_if_alone(self):
        """Same names, same bytes, whatever the number of threads, for filters of every kind."""
        names = self.images(7) + self.images(3, "tif")
        for line in (["box", "-r", "2"], ["median"], ["max", "--iterations", "3"], ["tophat"], ["rotate", "--degrees", "90"],
                     ["correlate", "--mask", "1 2 1; 2 4 2; 1 2 1", "--divisor", "sum"], ["box", "--view", "1,2,9,8"]):
            expected = self.alone(*line, names, out="alone-" + line[0] + str(len(line)))
            for threads in ("1", "2", "5"):
                folder = "out-%s-%d-%s" % (line[0], len(line), threads)
                done = run(*line, "--threads", threads, *names, folder + "/")
                self.assertEqual(self.summary(done, 0, "10 of 10 files done, 0 skipped, 0 failed"), [])
                self.assertEqual(self.contents(folder), expected, line)
                self.assertEqual(done.stdout, b"")

    def test_a_table_is_read_once(self):
        """Also from a pipe, for images of several types and sizes."""
        table = b" ".join(b"%d" % (255 - i) for i in range(256))
        self.write("table.txt", table)
        names = self.images(5)
        expected = self.alone("lut", "--table", "table.txt", names)
        done = run("lut", "--table", "-", *names, "out/", stdin=table)
        self.assertEqual((done.returncode, self.contents("out")), (0, expected), done.stderr)

    def test_formats(self):
        names = self.images(3)
        done = run("integral", "--format", "npy", *names, "out/")
        self.assertEqual(self.summary(done, 0, "3 of 3 files done, 0 skipped, 0 failed"), [])
        self.assertEqual(sorted(os.listdir("out")), ["00.npy", "01.npy", "02.npy"])
        self.works("integral", names[1], "alone.npy")
        self.assertEqual(self.read("out/01.npy"), self.read("alone.npy"))
        self.write("in/.hidden", png(IMPULSE))
        self.write("in/two.dots.png", png(IMPULSE))
        self.write("in/none", png(IMPULSE))
        run("box", "--format", "pgm", "in/.hidden", "in/two.dots.png", "in/none", "more/")
        self.assertEqual(sorted(os.listdir("more")), [".hidden.pgm", "none.pgm", "two.dots.pgm"])
        self.assertTrue(self.works("box", "--format", "pgm", names[0], "-").startswith(b"P5"))
        self.fails(2, ["box", "--format", "pgm", names[0], "out.png"], "--format pgm", "out.png")
        self.fails(2, ["box", "--format", "gif", names[0], "out/"], "--format 'gif'", "png")

    def test_one_file_to_a_folder(self):
        self.images(1)
        self.summary(run("box", "in/00.png", "out/"), 0, "1 of 1 files done, 0 skipped, 0 failed")
        self.works("box", "in/00.png", "alone.png")
        self.assertEqual(self.contents("out"), {"00.png": self.read("alone.png")})
        self.fails(4, ["box", "in/00.png", "out"], "'out' is a folder", "'/'")

    def test_devices(self):
        """The device is looked for once, before any work."""
        names = self.images(3)
        if json.loads(self.works("info", "--json"))["cuda"]:
            self.skipTest("there is a GPU")
        self.fails(6, ["box", "--device", "cuda", *names, "out/"], "--device cuda")
        self.fails(2, ["box", "--variant", "referense", *names, "out/"], "referense")
        self.assertEqual(self.alone("box", names), self.alone("box", "--variant", "reference", names, out="reference"))


class Inputs(BatchTest):
    def test_patterns(self):
        self.images(4)
        self.images(2, "tif")
        os.mkdir("in/folder.png")
        done = run("box", "in/*.png", "in/0[01].tif", "out/")
        self.assertEqual(self.summary(done, 0, "6 of 6 files done, 0 skipped, 0 failed"), [])
        self.assertEqual(sorted(os.listdir("out")), ["00.png", "00.tif", "01.png", "01.tif", "02.png", "03.png"])
        self.fails(3, ["box", "in/*.jpg", "more/"], "'in/*.jpg' matches no file")
        self.fails(3, ["box", "in/*.png", "in/*.jpg", "more/"], "in/*.jpg")
        self.fails(3, ["stats", "nowhere/*"], "nowhere/*")
        self.assertFalse(os.path.exists("more"))

    def test_a_file_that_looks_like_a_pattern(self):
        self.write("in/a[1].png", png(IMPULSE))
        self.write("in/a1.png", png(noise(9, 9, 1)))
        run("box", "in/a[1].png", "out/")
        self.assertEqual(os.listdir("out"), ["a[1].png"])

    def test_lists(self):
        names = self.images(3)
        odd = self.write("in/a\nb.png", png(IMPULSE))
        wild = self.write("in/*.png", png(IMPULSE))
        for index, (text, count) in enumerate((("\n".join(names), 3), ("\n\n" + "\n".join(names) + "\n", 3), ("", 0),
                                               ("\0".join([*names, odd, wild]) + "\0", 5), (wild, 1))):
            folder = "out%d" % index
            done = run("box", "--files-from", "-", folder + "/", stdin=text.encode())
            self.summary(done, 0, "%d of %d files done, 0 skipped, 0 failed" % (count, count))
            self.assertEqual(len(os.listdir(folder)), count)
        self.write("list", "\n".join(names).encode())
        self.summary(run("box", "--files-from", "list", odd, "both/"), 0, "4 of 4 files done, 0 skipped, 0 failed")
        self.fails(3, ["box", "--files-from", "missing", "more/"], "--files-from missing")
        self.fails(2, ["box", "--files-from", "list"], "INPUT... OUTPUT")
        self.assertEqual(run("stats", "--files-from", "list", "--json").stdout.count(b"tilewise.stats/1"), 3)

    def test_a_dash_is_a_name_in_lists(self):
        self.write("-", png(IMPULSE))
        self.write("-r.png", png(IMPULSE))
        self.summary(run("box", "--files-from", "-", "--format", "png", "out/", stdin=b"-\n"), 0,
                     "1 of 1 files done, 0 skipped, 0 failed")
        self.summary(run("box", "--format", "pgm", "[-]*", "out/"), 0, "2 of 2 files done, 0 skipped, 0 failed")
        self.assertEqual(sorted(os.listdir("out")), ["-.pgm", "-.png", "-r.pgm"])
        self.fails(2, ["box", "-", "in/a.png", "out/"], "'-'")
        self.fails(2, ["box", "-", "out/"], "'-'")
        self.fails(2, ["stats", "-", "x.png"], "'-'")

    def test_names_that_are_no_text(self):
        name = b"in/\xff\xfe\x1b[31m.png"
        with open(name, "wb") as file:
            file.write(png(IMPULSE))
        broken = b"in/\xc3\x28.png"
        with open(broken, "wb") as file:
            file.write(b"nothing")
        done = subprocess.run([PROGRAM, "box", "--json", name, broken, "out/"], capture_output=True, timeout=60)
        objects = self.lines(done)
        self.assertEqual((done.returncode, [one.get("status") for one in objects]), (1, ["done", "failed", None]))
        self.assertEqual(objects[0]["input"], "in/\ufffd\ufffd\x1b[31m.png")
        self.assertTrue(objects[1]["message"].startswith("in/\ufffd(.png: "))
        self.assertNotIn(b"\x1b", done.stderr)
        self.assertEqual(os.listdir(b"out"), [os.path.basename(name)])


class Refusals(BatchTest):
    """Before any work is done."""

    def test_two_outputs_of_one_name(self):
        self.images(2)
        os.mkdir("more")
        self.write("more/01.png", png(IMPULSE))
        self.fails(2, ["box", "in/*.png", "more/01.png", "out/"], "'in/01.png' and 'more/01.png'", "'out/01.png'")
        self.write("in/01.tif", tiff([IMPULSE]))
        self.fails(2, ["box", "--format", "npy", "in/*", "out/"], "in/01.png", "in/01.tif", "out/01.npy")
        self.fails(2, ["box", "in/01.png", "in/0*.png", "out/"], "in/01.png")
        self.assertFalse(os.path.exists("out"))

    def test_an_output_that_is_its_input(self):
        self.images(2)
        before = self.contents("in")
        os.symlink("in", "link")
        for folder in ("in/", "in", "./in", "link", "link/", "in/../in/"):
            self.fails(2, ["box", "in/*.png", folder], "same file")
        self.assertEqual(self.contents("in"), before)
        run("box", "--format", "pgm", "in/*.png", "in")
        self.assertEqual(len(os.listdir("in")), 4)

    def test_folders(self):
        names = self.images(2)
        self.fails(2, ["box", *names, "out"], "'out'", "'/'")
        self.fails(2, ["box", "in/*.png", "out.png"], "'out.png'")
        self.write("file", b"")
        self.fails(2, ["box", *names, "file"], "'file' is no folder")
        self.fails(4, ["box", *names, "file/"], "file/")
        self.fails(4, ["box", *names, "file/more/"], "file")
        self.fails(4, ["box", *names, "/proc/no/"], "/proc/no")
        self.summary(run("box", *names, "a/b/c/"), 0, "2 of 2 files done, 0 skipped, 0 failed")
        self.summary(run("box", *names, "a/b/c"), 0, "2 of 2 files done, 0 skipped, 0 failed")
        self.assertEqual(sorted(os.listdir("a/b/c")), ["00.png", "01.png"])

    def test_streams(self):
        names = self.images(2)
        self.fails(2, ["box", *names, "-"], "'-'")
        self.fails(2, ["box", "--files-from", "-", "-"], "stdout", stdin=b"x")
        self.fails(2, ["box", "--json", names[0], "-"], "--json")
        for line in (["correlate", "--mask", "-", "--files-from", "-", "out/"], ["correlate", "--mask", "-", "-", "out.pgm"],
                     ["sepconv", "--row", "-", "--col", "-", names[0], "out.pgm"], ["stats", "--files-from", "-", "-"]):
            self.fails(2, line, "'-' is stdin", "once", stdin=b"1 2 1")


class Failures(BatchTest):
    def test_in_the_middle(self):
        names = self.images(9)
        self.write(names[2], b"")
        self.write(names[4], png(IMPULSE)[:60])
        os.remove(names[6])
        os.mkdir(names[6])
        names.insert(5, "in/missing.png")
        for options in ([], ["--threads", "1"], ["-q"]):
            done = run("box", *options, *names, "out/")
            lines = done.stderr.decode().splitlines()
            if options != ["-q"]:
                lines = self.summary(done, 1, "6 of 10 files done, 0 skipped, 4 failed")
            self.assertEqual(done.returncode, 1)
            self.assertEqual([line.split(": ")[:2] for line in lines],
                             [["tilewise", name] for name in (names[2], names[4], "in/missing.png", names[7])])
            self.assertEqual(sorted(os.listdir("out")), ["%02d.png" % i for i in (0, 1, 3, 5, 7, 8)])

    def test_the_file_is_named(self):
        """Also where a single file's message does not name it."""
        self.write("in/a.npy", npy((2, 2), "<f4", bytes(16)))
        self.write("in/b.png", png(IMPULSE))
        self.write("table", b"0 " * 256)
        lines = self.summary(run("lut", "--table", "table", "in/*", "out/"), 1, "1 of 2 files done, 0 skipped, 1 failed")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"\Atilewise: in/a\.npy: lut takes u8 and u16")
        lines = self.summary(run("box", "--view", "0,0,3,3", "in/*", "out/"), 1, "1 of 2 files done, 0 skipped, 1 failed")
        self.assertTrue(lines[0].startswith("tilewise: in/a.npy: "), lines)

    def test_unwritable(self):
        names = self.images(3)
        os.makedirs("out/01.png")
        done = run("box", *names, "out")
        self.assertIn("out/01.png", self.summary(done, 1, "2 of 3 files done, 0 skipped, 1 failed")[0])
        self.assertEqual(sorted(os.listdir("out")), ["00.png", "01.png", "02.png"])
        done = run("integral", *names, "out")  # PNG does not hold the sums
        self.assertEqual(len(self.summary(done, 1, "0 of 3 files done, 0 skipped, 3 failed")), 3)

    def test_disk_full(self):
        names = self.images(3)
        self.write("in/big.pgm", pgm([bytes(300)] * 300))
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        done = run("box", *names, "in/big.pgm", "out/",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, most)))
        self.assertIn("out/big.pgm", self.summary(done, 1, "3 of 4 files done, 0 skipped, 1 failed")[0])
        self.assertEqual(sorted(os.listdir("out")), ["00.png", "01.png", "02.png"])

    def test_large_files_take_turns(self):
        """Where memory is not enough for two at a time."""
        side = 14000
        for name in ("in/a.pgm", "in/b.pgm", "in/c.pgm"):
            with open(name, "wb") as file:
                file.write(b"P5\n%d %d\n255\n" % (side, side))
                file.truncate(file.tell() + side * side)
        bound = 2 * side * side + 300 * MEBIBYTE
        bounded = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (bound, bound))}
        if run("info", **bounded).returncode != 0:
            self.skipTest("a sanitizer takes more address space than that")
        done = run("max", "--threads", "2", "--device", "cpu", "in/*.pgm", "out/", **bounded)
        self.summary(done, 0, "3 of 3 files done, 0 skipped, 0 failed")

    def test_larger_than_memory(self):
        """In bands, while the others wait: the same bytes."""
        names = self.images(3) + [self.write("in/large.pgm", b"P5\n6000 6000\n255\n" + os.urandom(6000 * 6000))]
        expected = self.alone("median", names)
        for threads in ("1", "3"):
            done = run("median", "--memory", "48M", "--threads", threads, "in/*", "out%s/" % threads)
            self.assertEqual(self.summary(done, 0, "4 of 4 files done, 0 skipped, 0 failed"), [])
            self.assertEqual(self.contents("out" + threads), expected)
        self.summary(run("median", "--memory", "48M", "--json", names[3], "out.pgm"), 0, "1 of 1 files .*")
        self.assertEqual(self.read("out.pgm"), expected["large.pgm"])

    def test_warnings(self):
        for i in range(3):
            self.write("in/%d.png" % i, png(IMPULSE, [(b"pHYs", b"\0\0\x0b\x13\0\0\x0b\x13\1")]))
        done = run("box", "--format", "npy", "in/*", "out/")
        lines = self.summary(done, 0, "3 of 3 files done, 0 skipped, 0 failed")
        self.assertEqual([line.split(":")[2].strip() for line in lines], ["out/%d.npy" % i for i in range(3)])
        self.assertEqual(run("box", "-q", "--format", "npy", "in/*", "out/").stderr, b"")
        objects = self.lines(run("box", "--json", "--format", "npy", "in/*", "out/"))
        self.assertIn("resolution", objects[1]["warning"])


class Resume(BatchTest):
    def test_only_what_is_missing_or_older(self):
        names = self.images(5)
        run("box", *names, "out/")
        first = self.contents("out")
        past = time.time() - 1000
        for name in names:
            os.utime(name, (past, past))
        for name, age in (("out/00.png", 1), ("out/01.png", 10), ("out/02.png", -10), ("out/03.png", 0)):
            self.write(name, b"kept")
            os.utime(name, (past - age, past - age) if age else (past, past))
        os.remove("out/04.png")
        done = run("box", "--resume", *names, "out/")
        self.assertEqual(self.summary(done, 0, "4 of 5 files done, 1 skipped, 0 failed"), [])
        self.assertEqual(self.contents("out"), {**first, "02.png": b"kept"})
        done = run("box", "--resume", *names, "out/")
        self.summary(done, 0, "0 of 5 files done, 5 skipped, 0 failed")

    def test_after_failures(self):
        names = self.images(4)
        good = self.read(names[1])
        self.write(names[1], b"bad")
        self.summary(run("box", *names, "out/"), 1, "3 of 4 files done, 0 skipped, 1 failed")
        os.remove(names[3])
        self.write(names[1], good)
        objects = self.lines(run("box", "--resume", "--json", *names, "out/"))
        self.assertEqual([one.get("status") for one in objects], ["skipped", "done", "skipped", "failed", None])

    def test_one_file(self):
        (name,) = self.images(1)
        self.summary(run("box", "--resume", name, "out.png"), 0, "1 of 1 files done, 0 skipped, 0 failed")
        self.summary(run("box", "--resume", name, "out.png"), 0, "0 of 1 files done, 1 skipped, 0 failed")


class Json(BatchTest):
    def test_lines(self):
        names = self.images(3)
        self.write(names[1], b"")
        done = run("box", "--json", *names, "out/")
        self.assertEqual(done.returncode, 1)
        *files, summary = self.lines(done)
        self.assertEqual(summary, {"schema": "tilewise.batch/1", "files": 3, "done": 2, "skipped": 0, "failed": 1})
        for index, one in enumerate(files):
            self.assertEqual((one["schema"], one["index"]), ("tilewise.file/1", index))
            self.assertEqual((one["input"], one["output"]), (names[index], "out/%02d.png" % index))
        self.assertEqual([one["status"] for one in files], ["done", "failed", "done"])
        self.assertEqual(files[1]["code"], 3)
        self.assertTrue(files[1]["message"].startswith("in/01.png: "))

    def test_one_file(self):
        names = self.images(1)
        objects = self.lines(run("box", "--json", names[0], "out.png"))
        self.assertEqual([one["schema"] for one in objects], ["tilewise.file/1", "tilewise.batch/1"])
        self.works("box", names[0], "alone.png")
        self.assertEqual(self.read("out.png"), self.read("alone.png"))

    def test_stats(self):
        names = self.images(5)
        expected = [json.loads(self.works("stats", "--json", name)) for name in names]
        objects = self.lines(run("stats", "--json", "in/*.png"))
        self.assertEqual([one["stats"] for one in objects[:-1]], expected)
        self.assertEqual([one["input"] for one in objects[:-1]], names)
        self.assertNotIn("output", objects[0])
        text = run("stats", "--histogram", "--threads", "3", "missing", *names).stdout.decode()
        parts = ["==> %s <==\n%s" % (name, self.works("stats", "--histogram", name).decode()) for name in names]
        self.assertEqual(text, "\n".join(parts))

    def test_nobody_reads_them(self):
        names = self.images(5)
        read, write = os.pipe()
        os.close(read)
        for line in (["box", "--json", *names, "out/"], ["stats", *names], ["stats", "--json", *names]):
            done = subprocess.run([PROGRAM, *line], stdout=write, stderr=subprocess.PIPE, timeout=60)
            self.check_failure(done, 4, "stdout")
        os.close(write)


class Signals(BatchTest):
    def test_no_half_file_stays(self):
        """Interrupted in the middle: each output is whole or not there, and --resume completes them."""
        names = [self.write("in/%02d.pgm" % i, b"P5\n1500 1000\n255\n" + os.urandom(1500 * 1000)) for i in range(16)]
        line = ["box", "--format", "png"]  # most of the time goes into writing: several files are in the making
        expected = {}
        for name in names:
            self.works("box", name, "alone.png")
            expected[os.path.basename(name)[:2] + ".png"] = self.read("alone.png")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = "out%d" % number
            process = subprocess.Popen([PROGRAM, *line, "--threads", "3", "in/*.pgm", folder + "/"],
                                       stderr=subprocess.PIPE)
            for _ in range(6000):  # until two are done
                if os.path.isdir(folder) and len([name for name in os.listdir(folder) if name[0] != "."]) >= 2:
                    break
                time.sleep(0.002)
            process.send_signal(number)
            text = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, -number, text)
            left = os.listdir(folder)
            self.assertLess(len(left), 16)
            self.assertFalse([name for name in left if name.startswith(".")], left)
            done = run(*line, "--resume", "in/*.pgm", folder)
            self.summary(done, 0, r"\d+ of 16 files done, [1-9]\d* skipped, 0 failed")
            self.assertEqual(self.contents(folder), expected)


class Progress(BatchTest):
    def on_terminal(self, *line):
        """What the command writes to a terminal that is its stderr."""
        main, other = pty.openpty()
        process = subprocess.Popen([PROGRAM, *line], stderr=other, stdout=subprocess.DEVNULL)
        os.close(other)
        text = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(main)
        self.assertEqual(process.wait(timeout=60), 0)
        return text

    def test_always(self):
        names = self.images(6)
        text = run("box", "--progress", "always", *names, "out/").stderr.decode()
        self.assertRegex(text, r"\rtilewise: box \d of 6 files")
        self.assertRegex(text, r"\r *\rtilewise: 6 of 6 files done, 0 skipped, 0 failed, in [0-9.]+ s\n\Z")
        self.assertNotIn("\r", run("box", *names, "out/").stderr.decode())

    def test_terminal(self):
        for i in range(8):
            self.write("in/%d.pgm" % i, pgm([bytes(range(250)) * 2] * 60))
        text = self.on_terminal("rank", "--percentile", "40", "-r", "9", "--variant", "reference", "in/*.pgm", "out/")
        self.assertRegex(text, rb"\rtilewise: rank [1-7] of 8 files, \d+\.\d/s, \d+ s left")
        self.assertNotIn(b"\r", self.on_terminal("box", "--progress", "never", "in/*.pgm", "out/").replace(b"\r\n", b""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
