#!/usr/bin/env python3
"""Compares Tilewise with NumPy, SciPy, OpenCV and scikit-image on random problems, and accounts for every difference.

usage: run.py LIBTILEWISE.SO [NAME[:NUMBER]...]   the comparisons with these names, or one problem of one of them

It fails on a difference that no cause of causes.py explains, on a cause that explains nothing, and on a comparison
that has served too few problems."""

import os
import sys
import time

sys.dont_write_bytecode = True
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # several programs may share the processors

import case
import with_numpy
import with_opencv
import with_scipy
import with_skimage
from causes import CAUSES
from tilewise import Tilewise

CASES = 1000  # problems for each comparison; at least half must be served
ENOUGH = 5  # failures of one comparison
MOST_FIXED = 0.002  # of the pixels of a Gaussian of u8 that may differ from the exactly rounded result


def account(ledger):
    """What is wrong with a whole run."""
    wrong = ["%s: only %d problems of %d were served" % (name, ledger.served[name], CASES)
             for name in case.COMPARISONS if ledger.served[name] < CASES // 2]
    explaining = {cause for (cause, _), elements in ledger.causes.items() if elements}
    wrong += ["the cause '%s' explains no difference" % cause for cause in CAUSES if cause not in explaining]
    name = "ndimage.gaussian_filter u8"
    share = ledger.causes["fixed point", name] / ledger.elements[name]
    if share > MOST_FIXED:
        wrong.append("%s: %.4f of the pixels differ, %g are allowed" % (name, share, MOST_FIXED))
    return wrong


def table(ledger):
    total = sum(ledger.elements.values())
    print("%d problems, %d elements, of which these differ:" % (sum(ledger.served.values()), total))
    for cause, sentence in CAUSES.items():
        where = {name: elements for (one, name), elements in ledger.causes.items() if one == cause and elements}
        print("  %s: %s\n    %s" % (cause, sentence, ", ".join("%s %d" % item for item in sorted(where.items()))))


def main(arguments):
    started = time.monotonic()
    ledger = case.Ledger()
    # bands of rows on two threads, or one
    contexts = [Tilewise(arguments[0], threads) for threads in (1, 2)]
    asked = [name.partition(":") for name in arguments[1:]] or [(name, "", "") for name in case.COMPARISONS]
    for name, _, number in asked:
        for i in [int(number)] if number else range(CASES):
            case.COMPARISONS[name](case.Case(contexts[i % 2], ledger, name, i))
            if len(ledger.failures[name]) >= ENOUGH:
                break
    for context in contexts:
        context.close()
    table(ledger)
    wrong = [failure for failures in ledger.failures.values() for failure in failures]
    if not wrong and not arguments[1:]:
        wrong = account(ledger)
    for failure in wrong:
        print("FAIL " + failure)
    print("%d comparisons, %d failures, %.1f s" % (sum(ledger.served.values()), len(wrong), time.monotonic() - started))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
