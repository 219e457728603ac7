#!/usr/bin/env python3
"""What the program does on a machine without cairo, which it opens at run time.

    missing_cairo_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. The loader finds a libcairo.so.2 that is not a library.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
PROBLEM = ("libcairo.so.2 cannot be loaded (no_cairo/libcairo.so.2: file too short); "
           "install cairo (on Debian `apt-get install libcairo2`)")
WARNING = f"tbtrace: convert: the event files have no flame graphs: {PROBLEM}, and convert again with --overwrite\n"


class MissingCairo(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "no_cairo").mkdir()
        (self.folder / "no_cairo/libcairo.so.2").write_text("not a library\n")

    def output_of(self, *words):
        """Standard output and standard error of a call that succeeds."""
        environment = os.environ | {"LD_LIBRARY_PATH": "no_cairo", "LC_ALL": "C"}
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_missing_cairo_and_pictures_in_doctor(self):
        text, _ = self.output_of("--version", "--verbose")
        self.assertIn(f"\npictures      no: {PROBLEM}\n", text)
        found = json.loads(self.output_of("--version", "--format", "json")[0])
        self.assertEqual((found["pictures"], found["pictures_problem"]), (False, PROBLEM))

    def test_missing_cairo_and_pictures_in_event_files(self):
        traces = [str(DATA / name) for name in ("cpu_steps.json", "gpu_step.json")]
        self.assertEqual(self.output_of("convert", *traces, "-o", "logs")[1], WARNING)
        self.assertEqual(self.output_of("convert", *traces, "-o", "logs", "--skip-existing")[1], "")
        manifest, errors = self.output_of("convert", *traces, "-o", "logs", "--overwrite", "--format", "json")
        self.assertEqual((len(json.loads(manifest)["inputs"]), errors), (2, WARNING))
        self.assertEqual(self.output_of("convert", *traces, "-o", "quiet", "-q")[1], "")

    def test_missing_cairo_does_not_matter_without_pictures(self):
        trace = str(DATA / "cpu_steps.json")
        self.assertEqual(self.output_of("convert", trace, "-o", "logs", "--to", "plugin")[1], "")
        self.assertEqual(self.output_of("flamegraph", trace, "-o", "flame.svg"), ("", ""))


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"MissingCairo.test_{name}" for name in sys.argv[2:])])
