#!/usr/bin/env python3
"""Is the man page whole, and does a formatter take it?

    man_page_test.py PROGRAM DOCUMENTS HOSTILE [NAME...]

DOCUMENTS is the folder with what the build made, HOSTILE the program that writes such a folder from hostile texts.
Each method is a CTest test cli.NAME.
"""

import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import described

PROGRAM = HOSTILE = ""
PAGE = pathlib.Path()


@functools.cache
def shown(page):
    """The page as it is read, in lines so long that nothing is broken. The formatter must have nothing to say."""
    command = ["groff", "-man", "-ww", "-Tascii", "-P-cbou", "-rLL=2000n", str(page)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"groff: {result.stderr}")
    return result.stdout


class ManPage(unittest.TestCase):
    def section(self, title):
        found = re.search(rf"^{re.escape(title)}\n(.*?)(?=^\S|\Z)", shown(PAGE), re.MULTILINE | re.DOTALL)
        self.assertIsNotNone(found, title)
        return found[1]

    def test_man_page_has_the_usual_sections(self):
        titles = re.findall(r"^([A-Z][A-Z -]*)$", shown(PAGE), re.MULTILINE)
        verbs = [f"TBTRACE {verb.upper()}" for verb in described.verbs(PROGRAM, with_options=True)]
        of_verbs = slice(3, 3 + len(verbs))
        self.assertEqual(sorted(titles[of_verbs]), sorted(verbs))
        del titles[of_verbs]
        self.assertEqual(titles, ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS OF ALL VERBS", "EXIT STATUS",
                                  "ENVIRONMENT", "SEE ALSO"])
        self.assertRegex(self.section("NAME"), r"^ +tbtrace - why a PyTorch program is slow")
        version = described.printed(PROGRAM, "--version").strip()
        self.assertTrue(shown(PAGE).splitlines()[-1].startswith(version), "the last line has the version")

    def test_man_page_has_every_verb(self):
        description, synopsis = self.section("DESCRIPTION"), self.section("SYNOPSIS")
        self.assertGreater(len(described.verbs(PROGRAM, with_options=True)), 4)
        for verb, summary in described.verbs(PROGRAM, with_options=True).items():
            self.assertRegex(description, rf"(?m)^ +{verb}\s+{re.escape(summary)}$")
            usage = re.search(r"Usage:\n  (.*)\n", described.printed(PROGRAM, *verb.split(), "--help"))[1]
            self.assertIn(usage, synopsis)
            self.assertIn(usage, self.section(f"TBTRACE {verb.upper()}"))

    def test_man_page_has_every_option(self):
        for verb in described.verbs(PROGRAM, with_options=True):
            text = self.section(f"TBTRACE {verb.upper()}") + self.section("OPTIONS OF ALL VERBS")
            wanted = [", ".join(filter(None, (option.letter, option.name))) + (option.value and f" {option.value}")
                      for option in described.options(PROGRAM, verb)]
            self.assertEqual(re.findall(r"^ +((?:-\w, )?--[a-z-]+(?: [A-Z]+)?)(?:$| )", text, re.MULTILINE), wanted)
        self.assertIn("Values: none, cpu_time,", self.section("TBTRACE OPS"))

    def test_man_page_has_what_the_help_says(self):
        for verb in described.verbs(PROGRAM, with_options=True):
            text = described.printed(PROGRAM, *verb.split(), "--help")
            words = set(shown(PAGE).split())
            about, rest = text.split("\nUsage:")
            options, examples = rest.split("\nExamples:")
            self.assertEqual([word for word in about.split() + examples.split() if word not in words], [], verb)
            options = re.sub(r"^.*options:$", "", options, flags=re.MULTILINE)
            self.assertEqual([word for word in options.replace(",", " ").split()
                              if word not in shown(PAGE).replace(",", " ").split()], [], verb)
        exit_codes = described.printed(PROGRAM, "--help", "--all").split("Exit codes:\n")[1]
        self.assertEqual(re.findall(r"^ +(\d) +(.*)$", self.section("EXIT STATUS"), re.MULTILINE),
                         re.findall(r"^  (\d)  (.*)$", exit_codes, re.MULTILINE))

    def test_man_page_shows_hostile_texts_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([HOSTILE, folder], check=True)
            text = shown(pathlib.Path(folder) / "tbtrace.1")
        hostile = r"""'single' "double" \fBback\slash $HOME $(id) `id` [brackets] {a,b} a:b %s * ~ ^ # ; -x"""
        self.assertEqual(text.count(hostile), 4, text)
        self.assertIn(f"{hostile} (default: $HOME')", text)
        self.assertIn(".SH requests 'br and\n\n       blank lines\n", text)
        self.assertIn("""   .cat it's | tbtrace odd "a\\b"\n""", text)
        self.assertIn('\n   "Group"\n', text)


if __name__ == "__main__":
    PROGRAM, HOSTILE = sys.argv[1], sys.argv[3]
    PAGE = pathlib.Path(sys.argv[2]) / "tbtrace.1"
    unittest.main(argv=[sys.argv[0], *(f"ManPage.test_{name}" for name in sys.argv[4:])])
