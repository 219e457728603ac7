#!/usr/bin/env python3
"""tbtrace.tensorboard_trace_handler() in torch.profiler.profile writes its files, and no failure stops a training.

    handler_test.py [NAME...]

Needs torch. Each method is a CTest test python.NAME.
"""

import collections
import contextlib
import fcntl
import gzip
import inspect
import json
import math
import os
import pathlib
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
sys.path.insert(0, str(ROOT / "tests/golden"))
from event_messages import decoded  # noqa: E402
from tfrecords import records  # noqa: E402

TRACE_NAME = re.compile(r"(.+)\.(\d{19})\.pt\.trace\.json(\.gz)?")
STEPS = [[2, 3], [6, 7]]  # that train() records in its cycles


def train(on_trace_ready, repeat=2, **options):
    """A training loop with two recorded steps per cycle; the loss of its last step."""
    import torch  # takes seconds, and not every test needs it

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    options = {"record_shapes": True, "profile_memory": True, "with_stack": True, **options}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], on_trace_ready=on_trace_ready,
                                schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=repeat),
                                **options) as profiler:
        for _ in range(4 * repeat + 1):
            optimizer.zero_grad()
            loss = model(torch.randn(16, 3, 8, 8)).square().mean()
            loss.backward()
            optimizer.step()
            profiler.step()
    return loss.item()


class Exported:
    """Stands in for a profiler: its export is a copy of a file, moved in time."""

    def __init__(self, start=0, file=DATA / "cpu_steps.json"):
        self.trace = json.loads(file.read_text())
        self.trace["baseTimeNanoseconds"] = 1_790_000_000_000_000_000 + start

    def export_chrome_trace(self, path):
        pathlib.Path(path).write_text(json.dumps(self.trace))


def exported_by(export):
    return types.SimpleNamespace(export_chrome_trace=export)


def traces_in(folder):
    return sorted(path for path in folder.iterdir() if TRACE_NAME.fullmatch(path.name))


def event_files_in(folder):
    return sorted(path for path in folder.iterdir() if "tfevents" in path.name)


def all_files(folder):
    """Without the lock of a run that is being written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.name != ".lock"}


def values_in(event_file):
    """By tag, the steps with their tensors."""
    values = collections.defaultdict(list)
    for payload in records(event_file.read_bytes()):
        event = decoded("Event", payload)
        for value in event.get("summary", {}).get("value", []):
            values[value["tag"]].append((event.get("step", 0), value["tensor"]))
    return values


def by_name(rows):
    """Calls and self CPU time in us of all rows with the same name."""
    figures = collections.defaultdict(lambda: (0, 0.0))
    for row in rows:
        calls, time_us = figures[row["key"]]
        figures[row["key"]] = (calls + row["count"], time_us + row["self_cpu_time_total_ns"] / 1000)
    return dict(figures)


@contextlib.contextmanager
def without_root():
    """Root may write anywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def operators_of(profiler):
    """Calls and self times of torch's rows, without those of Python functions, which only some versions have."""
    functions = {event.name for event in profiler.events() if event.is_python_function}
    return {row.key: (row.count, row.self_cpu_time_total) for row in profiler.key_averages() if row.key not in functions}


class Handler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.folder = self.scratch / "runs" / "logs"  # which is not there yet
        # Without cairo each new handler logs a warning, which only its own test expects.
        pictures = mock.patch("tbtrace._tbtrace.pictures_problem", return_value="")
        self.pictures_problem = pictures.start()
        self.addCleanup(pictures.stop)

    def handler(self, worker="w", **options):
        return tbtrace.tensorboard_trace_handler(self.folder, worker, **options)

    @contextlib.contextmanager
    def warned(self, pattern):
        """The block logs one warning that matches, and leaves no unfinished files."""
        with self.assertLogs("tbtrace", "WARNING") as logs:
            yield
        self.assertEqual(len(logs.records), 1, logs.output)
        self.assertRegex(logs.records[0].getMessage(),
                         f"(?s)^a recorded cycle was not written to {re.escape(str(self.folder))}: .*(?:{pattern})")
        self.assertEqual([path for path in self.scratch.rglob("*partial*")], [])

    def test_handler_writes_each_cycle_for_both_tensorboards(self):
        handler, recorded, times = self.handler(), [], [time.time_ns()]

        def ready(profiler):
            handler(profiler)
            recorded.append(operators_of(profiler))
            times.append(time.time_ns())

        with self.assertNoLogs("tbtrace"):
            train(ready)
        traces, [event_file] = traces_in(self.folder), event_files_in(self.folder / "w")
        self.assertEqual([TRACE_NAME.fullmatch(path.name)[1] for path in traces], ["w", "w"])
        self.assertEqual(all_files(self.folder).keys(), {path.name for path in traces} | {f"w/{event_file.name}"})
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"w", *(path.name for path in traces)})
        values = values_in(event_file)
        for cycle, path in enumerate(traces):
            start = TRACE_NAME.fullmatch(path.name)[2]
            self.assertTrue(times[cycle] < int(start) < times[cycle + 1], (times, start))
            trace = tbtrace.read(path, strict=True, arguments=tbtrace.ARGUMENT_GROUPS)
            steps = trace.steps().to_dicts()
            self.assertEqual([row["step"] for row in steps], STEPS[cycle])
            self.assertEqual([row["name"] for row in steps], [f"ProfilerStep#{number}" for number in STEPS[cycle]])
            self.check_operators(trace, recorded[cycle])
            self.check_summaries(values, cycle, steps)
        self.assertIn("custom_scalars__config__", values)

    def check_operators(self, trace, recorded):
        found = by_name(trace.operators().to_dicts())
        self.assertEqual({name: calls for name, (calls, _) in found.items()},
                         {name: calls for name, (calls, _) in recorded.items()})
        self.assertLess({"aten::conv2d", "aten::addmm", "ProfilerStep*", "Optimizer.step#SGD.step"},
                        found.keys())
        # With stacks, ranges of record_function() cross Python functions. torch's self times of those are meaningless,
        # even negative; the written trace has such ranges on threads of their own.
        operators = {name for name in found if name.startswith(("aten::", "autograd::")) or name.endswith("Backward0")}
        self.assertGreater(len(operators), 30)
        for name in operators:
            self.assertAlmostEqual(found[name][1], recorded[name][1], delta=1, msg=name)
        shapes = {row["key"]: row["input_shapes"] for row in trace.operators(group_by=("shape",)).to_dicts()}
        self.assertIn("[16, 3, 8, 8]", str(shapes["aten::conv2d"]))
        self.assertTrue(trace.modules().to_dicts())
        self.assertTrue(any(row["self_cpu_memory_usage_bytes"] > 0 for row in trace.operators().to_dicts()))

    def check_summaries(self, values, cycle, steps):
        first, last = len(steps) * cycle, len(steps) * (cycle + 1)
        written = [(step, tensor["float_val"][0]) for step, tensor in values["profile/step_time_ms"]]
        self.assertEqual(len(written), len(steps) * len(STEPS))
        self.assertEqual([step for step, _ in written[first:last]], [row["step"] for row in steps])
        for (_, shown), row in zip(written[first:last], steps):
            self.assertAlmostEqual(shown, row["duration_ns"] / 1e6, delta=1e-4)
        for tag in ("profile/operators/text_summary", "profile/memory/text_summary", "profile/steps/text_summary"):
            self.assertEqual([step for step, _ in values[tag]], [numbers[-1] for numbers in STEPS])
        table = values["profile/operators/text_summary"][cycle][1]["string_val"][0]
        self.assertTrue(b"<code>aten::convolution_backward</code>" in table, table[:300])
        self.assertEqual(len(values["profile/memory/cpu/peak_mib"]), len(written))

    def test_handler_keeps_all_times_without_stacks(self):
        handler, recorded = self.handler(), []

        def ready(profiler):
            handler(profiler)
            recorded.append(operators_of(profiler))

        train(ready, with_stack=False)
        self.assertEqual(len(traces_in(self.folder)), 2)
        for path, wanted in zip(traces_in(self.folder), recorded):
            found = by_name(tbtrace.read(path, strict=True).operators().to_dicts())
            self.assertEqual(found.keys(), wanted.keys())
            for name, (calls, time_us) in wanted.items():
                self.assertEqual(found[name][0], calls, name)
                self.assertAlmostEqual(found[name][1], time_us, delta=1, msg=name)

    def test_handler_keeps_the_arguments_of_events(self):
        def arguments(rows, phases="Xi"):
            return collections.Counter(
                (row["name"], key, json.dumps(value)) for row in rows if row["ph"] in phases
                for key, value in row.get("args", {}).items()
                # The dialect for the plugin has its own ids.
                if key.lower() not in ("external id", "correlation", "python id", "python parent id", "python module id"))

        handler, recorded = self.handler(), []

        def ready(profiler):
            handler(profiler)
            profiler.export_chrome_trace(str(self.scratch / "torchs.json"), use_python_export=True)
            recorded.append(json.loads((self.scratch / "torchs.json").read_text())["traceEvents"])

        train(ready, repeat=1)
        gpu = Exported(file=DATA / "gpu_step_rank1.json")
        self.handler("gpu")(gpu)
        for worker, rows in (("w", recorded[0]), ("gpu", gpu.trace["traceEvents"])):
            [path] = self.folder.glob(f"{worker}.*")
            missing = arguments(rows) - arguments(json.loads(path.read_text())["traceEvents"])
            with self.subTest(worker):
                self.assertEqual(collections.Counter(key for _, key, _ in missing), {}, list(missing)[:5])

    def test_handler_compresses_traces(self):
        train(self.handler(use_gzip=True), repeat=1)
        [path] = self.folder.glob("*.pt.trace.json*")
        self.assertRegex(path.name, r"^w\.\d{19}\.pt\.trace\.json\.gz$")
        self.assertGreater(len(json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]), 100)
        self.assertEqual([row["step"] for row in tbtrace.read(path).steps().to_dicts()], STEPS[0])
        self.assertEqual(len(event_files_in(self.folder / "w")), 1)

    def test_handler_names_workers_as_torch_does(self):
        own = f"{socket.gethostname()}_{os.getpid()}"
        for name in (None, ""):
            tbtrace.tensorboard_trace_handler(self.folder, name)(Exported(1 if name is None else 2))
        self.assertEqual([TRACE_NAME.fullmatch(path.name)[1] for path in traces_in(self.folder)], [own, own])
        self.assertEqual(len(event_files_in(self.folder / own)), 1)
        # A handler may be made before the fork into workers.
        handler = tbtrace.tensorboard_trace_handler(self.folder)
        child = os.fork()
        if child == 0:
            handler(Exported(3))
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(list(self.folder.glob(f"{socket.gethostname()}_{child}.*.pt.trace.json"))), 1)
        # torch formats what it is given.
        tbtrace.tensorboard_trace_handler(os.fsencode(self.folder), 7)(Exported(4))
        self.assertEqual(len(list(self.folder.glob("7.*.pt.trace.json"))), 1)

    def test_handler_keeps_hostile_names_in_the_folder(self):
        names = ["a/b", "..", ".", "../../up", "/etc", "a\\b", "All", "line\nbreak", "nul\0", "%s %d", "x" * 400, "\u00e9" * 300,
                 "half \udcff", " ", ".hidden", "w.123", "node_0.pt.trace.json"]
        with self.assertNoLogs("tbtrace"):
            for number, name in enumerate(names):
                self.handler(name)(Exported(number))
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["runs"])
        self.assertEqual([path.name for path in self.folder.parent.iterdir()], ["logs"])
        traces = traces_in(self.folder)
        self.assertEqual(len(traces), len(names))
        workers = {TRACE_NAME.fullmatch(path.name)[1] for path in traces}
        self.assertNotIn("All", workers)  # which the plugin reserves
        folders = {path.name for path in self.folder.iterdir() if path.is_dir()}
        self.assertEqual(folders, workers | {"a_b-2"})  # of `a\\b`, because that of `a/b` has the first one
        self.assertEqual(sum(len(event_files_in(self.folder / name)) for name in folders), len(names))
        self.assertEqual(len(all_files(self.folder)), 2 * len(names))
        for path in traces:
            self.assertEqual(len(tbtrace.read(path, strict=True).steps()), 3)

    def test_handler_continues_after_an_earlier_profiler(self):
        train(self.handler())
        before = all_files(self.folder)
        train(self.handler())
        after = all_files(self.folder)
        self.assertEqual((len(before), len(after)), (3, 5))
        for name, content in before.items():
            self.assertTrue(after[name].startswith(content), name)
        self.assertEqual([[row["step"] for row in tbtrace.read(path).steps().to_dicts()]
                          for path in traces_in(self.folder)], STEPS * 2)
        # TensorBoard drops steps that come again, so those of the second profiler follow the first one's.
        steps = [step for file in event_files_in(self.folder / "w")
                 for step, _ in values_in(file)["profile/step_time_ms"]]
        self.assertEqual(len(steps), 8)
        self.assertEqual(steps, sorted(set(steps)))

    def test_handler_never_replaces_a_cycle(self):
        self.handler()(Exported())
        before = all_files(self.folder)
        with self.assertNoLogs("tbtrace"):
            self.handler()(Exported())
        after = all_files(self.folder)
        self.assertEqual((len(before), len(after)), (2, 3))
        for name, content in before.items():
            self.assertTrue(after[name].startswith(content), name)
        # torch can export a cycle once.
        handler = self.handler("twice")

        def ready(profiler):
            handler(profiler)
            with self.warned("already saved"):
                handler(profiler)

        train(ready, repeat=1)
        self.assertEqual(len(list(self.folder.glob("twice.*"))), 1)

    def test_handler_shares_a_folder_with_torchs(self):
        import torch

        self.folder.mkdir(parents=True)
        train(torch.profiler.tensorboard_trace_handler(str(self.folder), "w"))
        train(torch.profiler.tensorboard_trace_handler(str(self.folder), "theirs", use_gzip=True), repeat=1)
        theirs = all_files(self.folder)
        train(self.handler("w"))
        train(self.handler("ours"), repeat=1)
        files = all_files(self.folder)
        train(torch.profiler.tensorboard_trace_handler(str(self.folder), "w"), repeat=1)
        last = all_files(self.folder)
        self.assertEqual({name: files[name] for name in theirs}, theirs)
        self.assertEqual({name: last[name] for name in files}, files)
        counts = collections.Counter(TRACE_NAME.fullmatch(path.name)[1] for path in traces_in(self.folder))
        self.assertEqual(counts, {"w": 5, "theirs": 1, "ours": 1})
        found, unread = tbtrace.find(self.folder)
        self.assertEqual((sorted(map(str, found)), unread), ([str(path) for path in traces_in(self.folder)], []))
        names = [[row["key"] for row in tbtrace.read(path).operators().to_dicts() if row["key"].startswith("aten::")]
                 for path in traces_in(self.folder)]
        self.assertEqual({frozenset(each) for each in names}, {frozenset(names[0])})

    def test_handler_has_the_arguments_of_torchs(self):
        import torch

        def arguments(function):
            return [(each.name, each.default, each.kind) for each in inspect.signature(function).parameters.values()]

        self.assertEqual(arguments(tbtrace.tensorboard_trace_handler),
                         arguments(torch.profiler.tensorboard_trace_handler))
        train(self.handler(use_python_export=True), repeat=1)
        [path] = traces_in(self.folder)
        self.assertEqual([row["step"] for row in tbtrace.read(path, strict=True).steps().to_dicts()], STEPS[0])

    def test_handler_logs_what_goes_wrong(self):
        def broken(path):
            raise RuntimeError("the profiler is broken")

        for export, pattern in (
                (broken, "the profiler is broken"),
                (lambda path: None, "check the free space"),
                (lambda path: pathlib.Path(path).write_text(""), "cycle.json"),
                (lambda path: pathlib.Path(path).write_text("[1, 2"), "cycle.json"),
                (lambda path: pathlib.Path(path).mkdir(), "cycle.json"),
                (lambda path: shutil.rmtree(pathlib.Path(path).parent), "check the free space")):
            with self.subTest(pattern), self.warned(pattern):
                self.handler()(exported_by(export))
            self.assertEqual(all_files(self.scratch), {})
        # The next cycle is written.
        with self.assertNoLogs("tbtrace"):
            self.handler()(Exported())
        self.assertEqual(len(all_files(self.folder)), 2)

    def test_handler_logs_that_pictures_are_missing(self):
        self.pictures_problem.return_value = "there is no libcairo.so.2"
        with self.assertLogs("tbtrace", "WARNING") as logs:
            handler = self.handler()
            handler(Exported(1))
            handler(Exported(2))
        self.assertEqual([record.getMessage() for record in logs.records],
                         ["the summaries will have no flame graphs: there is no libcairo.so.2"])
        self.assertEqual(len(all_files(self.folder)), 3)

    def test_handler_logs_what_it_cannot_write(self):
        blocked = self.scratch / "file"
        blocked.write_text("kept")
        read_only = self.scratch / "read_only"
        read_only.mkdir(mode=0o500)
        self.scratch.chmod(0o755)
        cycle = Exported()
        for self.folder, pattern in ((blocked, "File exists"), (blocked / "logs", "Not a directory"),
                                     (self.scratch / ("n" * 300), "too long"), (read_only, "denied"),
                                     (read_only / "logs", "denied")):
            with self.subTest(self.folder.name), self.warned(pattern), without_root():
                self.handler()(cycle)
        self.assertEqual(all_files(self.scratch), {"file": b"kept"})
        self.folder = self.scratch / "logs"
        self.folder.mkdir()
        (self.folder / "w").write_text("kept")  # where the worker's run should be
        with self.warned(re.escape(str(self.folder / "w"))):
            self.handler()(Exported())
        self.assertEqual((self.folder / "w").read_bytes(), b"kept")
        self.assertEqual(len(traces_in(self.folder)), 1)

    def test_handler_leaves_a_run_to_the_process_that_writes_it(self):
        (self.folder / "w").mkdir(parents=True)
        with open(self.folder / "w/.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            program = f"import fcntl, time; fcntl.flock({lock.fileno()}, fcntl.LOCK_EX); print(flush=True); time.sleep(600)"
            other = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, pass_fds=[lock.fileno()])
            other.stdout.readline()
        try:
            with self.assertNoLogs("tbtrace"):
                self.handler()(Exported())
            self.assertEqual(len(traces_in(self.folder)), 1)
            self.assertEqual(len(event_files_in(self.folder / "w-2")), 1)
        finally:
            other.kill()
            other.wait()
            other.stdout.close()
        self.assertEqual(event_files_in(self.folder / "w"), [])

    def test_handler_logs_that_the_disk_is_full(self):
        """Kineto neither raises nor leaves a file at the path that it was given."""
        handler = self.handler()
        for limit, pattern in ((20_000, "check the free space"), (None, "")):
            def ready(profiler):
                allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
                if limit is None:
                    handler(profiler)
                    return
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, allowed[1]))  # Python ignores the signal
                try:
                    with self.warned(pattern):
                        handler(profiler)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
                self.assertEqual(all_files(self.folder), {})

            self.assertTrue(math.isfinite(train(ready, repeat=1)))
        self.assertEqual(len(all_files(self.folder)), 2)

    def test_handler_does_not_stop_a_training(self):
        loss = train(None)
        blocked = self.folder = self.scratch / "file"
        blocked.write_text("kept")
        with self.assertLogs("tbtrace", "WARNING") as logs:
            self.assertEqual(train(self.handler()), loss)
        self.assertEqual(len(logs.output), 2)
        self.folder = self.scratch / "logs"
        handler = self.handler()

        def ready(profiler):
            with mock.patch.object(profiler, "export_chrome_trace", side_effect=RuntimeError("broken")):
                with self.warned("broken"):
                    handler(profiler)

        self.assertEqual(train(ready), loss)
        self.assertEqual(all_files(self.folder), {})

    def test_handler_gives_no_python_warnings(self):
        """With `-W error`, trainings end normally whether or not their cycles can be written."""
        program = f"""
import sys, warnings
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch has warnings of its own
    import torch
warnings.filterwarnings("ignore", message="Warning: Profiler clears events")
import handler_test, tbtrace
for folder in {str(self.folder)!r}, {__file__!r}:
    handler_test.train(tbtrace.tensorboard_trace_handler(folder, "w"))
import gc
gc.collect()
print("trained")
"""
        done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("trained\n"), done.stdout)
        others = ("USDT:", "ERROR:", "[W", "the summaries will have no flame graphs")  # from torch, or without cairo
        warnings = [line for line in done.stderr.splitlines() if not line.startswith(others)]
        self.assertEqual(len(warnings), 2, done.stderr)
        for line in warnings:
            self.assertTrue(line.startswith(f"a recorded cycle was not written to {__file__}: "), line)
        self.assertEqual(len(all_files(self.folder)), 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Handler.test_{name}" for name in sys.argv[1:])])
