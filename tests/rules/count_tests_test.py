#!/usr/bin/env python3
"""Does tools/count_tests.py count what ctest and GoogleTest say?

Python's standard library only.
"""

import pathlib
import subprocess
import tempfile
import unittest

COUNT = pathlib.Path(__file__).resolve().parents[2] / "tools/count_tests.py"

# As ctest 3.25 writes it: a test that passed, one that failed, one that its exit code calls skipped, one whose program
# is not there, one whose fixture failed; `cases` ran four cases, `crash` ended before it could say so, and `leak`
# failed after its case.
CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="8" failures="4" disabled="0" skipped="3" hostname="" time="1" timestamp="t">
  <testcase name="good" classname="good" time="0.5" status="run"><system-out></system-out></testcase>
  <testcase name="bad" classname="bad" time="30" status="fail"><failure message=""/></testcase>
  <testcase name="skips" classname="skips" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
  <testcase name="gone" classname="gone" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
  <testcase name="waits" classname="waits" time="0" status="notrun"><skipped message="Fixture dependency failed"/></testcase>
  <testcase name="cases" classname="cases" time="9" status="fail"><failure message=""/></testcase>
  <testcase name="crash" classname="crash" time="2" status="fail"><failure message=""/></testcase>
  <testcase name="leak" classname="leak" time="2" status="fail"><failure message=""/></testcase>
</testsuite>
"""
CASES = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" disabled="1" errors="0" time="8" timestamp="t" name="AllTests">
  <testsuite name="Suite" tests="5" failures="1" disabled="1" skipped="1" errors="0" time="8" timestamp="t">
    <testcase name="Passes" status="run" result="completed" time="7.5" timestamp="t" classname="Suite" />
    <testcase name="Fails" status="run" result="completed" time="0.1" timestamp="t" classname="Suite">
      <failure message="no" type=""></failure><failure message="nor this" type=""></failure>
    </testcase>
    <testcase name="Skips" status="run" result="skipped" time="0" timestamp="t" classname="Suite">
      <skipped message="root may do all"/>
    </testcase>
    <testcase name="DISABLED_Off" status="notrun" result="suppressed" time="0" timestamp="t" classname="Suite" />
    <testcase name="PassesToo" status="run" result="completed" time="0.2" timestamp="t" classname="Suite" />
  </testsuite>
</testsuites>
"""
ONE_CASE = """<testsuites><testsuite>
  <testcase name="Passes" status="run" result="completed" time="1" classname="Suite" />
</testsuite></testsuites>"""


class CountTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name) / "build"
        (self.build / "cases").mkdir(parents=True)
        (self.build / "ctest.xml").write_text(CTEST)
        (self.build / "cases/cases.xml").write_text(CASES)
        (self.build / "cases/leak.xml").write_text(ONE_CASE)
        (self.build / "cases/crash.xml").write_text(CASES[:300])

    def lines(self, *builds):
        done = subprocess.run([COUNT, *builds], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def test_counts_cases_where_there_are_some_and_tests_elsewhere(self):
        # passed: good, two of cases, one of leak; failed: bad, gone, waits, one of cases, crash, leak; skipped: skips,
        # one of cases
        self.assertEqual(self.lines(self.build)[-1], "4 6 2")

    def test_adds_up_builds(self):
        self.assertEqual(self.lines(self.build, self.build)[-1], "8 12 4")

    def test_names_what_failed_and_what_was_skipped(self):
        lines = self.lines(self.build)
        failed, skipped = lines.index("== failed"), lines.index("== skipped")
        self.assertEqual(sorted(lines[failed + 1:skipped]),
                         sorted(f"  build  {name}" for name in ("bad", "gone", "waits", "cases: Suite.Fails", "crash", "leak")))
        self.assertEqual(sorted(lines[skipped + 1:-1]), ["  build  cases: Suite.Skips", "  build  skips"])

    def test_names_the_slowest_first(self):
        lines = self.lines(self.build)
        self.assertEqual([line.split()[-1] for line in lines[1:3]], ["bad", "Suite.Passes"])


if __name__ == "__main__":
    unittest.main()
