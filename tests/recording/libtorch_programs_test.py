#!/usr/bin/env python3
"""`tbtrace record` of programs in C++ that are linked with LibTorch.

    libtorch_programs_test.py TBTRACE PROGRAM [NAME...]

Each method is a CTest test recording.NAME. PROGRAM is linked with a library that does nothing but what Kineto does.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

TBTRACE = PROGRAM = ""


class LibTorch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-libtorch-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.before = self.left()

    def left(self):
        return set(pathlib.Path("/tmp").glob("tbtrace-??????"))

    def check_nothing_is_left(self):
        """Tests that run meanwhile have such folders, too, but not for long."""
        new = self.left() - self.before
        end = time.monotonic() + 30
        while any(path.exists() for path in new) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual([path for path in new if path.exists()], [])

    def record(self, *options, lasts, code=0, **more):
        done = subprocess.run([TBTRACE, "record", "--no-summary", *options, "--", PROGRAM, str(lasts)], cwd=self.folder,
                              capture_output=True, text=True, env={**os.environ, **more}, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (code, "runs\n"), done.stderr)
        return done.stderr

    def traces(self):
        return [json.loads(path.read_text()) for path in (self.folder / "logs").glob("*.json")]

    def test_libtorch_program_is_recorded(self):
        said = self.record("--after", "0", "--seconds", "0.1", lasts=2000)
        self.assertIn("trace written", said)
        (trace,) = self.traces()
        self.assertIn("libtorch_program", trace["command"])
        self.check_nothing_is_left()

    def test_libtorch_program_ends_before_its_window(self):
        self.assertIn("before its window was written", self.record(lasts=500))
        self.assertFalse((self.folder / "logs").exists())
        self.check_nothing_is_left()

    def test_libtorch_that_does_not_ask(self):
        self.assertIn("older than 2.7", self.record("--after", "0", lasts=300, TEST_SILENT="1"))
        self.assertIn("recorded by time", self.record("--steps", "3", lasts=10))

    def test_libtorch_program_is_asked_later(self):
        started = subprocess.Popen([TBTRACE, "record", "--idle", "--", PROGRAM, "3000"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(started.communicate)
        self.assertEqual(started.stdout.readline(), "runs\n")
        asked = subprocess.run([TBTRACE, "record", "--no-summary", "--pid", str(started.pid)], cwd=self.folder,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertEqual((started.wait(timeout=60), len(self.traces())), (0, 1))


if __name__ == "__main__":
    TBTRACE, PROGRAM = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + ["LibTorch.test_" + name for name in sys.argv[3:]])
