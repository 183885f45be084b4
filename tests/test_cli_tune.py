#!/usr/bin/env python3
"""`tilewise tune` and the wisdom file: where it is, what is in it, what happens to one that does not fit.

usage: test_cli_tune.py PROGRAM [TEST...]; the tests run in folders of their own."""

import json
import os
import re
import resource
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from test_cli import BLURRED, PROGRAM, CommandTest, pgm_rows, run

TUNE = ("tune", "box", "--size", "64x48", "--device", "cpu", "--threads", "1")


def sealed(text):
    """The text of a wisdom file with a right last line."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return b"%send %d %08x\n" % (text.encode(), text.count("\n") - 2, value)


class TuneTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "TILEWISE_WISDOM": str(self.folder / "wisdom")}

    def tuned(self, *more, line=TUNE):
        done = run(*line, *more, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def noted(self, *words):
        """A filter says in one line that it does not use the file, and works all the same."""
        done = run("box", "in.pgm", "-", env=self.environment)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        self.assertEqual(pgm_rows(done.stdout), BLURRED)
        self.assertRegex(text, r"\Atilewise: note: wisdom file '[^\n]*\n\Z")
        for word in words:
            self.assertIn(word, text)
        quiet = run("box", "-q", "in.pgm", "-", env=self.environment)
        self.assertEqual((quiet.returncode, quiet.stderr, quiet.stdout), (0, b"", done.stdout))

    def silent(self):
        done = run("box", "in.pgm", "-", env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(pgm_rows(done.stdout), BLURRED)

    def test_the_winner_is_kept(self):
        text = self.tuned()
        chosen = re.search(r"(?m)^Chosen: (\w+)[.,]", text).group(1)
        self.assertIn("Kept in %s." % (self.folder / "wisdom"), text)
        lines = self.read("wisdom").decode().splitlines()
        self.assertEqual(lines[0], "tilewise-wisdom 1")
        self.assertTrue(lines[2].startswith(chosen + "\t64x48\tbox u8 c1 s3x3 zero floor\tcpu, 1 threads, "), lines[2])
        self.assertRegex(lines[3], r"\Aend 1 [0-9a-f]{8}\Z")
        self.assertEqual(len(lines), 4)
        self.silent()

    def test_more_is_added(self):
        self.tuned()
        self.tuned("--size", "200")
        self.tuned("--size", "200")
        self.tuned(line=("tune", "sobel", "--size", "64", "--to", "i16", "--device", "cpu", "--threads", "1"))
        lines = self.read("wisdom").decode().splitlines()
        self.assertEqual([line.split("\t")[1] for line in lines[2:-1]], ["64x48", "200x200", "64x64"])
        self.assertIn("\tcorrelate u8>i16 c1 s3x3 replicate floor int8\t", lines[4])

    def test_json(self):
        result = json.loads(self.tuned("--json"))
        self.assertEqual(result["schema"], "tilewise.tune/1")
        self.assertEqual(result["problem"], "box u8 c1 64x48 s3x3 a1,1 zero floor host")
        self.assertEqual(result["file"], str(self.folder / "wisdom"))
        self.assertEqual(sum(row["chosen"] for row in result["variants"]), 1)
        medians = [row["ms"]["median"] for row in result["variants"]]
        self.assertEqual(medians, sorted(medians))
        for row in result["variants"]:
            self.assertTrue(0 < row["ms"]["min"] <= row["ms"]["median"] <= row["ms"]["max"])

    def test_where_the_file_is(self):
        del self.environment["TILEWISE_WISDOM"]
        self.environment["HOME"] = str(self.folder / "home")
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.tuned()
        self.assertTrue((self.folder / "cache/tilewise/wisdom").is_file())
        for relative in ("", "cache2"):
            self.environment["XDG_CACHE_HOME"] = relative
            self.tuned()
            self.assertTrue((self.folder / "home/.cache/tilewise/wisdom").is_file())
            (self.folder / "home/.cache/tilewise/wisdom").unlink()
        self.assertFalse((self.folder / "cache2").exists())
        self.environment["TILEWISE_WISDOM"] = "a/b/c"
        self.tuned()
        self.assertTrue((self.folder / "a/b/c").is_file())

    def test_nowhere(self):
        self.fails(4, TUNE, "TILEWISE_WISDOM", env={**self.environment, "TILEWISE_WISDOM": ""})
        bare = {key: value for key, value in self.environment.items()
                if key not in ("TILEWISE_WISDOM", "XDG_CACHE_HOME", "HOME")}
        self.fails(4, TUNE, "TILEWISE_WISDOM", env=bare)
        self.assertEqual(run("box", "in.pgm", "-", env=bare).stderr, b"")

    def test_a_damaged_file_is_noted_and_then_replaced(self):
        self.tuned()
        sound = self.read("wisdom")
        for damaged in (b"", b"\0", b"\xff" * 100, sound[:-1], sound[: len(sound) // 2], sound.replace(b"box", b"bax"),
                        sound + sound):
            self.write("wisdom", damaged)
            self.noted("damaged")
        done = run(*TUNE, env=self.environment)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"note: wisdom file", done.stderr)
        self.silent()
        self.tuned()

    def test_other_versions_are_noted(self):
        self.write("wisdom", sealed("tilewise-wisdom 1\nlibrary 0.0.9\n"))
        self.noted("0.0.9", "version")
        self.write("wisdom", sealed("tilewise-wisdom 7\nlibrary 0.1.0\n"))
        self.noted("tilewise-wisdom 7")

    def test_other_devices_are_kept_in_silence(self):
        version = run("--version").stdout.decode().split()[1]
        line = "texture\t64x48\tbox u8 c1 s3x3 zero floor\tcuda, Some GPU\n"
        self.write("wisdom", sealed("tilewise-wisdom 1\nlibrary %s\n%s" % (version, line)))
        self.silent()
        self.tuned()
        self.assertIn(line, self.read("wisdom").decode())

    def test_an_unknown_variant_changes_nothing(self):
        self.tuned()
        head, entry = self.read("wisdom").decode().splitlines()[:2], self.read("wisdom").decode().splitlines()[2]
        self.write("wisdom", sealed("\n".join([*head, "quantum" + entry[entry.index("\t"):]]) + "\n"))
        self.silent()

    def test_a_file_that_cannot_be_read_is_noted(self):
        (self.folder / "wisdom").mkdir()
        self.noted("directory")
        done = run(*TUNE, env=self.environment)
        self.assertEqual(done.returncode, 4)
        (self.folder / "wisdom").rmdir()
        with open(self.folder / "wisdom", "wb") as file:
            file.truncate(1 << 30)
        self.noted("more than")

    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.folder / "wisdom")
        self.noted("no ordinary file")
        self.fails(4, TUNE, "no ordinary file", env=self.environment)

    def test_a_full_disk_keeps_the_old_file(self):
        self.tuned()
        before = self.read("wisdom")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        done = subprocess.run([PROGRAM, *TUNE, "--size", "99"], env=self.environment, preexec_fn=limit,
                              capture_output=True, timeout=120)
        self.check_failure(done, 4, "wisdom")
        self.assertEqual(self.read("wisdom"), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.pgm", "wisdom"])

    def test_several_at_once_lose_nothing(self):
        sizes = range(40, 48)
        running = [subprocess.Popen([PROGRAM, *TUNE, "--size", str(size)], env=self.environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for size in sizes]
        for process in running:
            self.assertEqual((process.communicate(timeout=120)[1], process.returncode), (b"", 0))
        lines = self.read("wisdom").decode().splitlines()
        self.assertEqual(sorted(line.split("\t")[1] for line in lines[2:-1]), ["%dx%d" % (n, n) for n in sizes])
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.pgm", "wisdom"])

    def test_wrong_usage(self):
        self.fails(2, ["tune"], "OP")
        self.fails(2, ["tune", "open"], "min and max")
        self.fails(2, [*TUNE, "--sigma", "2"], "--sigma")
        self.fails(2, [*TUNE, "--variant", "c"], "--variant")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
