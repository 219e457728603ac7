#!/usr/bin/env python3
"""tbtrace.record() records a block, a function and a notebook's cell, and no failure stops the program.

    record_test.py [NAME...]

Needs torch. tests/recording/ has the recorder itself.
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import torch
import tbtrace

torch.set_num_threads(1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)  # wraps step() before a recording does


def train(steps=4):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
    return steps


class Shell:
    """As much of IPython's as a magic needs."""

    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("cell", "tbtrace")
        self.magic = function

    def run_cell(self, cell):
        exec(cell, globals())


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "new/logs"

    def steps_in(self, path):
        return tbtrace.read(path).steps().to_dicts()

    def test_block(self):
        with tbtrace.record(self.folder) as recording:
            train()
        (path,) = recording.traces
        self.assertEqual(pathlib.Path(path).parent, self.folder)
        counts = {row["key"]: row["count"] for row in tbtrace.read(path).operators().to_dicts()}
        self.assertEqual(counts["aten::addmm"], 4)
        self.assertEqual([file.name for file in self.folder.iterdir()], [pathlib.Path(path).name])
        self.assertGreaterEqual(len(self.steps_in(path)), 4)

    def test_inference_beside_an_optimizer(self):
        with tbtrace.record(self.folder, steps=2, skip=1) as recording, torch.no_grad():
            for _ in range(5):
                model(torch.randn(4, 8))
        self.assertEqual(len(self.steps_in(recording.traces[0])), 2)

    def test_chosen_steps_of_a_block(self):
        with tbtrace.record(self.folder, steps=2, skip=1) as recording:
            train(6)
        self.assertEqual([row["number"] for row in self.steps_in(recording.traces[0])], [1, 2])

    def test_function(self):
        recording = tbtrace.record(self.folder, profile_memory=True)
        recorded = recording(train)
        self.assertEqual((recorded(2), recorded(steps=3)), (2, 3))
        self.assertEqual(len(recording.traces), 2)

    def test_exception_in_a_block(self):
        with self.assertRaisesRegex(ValueError, "mine"):
            with tbtrace.record(self.folder) as recording:
                train(2)
                raise ValueError("mine")
        self.assertEqual(len(recording.traces), 1)

    def test_block_of_a_recorded_block(self):
        """torch allows one profiler: the outer block is recorded, and the inner one says why it is not."""
        with tbtrace.record(self.folder) as recording:
            train(1)
            with self.assertLogs("tbtrace") as said, tbtrace.record(self.folder) as inner:
                train(1)
        self.assertIn("profiler", said.output[0])
        self.assertEqual((len(recording.traces), len(inner.traces)), (1, 0))

    def test_what_goes_wrong_is_logged(self):
        with self.assertLogs("tbtrace", "WARNING") as said, tbtrace.record(self.folder, steps=1, skip=9):
            train(2)
        self.assertIn("choose other steps", said.output[0])
        self.folder.parent.mkdir()
        self.folder.write_text("")
        with self.assertLogs("tbtrace", "WARNING") as said, tbtrace.record(self.folder):
            train(1)
        self.assertIn(str(self.folder), said.output[0])

    def test_wrong_arguments_of_record(self):
        for wrong in ({"steps": 0}, {"skip": -1}, {"seconds": -1.0}, {"steps": 1, "after": 2.0}):
            with self.assertRaisesRegex(ValueError, r"record\(\)"):
                tbtrace.record(self.folder, **wrong)
        with self.assertRaises((TypeError, ValueError)):
            tbtrace.record(3)

    def test_cell_of_a_notebook(self):
        shell = Shell()
        tbtrace.load_ipython_extension(shell)
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            shell.magic(f"-o {self.folder} --profile-memory", "done = train(3)")
        self.assertEqual(done, 3)  # noqa: F821
        self.assertIn("operators by self CPU time", shown.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as shown, contextlib.redirect_stdout(shown):
            shell.magic("--help", "done = train(5)")
        self.assertIn("--with-stack", shown.getvalue())
        self.assertEqual(done, 3)  # noqa: F821


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["Record.test_" + name for name in sys.argv[1:]])
