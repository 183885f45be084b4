#!/usr/bin/env python3
"""What `tilewise explain` predicts beside what a GPU counts.

usage: bench/explain.py measure PROBE > counters.json    on a machine with a GPU and Nsight Compute (ncu)
       bench/explain.py table PROBE counters.json        prints docs/explain.md; needs no GPU

PROBE is the build's explain_probe (cmake --build build --target explain_probe)."""

import csv
import json
import re
import subprocess
import sys
import time

# Kernels beside the one that is described, of variants that launch several: sums of sums, and the record of an image.
OTHERS = re.compile(r"fold<[^,]*, (long|double), |\bmake_records<")

# Counter -> its name in Nsight Compute, without ".sum".
COUNTERS = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st",
    "texture load requests": "l1tex__t_requests_pipe_tex_mem_texture",
    "texture load sectors": "l1tex__t_sectors_pipe_tex_mem_texture",
    "shared load requests": "smsp__sass_inst_executed_op_shared_ld",
    "shared store requests": "smsp__sass_inst_executed_op_shared_st",
    "shared load cycles": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "shared store cycles": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st",
    "constant load cycles": "idc__requests",
    "global add requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red",
    "global add sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red",
    "shared add requests": "smsp__sass_inst_executed_op_shared_atom",
    "shared add cycles": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom",
    # of the unit that does the work, whatever else it does beside
    "stage load cycles": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "stage store cycles": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
    "stage load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
    "stage store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
    "stage add cycles": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom",
    "stage add conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom",
}

# ---- On the GPU's machine ------------------------------------------------------------------------


def counts_of(output):
    """A dict a kernel, in the order of their launches, from what ncu prints."""
    lines = [line for line in output.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first has the units
    rows = [row for row in rows if not OTHERS.search(row["Kernel Name"])]
    return [{what: round(float(row[f"{name}.sum"].replace(",", ""))) for what, name in COUNTERS.items()} for row in rows]


def count(probe):
    metrics = ",".join(f"{name}.sum" for name in COUNTERS.values())
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    output = subprocess.run([*command, "--metrics", metrics, probe, "run"], capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"ncu failed: {output.stdout[-2000:]} {output.stderr[-2000:]}")
    return counts_of(output.stdout)


def measure(probe):
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout.split("Version ")[1]
    result = {"device": device, "ncu": version.split()[0], "date": time.strftime("%Y-%m-%d"), "runs": count(probe)}
    json.dump(result, sys.stdout)
    print()


# ---- The document --------------------------------------------------------------------------------

HEAD = """# What variants do to memory: predicted and measured

`tilewise explain OP --variant NAME` says what a CUDA variant asks of memory. Two ways to transpose, for example, differ in a
single number, the length of a tile's rows in shared memory, and in this line of what `tilewise explain transpose --dtype f32
--variant shared` (or `padded`) prints, which says why one takes nearly twice the other's time:

                                             | a block in the middle                  | the image
    memory          what               bytes |  requests  elements  each answered by  |      requests        in all
    shared   load   tile                   4 |        32      1024  32-way conflict   |        524288      16777216 cycles
    shared   load   tile                   4 |        32      1024  no conflict       |        524288        524288 cycles

The 32 threads of a warp, its lanes, run each instruction together: where it reads or writes memory, that is one **request** of
up to 32 **elements**. How long it takes depends on where these lie. Global memory hands out **sectors** of 32 bytes: neighbours
share them. Shared memory has 32 **banks**, a 4-byte word in each a **cycle**, and word i lies in bank i % 32: lanes that want
different words of one bank **conflict** and take turns, as many as the most that meet in one. A column of rows of 32 words
lies in one bank, of rows of 33 in all of them (`--svg FILE` draws it). Constant memory hands out one word a cycle.

These numbers are calculated, not written down for each variant, and need no GPU. Beside the code that starts a kernel, the
variant declares its accesses (`explain` in its `twi_code`, see `core/explain.h`), each with a function that gives the address
for a thread; `verify/explain.c` follows them warp by warp and counts, by these rules:

| memory | a request is | and takes |
|---|---|---|
| global | an access of a warp, if any of its lanes takes part | as many sectors as it touches pieces of 32 bytes |
| texture | the same of four neighbouring lanes | likewise |
| shared | an access of a warp | a cycle for each different 4-byte word of the bank with the most; accesses of 8 and 16 bytes by halves and quarters of the warp, two of them at once for loads in which lanes side by side ask for the same |
| constant | an access of a warp | a cycle for each different word |
| global, additions | an access of a warp | as many sectors as loads, in each turn: lanes that add to one address take turns |
| shared, additions | an access of a warp | a cycle for each lane of the bank with the most; where it is known that 1 is added, the hardware counts the lanes of a word: a cycle for each different word there |

The tables compare this with the counters of Nsight Compute, each variant launched once, over the whole image: the blocks at
its edges, most of them cut by the edge, are part of both. Measured on {device} (driver), with ncu {ncu}, {date}. To do it again, on
a machine with a GPU:

    cmake --build build --target explain_probe
    bench/explain.py measure build/explain_probe > counters.json
    bench/explain.py table build/explain_probe counters.json > docs/explain.md

{summary}

In all {equal} of {counts} counts are equal. What is not, and why:

1. **The data stage of the cache** counts, beside what instructions ask for, collisions with data that arrives from
   memory at the same time. Its counters (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` and `_st`,
   `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld` and `_st`) are a little higher than the cycles that the instructions
   take by themselves (`smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld` and `_st`, "measured" below), and differ from
   run to run. Here they are higher by {stage} at most.
2. **Constant memory** also holds the arguments of a kernel, sizes and pitches, and its counter (`idc__requests`) has them:
   only a part of what is measured is the mask or the table. For `lut` that part is the same whatever the pixels are: what
   different pixels take more than those of one value must be equal, and is among the counts compared. A mask of 3x3 or 5x5
   is unrolled, and the compiler reads several values at a time: fewer cycles can be measured than values are used.
3. **Neighbours in shared memory** that the source reads one by one, the compiler reads two at a time: half the requests.
4. **Loops unrolled by the compiler**: where a row ends within a warp's values, some of its threads go round once more than
   others. The compiler takes four turns at a time and the rest singly, so that the two kinds part: with 8 and 7 turns each
   makes requests of its own, 7 more in all; with 7 and 6 turns requests are as many, but touch other sectors. Rows of whole
   leaves (8192 pixels) have the counts predicted.
5. **Sums of a chunk**: where two sums of `blelloch`'s tree lie side by side, in the first step up and the last one down, the
   compiler reads and writes them at a time: 32 requests to load and 16 to store less a chunk. The loop of `shuffle` in sums
   of 32 bits it takes two turns at a time; a last chunk without a second one does not read its sum, which none follows: 32
   requests less a row of an odd number of chunks.
"""


def predict(probe):
    output = subprocess.run([probe], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def predicted(run, space, direction, unit):
    """The sum of the run's accesses of that kind, None if there are none."""
    key = {"requests": "requests", "sectors": "sectors", "cycles": "wavefronts", "conflicts": "conflicts"}[unit]
    found = [a[key] for a in run["accesses"] if a["space"] == space and a["direction"] == direction]
    return sum(found) if found else None


def images_of(run):
    """The problem without what is the same for all."""
    words = run["problem"].split()
    return " ".join(word for word in words[1:] if word != "device" and not word.startswith(("int:", "float:", "table")))


KINDS = [
    ("global", "load", ("requests", "sectors")),
    ("global", "store", ("requests", "sectors")),
    ("global", "add", ("requests", "sectors")),
    ("texture", "load", ("requests", "sectors")),
    ("shared", "load", ("requests", "cycles")),
    ("shared", "store", ("requests", "cycles")),
    ("shared", "add", ("requests", "cycles")),
    ("constant", "load", ("cycles",)),
]


class Tally:
    def __init__(self):
        self.counts = 0
        self.equal = 0
        self.stage = 0.0  # the most that the data stage is higher by, a share

    def compare(self, values, measured):
        self.counts += len(values)
        self.equal += sum(a == b for a, b in zip(values, measured))


def stage_note(run, counted, direction, tally):
    """What the data stage counts, where it is not what instructions ask for."""
    words = []
    for unit in ("cycles", "conflicts"):
        before, after = predicted(run, "shared", direction, unit), counted[f"stage {direction} {unit}"]
        if before != after:
            words.append(f"{unit} {before}, stage {after}")
        if unit == "cycles":
            tally.stage = max(tally.stage, after / before - 1)
    return f"1: {'; '.join(words)}" if words else ""


def constant_note(run, counted, flat, tally):
    """`flat`: the run and its counts with pixels of one value, None if this is it or there is none."""
    if flat is None:
        return "2"
    more = predicted(run, "constant", "load", "cycles") - predicted(flat[0], "constant", "load", "cycles")
    measured = counted["constant load cycles"] - flat[1]["constant load cycles"]
    tally.compare([more], [measured])
    return f"2: more than with pixels of one value: predicted {more}, measured {measured}"


def reason_of(run, space, values, measured):
    if space == "shared" and [value / 2 for value in values] == measured:
        return "3"
    if space == "shared" and operation_of(run) == "scan" and run["variant"] in ("blelloch", "shuffle"):
        return "5"
    width = int(re.search(r" (\d+)x\d+ ", run["problem"]).group(1))
    if space == "global" and operation_of(run) == "reduce" and width % 128 != 0:
        return "4"
    return "**not equal**"


def rows_of(run, counted, flat, tally):
    for space, direction, units in KINDS:
        values = [predicted(run, space, direction, unit) for unit in units]
        measured = [counted[f"{space} {direction} {unit}"] for unit in units]
        if values[0] is None and (space == "constant" or not any(measured)):
            continue
        note = ""
        if space == "constant":
            note = constant_note(run, counted, flat, tally)
        else:
            tally.compare(values, measured)
            if values != measured:
                note = reason_of(run, space, values, measured)
            elif space == "shared":
                note = stage_note(run, counted, direction, tally)
        words = [", ".join(f"{value} {unit}" for value, unit in zip(side, units)) for side in (values, measured)]
        yield f"{space} {direction} | {words[0]} | {words[1]} | {note} |"


def operation_of(run):
    return run["problem"].split()[0]


def table_of(operation, runs, tallies):
    yield f"## {operation}\n"
    yield "| images | variant | access | predicted | measured | note |\n|---|---|---|---|---|---|"
    flat = {(run["variant"], images_of(run)): (run, counts) for run, counts in runs if run["pixels"] == "flat"}
    for run, counts in runs:
        name = f"`{run['variant']}` {run['block']}" + ("" if run["pixels"] == "any" else f", pixels {run['pixels']}")
        tally = tallies.setdefault((operation, run["variant"]), Tally())
        other = flat.get((run["variant"], images_of(run))) if run["pixels"] == "different" else None
        for row in rows_of(run, counts, other, tally):
            yield f"| {images_of(run)} | {name} | {row}"
    yield ""


def summary_of(tallies):
    yield "| operation | variant | counts compared | equal |\n|---|---|---|---|"
    for (operation, variant), tally in tallies.items():
        yield f"| {operation} | `{variant}` | {tally.counts} | {tally.equal} |"


def table(probe, path):
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    predictions = predict(probe)
    if len(predictions) != len(measured["runs"]):
        sys.exit(f"{len(predictions)} runs are predicted, {len(measured['runs'])} were measured: measure again")
    runs = list(zip(predictions, measured["runs"]))
    tallies = {}
    lines = []
    for operation in dict.fromkeys(operation_of(run) for run, _ in runs):
        lines += table_of(operation, [pair for pair in runs if operation_of(pair[0]) == operation], tallies)
    stage = max(tally.stage for tally in tallies.values())
    summary = "\n".join(summary_of(tallies))
    counts, equal = (sum(getattr(tally, name) for tally in tallies.values()) for name in ("counts", "equal"))
    words = {name: measured[name] for name in ("device", "ncu", "date")}
    words.update(summary=summary, stage=f"{100 * stage:.1f} %")
    print(HEAD.format(**words, counts=counts, equal=equal))
    print("\n".join(lines).rstrip())


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "measure":
        measure(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "table":
        table(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
