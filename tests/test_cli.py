#!/usr/bin/env python3
"""The command as its users meet it: results, exit codes, one line a failure, files whole or not at all.

usage: test_cli.py PROGRAM [TEST...]; the tests run in folders of their own."""

import itertools
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/tilewise")
FILTERS = ("box", "correlate", "convolve", "sepconv", "gaussian", "sobel", "scharr", "prewitt", "laplacian", "min", "max",
           "median", "rank", "open", "close", "gradient", "tophat", "blackhat", "transpose", "rotate", "flip", "lut")
os.environ["TILEWISE_WISDOM"] = ""  # whatever the user has measured


def run(*arguments, stdin=b"", **more):
    """The finished process, its stdout and stderr as bytes."""
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, **more)


def pgm(rows):
    return b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(bytes(row) for row in rows)


def pgm_rows(data):
    magic, width, height, most, pixels = re.fullmatch(rb"(P5)\s(\d+)\s(\d+)\s(\d+)\s(.*)", data, re.S).groups()
    width, height = int(width), int(height)
    assert most == b"255" and len(pixels) == width * height
    return [list(pixels[y * width : (y + 1) * width]) for y in range(height)]


def npy(shape, kind, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def png(rows, chunks=()):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    extra = b"".join(chunk(name, body) for name, body in chunks)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def tiff(pages, doubles={}):
    """A little-endian file with one strip a page; `doubles` are further tags of each."""
    out = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for rows in pages:
        strip = len(out)
        out += b"".join(bytes(row) for row in rows)
        out += b"\0" * (len(out) % 2)
        struct.pack_into("<I", out, link, len(out))
        width, height = len(rows[0]), len(rows)
        tags = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, strip),
                (277, 3, 1), (278, 4, height), (279, 4, width * height)]
        tags = [(tag, kind, 1, value) for tag, kind, value in tags]
        after = len(out) + 2 + 12 * (len(tags) + len(doubles)) + 4
        values = b""
        for tag, numbers in sorted(doubles.items()):
            tags.append((tag, 12, len(numbers), after + len(values)))
            values += struct.pack("<%dd" % len(numbers), *numbers)
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        link = len(out)
        out += b"\0\0\0\0" + values
    return bytes(out)


def tiff_doubles(data, wanted):
    """The values of a tag of doubles on the first page of a little-endian file."""
    (at,) = struct.unpack_from("<I", data, 4)
    for entry in range(struct.unpack_from("<H", data, at)[0]):
        tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * entry)
        if tag == wanted and kind == 12:
            return list(struct.unpack_from("<%dd" % count, data, value))
    return None


def wait_for_handler(process, number):
    """Until the process catches the signal."""
    for _ in range(600):
        status = pathlib.Path(f"/proc/{process}/status").read_text()
        if int(re.search(r"SigCgt:\s*(\w+)", status).group(1), 16) >> (number - 1) & 1:
            return
        time.sleep(0.05)
    raise TimeoutError("no handler for signal %d" % number)


IMPULSE = [[255 * (x == y == 2) for x in range(5)] for y in range(5)]
BLURRED = [[28 * (1 <= x <= 3 and 1 <= y <= 3) for x in range(5)] for y in range(5)]


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        self.write("in.pgm", pgm(IMPULSE))

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def read(self, name):
        return (self.folder / name).read_bytes()

    def check_failure(self, done, code, *words):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, code, text)
        self.assertRegex(text, r"\Atilewise: [^\n]*\n\Z")
        for word in words:
            self.assertIn(word, text)

    def fails(self, code, arguments, *words, **more):
        done = run(*arguments, **more)
        self.check_failure(done, code, *words)
        self.assertEqual(done.stdout, b"")

    def works(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout


class Box(CommandTest):
    def test_five_by_five(self):
        self.assertEqual(self.works("box", "in.pgm", "out.pgm"), b"")
        self.assertEqual(pgm_rows(self.read("out.pgm")), BLURRED)

    def test_one_by_one(self):
        self.assertEqual(pgm_rows(self.works("box", "-", "-", stdin=pgm([[255]]))), [[28]])

    def test_options_in_any_order(self):
        words = [["--border", "wrap"], ["-r2"], ["in.pgm"], ["-"]]
        results = set()
        for order in itertools.permutations(words):
            line = sum(order, [])
            if line.index("in.pgm") < line.index("-"):
                results.add(self.works("box", *line))
        self.assertEqual(len(results), 1)

    def test_ways_to_say_the_same(self):
        for line in (["-r", "1"], ["-r1"], ["--radius=1"], ["--rad", "1"], ["--size", "3"], ["--size=3x3"],
                     ["--anchor", "1,1"], ["--rounding", "floor"], ["--dtype", "u8"], ["--border", "zero"],
                     ["--device", "cpu"], ["--threads", "1"], ["-q"], ["--view", "0,0,5,5"], ["--page", "0"]):
            self.assertEqual(pgm_rows(self.works("box", "in.pgm", "-", *line)), BLURRED, line)

    def test_names_of_borders(self):
        rows = [[(37 * (x + 4 * y) + 11) % 256 for x in range(4)] for y in range(3)]
        names = {
            "zero": ["ZERO", "zero fill", "BORDER_CONSTANT", "constant", "constant:0", "grid-constant"],
            "replicate": ["clamp", "nearest", "BORDER_REPLICATE", "border_replicate"],
            "reflect": ["Reflect", "BORDER_REFLECT", "grid-mirror"],
            "mirror": ["reflect_101", "BORDER_REFLECT_101", "BORDER_REFLECT101", "BORDER_DEFAULT"],
            "wrap": ["BORDER_WRAP", "grid-wrap"],
        }
        results = {}
        for name, others in names.items():
            results[name] = self.works("box", "-r2", "--border", name, "-", "-", stdin=pgm(rows))
            for other in others:
                self.assertEqual(self.works("box", "-r2", "--border", other, "-", "-", stdin=pgm(rows)), results[name], other)
        self.assertEqual(len(set(results.values())), len(results))

    def test_constant(self):
        done = self.works("box", "-", "-", "--border", "constant:255", stdin=pgm([[0]]))
        self.assertEqual(pgm_rows(done), [[255 * 8 // 9]])

    def test_rounding(self):
        rows = [[1, 2]]
        for rule, value in (("floor", 1), ("nearest", 2)):
            done = self.works("box", "--size", "2x1", "--anchor", "0,0", "--border", "replicate", "--rounding", rule,
                              "-", "-", stdin=pgm(rows))
            self.assertEqual(pgm_rows(done), [[value, 2]])

    def test_view_is_an_image_of_its_own(self):
        rows = [[(x * 7 + y * 13) % 256 for x in range(20)] for y in range(15)]
        part = [row[3:12] for row in rows[4:10]]
        view = self.works("box", "-", "-", "--view", "3,4,9,6", "--border", "mirror", stdin=pgm(rows))
        whole = self.works("box", "-", "-", "--border", "mirror", stdin=pgm(part))
        self.assertEqual(view, whole)

    def test_a_view_keeps_its_place_on_the_map(self):
        points, scale, matrix = 33922, 33550, 34264
        self.write("in.tif", tiff([IMPULSE], {points: [0, 0, 0, 500, 900, 0], scale: [10, 20, 0]}))
        self.works("box", "--view", "2,1,3,3", "in.tif", "out.tif")
        self.assertEqual(tiff_doubles(self.read("out.tif"), points), [-2, -1, 0, 500, 900, 0])
        self.assertEqual(tiff_doubles(self.read("out.tif"), scale), [10, 20, 0])
        self.works("box", "in.tif", "out.tif")
        self.assertEqual(tiff_doubles(self.read("out.tif"), points), [0, 0, 0, 500, 900, 0])
        self.write("in.tif", tiff([IMPULSE], {matrix: [10, 1, 0, 500, 2, -20, 0, 900, 0, 0, 1, 0, 0, 0, 0, 1]}))
        self.works("box", "--view", "2,1,3,3", "in.tif", "out.tif")
        self.assertEqual(tiff_doubles(self.read("out.tif"), matrix),
                         [10, 1, 0, 521, 2, -20, 0, 884, 0, 0, 1, 0, 0, 0, 0, 1])

    def test_pages(self):
        self.write("in.tif", tiff([[[9] * 3] * 3, IMPULSE]))
        self.works("box", "--page", "1", "in.tif", "out.pgm")
        self.assertEqual(pgm_rows(self.read("out.pgm")), BLURRED)
        self.fails(2, ["box", "--page", "2", "in.tif", "out.pgm"], "in.tif")
        self.fails(2, ["box", "--page", "1", "in.pgm", "out.pgm"], "in.pgm")

    def test_input_and_output_may_be_one_file(self):
        self.works("box", "in.pgm", "in.pgm")
        self.assertEqual(pgm_rows(self.read("in.pgm")), BLURRED)

    def test_stdout_has_the_inputs_format(self):
        self.assertTrue(self.works("box", "-", "-", stdin=png(IMPULSE)).startswith(b"\x89PNG"))
        self.assertTrue(self.works("box", "-", "-", stdin=npy((5, 5), "|u1", bytes(25))).startswith(b"\x93NUMPY"))

    def test_a_name_with_a_dash(self):
        self.write("-in.pgm", pgm(IMPULSE))
        self.works("box", "--", "-in.pgm", "-out.pgm")
        self.assertEqual(pgm_rows(self.read("-out.pgm")), BLURRED)

    def test_every_variant_gives_the_same_bytes(self):
        rows = [[(37 * (x + 61 * y) + 11) % 256 for x in range(61)] for y in range(43)]
        size = ["--size", "61x43", "--window", "5x3"]
        listed = json.loads(self.works("explain", "--list", "box", "--json", *size))["variants"]
        expected = self.works("box", "--variant", "reference", "--size", "5x3", "-", "-", stdin=pgm(rows))
        usable = [v for v in listed if v["applies"]]
        self.assertIn("reference", [v["name"] for v in usable])
        for variant in usable:
            got = self.works("box", "--variant", variant["name"], "--device", variant["device"], "--size", "5x3", "-",
                             "-", stdin=pgm(rows))
            self.assertEqual(got, expected, variant)

    def test_what_is_lost_is_told_once(self):
        profile = b"profile\0\0" + zlib.compress(b"x" * 128)
        self.write("in.png", png(IMPULSE, [(b"iCCP", profile)]))
        done = run("box", "in.png", "out.pgm")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"\Atilewise: warning: [^\n]+\n\Z")
        self.assertEqual(self.works("box", "-q", "in.png", "out.pgm"), b"")
        self.assertEqual(self.works("box", "in.png", "out.png"), b"")
        self.assertIn(b"iCCP", self.read("out.png"))


class Usage(CommandTest):
    def test_wrong_lines(self):
        for line, words in (
            ([], ["tilewise help"]),
            (["bxo"], ["'bxo'", "'box'"]),
            (["--device", "cpu"], ["--device"]),
            (["box"], ["INPUT... OUTPUT"]),
            (["box", "in.pgm"], ["INPUT... OUTPUT"]),
            (["box", "a", "b", "c"], ["'c'"]),
            (["box", "--sise", "3", "a", "b"], ["--sise", "--size"]),
            (["box", "--foo", "a", "b"], ["--foo", "tilewise help box"]),
            (["box", "-x", "a", "b"], ["-x"]),
            (["box", "--quiet=3", "a", "b"], ["--quiet=3"]),
            (["box", "a", "b", "-r"], ["-r", "0 to 32767"]),
            (["box", "a", "b", "--border"], ["--border", "wrap"]),
            (["box", "-r", "1", "--size", "3", "a", "b"], ["--radius", "--size"]),
            (["box", "--anchor", "3,0", "a", "b"], ["3,0", "3x3", "2,2"]),
            (["box", "--graph", "a", "b"], ["--graph"]),
            (["bench", "box", "--view", "1,1,1,1"], ["--view"]),
            (["bench", "box", "--radius", "1", "--window", "3"], ["--window"]),
            (["info", "x"], ["'x'"]),
            (["help", "bxo"], ["'bxo'", "'box'"]),
            (["help", "nothing"], ["'nothing'", "'tilewise help'"]),
            (["erode", "a", "b"], ["'erode'", "'min'"]),
            (["blur", "a", "b"], ["'blur'", "'box'"]),
            (["histogram", "a"], ["'stats --histogram'"]),
            (["bench"], ["OP"]),
            (["bench", "bax"], ["'bax'", "'box'"]),
            (["verify", "nothing"], ["'nothing'"]),
            (["explain", "box"], ["--list", "help explain"]),
            (["box", "", "b"], ["INPUT... OUTPUT", "empty"]),
            (["box", "a", ""], ["INPUT... OUTPUT", "empty"]),
            (["box", "--device", "cpu", "--block", "16x16", "a", "b"], ["16x16"]),
            (["box", "--variant", "referense", "in.pgm", "b.pgm"], ["'referense'", "reference"]),
            (["bench", "box", "--variant", "nothing"], ["'nothing'"]),
            (["verify", "box", "--variant", "nothing"], ["'nothing'"]),
        ):
            with self.subTest(line=line):
                self.fails(2, line, *words)

    def test_wrong_values(self):
        wrong = {
            "--radius": ["", "-1", "+1", " 1", "1 ", "1.5", "0x1", "32768", "99999999999999999999", "one"],
            "--size": ["", "0", "3x", "x3", "3x0", "3X3", "3x3x3", "65536", "3,3", "-3"],
            "--anchor": ["1", "1,", "1,1,1", "-1,0", "1x1", "65535,0"],
            "--border": ["", "none", "ignore", "constant:", "constant: 1", "constant:1x", "constant:1e999", "zero:1"],
            "--rounding": ["", "Floor", "up", "floor "],
            "--view": ["", "1,2,3", "0,0,0,5", "0,0,5,0", "-1,0,1,1", "0,0,1,1,1", "9223372036854775808,0,1,1"],
            "--page": ["", "-1", "2147483648", "first"],
            "--dtype": ["", "u9", "U8", "float"],
            "--device": ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "cuda:1024"],
            "--variant": ["", "a,b", ","],
            "--block": ["", "16", "0x16", "16x1025", "16x"],
            "--threads": ["", "0", "-1", "1025", "all"],
            "--progress": ["", "yes", "Always"],
        }
        for option, values in wrong.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.fails(2, ["box", "in.pgm", "out.pgm", option, value], option, "'%s'" % value)
        self.assertFalse(os.path.exists("out.pgm"))

    def test_values_that_do_not_suit_the_image(self):
        self.fails(2, ["box", "in.pgm", "out.pgm", "--border", "constant:256"], "256", "u8")
        self.fails(2, ["box", "in.pgm", "out.pgm", "--border", "constant:0.5"], "0.5", "u8")
        self.fails(2, ["box", "in.pgm", "out.pgm", "--view", "4,4,2,1"], "4,4,2,1", "5x5")
        self.fails(2, ["box", "in.pgm", "out.pgm", "--dtype", "f32"], "f32", "u8")
        self.assertFalse(os.path.exists("out.pgm"))

    def test_output_that_cannot_hold_the_image(self):
        self.write("in.npy", npy((5, 5), "<f4", bytes(100)))
        self.fails(2, ["box", "in.npy", "out.png"], "out.png", "f32")
        self.fails(2, ["box", "in.pgm", "out.unknown"], "out.unknown")
        self.fails(2, ["box", "in.pgm", "out"], "out")

    def test_a_name_with_a_line_break_stays_one_line(self):
        self.fails(3, ["box", "no\nsuch\x1b[31m.png", "out.png"])


class Files(CommandTest):
    def leftovers(self):
        return sorted(name for name in os.listdir(self.folder) if name not in ("in.pgm", "out.pgm"))

    def test_unreadable_input(self):
        self.write("out.pgm", b"old")
        self.fails(3, ["box", "missing.png", "out.pgm"], "missing.png")
        self.fails(3, ["box", ".", "out.pgm"])
        for name, data in (("empty", b""), ("text", b"not an image at all"), ("cut.pgm", pgm(IMPULSE)[:-1]),
                           ("cut.png", png(IMPULSE)[:60]), ("lying.npy", npy((500, 500), "|u1", b"123"))):
            with self.subTest(name=name):
                self.fails(3, ["box", self.write(name, data), "out.pgm"], name)
                os.remove(name)
        self.assertEqual(self.read("out.pgm"), b"old")
        self.assertEqual(self.leftovers(), [])

    def test_output_cannot_be_written(self):
        self.fails(4, ["box", "in.pgm", "no/such/folder/out.pgm"], "no/such/folder/out.pgm")
        os.mkdir("folder.pgm")
        self.fails(4, ["box", "in.pgm", "folder.pgm"], "folder.pgm")
        os.rmdir("folder.pgm")
        self.assertEqual(self.leftovers(), [])

    def test_output_folder_is_read_only(self):
        folder = "/proc"  # not even root may create a file there; permissions alone do not stop root
        if os.geteuid() != 0:
            folder = "closed"
            os.mkdir(folder, 0o500)
        self.fails(4, ["box", "in.pgm", folder + "/out.pgm"], folder + "/out.pgm")

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            for line in (["box", "in.pgm", "-"], ["help"], ["help", "--man"], ["info", "--json"]):
                done = subprocess.run([PROGRAM, *line], stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.check_failure(done, 4, "No space left on device")
        os.symlink("/dev/full", "full.pgm")
        self.fails(4, ["box", "in.pgm", "full.pgm"], "full.pgm")

    def test_file_size_limit_keeps_the_old_file(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        self.write("out.pgm", b"old")
        big = pgm([[7] * 1000] * 1000)
        self.fails(4, ["box", "-", "out.pgm"], "out.pgm", stdin=big, preexec_fn=limit)
        self.assertEqual(self.read("out.pgm"), b"old")
        self.assertEqual(self.leftovers(), [])

    def test_closed_pipe(self):
        for line in (["box", "in.pgm", "-"], ["help", "--man"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([PROGRAM, *line], stdout=writer, stderr=subprocess.PIPE, timeout=60)
            os.close(writer)
            self.check_failure(done, 4, "Broken pipe")

    def test_closed_streams(self):
        done = subprocess.run(["sh", "-c", '"$0" box in.pgm - >&-', PROGRAM], capture_output=True, timeout=60)
        self.check_failure(done, 4)
        done = subprocess.run(["sh", "-c", '"$0" box - out.pgm <&-', PROGRAM], capture_output=True, timeout=60)
        self.check_failure(done, 3)
        done = subprocess.run(["sh", "-c", '"$0" box in.pgm out.pgm 2>&- >&- <&-', PROGRAM], timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(pgm_rows(self.read("out.pgm")), BLURRED)

    def test_an_image_beyond_the_memory(self):
        self.fails(5, ["box", "-", "out.npy"], stdin=npy((3, 4000000000000), "<f8", b""))

    def test_threads_beyond_the_limits(self):
        def limit():
            hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
            if hard != resource.RLIM_INFINITY:
                os._exit(77)
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 47, hard))  # each thread asks for as much

        done = run("box", "--threads", "4", "in.pgm", "out.pgm", preexec_fn=limit)
        if done.returncode == 77:
            self.skipTest("the limit of the stack cannot be raised")
        self.check_failure(done, 5, "threads 4")
        self.assertEqual(self.leftovers(), [])

    def test_bench_beyond_the_memory(self):
        self.fails(5, ["bench", "box", "--size", "1000000000", "--device", "cpu"], "1000000000x1000000000")


class Signals(CommandTest):
    """A run that lasts long enough: the reference with a large window."""

    def start(self, **more):
        self.write("big.pgm", pgm([[7] * 2000] * 500))
        self.write("out.pgm", b"old")
        line = ["box", "--variant", "reference", "-r", "200", "big.pgm", "out.pgm"]
        return subprocess.Popen([PROGRAM, *line], stderr=subprocess.PIPE, **more)

    def test_signals_end_it_and_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM,
                       signal.SIGUSR1, signal.SIGUSR2):
            process = self.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            wait_for_handler(process.pid, signal.SIGUSR2)
            process.send_signal(number)
            _, text = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertIn(number.name.encode(), text)
            self.assertEqual(text.count(b"\n"), 1)
            self.assertEqual(self.read("out.pgm"), b"old")
            self.assertEqual(sorted(os.listdir(self.folder)), ["big.pgm", "in.pgm", "out.pgm"])

    def test_a_shell_sees_128_and_the_number(self):
        script = 'sleep 3 | "$0" box - out.pgm & sleep 1; kill -TERM $!; wait $!; echo $?'
        done = subprocess.run(["bash", "-c", script, PROGRAM], capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"143\n")

    def test_ignored_signals_stay_ignored(self):
        process = subprocess.Popen([PROGRAM, "box", "-", "out.pgm"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for_handler(process.pid, signal.SIGTERM)
        process.send_signal(signal.SIGHUP)
        _, text = process.communicate(pgm(IMPULSE), timeout=60)
        self.assertEqual((process.returncode, text), (0, b""))


class Terminal(CommandTest):
    def on_terminal(self, line, wait, until=None):
        """What the program prints on a terminal before it ends, prints `until`, or `wait` seconds are over."""
        child, master = pty.fork()
        if child == 0:
            try:
                os.execv(PROGRAM, [PROGRAM, *line])
            finally:
                os._exit(127)
        end = time.monotonic() + wait
        text = b""
        os.set_blocking(master, False)
        while time.monotonic() < end and not (until and re.search(until, text)):
            try:
                text += os.read(master, 4096)
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:
                break
        else:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(master)
        return text, os.waitstatus_to_exitcode(status)

    def test_progress_after_a_second(self):
        self.write("big.pgm", pgm([[7] * 2000] * 2000))
        line = ["box", "--variant", "reference", "-r", "12", "--threads", "1", "big.pgm", "out.pgm"]
        shown = rb"\rtilewise: box +\d+ %"
        self.assertRegex(self.on_terminal(line, 60, shown)[0], shown)
        self.assertEqual(self.on_terminal(line + ["-q"], 3)[0], b"")
        self.assertEqual(self.on_terminal(line + ["--progress", "never"], 3)[0], b"")

    def test_no_progress_for_short_work_or_in_a_pipe(self):
        self.assertEqual(self.on_terminal(["box", "in.pgm", "out.pgm"], 20), (b"", 0))
        self.assertEqual(self.works("box", "in.pgm", "out.pgm"), b"")

    def test_the_line_is_removed(self):
        text = run("box", "--progress", "always", "in.pgm", "out.pgm").stderr
        self.assertRegex(text, rb"100 %\r *\r\Z")

    def test_no_image_on_a_terminal(self):
        text, code = self.on_terminal(["box", "in.pgm", "-"], 20)
        self.assertEqual(code, 2)
        self.assertRegex(text, rb"\Atilewise: [^\n]*terminal[^\n]*\n\Z")


class Devices(CommandTest):
    def setUp(self):
        super().setUp()
        self.info = json.loads(self.works("info", "--json"))

    def test_auto_always_works(self):
        self.works("box", "--device", "auto", "in.pgm", "out.pgm")
        self.works("box", "--block", "16x16", "in.pgm", "out.pgm")

    def test_cuda_where_none_works(self):
        if self.info["cuda"]:
            self.skipTest("there is a GPU")
        reason = self.info["cuda_reason"]
        self.assertNotEqual(reason, "")
        self.fails(6, ["box", "--device", "cuda", "in.pgm", "out.pgm"], "cuda", reason)
        self.fails(6, ["verify", "box", "--device", "cuda", "--variant", "direct,tiled"], "cuda", reason)
        self.fails(6, ["bench", "box", "--device", "cuda:0"], "cuda", reason)
        for variant in json.loads(self.works("explain", "--list", "box", "--json"))["variants"]:
            if variant["device"] == "cuda":
                self.assertFalse(variant["applies"])
                self.fails(6, ["box", "--variant", variant["name"], "in.pgm", "out.pgm"], reason)
                break
        self.assertFalse(os.path.exists("out.pgm"))

    def test_a_gpu_that_is_not_there(self):
        self.fails(6, ["box", "--device", "cuda:99", "in.pgm", "out.pgm"], "cuda")

    def test_a_variant_of_another_device(self):
        variants = json.loads(self.works("explain", "--list", "box", "--json"))["variants"]
        for device, other in (("cpu", "cuda"), ("cuda", "cpu")):
            only = {v["name"] for v in variants if v["device"] == device}
            only -= {v["name"] for v in variants if v["device"] == other}
            if only and (other == "cpu" or self.info["cuda"]):
                self.fails(2, ["box", "--device", other, "--variant", min(only), "in.pgm", "out.pgm"], min(only), other)


class Printing(CommandTest):
    def test_version(self):
        self.assertRegex(self.works("--version"), rb"\Atilewise \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.works("-V"), self.works("--version"))

    def test_info(self):
        info = json.loads(self.works("info", "--json"))
        self.assertEqual(info["schema"], "tilewise.info/1")
        self.assertEqual(set(info), {"schema", "version", "build", "cpu", "cuda", "cuda_reason", "formats"})
        self.assertEqual(len(info["cpu"]), 1)
        self.assertEqual(bool(info["cuda"]), info["cuda_reason"] == "")
        text = self.works("info").decode()
        self.assertIn(info["version"], text)
        self.assertIn(info["cuda_reason"], text)

    def test_verify(self):
        lines = self.works("verify", "box", "--device", "cpu", "--cases", "4").decode().splitlines()
        self.assertEqual(len(lines), 3 + 4)
        self.assertEqual([line.split(",")[0] for line in lines[:3]], ["5x5", "1x1", "1003x769"])
        for line in lines:
            self.assertRegex(line, r"\A\d+x\d+(, \w+=PASS)+\Z")
        again = self.works("verify", "box", "--device", "cpu", "--cases", "4", "--seed", "1").decode().splitlines()
        self.assertEqual(lines, again)

    def test_verify_of_all(self):
        lines = self.works("verify", "--device", "cpu", "--variant", "c", "--cases", "1").decode().splitlines()
        operations = ["box", "correlate", "sepconv", "gaussian", "min", "max", "rank", "transpose", "lut", "reduce", "histogram",
                      "scan", "integral"]
        self.assertEqual([line for line in lines if "PASS" not in line], operations)
        self.assertEqual(lines[:2], ["box", "5x5, c=PASS"])

    def test_verify_as_json(self):
        result = json.loads(self.works("verify", "box", "--device", "cpu", "--cases", "3", "--json"))
        self.assertEqual(result["schema"], "tilewise.verify/1")
        self.assertEqual((result["cases"], result["failed"], result["failures"]), (6, 0, []))
        self.assertGreaterEqual(result["checks"], 6)

    def test_bench(self):
        line = ["bench", "box", "--size", "64x48", "--device", "cpu", "--threads", "1"]
        result = json.loads(self.works(*line, "--json", "--pitch", "odd", "--dtype", "u16", "--channels", "3"))
        self.assertEqual(result["schema"], "tilewise.bench/1")
        self.assertEqual(result["problem"], "box u16 c3 64x48 s3x3 a1,1 zero floor host")
        self.assertEqual(result["pitch"], 2 * 193)
        self.assertIn("reference", [row["name"] for row in result["variants"]])
        for row in [result["copy"], *result["variants"]]:
            if not row["timed"]:
                self.assertNotEqual(row["reason"], "")
                continue
            times = row["kernel_ms"]
            self.assertTrue(0 < times["min"] <= times["median"] <= times["max"])
            self.assertAlmostEqual(row["gbps"], 2 * 64 * 48 * 6 / times["median"] / 1e6, delta=row["gbps"] / 1e3)
            self.assertIsNone(row["roundtrip_ms"])
        text = self.works(*line, "--variant", "reference").decode()
        self.assertRegex(text, r"(?m)^copy  ")
        self.assertRegex(text, r"(?m)^reference  ")
        self.fails(2, [*line, "--pitch", "10"], "pitch 10")
        self.fails(2, [*line, "--graph"], "--graph")

    def test_explain(self):
        result = json.loads(self.works("explain", "--list", "box", "--json", "--dtype", "f32", "--window", "31x5"))
        self.assertEqual(result["schema"], "tilewise.explain/1")
        self.assertIn("f32", result["problem"])
        self.assertIn("s31x5", result["problem"])
        text = self.works("explain", "--list", "box").decode()
        for variant in result["variants"]:
            self.assertIn(variant["name"], text)
            self.assertEqual(variant["applies"], variant["reason"] is None)
        everything = json.loads(self.works("explain", "--list", "--json"))["variants"]
        boxes = [variant["name"] for variant in everything if variant["operation"] == "box"]
        self.assertEqual(boxes, [variant["name"] for variant in result["variants"]])
        titles = [line for line in self.works("explain", "--list").decode().splitlines() if line and " " not in line]
        self.assertEqual(sorted(titles), sorted({variant["operation"] for variant in everything}))
        self.fails(2, ["explain", "--list", "--dtype", "f32"], "--dtype", "operation")
        self.fails(2, ["explain", "--variant", "tiled"], "OP", "--list")
        self.fails(2, ["explain", "box", "--list", "--variant", "reference"], "either --list")
        self.fails(2, ["explain", "box", "--variant", "reference"], "reference", "not described")
        self.fails(2, ["explain", "box", "--variant", "referense"], "'referense'", "reference")
        self.fails(2, ["explain", "--list", "box", "--svg", "a.svg"], "--svg", "--variant")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
