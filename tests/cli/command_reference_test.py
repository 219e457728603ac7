#!/usr/bin/env python3
"""Is docs/commands.md what the build makes, and does it have all that the help has?

    command_reference_test.py PROGRAM DOCUMENTS [NAME...]

DOCUMENTS is the folder with what the build made. Each method is a CTest test cli.NAME. With TBTRACE_BLESS=1 in the
environment docs/commands.md is rewritten.
"""

import os
import pathlib
import re
import sys
import unittest

import described

PROGRAM = ""
MADE = pathlib.Path()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/commands.md"


class CommandReference(unittest.TestCase):
    def test_command_reference_is_that_of_the_program(self):
        made = MADE.read_text(encoding="utf-8")
        if os.environ.get("TBTRACE_BLESS") == "1":
            PAGE.write_text(made, encoding="utf-8")
        self.assertEqual(PAGE.read_text(encoding="utf-8"), made,
                         "run `TBTRACE_BLESS=1 ctest -R command_reference` to rewrite docs/commands.md")

    def test_command_reference_has_every_option_and_example(self):
        page = PAGE.read_text(encoding="utf-8")
        sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
        standard = re.findall(r"^\| (`[^|]*`) \|", sections["Options of all verbs"], re.MULTILINE)
        verbs = described.verbs(PROGRAM, with_options=True)
        self.assertEqual({f"tbtrace {verb}" for verb in verbs},
                         {title for title in sections if title.startswith("tbtrace ")}, "each verb is in a group")
        for verb, summary in verbs.items():
            self.assertIn(f"| [{verb}](#tbtrace-{verb.replace(' ', '-')}) | {summary} |", page)
            section = sections[f"tbtrace {verb}"]
            wanted = [", ".join(f"`{word}`" for word in filter(None, (option.letter, option.name + (
                option.value and f" {option.value}")))) for option in described.options(PROGRAM, verb)]
            shown = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
            self.assertEqual([*shown, *standard][:len(wanted)], wanted)
            examples = described.printed(PROGRAM, *verb.split(), "--help").split("\nExamples:\n")[1]
            for command in re.findall(r"^  (\S.*)$", examples, re.MULTILINE):
                self.assertIn(f"\n    {command}\n", section)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    MADE = pathlib.Path(sys.argv[2]) / "commands.md"
    unittest.main(argv=[sys.argv[0], *(f"CommandReference.test_{name}" for name in sys.argv[3:])])
