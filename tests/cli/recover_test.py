#!/usr/bin/env python3
"""What `tbtrace recover` does with what a killed process left.

    recover_test.py PROGRAM LEFT_JOURNAL [NAME...]

Each method is a CTest test cli.NAME. Python's standard library has what it takes.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = LEFT_JOURNAL = ""


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Recover(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.journal, self.logs = self.folder / "journal", self.folder / "logs"

    def leave(self):
        done = subprocess.run([LEFT_JOURNAL, self.journal], capture_output=True, text=True)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)

    def trace(self):
        (path,) = self.logs.glob("*.pt.trace.json")
        return json.loads(path.read_text())

    def test_recover_writes_what_a_killed_process_left(self):
        self.leave()
        code, said, errors = run("recover", self.journal, "-o", self.logs)
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(said, r"\.pt\.trace\.json: process \d+ on \S+, 1\.\d{3} s, until its last sign of life, "
                               r"2 ranges unfinished\n$")
        trace = self.trace()
        recovered = trace["tbtrace_recovered"]
        self.assertEqual((recovered["unfinished_ranges"], recovered["window_was_open"]), (2, True))
        names = [event["name"] for event in trace["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation")]
        self.assertEqual(sorted(names), ["aten::add", "aten::conv2d", *["aten::mm"] * 9, "train_step"])
        open_ones = {event["name"]: event for event in trace["traceEvents"]
                     if event.get("args", {}).get("finished") == "false"}
        self.assertEqual(set(open_ones), {"train_step", "aten::conv2d"})
        # Until the process was killed, or some ten milliseconds before.
        self.assertGreater(open_ones["aten::conv2d"]["dur"], 50_000)
        ends = {event["ts"] + event["dur"] for event in open_ones.values()}
        self.assertLess(max(ends) - min(ends), 0.01)
        self.assertEqual(run("check", "--strict", next(self.logs.glob("*.json")))[0], 0)
        # The journal stays, so it can be recovered once more.
        for dialect in ("kineto", "plugin"):
            self.assertEqual(run("recover", self.journal, "-o", self.folder / dialect, "--to", dialect)[0], 0)

    def test_recover_writes_the_last_time_alone(self):
        self.leave()
        code, said, _ = run("recover", self.journal, "-o", self.logs, "--last", "300ms")
        self.assertEqual(code, 0)
        self.assertIn(", 0.300 s,", said)
        names = [event["name"] for event in self.trace()["traceEvents"] if event.get("cat") == "cpu_op"]
        self.assertIn(names.count("aten::mm"), (1, 2, 3))
        self.assertIn("aten::conv2d", names)

    def test_recover_writes_nothing_twice(self):
        self.leave()
        self.assertEqual(run("recover", self.journal, "-o", self.logs, "--last", "300ms")[0], 0)
        code, said, _ = run("recover", self.journal, "-o", self.logs)
        self.assertEqual((code, "there already" in said), (0, False))
        files = {path: path.read_bytes() for path in self.logs.iterdir()}
        self.assertEqual(len(files), 2)
        code, said, errors = run("recover", self.journal, "-o", self.logs)
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(said, r"2 ranges unfinished; is there already, --overwrite writes it again\n$")
        self.assertEqual({path: path.read_bytes() for path in self.logs.iterdir()}, files)
        whole = pathlib.Path(said.partition(": process")[0])
        whole.write_text("damaged")
        self.assertEqual(run("recover", self.journal, "-o", self.logs, "--overwrite")[0], 0)
        self.assertEqual(run("recover", self.journal, "-o", self.logs, "--remove")[0], 0)
        self.assertEqual({path: path.read_bytes() for path in self.logs.iterdir()}, files)
        self.assertEqual(list(self.journal.iterdir()), [])

    def test_recover_removes_journals(self):
        self.leave()
        self.assertEqual(run("recover", self.journal, "-o", self.logs, "--remove", "--gzip")[0], 0)
        self.assertEqual(len(list(self.logs.glob("*.pt.trace.json.gz"))), 1)
        self.assertEqual(list(self.journal.iterdir()), [])
        code, _, errors = run("recover", self.journal, "-o", self.logs)
        self.assertEqual(code, 3)
        self.assertIn("there is no journal; a recording that ended as it should leaves none", errors)

    def test_recover_leaves_running_processes_alone(self):
        with subprocess.Popen([LEFT_JOURNAL, self.journal, "wait"], stdout=subprocess.PIPE, text=True) as running:
            try:
                self.assertEqual(running.stdout.readline(), "recording\n")
                code, said, errors = run("recover", self.journal, "-o", self.logs, "--remove")
                self.assertEqual((code, said), (0, ""))
                self.assertIn("is in use by a running process and was left alone", errors)
            finally:
                running.kill()
        self.assertEqual(run("recover", self.journal, "-o", self.logs)[0], 0)
        self.assertEqual(len(list(self.logs.glob("*.json"))), 1)

    def test_recover_tells_what_is_damaged(self):
        self.leave()
        (folder,) = self.journal.iterdir()
        segments = sorted(folder.glob("segment-*"), key=lambda path: path.stat().st_size)
        with open(segments[0], "r+b") as file:  # of the small slots, which have all there is
            file.truncate(20_000)
        code, _, errors = run("recover", self.journal, "-o", self.logs, "--remove")
        self.assertEqual(code, 0)
        self.assertRegex(errors, r"\d+ parts? of the recording (is|are) damaged, and (its|their) records are missing")
        self.assertTrue(folder.exists())
        (folder / "head.tbj").write_bytes(b"x" * 4096)
        code, _, errors = run("recover", self.journal, "-o", self.logs)
        self.assertEqual(code, 3)
        self.assertIn("this is not the head of a journal", errors)

    def test_recover_says_that_no_window_has_the_steps(self):
        self.leave()
        code, said, errors = run("recover", self.journal, "-o", self.logs, "--steps", "500")
        self.assertEqual((code, said), (0, ""))
        self.assertIn("has nothing of this part, so nothing is written", errors)

    def test_recover_explains_wrong_usage(self):
        for words, said in (((), "give one directory"),
                            ((self.folder, "--last", "soon"), "--last takes a time, such as 30s"),
                            ((self.folder, "--last", "1s", "--remove"), "does not go with --last"),
                            ((self.folder, "-o", "-"), "-o takes a directory")):
            code, _, errors = run("recover", *words)
            self.assertEqual(code, 2, words)
            self.assertTrue(re.search(said, errors) or not words, errors)
        self.assertEqual(run("recover", self.folder / "none", "-o", self.logs)[0], 3)


if __name__ == "__main__":
    PROGRAM, LEFT_JOURNAL = sys.argv[1:3]
    names = [f"Recover.test_{name}" for name in sys.argv[3:]]
    unittest.main(argv=[sys.argv[0], *names])
