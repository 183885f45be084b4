#!/usr/bin/env python3
"""Help, manual page and completions: the same commands and options everywhere.

usage: test_cli_help.py PROGRAM [TEST...]; the tests run in folders of their own."""

import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from test_cli import FILTERS, CommandTest, run

SHELLS = ("bash", "zsh", "fish")
COMMANDS = (*FILTERS, "scan", "integral", "stats", "verify", "bench", "tune", "explain", "info", "help")


def options_of_help(command):
    """Option -> whether it takes a value, as `tilewise help COMMAND` lists them."""
    text = run("help", command).stdout.decode()
    return {name: bool(value) for name, value in re.findall(r"^  (?:-\w, |    )--([a-z-]+)( \S+)?", text, re.M)}


class Documents(CommandTest):
    """Help, manual page and completions are made from one table: here they are compared all the same."""

    def test_help(self):
        overview = self.works("help").decode()
        self.assertEqual(self.works("--help").decode(), overview)
        self.assertLess(overview.index("tilewise box photo.png"), overview.index("commands:"))
        for command in COMMANDS:
            self.assertRegex(overview, r"(?m)^  %s +\S" % command)
            text = self.works("help", command)
            self.assertEqual(text, self.works(command, "--help"))
            self.assertEqual(text, self.works(command, "-h"))
            self.assertIn("help", options_of_help(command))
            for line in text.decode().splitlines():
                if not line.startswith("  tilewise "):
                    self.assertLessEqual(len(line), 79, line)

    def test_manual_page(self):
        page = self.works("help", "--man").decode().replace("\\-", "-")
        listed = {}
        for entry in page.split(".SH OPTIONS")[1].split(".SH ")[0].split(".TP\n")[1:]:
            name, value = re.search(r"\\fB--([a-z-]+)\\fR(?: \\fI(\S+)\\fR)?", entry).groups()
            for command in re.search(r"^\(([a-z, ]+)\)", entry, re.M).group(1).split(", "):
                self.assertNotIn((command, name), listed)
                listed[command, name] = value is not None
        expected = {(c, name): value for c in COMMANDS for name, value in options_of_help(c).items()}
        self.assertEqual(listed, expected)
        for code in range(7):
            self.assertIn("\\fB%d\\fR" % code, page)

    def test_bash_completion(self):
        script = self.write("completion", self.works("help", "--completion", "bash"))

        def complete(*words):
            line = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilewise; printf "%s\\n" "${COMPREPLY[@]}"'
            done = subprocess.run(["bash", "-c", line, script, *words], capture_output=True, timeout=60, text=True)
            return set(done.stdout.split())

        self.assertEqual(complete("tilewise", ""), {*COMMANDS, "--help", "--version"})
        for command in COMMANDS:
            expected = {"--" + name for name in options_of_help(command)}
            self.assertEqual(complete("tilewise", command, "--"), expected)
        self.assertEqual(complete("tilewise", "box", "--border", "re"), {"replicate", "reflect"})
        self.assertEqual(complete("tilewise", "box", "--border", "=", "mi"), {"mirror"})
        self.assertEqual(complete("tilewise", "box", "in"), {"in.pgm"})
        self.assertIn("box", complete("tilewise", "verify", ""))
        self.assertEqual(complete("tilewise", "help", "in"), {"info", "integral"})

    def test_completed_values_are_legal(self):
        text = self.works("help", "--completion", "bash").decode()
        checked = 0
        for option, words in re.findall(r"^ +box,--([a-z-]+)[^)]*\) words='([^']*)'", text, re.M):
            for word in words.split():
                value = word + "1" if word.endswith(":") else word
                error = run("box", "missing.pgm", "-", "--" + option, value).stderr.decode()
                self.assertIn("missing.pgm", error, (option, word))
                checked += 1
        self.assertGreater(checked, 15)

    def test_fish_and_zsh_completion(self):
        fish = self.works("help", "--completion", "fish").decode()
        zsh = self.works("help", "--completion", "zsh").decode()
        for command in COMMANDS:
            expected = set(options_of_help(command))
            found = re.findall(r"__fish_seen_subcommand_from %s' -l ([a-z-]+)" % command, fish)
            self.assertEqual(set(found), expected)
            part = re.search(r"^    %s\)\n(.*?);;" % command, zsh, re.M | re.S).group(1)
            self.assertEqual(set(re.findall(r"['{,]--([a-z-]+)[=}\[]", part)), expected)

    def test_completions_are_sound_scripts(self):
        for shell in SHELLS:
            script = self.write("completion." + shell, self.works("help", "--completion", shell))
            try:
                done = subprocess.run([shell, "-n", script], capture_output=True, timeout=60)
            except FileNotFoundError:
                continue
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
