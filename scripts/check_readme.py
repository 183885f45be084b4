#!/usr/bin/env python3
"""The C example of both READMEs is tests/outside/example.c, which a test compiles and runs."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    example = (ROOT / "tests/outside/example.c").read_text(encoding="utf-8")
    block = f"```c\n{example}```"
    wrong = 0
    for name in ("README.md", "README.zh.md"):
        if block not in (ROOT / name).read_text(encoding="utf-8"):
            print(f"{name} does not show tests/outside/example.c as it is")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
