#!/usr/bin/env python3
"""tbtrace.integrations writes a trace per rank and a page about all of them, and no failure stops a training.

    recording_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME. Profilers are objects that export a file; trainers_test.py has the real
frameworks.
"""

import contextlib
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import tbtrace
from tbtrace import integrations

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


class Profiler:
    """Exports a step of `rank` of `ranks`."""

    def __init__(self, rank=0, ranks=1, step=12):
        self.step_num = step
        self.trace = json.loads((DATA / "cpu_steps.json").read_text())
        self.trace["distributedInfo"] = {"backend": "gloo", "rank": rank, "world_size": ranks}

    def export_chrome_trace(self, path):
        pathlib.Path(path).write_text(json.dumps(self.trace))


def page_data(path):
    """What the page begins with: the list of its traces."""
    text = pathlib.Path(path).read_text()
    start = text.index('{"schema": "tbtrace.report/')
    return json.JSONDecoder().raw_decode(text[start:])[0]


class Recording(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "new/traces"
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.enterContext(mock.patch("atexit.register"))

    def as_rank(self, rank, ranks):
        return mock.patch.dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks))

    def record(self, rank, ranks, handler=None, step=12):
        """The handler of a rank, after it has taken a recording."""
        handler = handler or integrations.trace_handler(self.folder, wait=0)
        with self.as_rank(rank, ranks):
            handler(Profiler(rank, ranks, step))
        return handler

    def ranks_in(self, path):
        return [trace["rank"] for trace in page_data(path)["traces"]]

    @contextlib.contextmanager
    def warned(self, pattern):
        with self.assertLogs("tbtrace", "WARNING") as logs:
            yield
        self.assertEqual(len(logs.records), 1, logs.output)
        self.assertRegex(logs.records[0].getMessage(), pattern)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

    def test_recording_of_one_rank(self):
        handler = self.record(0, 1)
        self.assertEqual(self.files(), ["iteration_12/rank0.json"])
        path = handler.finish()
        self.assertEqual(path, str(self.folder / "iteration_12/report.html"))
        self.assertEqual(self.ranks_in(path), [0])
        self.assertEqual(self.said.getvalue(), f"tbtrace: {path}: the report about 1 of 1 ranks\n")
        self.assertEqual(self.files(), ["iteration_12/rank0.json", "iteration_12/report.html"])
        self.assertIsNone(handler.finish(), "it is written")

    def test_recording_of_several_ranks(self):
        handler = integrations.trace_handler(self.folder, wait=0)
        others = [self.record(rank, 3) for rank in (2, 1)]
        self.record(0, 3, handler)
        self.assertEqual([other.finish() for other in others], [None, None], "rank 0 does it")
        self.assertEqual(self.ranks_in(handler.finish()), [0, 1, 2])
        ranks = tbtrace.TraceSet.open(self.folder)
        self.assertEqual(sorted({row["rank"] for row in ranks.steps().to_dicts()}), [0, 1, 2])

    def test_recording_waits_for_the_other_ranks(self):
        handler = integrations.trace_handler(self.folder, wait=60)
        self.record(0, 2, handler)
        found = []
        waiting = threading.Thread(target=lambda: found.append(handler.finish()))
        waiting.start()
        self.record(1, 2)
        waiting.join()
        self.assertEqual(self.ranks_in(found[0]), [0, 1])

    def test_recording_says_which_ranks_are_missing(self):
        handler = self.record(0, 3)
        self.record(2, 3)
        with self.warned(r"^1 of 3 ranks have no trace, such as .*/iteration_12/rank1\.json; can all ranks write"):
            path = handler.finish()
        self.assertEqual(self.ranks_in(path), [0, 2])
        self.assertIn("the report about 2 of 3 ranks", self.said.getvalue())

    def test_recording_leaves_earlier_runs_out(self):
        for rank in range(4):
            self.record(rank, 4)
        handler = self.record(0, 2)
        with self.warned("1 of 2 ranks have no trace"):
            self.assertEqual(self.ranks_in(handler.finish()), [0], "rank 1 is of the run before")
        handler = integrations.trace_handler(self.folder, wait=0)
        self.record(1, 2)
        self.record(0, 2, handler)
        self.assertEqual(self.ranks_in(handler.finish()), [0, 1])

    def test_recording_reports_the_last_iteration(self):
        handler = self.record(0, 1, step=5)
        self.record(0, 1, handler, step=10)
        self.assertTrue(handler.finish().endswith("iteration_10/report.html"))
        self.assertEqual(self.files(),
                         ["iteration_10/rank0.json", "iteration_10/report.html", "iteration_5/rank0.json"])
        handler = integrations.trace_handler(self.folder, report=False)
        self.record(0, 1, handler, step=15)
        self.assertIsNone(handler.finish())

    def test_recording_that_fails_is_a_warning(self):
        def fails(path):
            raise RuntimeError("no room")
        broken = types.SimpleNamespace(step_num=3, export_chrome_trace=fails)
        with self.warned(f"^a recording was not written to {self.folder}: no room"):
            integrations.trace_handler(self.folder)(broken)
        silent = types.SimpleNamespace(step_num=3, export_chrome_trace=lambda path: None)
        with self.warned("torch could not write its trace there"):
            integrations.trace_handler(self.folder)(silent)
        self.assertEqual(self.files(), [])
        handler = self.record(0, 1)
        (self.folder / "iteration_12/rank0.json").write_text("nothing")
        with self.warned(r"^there is no report about .*/iteration_12: .*rank0\.json: "):
            self.assertIsNone(handler.finish())
        handler = self.record(0, 1)
        with mock.patch.object(integrations, "program", return_value="/nothing"):
            with self.warned("^there is no report about .*No such file"):
                handler.finish()

    def test_recording_is_reported_when_the_process_ends(self):
        script = ("import sys; sys.path[:0] = sys.argv[1:2]\n"
                  "import recording_test, tbtrace.integrations\n"
                  "tbtrace.integrations.trace_handler(sys.argv[2])(recording_test.Profiler())\n")
        done = subprocess.run([sys.executable, "-c", script, pathlib.Path(__file__).parent, self.folder],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, f"tbtrace: {self.folder}/iteration_12/report.html: the report about 1 of 1 ranks\n")

    def made_up_frameworks(self):
        """Modules that are as torch, transformers and Lightning as far as callbacks see them."""
        test = self

        class Profile(Profiler):
            started = []

            def __init__(self, schedule, on_trace_ready, **options):
                super().__init__(step=0)
                self.schedule, self.ready, self.options = schedule, on_trace_ready, options

            def start(self):
                self.started.append(self)

            def step(self):
                self.step_num += 1
                if self.step_num == self.schedule:
                    self.ready(self)

            def stop(self):
                self.started.remove(self)

        test.profile = Profile
        profiler = types.SimpleNamespace(profile=Profile, schedule=lambda **words: words["skip_first"] + 7)
        base = type("Base", (), {})
        return {"torch": types.SimpleNamespace(profiler=profiler), "pytorch_lightning": None,
                "transformers": types.SimpleNamespace(TrainerCallback=base),
                "lightning.pytorch": types.SimpleNamespace(Callback=base)}

    def callbacks(self):
        """(name, functions that are called before, during and after a training) of callbacks that record step 3."""
        for name, begins, steps, ends in (
                ("TrainerCallback", "on_train_begin", "on_step_end", "on_train_end"),
                ("LightningCallback", "on_train_start", "on_train_batch_end", "on_train_end"),
                ("LightningCallback", "on_train_start", "on_train_batch_end", "on_exception")):
            integrations.__dict__.pop(name, None)
            self.addCleanup(integrations.__dict__.pop, name, None)
            made = getattr(integrations, name)
            yield made, begins, steps, ends

    def test_recording_by_callbacks(self):
        with mock.patch.dict(sys.modules, self.made_up_frameworks()):
            for number, (made, begins, steps, ends) in enumerate(self.callbacks()):
                folder = self.folder / str(number)
                callback = pickle.loads(pickle.dumps(made(folder, schedule=3, with_stack=True)))
                getattr(callback, begins)(1, 2)
                [profiler] = self.profile.started
                self.assertEqual(profiler.options, {"record_shapes": True, "with_stack": True})
                for _ in range(5):
                    getattr(callback, steps)(1, 2)
                getattr(callback, ends)(1, 2)
                self.assertEqual(self.profile.started, [])
                self.assertEqual(self.ranks_in(folder / "iteration_3/report.html"), [0])
                getattr(callback, ends)(1, 2)

    def test_recording_by_callbacks_of_short_trainings(self):
        with mock.patch.dict(sys.modules, self.made_up_frameworks()):
            for made, begins, steps, ends in self.callbacks():
                callback = made(self.folder)
                getattr(callback, begins)(1, 2)
                getattr(callback, steps)(1, 2)
                with self.warned("nothing was recorded: training ended after 1 steps; record earlier ones"):
                    getattr(callback, ends)(1, 2)

    def test_recording_by_callbacks_does_not_stop_a_training(self):
        frameworks = self.made_up_frameworks()
        with mock.patch.dict(sys.modules, frameworks):
            for made, begins, steps, ends in self.callbacks():
                for method, when in (("start", begins), ("step", steps), ("stop", ends)):
                    callback = made(self.folder, schedule=1)
                    with mock.patch.object(self.profile, method, side_effect=RuntimeError("another one is on")):
                        with self.assertLogs("tbtrace", "WARNING") as logs:
                            for name in (begins, steps, steps, ends):
                                getattr(callback, name)(1, 2)
                    self.assertIn("another one is on", logs.output[0], when)
                    self.profile.started.clear()

    def test_recording_needs_no_framework(self):
        missing = {"transformers": None, "lightning": None, "lightning.pytorch": None, "pytorch_lightning": None}
        for name, package in (("TrainerCallback", "transformers"), ("LightningCallback", "lightning")):
            integrations.__dict__.pop(name, None)
            with mock.patch.dict(sys.modules, missing):
                with self.assertRaisesRegex(ModuleNotFoundError, f"^tbtrace.integrations.{name} needs {package}: pip"):
                    getattr(integrations, name)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Nothing'"):
            integrations.Nothing


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Recording.test_{name}" for name in sys.argv[2:])])
