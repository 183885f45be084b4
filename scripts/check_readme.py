#!/usr/bin/env python3
"""The C example of both READMEs is tests/outside/example.c, which a test compiles and runs."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    example = (ROOT / "tests/outside/example.c").read_text(encoding="utf-8")
    wrong = [name for name in ("README.md", "README.zh.md") if f"```c\n{example}```" not in (ROOT / name).read_text(encoding="utf-8")]
    for name in wrong:
        print(f"{name} does not show tests/outside/example.c as it is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
