#!/usr/bin/env python3
"""The command under mpirun: files whose bytes are those of one process, whatever the number of ranks; what fails ends all
ranks with one line. Arguments: the command, mpirun, its options."""

import array
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

program = pathlib.Path(sys.argv[1]).resolve()
mpirun = sys.argv[2]
options = sys.argv[3:]
folder = pathlib.Path(tempfile.mkdtemp())
failures = 0
QUIET = dict(os.environ, OMP_WAIT_POLICY="passive", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")


def alone(*arguments, **more):
    return subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, timeout=120, **more)


def ranks(number, *arguments, timeout=120, **more):
    """mpirun itself adds lines to stderr where a rank's code is not 0: those of the command are kept."""
    done = subprocess.run(
        [mpirun, "-n", str(number), *options, program, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        timeout=timeout,
        env=QUIET,
        **more,
    )
    done.lines = [line for line in done.stderr.decode().splitlines() if line.startswith("tilewise: ")]
    return done


def expect(fine, what):
    global failures
    if not fine:
        failures += 1
        print(f"FAIL {what}")


def write_npy(name, code, shape, data):
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data)


def write_inputs():
    random.seed(5)
    write_npy("u8.npy", "|u1", (61, 47), random.randbytes(61 * 47))
    write_npy("few.npy", "<u2", (3, 200, 3), random.randbytes(3 * 200 * 3 * 2))
    write_npy("f32.npy", "<f4", (97, 64), array.array("f", [random.uniform(-1, 1) for _ in range(97 * 64)]).tobytes())
    (folder / "u8.pgm").write_bytes(b"P5\n47 61\n255\n" + random.randbytes(61 * 47))
    for name in ("u8.tif", "u8.png"):
        expect(alone("flip", "--axis", "both", "u8.npy", name).returncode == 0, f"cannot make {name}")


NUMBERS = (1, 2, 3, 4, 7)
SOURCES = ("u8.npy", "few.npy", "f32.npy", "u8.pgm", "u8.tif", "u8.png")
EACH = 3  # of them for a case
CASES = [
    ("box", "-r", "1", "--border", "wrap"),
    ("box", "-r", "40", "--border", "mirror"),
    ("max", "-r", "2", "--iterations", "3", "--border", "wrap"),
    ("gaussian", "--sigma", "2", "--border", "reflect"),
    ("median", "--size", "5x3", "--anchor", "0,2"),
    ("correlate", "--mask", "1 2 1; 0 0 0; -1 -2 -1", "--border", "constant:7"),
    ("open", "--size", "4x6", "--border", "wrap"),
    ("gradient", "-r", "2", "--border", "ignore"),
    ("tophat", "-r", "1", "--iterations", "2", "--border", "mirror"),
    ("transpose",),
    ("rotate", "--degrees", "90"),
    ("rotate", "--degrees", "270"),
    ("flip", "--axis", "vertical"),
    ("scan", "--axis", "x"),
    ("scan", "--axis", "y"),
    ("scan", "--axis", "all"),
    ("integral",),
    ("box", "-r", "3", "--view", "5,2,30,1"),
    ("transpose", "--view", "5,0,40,3"),
]


def test_files():
    """Each case and file by one number of ranks, in turn, so that each number meets most of both."""
    turn = 0
    for case in CASES:
        for source in (SOURCES[(turn + i) % len(SOURCES)] for i in range(EACH)):
            ending = "tif" if source == "u8.tif" else "png" if source == "u8.png" else "npy"
            if case[0] in ("scan", "integral"):
                ending = "npy"
            number = NUMBERS[turn % len(NUMBERS)]
            turn += 1
            one = alone(*case, source, f"one.{ending}")
            many = ranks(number, *case, source, f"many.{ending}")
            name = f"-n {number} {' '.join(case)} {source} to .{ending}"
            expect(one.returncode == 0 and many.returncode == 0, f"{name}: {many.returncode}, {many.stderr.decode()}")
            if many.returncode == 0:
                same = (folder / f"many.{ending}").read_bytes() == (folder / f"one.{ending}").read_bytes()
                expect(same, f"{name}: other bytes")
            (folder / f"many.{ending}").unlink(missing_ok=True)


def test_bands():
    """With less memory than its rows take a rank works in bands, or says that it cannot."""
    (folder / "table.txt").write_text(" ".join(str(7 * i % 256) for i in range(256)))
    (folder / "large.pgm").write_bytes(b"P5\n601 1403\n255\n" + random.randbytes(601 * 1403))
    turn = 0
    for case in (
        ("box", "-r", "3", "--border", "wrap"),
        ("gaussian", "--sigma", "2", "--border", "mirror", "--view", "9,7,560,1300"),
        ("median", "--size", "3x8", "--anchor", "2,0"),
        ("open", "-r", "2", "--iterations", "2", "--border", "wrap"),
        ("flip", "--axis", "both"),
        ("lut", "--table", "table.txt"),
        ("scan", "--axis", "x"),
    ):
        ending = "npy" if case[0] == "scan" else ("tif", "png")[turn % 2]
        memory = "8M" if ending == "png" else "2M" if case[0] in ("open", "scan") else "700K"
        number = NUMBERS[1 + turn % 4]
        turn += 1
        one = alone(*case, "large.pgm", f"one.{ending}")
        many = ranks(number, *case, "large.pgm", f"many.{ending}", "--memory", memory)
        name = f"-n {number} {' '.join(case)} to .{ending} by little memory"
        expect(one.returncode == 0 and many.returncode == 0, f"{name}: {many.returncode}, {many.stderr.decode()}")
        if many.returncode == 0:
            same = (folder / f"many.{ending}").read_bytes() == (folder / f"one.{ending}").read_bytes()
            expect(same, f"{name}: other bytes")
    for case in (("transpose", "large.pgm", "no.pgm"), ("box", "large.pgm", "no.png"), ("stats", "large.pgm")):
        many = ranks(2, *case, "--memory", "700K")
        expect(many.returncode == 5 and len(many.lines) == 1 and "--memory" in many.lines[0], f"{case}: {many.stderr.decode()}")
    expect(not list(folder.glob("*no.p*")), "what was refused leaves a file")


def test_peak():
    """Of two ranks with 144 MB of pixels each, of which 64 MiB are the most."""
    with open(folder / "peak.pgm", "wb") as file:
        file.write(b"P5\n12000 12000\n255\n")
        file.truncate(file.tell() + 12000 * 12000)
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    line = [mpirun, "-n", "2", *options, program, "box", "-q", "--device", "cpu", "--memory", "64M", "peak.pgm", "peak.tif"]
    peak = int(subprocess.check_output([sys.executable, "-c", code, *line], cwd=folder, env=QUIET))
    expect(peak < 1.2 * 64 * 1024, f"{peak} KiB of memory, not 64 MiB")


def test_stats():
    for turn, more in enumerate(((), ("--axis", "x"), ("--axis", "y"), ("--json",), ("--histogram",))):
        for source in ("u8.npy", "few.npy", "f32.npy"):
            if source == "f32.npy" and more == ("--histogram",):
                continue
            one = alone("stats", *more, source)
            many = ranks(NUMBERS[turn], "stats", *more, source)
            expect(many.stdout == one.stdout, f"-n {NUMBERS[turn]} stats {more} {source}: other text")


def test_other_commands():
    expect(ranks(3, "--version").stdout == alone("--version").stdout, "--version is said once")
    expect(ranks(3, "help", "box").stdout == alone("help", "box").stdout, "help is said once")
    expect(ranks(2, "info").stdout == alone("info").stdout, "info is said once")


def test_failures():
    """One line, the code of one process, the old file as it was, nothing beside it."""
    (folder / "old.npy").write_bytes(b"old")
    (folder / "broken.npy").write_bytes((folder / "u8.npy").read_bytes()[:2000])
    before = sorted(path.name for path in folder.iterdir())
    for arguments in (
        ("box", "-r", "1", "missing.npy", "old.npy"),
        ("box", "-r", "1", "broken.npy", "old.npy"),
        ("box", "-r", "1", "u8.npy", "no/such/folder.npy"),
        ("box", "-r", "1", "u8.npy", "old.xyz"),
        ("box", "--radius", "many", "u8.npy", "old.npy"),
        ("transpose", "missing.npy", "old.npy"),
        ("stats", "missing.npy"),
        ("stats", "--histogram", "f32.npy"),
        ("lut", "u8.npy", "old.npy"),
        ("box", "-r", "1", "--view", "50,60,3,3", "u8.npy", "old.npy"),
        ("box", "--variant", "nonsense", "u8.npy", "old.npy"),
    ):
        one = alone(*arguments)
        many = ranks(3, *arguments)
        name = " ".join(arguments)
        expect(one.returncode != 0 and many.returncode == one.returncode, f"{name}: {many.returncode}, not {one.returncode}")
        expect(len(many.lines) == 1, f"{name}: {many.stderr.decode()}")
    expect(sorted(path.name for path in folder.iterdir()) == before, "something was left behind")
    expect((folder / "old.npy").read_bytes() == b"old", "the old file was changed")
    many = ranks(2, "box", "-r", "1", "-", "old.npy")
    expect(many.returncode == 2 and len(many.lines) == 1, "stdin is refused")
    for line in (("stats", "u8.npy"), ("integral", "u8.npy", "old.npy")):
        many = ranks(3, *line, "--variant", "reference")
        expect(many.returncode == 2 and len(many.lines) == 1, f"{line[0]} --variant is refused: {many.stderr.decode()}")


def test_failing_rank():
    """A file that is whole but for its end: one rank cannot read its rows, all end."""
    whole = (folder / "u8.png").read_bytes()
    (folder / "torn.png").write_bytes(whole[:-200] + bytes(180) + whole[-20:])
    for number in (2, 7):
        many = ranks(number, "box", "-r", "1", "torn.png", "torn.npy")
        expect(many.returncode == 3 and many.lines, f"a failing rank: {many.returncode}, {many.stderr.decode()}")
        expect(not list(folder.glob("*torn.npy*")), "a failing rank leaves a file")


def test_killed_rank(number):
    """A rank that is killed in the middle ends all, and no file appears: of the first rank, which makes it, the others
    remove it."""
    write_npy("large.npy", "|u1", (3000, 3000), bytes(9000000))
    started = subprocess.Popen(
        [mpirun, "-n", "3", *options, program, "median", "-r", "20", "--variant", "reference", "large.npy", "killed.npy"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=QUIET,
    )
    victim = None
    end = time.monotonic() + 30
    while victim is None and time.monotonic() < end:
        time.sleep(0.05)
        children = pathlib.Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        victim = children[number] if len(children) == 3 and list(folder.glob(".killed*")) else None
    expect(victim is not None, "no rank was found to kill")
    if victim:
        os.kill(int(victim), signal.SIGKILL)
    try:
        expect(started.wait(60) != 0, "a killed rank goes unnoticed")
    except subprocess.TimeoutExpired:
        started.kill()
        expect(False, "a killed rank leaves the others waiting")
    left = [path.name for pattern in ("*killed*", ".*killed*") for path in folder.glob(pattern)]
    expect(not left, f"killed rank {number} leaves {left}")


write_inputs()
test_other_commands()
test_failures()
test_failing_rank()
test_killed_rank(0)
test_killed_rank(2)
test_stats()
test_bands()
if b"libasan" not in subprocess.run(["ldd", program], capture_output=True).stdout:  # its shadow takes memory, too
    test_peak()
test_files()
shutil.rmtree(folder)
print(f"{failures} failures")
sys.exit(failures > 0)
