#!/usr/bin/env python3
"""Jobs on the processes of this machine: Ctrl-C, progress, and how many partials are in memory.

    local_jobs_test.py [NAME...]

Each method is a CTest test python.NAME. jobs_test.py has what is true on all engines.
"""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

import tbtrace
from job_engines import made_ranks
from tbtrace import _sums
from tbtrace._partials import File, Row


class LocalJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-jobs-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_ctrl_c_ends_a_job(self):
        hanging = [self.folder / f"hanging_{number}.json" for number in range(4)]
        for path in hanging:
            os.mkfifo(path)  # nobody writes to it
        script = f"import tbtrace; tbtrace.local.summarize({[str(path) for path in hanging]}, workers=2)"
        for everyone in (False, True):  # a signal to the program alone, and as a terminal does it
            program = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, start_new_session=True)
            self.addCleanup(program.kill)

            def children():
                found = []
                for folder in pathlib.Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError):
                        if f"save\0{self.folder}/hanging_".encode() in (folder / "cmdline").read_bytes():
                            found.append(folder.name)
                return found

            deadline = time.monotonic() + 60
            while len(children()) < 2 and time.monotonic() < deadline:
                self.assertIsNone(program.poll())
                time.sleep(0.05)
            self.assertEqual(len(children()), 2, "both workers read a file")
            if everyone:
                os.killpg(program.pid, signal.SIGINT)
            else:
                program.send_signal(signal.SIGINT)
            _, said = program.communicate(timeout=60)  # forever if it waited for the files
            self.assertTrue(said.decode().strip().endswith("KeyboardInterrupt"), said.decode())
            self.assertNotEqual(program.returncode, 0)
            self.assertEqual(children(), [])

    def test_partials_are_merged_as_they_come(self):
        alive, most, read = 0, 0, 0

        class Sum:  # of as many files
            def __init__(self, count):
                nonlocal alive, most
                self.count = count
                alive += 1
                most = max(most, alive)

            def __del__(self):
                nonlocal alive
                alive -= 1

        class Rows:
            """A row for each path, which is made when it is asked for."""

            def __iter__(self):
                nonlocal read
                for number in range(1000):
                    read += 1
                    yield f"path{number}", Row(b"1", [File(f"path{number}", digest=str(number % 900))])

        kind = types.SimpleNamespace(from_bytes=lambda data: Sum(int(data)))
        library = types.SimpleNamespace(Partial=kind, merge=lambda parts: Sum(sum(part.count for part in parts)))
        with unittest.mock.patch.object(_sums, "_tbtrace", library):
            whole, files = _sums.sum_of(_sums.rows_without_repeats(Rows()))
        self.assertEqual((whole.count, len(files), read), (900, 1000, 1000))
        self.assertEqual([file.path for file in files if file.state == "doubled"], [f"path{number}" for number in range(900, 1000)])
        self.assertLessEqual(most, 40)

    def test_a_job_says_how_far_it_is(self):
        made_ranks(self.folder, 3)
        seen = []
        tbtrace.local.summarize(self.folder, workers=2, progress=lambda *at: seen.append(at))
        self.assertEqual((seen[0], seen[-1]), ((0, 3), (3, 3)))
        self.assertEqual(seen, sorted(seen))

        def stop(done, total):
            raise RuntimeError(f"{done} of {total}")

        with self.assertRaisesRegex(RuntimeError, "0 of 3"):
            tbtrace.local.summarize(self.folder, progress=stop)
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            tbtrace.local.summarize(self.folder)
        self.assertEqual(shown.getvalue(), "")
        with contextlib.redirect_stderr(shown):
            tbtrace.local.summarize(self.folder, progress=True)
        self.assertIn("\r[##############################] 3 of 3 traces", shown.getvalue())
        self.assertTrue(shown.getvalue().endswith("\r\x1b[K"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"LocalJobs.test_{name}" for name in sys.argv[1:])])
