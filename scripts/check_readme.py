#!/usr/bin/env python3
"""The C example of both READMEs is tests/outside/example.c, which a test compiles and runs; and both say the same: what no
translation changes, commands, code and figures, is in both."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def facts(text):
    commands = re.findall(r"^    (\S+(?: \S+)*)", text, re.M)
    return {*commands, *re.findall(r"`([^`\n]+)`", text), *re.findall(r"\d+\.\d+", text)}


def main():
    example = (ROOT / "tests/outside/example.c").read_text(encoding="utf-8")
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")}
    wrong = 0
    for name, text in texts.items():
        if f"```c\n{example}```" not in text:
            print(f"{name} does not show tests/outside/example.c as it is")
            wrong += 1
    for fact in sorted(facts(texts["README.md"]) ^ facts(texts["README.zh.md"])):
        print(f"only one of the READMEs has: {fact}")
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
