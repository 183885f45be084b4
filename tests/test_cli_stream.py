#!/usr/bin/env python3
"""Images in bands: under a small --memory every filter and format makes the bytes that it makes of the whole image, and
whatever goes wrong on the way leaves one line, the old file, and nothing else.

usage: test_cli_stream.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

sys.dont_write_bytecode = True

from test_cli import PROGRAM, CommandTest, npy, pgm, run, wait_for_handler

DATA = pathlib.Path(__file__).resolve().parent / "data" / "io"
NOISE = random.Random(7)
BORDERS = ("zero", "constant:200", "replicate", "reflect", "mirror", "wrap")
WIDTH, HEIGHT = 601, 1403
IMAGE = pgm([NOISE.randbytes(WIDTH) for _ in range(HEIGHT)])
SANITIZED = b"libasan" in subprocess.run(["ldd", PROGRAM], capture_output=True).stdout  # its shadow takes memory, too
LITTLE = "700K"  # bands of some hundred rows of it
LARGE_WIDTH, LARGE_HEIGHT = 1000, 900
LARGE = pgm([NOISE.randbytes(LARGE_WIDTH)] * LARGE_HEIGHT)


def limit_files(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class StreamTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("image.pgm", IMAGE)

    def same(self, *line, source="image.pgm", ending="pgm", memory=LITTLE):
        """The file made in bands is the one made at once."""
        whole, bands = "whole." + ending, "bands." + ending
        self.works(*line, source, whole, "--memory", "1G")
        self.works(*line, source, bands, "--memory", memory)
        self.assertTrue(self.read(whole) == self.read(bands), "%s of %s" % (" ".join(line), source))

    def same_of_little(self, *line, source, ending):
        """With the least memory that will do, for images so small that a plan counts."""
        for memory in range(2000, 40000, 500):
            done = run(*line, source, "bands." + ending, "--memory", memory)
            if done.returncode != 5:
                break
        self.same(*line, source=source, ending=ending, memory=str(memory))

    def nothing_is_left(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(("in.pgm", "image.pgm") + names))


class Bands(StreamTest):
    def test_the_bound_holds(self):
        """What cannot be cut does not fit: all else in these tests is done in bands."""
        self.fails(5, ["integral", "image.pgm", "out.npy", "--memory", LITTLE], "image.pgm", "integral", "--memory")
        self.nothing_is_left()

    def test_every_border(self):
        for border in BORDERS:
            for line in (["box", "-r", "3"], ["median"], ["gaussian", "--sigma", "1.5"], ["rank", "--size", "4x6", "--k", "9"],
                         ["min", "--size", "1x9", "--anchor", "0,8"], ["max", "--size", "3x8", "--anchor", "2,0"],
                         ["correlate", "--mask", "1 2 -1; 0 3 1; 5 1 1; 2 2 2", "--anchor", "1,3", "--divisor", "sum"],
                         ["sepconv", "--row", "1 2 1", "--col", "3 1 1 2", "--divisor", "sum"], ["sobel"]):
                self.same(*line, "--border", border)
        for line in (["min", "-r", "2"], ["max", "--size", "2x5"], ["gradient"]):
            self.same(*line, "--border", "ignore")

    def test_several_passes(self):
        for border in ("replicate", "mirror", "wrap", "constant:9"):
            for line in (["max", "--size", "2x3", "--iterations", "4"], ["open", "-r", "1", "--iterations", "2"], ["close", "--size", "4x2"],
                         ["gradient", "--iterations", "2"], ["tophat", "-r", "2"], ["blackhat", "--shape", "cross"],
                         ["min", "--iterations", "3"], ["median", "--iterations", "2"]):
                self.same(*line, "--border", border, memory="1M")

    def test_windows_higher_than_a_band(self):
        for border in BORDERS:
            self.same("box", "--size", "3x101", "--border", border, memory="3M")
            self.same("min", "--size", "1x90", "--anchor", "0,3", "--border", border, memory="3M")
        self.fails(5, ["box", "--size", "3x101", "image.pgm", "out.pgm", "--memory", "200K"], "image.pgm", "101 rows")
        self.fails(5, ["open", "--iterations", "5000", "image.pgm", "out.pgm", "--memory", "200K"], "image.pgm", "1403 rows")

    @unittest.skipIf(SANITIZED, "a sanitizer takes more address space than that")
    def test_a_filter_that_takes_more_than_its_bands(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        self.fails(5, ["median", "-r", "32767", "--device", "cpu", "image.pgm", "out.pgm"], "median", "smaller window",
                   preexec_fn=limit)

    def test_turns(self):
        for line in (["transpose"], ["rotate", "--degrees", "90"], ["rotate", "--degrees", "180"], ["rotate", "--degrees", "270"],
                     ["flip", "--axis", "horizontal"], ["flip", "--axis", "vertical"], ["flip", "--axis", "both"]):
            self.same(*line)
            self.same(*line, "--view", "7,11,560,1299")
            self.same(*line, ending="png")
        self.fails(5, ["transpose", "image.pgm", "out.pgm", "--memory", "700"], "image.pgm", "exceed", "higher --memory")

    def test_tables_and_running_sums(self):
        self.write("table.npy", npy((256,), "<u2", struct.pack("<256H", *[255 * i for i in range(256)])))
        self.same("lut", "--table", "table.npy", ending="npy")
        for options in ([], ["--exclusive"], ["--dtype", "f64"]):
            self.same("scan", "--axis", "x", *options, ending="npy", memory="1M")
        self.fails(5, ["scan", "--axis", "y", "image.pgm", "out.npy", "--memory", LITTLE], "image.pgm")

    def test_views(self):
        for border in ("replicate", "wrap"):
            self.same("box", "-r", "2", "--view", "5,17,580,1300", "--border", border)
            self.same("box", "-r", "2", "--view", "0,1402,601,1", "--border", border)

    def test_types_and_channels(self):
        rows, columns = 300, 200
        for kind, code in (("<u2", "H"), ("<i2", "h"), ("<i4", "i"), ("<f4", "f"), ("<f8", "d"), (">u2", "H"), (">f4", "f")):
            for channels in (1, 3):
                values = [NOISE.randint(0, 99) for _ in range(rows * columns * channels)]
                shape = (rows, columns, channels) if channels > 1 else (rows, columns)
                source = self.write("in.npy", npy(shape, kind, struct.pack(kind[0] + str(len(values)) + code, *values)))
                memory = "%d" % (columns * channels * struct.calcsize(code) * 1000)
                for line in (["box", "-r", "1"], ["median"], ["gaussian"], ["transpose"], ["flip", "--axis", "vertical"]):
                    self.same(*line, source=source, ending="npy", memory=memory)

    def test_the_device_that_was_asked_for(self):
        self.same("box", "-r", "2", "--device", "cpu", "--variant", "reference", "--threads", "1")


class Figures(StreamTest):
    def same_figures(self, *line, source="image.pgm", memory=LITTLE):
        whole = self.works("stats", "--json", *line, source, "--memory", "1G")
        self.assertEqual(self.works("stats", "--json", *line, source, "--memory", memory), whole, line)

    def test_integers(self):
        for line in ([], ["--histogram"], ["--axis", "x"], ["--axis", "y"], ["--figures", "sum,mean"], ["--figures", "std"],
                     ["--axis", "y", "--figures", "argmin"], ["--view", "31,17,500,1300"], ["--view", "31,17,500,1300", "--axis", "x"]):
            self.same_figures(*line)

    def test_floats(self):
        """In the order of the definition: the bits too; and the first of equal extremes, NaN among them."""
        for kind, special in (("f", ()), ("d", ()), ("f", (float("nan"), float("inf"), -0.0)), ("i", ())):
            for channels in (1, 3):
                values = [NOISE.gauss(0, 1000) if kind != "i" else NOISE.randint(-2**31, 2**31 - 1) for _ in range(5001 * 90)]
                for i, value in enumerate(special):
                    values[9999 * i + 4321] = values[400000 + i] = value
                shape = (5001, 90) if channels == 1 else (5001, 30, 3)
                code = {"f": "<f4", "d": "<f8", "i": "<i4"}[kind]
                self.write("in.npy", npy(shape, code, struct.pack("<%d%s" % (len(values), kind), *values)))
                for line in ([], ["--axis", "x"], ["--axis", "y"], ["--figures", "max,argmax,argmin"]):
                    self.same_figures(*line, source="in.npy", memory="2M")

    def test_tall_images(self):
        self.write("tall.pgm", pgm([NOISE.randbytes(4)] * 600000))
        for line in (["--threads", "1"], ["--threads", "1", "--histogram"]):
            self.same_figures(*line, source="tall.pgm")
        self.fails(5, ["stats", "--axis", "y", "tall.pgm", "--memory", LITTLE], "tall.pgm", "column")

    def test_faults(self):
        self.fails(5, ["stats", "--json", "-", "--memory", LITTLE], "stdin", "pipe", stdin=IMAGE)
        self.assertEqual(json.loads(self.works("stats", "--json", "--figures", "sum", "-", "--memory", LITTLE, stdin=IMAGE)),
                         json.loads(self.works("stats", "--json", "--figures", "sum", "image.pgm")))
        self.fails(3, ["stats", "--figures", "sum", "-", "--memory", LITTLE], "stdin", "truncated", stdin=IMAGE[:500000])
        self.fails(5, ["stats", "image.pgm", "--memory", "700"], "image.pgm")


class Formats(StreamTest):
    def test_every_output(self):
        for ending in ("pgm", "png", "jpg", "tif", "npy"):
            self.same("box", "-r", "3", ending=ending)
        self.works("correlate", "--mask", "0.37", "--dtype", "f32", "image.pgm", "float.pfm")
        self.same("gaussian", source="float.pfm", ending="pfm", memory="4M")
        self.same("gaussian", source="float.pfm", ending="tif", memory="4M")

    def test_every_input(self):
        """Of the files that other programs made, too small to need bands as they are."""
        count = 0
        for path in sorted(DATA.iterdir()):
            if path.is_dir() or path.name.endswith((".md", ".0.npy")):
                continue
            name = self.write(path.name, path.read_bytes())
            if "interlaced" not in name and "progressive" not in name:  # these are held as a whole
                self.same_of_little("flip", "--axis", "vertical", "-q", source=name, ending="npy")
            self.same_of_little("min", "--border", "wrap", "-q", source=name, ending="npy")
            count += 1
        self.assertGreater(count, 90)

    def test_metadata(self):
        for name in ("orientation-1.tif", "rgb-444.jpg"):
            self.write(name, (DATA / name).read_bytes())
            for ending in ("tif", "png", "jpg"):
                self.same_of_little("flip", "--axis", "both", source=name, ending=ending)

    def test_pages(self):
        self.write("pages.tif", (DATA / "pages-bigtiff.tif").read_bytes())
        for page in "012":
            self.same("transpose", "--page", page, source="pages.tif", ending="npy", memory="2K")

    def test_pipes(self):
        for ending in ("pgm", "png", "npy", "tif", "jpg"):
            name = "in." + ending
            self.works("flip", "--axis", "horizontal", "image.pgm", name)
            self.works("box", name, "whole." + ending)
            memory = "3M" if ending in ("png", "tif") else LITTLE  # these are kept as a whole
            done = self.works("box", "-", "-", "--memory", memory, stdin=self.read(name))
            self.assertTrue(done == self.read("whole." + ending), ending)
        self.fails(5, ["box", "--border", "wrap", "-", "out.pgm", "--memory", LITTLE], "stdin", "pipe", stdin=IMAGE)
        self.write("float.npy", npy((700, 1000), "<f4", struct.pack("<700000f", *range(700000))))
        self.fails(5, ["box", "float.npy", "-", "--format", "pfm", "--memory", LITTLE], "stdout", "use a file")

    def test_the_input_is_replaced(self):
        self.works("box", "-r", "4", "image.pgm", "whole.pgm")
        self.works("box", "-r", "4", "image.pgm", "image.pgm", "--memory", LITTLE)
        self.assertEqual(self.read("image.pgm"), self.read("whole.pgm"))

    def test_sizes(self):
        for text in ("1", "1k", "77K", "3M", "2g", "1T"):
            run("box", "in.pgm", "out.pgm", "--memory", text)
        for text in ("", "0", "-1", "1.5M", "M", "1KB", "99999999T", "1 M"):
            self.fails(2, ["box", "in.pgm", "out.pgm", "--memory", text], "--memory")


class Faults(StreamTest):
    """The old file stays, no other is left, and one line says what was wrong."""

    def refused(self, code, line, *words, **more):
        self.write("out.tif", b"old")
        before = sorted(os.listdir(self.folder))
        self.fails(code, line, *words, **more)
        self.assertEqual(self.read("out.tif"), b"old")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_disk_full(self):
        for command in ("box", "transpose", "open"):
            for memory in (LITTLE, "1G"):
                self.refused(4, [command, "image.pgm", "out.tif", "--memory", memory], "out.tif" if command != "transpose" else "",
                             "File too large", preexec_fn=limit_files(300000))

    def test_disk_full_of_a_file_system(self):
        os.mkdir("small")
        if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "small"],
                                              capture_output=True).returncode != 0:
            self.skipTest("mounting a small file system is for root")
        self.addCleanup(subprocess.run, ["umount", "small"], check=True)
        self.write("large.pgm", LARGE)
        self.write("small/out.pgm", b"old")
        for command in ("box", "transpose"):
            self.fails(4, [command, "large.pgm", "small/out.pgm", "--memory", LITTLE], "No space left")
            self.assertEqual(os.listdir("small"), ["out.pgm"])
            self.assertEqual(self.read("small/out.pgm"), b"old")

    def test_input_ends_early(self):
        self.refused(3, ["box", "-", "out.tif", "--memory", LITTLE], "stdin", "truncated", stdin=IMAGE[:500000])
        self.refused(3, ["transpose", "-", "out.tif", "--memory", LITTLE], "stdin", "truncated", stdin=IMAGE[:500000])

    def test_damage_in_the_middle(self):
        self.write("large.pgm", LARGE)
        for ending in ("png", "jpg", "tif"):
            name = "large." + ending
            self.works("max", "large.pgm", name)
            data = bytearray(self.read(name))
            if ending == "tif":  # the last strip lies beyond the file's end
                at = struct.unpack_from("<I", data, 4)[0]
                for entry in range(struct.unpack_from("<H", data, at)[0]):
                    tag, _, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * entry)
                    if tag == 273:
                        struct.pack_into("<I", data, value + 4 * (count - 1), len(data) - 9)
            else:
                data[len(data) * 2 // 3 : len(data) * 2 // 3 + 60] = b"\xff\xc0" * 30
            self.write(name, bytes(data))
            for command in ("box", "rotate"):
                options = ["--degrees", "90"] if command == "rotate" else []
                self.refused(3, [command, *options, name, "out.tif", "--memory", LITTLE], name)

    def started(self, *line, memory=LITTLE):
        """A process that waits for the rest of its input, and the pipe of that."""
        process = subprocess.Popen([PROGRAM, *line, "--memory", memory], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for_handler(process.pid, signal.SIGTERM)
        process.stdin.write(IMAGE[: len(IMAGE) // 2])
        process.stdin.flush()
        deadline = time.time() + 60
        while time.time() < deadline and not any(name.endswith(".tmp") for name in os.listdir(self.folder)):
            time.sleep(0.01)
        return process

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for command in ("box", "transpose"):
                self.write("out.tif", b"old")
                process = self.started(command, "-", "out.tif")
                self.assertEqual(len(os.listdir(self.folder)), 4)  # the one that must go
                process.send_signal(number)
                text = process.communicate()[1]
                self.assertEqual(process.returncode, -number)
                self.assertEqual(text.count(b"\n"), 1)
                self.assertEqual(self.read("out.tif"), b"old")
                self.nothing_is_left("out.tif")

    def test_a_file_that_changes(self):
        """The result waits in a pipe that nobody reads while the input is touched."""
        self.write("large.pgm", LARGE)
        for change in ("touched", "cut", "grown"):
            self.write("large.pgm", LARGE)
            process = subprocess.Popen([PROGRAM, "box", "large.pgm", "-", "--memory", LITTLE], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdout.read(20)
            if change == "touched":
                os.utime("large.pgm", (1, 1))
            else:
                os.truncate("large.pgm", len(LARGE) + (1 if change == "grown" else -10))
            text = process.communicate()[1]
            self.assertEqual(process.returncode, 3)
            self.assertIn(b"large.pgm: " + (b"truncated" if change == "cut" else b"was changed while it was read"), text)

    @unittest.skipIf(SANITIZED, "a sanitizer takes more address space than that")
    def test_memory_that_is_refused(self):
        """Bands become smaller until there is memory for them."""
        self.write("large.pgm", b"P5\n20000 3000\n255\n" + NOISE.randbytes(20000) * 3000)
        self.works("box", "large.pgm", "whole.pgm")
        for mebibytes in (300, 100):
            bound = os.path.getsize(PROGRAM) + (mebibytes << 20)

            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (bound, bound))

            done = run("box", "--threads", "1", "--device", "cpu", "large.pgm", "out.pgm", preexec_fn=limit)
            if mebibytes == 300 or done.returncode == 0:  # its libraries need more or less, by how it was built
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(self.read("out.pgm") == self.read("whole.pgm"))
            else:
                self.check_failure(done, 5)

    def test_no_place_for_pieces(self):
        """A turn keeps its pieces beside the result: where it may not, it says so."""
        self.fails(4, ["transpose", "image.pgm", "no/such/out.pgm", "--memory", LITTLE], "no/such/out.pgm")


class Batches(StreamTest):
    """A file of several that is larger than memory goes in bands, and its failure is its own."""

    def test_filters(self):
        self.write("cut.pgm", IMAGE[:-100])
        self.write("damaged.png", (DATA / "grey-8-bit.png").read_bytes()[:-20])
        self.works("box", "image.pgm", "whole.pgm")
        done = run("box", "image.pgm", "in.pgm", "cut.pgm", "damaged.png", "out/", "--memory", LITTLE)
        self.assertEqual(done.returncode, 1)
        lines = [line for line in done.stderr.decode().splitlines() if "truncated" in line or "amaged" in line]
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertTrue(all(line.startswith("tilewise: ") for line in lines))
        self.assertEqual(sorted(os.listdir("out")), ["image.pgm", "in.pgm"])
        self.assertEqual(self.read("out/image.pgm"), self.read("whole.pgm"))

    def test_figures(self):
        whole = json.loads(self.works("stats", "--json", "image.pgm"))
        lines = self.works("stats", "--json", "-q", "image.pgm", "in.pgm", "--memory", LITTLE).decode().splitlines()
        self.assertIn(whole["channels"], [json.loads(line).get("channels") or json.loads(line).get("stats", {}).get("channels")
                                          for line in lines])


class Memory(StreamTest):
    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_the_peak(self):
        """Of a large file, by far; the program itself takes some MiB."""
        width, height = 4000, 6000
        self.write("large.pgm", b"P5\n%d %d\n255\n" % (width, height) + NOISE.randbytes(width * 1000) * 6)
        for line in (["box", "-r", "2"], ["open"], ["min", "--iterations", "2"], ["transpose"], ["flip", "--axis", "vertical"]):
            code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            peak = int(subprocess.check_output([sys.executable, "-c", code, PROGRAM, *line, "large.pgm", "out.pgm",
                                                "--memory", "40M", "--device", "cpu"]))
            self.assertLess(peak, 1.2 * 40 * 1024, line)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_the_peak_of_many_files(self):
        """Whose results are eight times as large as they are."""
        image = b"P5\n2000 1500\n255\n" + bytes(2000 * 1500)
        names = [self.write("%d.pgm" % i, image) for i in range(4)]
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        line = [PROGRAM, "correlate", "-q", "--mask", "1 2 1", "--dtype", "f64", "--format", "npy", "--memory", "40M",
                "--threads", "2", "--device", "cpu", *names, "out/"]
        peak = int(subprocess.check_output([sys.executable, "-c", code, *line]))
        self.assertLess(peak, 1.2 * 40 * 1024)
        self.assertEqual(len(os.listdir("out")), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
