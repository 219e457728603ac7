#!/usr/bin/env python3
"""Are the figures those that follow from the file? Recomputed from the JSON of five recordings, without the library's code.

    figures_test.py [NAME...]

Each method is a CTest test python.NAME and checks one table of all recordings; a figure is one number of one row. The
oracle below is Python's json and what docs/formats/ says. Times are whole ns: the file's decimals are read as such.
"""

import collections
import decimal
import functools
import gzip
import json
import pathlib
import re
import sys
import unittest

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = ("tests/data/h200/perceptron.json.gz", "tests/data/gpu_step.json", "tests/data/slow_loader_job/rank2.json",
              "examples/traces/transformer_modules.json.gz", "examples/traces/resnet18_training.json.gz")
KINDS = {"cpu_op": "cpu_op", "user_annotation": "user_annotation", "python_function": "python_function", "overhead": "overhead",
         "cuda_runtime": "runtime", "cuda_driver": "runtime", "kernel": "kernel", "gpu_memcpy": "gpu_memcpy",
         "gpu_memset": "gpu_memset", "gpu_user_annotation": "gpu_user_annotation", "Trace": "trace_span"}
HOST = ("cpu_op", "user_annotation", "python_function", "runtime", "overhead")
ACTIVITIES = ("kernel", "gpu_memcpy", "gpu_memset")
LINE = re.compile(r"(.+)\((\d+)\): (.+)")


class Range:
    def __init__(self, event):
        self.name, self.kind, self.args = event["name"], KINDS[event["cat"]], event.get("args", {})
        self.start = int(event["ts"] * 1000)
        self.end = self.start + int(event["dur"] * 1000)
        self.thread = (event["pid"], event["tid"])
        self.parent = None  # the innermost range that it is inside of
        self.self_time = 0  # ns in which it was the last started of those open on its thread

    @property
    def duration(self):
        return self.end - self.start

    def with_parents(self):
        """Itself and the ranges around it, the innermost first."""
        found = self
        while found is not None:
            yield found
            found = found.parent

    def nearest(self, wanted):
        return next(filter(wanted, self.with_parents()), None)


def covered(ranges, window=None, without=()):
    """How many ns at least one of the ranges covers, in a window, where none of `without` does."""
    edges = [(at, of, step) for of, group in ((0, ranges), (1, without)) for each in group
             for at, step in ((each.start, 1), (each.end, -1))]
    if window is not None:
        edges = [(min(max(at, window[0]), window[1]), of, step) for at, of, step in edges]
    total, open_, last = 0, [0, 0], None
    for at, of, step in sorted(edges):
        if open_[0] > 0 and open_[1] == 0:
            total += at - last
        open_[of] += step
        last = at
    return total


class Recording:
    """What a file says."""

    def __init__(self, path):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        self.ranges = [Range(event) for event in events if event["ph"] == "X"]
        self.memory = [event["args"] for event in events if event["name"] == "[memory]"]
        self.activities = [each for each in self.ranges if each.kind in ACTIVITIES]
        self.host = [each for each in self.ranges if each.kind in HOST]
        threads = collections.defaultdict(list)
        for each in sorted(self.host, key=lambda each: (each.start, -each.end)):
            threads[each.thread].append(each)
        for ranges in threads.values():
            self.nest(ranges)
        calls = {each.args["correlation"]: each for each in self.host if each.kind == "runtime" and "correlation" in each.args}
        for each in self.activities:
            each.launch = calls.get(each.args.get("correlation"))
        self.steps = sorted((each for each in self.host if each.name.startswith("ProfilerStep#")), key=lambda each: each.start)

    def nest(self, ranges):
        """Of a thread, by start: the range around each, and the time that is each one's own."""
        open_, last, rest = [], 0, ranges[::-1]
        while open_ or rest:
            ends = min((each.end for each in open_), default=None)
            at = ends if not rest or (ends is not None and ends <= rest[-1].start) else rest[-1].start
            if open_:
                open_[-1].self_time += at - last
            open_ = [each for each in open_ if each.end > at]
            while rest and rest[-1].start == at:
                each = rest.pop()
                each.parent = next((around for around in reversed(open_) if around.end >= each.end), None)
                if each.end > at:
                    open_.append(each)
            last = at

    def of_kind(self, *kinds):
        return [each for each in self.ranges if each.kind in kinds]

    def by_name(self, *kinds):
        names = collections.defaultdict(list)
        for each in self.of_kind(*kinds):
            names[each.name].append(each)
        return names

    def launched_in(self, step):
        return [each for each in self.activities if each.launch is not None and step.start <= each.launch.start < step.end]

    def windows(self):
        """(step, start, end): no end before the activities that it launched, no start before the step before is over."""
        previous = None
        for step in self.steps:
            end = max([step.end, *(each.end for each in self.launched_in(step))])
            start = step.start if previous is None else max(step.start, previous)
            start = min(start, end - step.duration)
            previous = end
            yield step, start, end


def is_communication(kernel):
    return "nccl" in kernel.name.lower()


@functools.cache
def recordings():
    return [(path, tbtrace.read(ROOT / path), Recording(ROOT / path)) for path in RECORDINGS]


class Figures(unittest.TestCase):
    def setUp(self):
        self.count = 0

    def assertFigures(self, least):
        """That so many were compared."""
        print(f"{self.id().rpartition('.')[2]}: {self.count} figures")
        self.assertGreaterEqual(self.count, least)

    def check(self, what, row, **wanted):
        for name, value in wanted.items():
            self.assertEqual(row[name], value, f"{what}: {name}")
            self.count += 1

    def test_figures_of_events(self):
        for path, trace, file in recordings():
            table = trace.events(["kind", "duration_ns", "self_time_ns"])
            found = collections.defaultdict(lambda: collections.Counter(count=0, duration=0, self_time=0))
            for row in table:
                found[row["kind"]].update(count=1, duration=row["duration_ns"], self_time=row["self_time_ns"] or 0)
            wanted = collections.defaultdict(lambda: collections.Counter(count=0, duration=0, self_time=0))
            for each in file.ranges:
                wanted[each.kind].update(count=1, duration=each.duration, self_time=each.self_time)
            self.assertEqual(set(found), set(wanted), path)
            for kind, figures in wanted.items():
                self.check(f"{path}: {kind}", found[kind], **figures)
        self.assertFigures(60)

    def test_figures_of_steps(self):
        for path, trace, file in recordings():
            rows = list(trace.steps())
            windows = list(file.windows())[:len(rows)]  # steps at the end whose activities are missing are left out
            self.assertEqual(len(rows), len(windows), path)
            self.assertLessEqual(len(file.steps) - len(rows), 1)
            first = rows[0]["start_ns"] - windows[0][1]
            for row, (step, start, end) in zip(rows, windows):
                kernels = [each for each in file.activities if each.kind == "kernel" and not is_communication(each)]
                copies = [each for each in file.activities if each.kind == "gpu_memcpy"]
                self.check(f"{path}: {step.name}", row, name=step.name, step=int(step.name.partition("#")[2]),
                           start_ns=start + first, duration_ns=end - start, host_duration_ns=step.duration,
                           kernel_ns=covered(kernels, (start, end)), memcpy_ns=covered(copies, (start, end), without=kernels),
                           launched=len(file.launched_in(step)))
        self.assertFigures(70)

    def test_figures_of_kernels(self):
        for path, trace, file in recordings():
            by_name = file.by_name("kernel")
            rows = {row["name"]: row for row in trace.kernels()}
            self.assertEqual(set(rows), set(by_name), path)
            total = sum(each.duration for each in file.of_kind("kernel"))
            for name, kernels in by_name.items():
                times = [each.duration for each in kernels]
                self.check(f"{path}: {name}", rows[name], count=len(times), total_ns=sum(times), min_ns=min(times), max_ns=max(times))
                self.assertAlmostEqual(rows[name]["mean_ns"], sum(times) / len(times), places=6)
                self.assertAlmostEqual(rows[name]["share_percent"], 100 * sum(times) / total, places=6)
                self.count += 2
            owners = collections.Counter()
            for each in file.of_kind("kernel"):
                operator = None if each.launch is None else each.launch.nearest(lambda around: around.kind == "cpu_op")
                owners["[unattributed]" if operator is None else operator.name] += each.duration
            self.check(path, {row["operator"]: row["total_ns"] for row in trace.kernels("operator")}, **owners)
        self.assertFigures(200)

    def test_figures_of_gpus(self):
        for path, trace, file in recordings():
            devices = collections.defaultdict(list)
            for each in file.activities:
                devices[each.args["device"]].append(each)
            rows = list(trace.gpu())
            self.assertEqual([row["device"] for row in rows], sorted(devices), path)
            for row in rows:
                all_ = devices[row["device"]]
                kernels = [each for each in all_ if each.kind == "kernel"]
                computation = [each for each in kernels if not is_communication(each)]
                communication = [each for each in kernels if is_communication(each)]
                copies = [each for each in all_ if each.kind != "kernel"]
                window = max(each.end for each in all_) - min(each.start for each in all_)
                self.check(f"{path}: device {row['device']}", row, activities=len(all_), window_ns=window, busy_ns=covered(all_),
                           idle_ns=window - covered(all_), computation_ns=covered(computation), memory_ns=covered(copies),
                           communication_ns=covered(communication),
                           exposed_communication_ns=covered(communication, without=computation),
                           overlap_ns=covered(communication) - covered(communication, without=computation),
                           copied_bytes=sum(int(each.args["bytes"]) for each in copies))
                gaps = [gap["duration_ns"] for gap in trace.gaps() if gap["device"] == row["device"]]
                self.check(f"{path}: gaps", {"sum": sum(gaps)}, sum=window - covered(all_))
        self.assertFigures(30)

    def test_figures_of_operators(self):
        for path, trace, file in recordings():
            rows = {row["key"]: row for row in trace.operators(figures="exact") if row["device_type"] == "CPU"}
            device_time = collections.Counter()
            for each in file.activities:
                if each.launch is not None:
                    operator = each.launch.nearest(lambda around: around.kind == "cpu_op")
                    device_time[operator and operator.name] += each.duration
            by_name = file.by_name("cpu_op")
            for name in sorted(by_name, key=lambda name: -len(by_name[name]))[:20]:
                calls = by_name[name]
                outermost = [each for each in calls if each.parent is None or not each.parent.nearest(lambda around: around.name == name)]
                self.check(f"{path}: {name}", rows[name], count=len(calls), self_cpu_time_total_ns=sum(each.self_time for each in calls),
                           cpu_time_total_ns=sum(each.duration for each in outermost), self_device_time_total_ns=device_time[name])
        self.assertFigures(200)

    def test_figures_of_memory(self):
        recorded = 0
        for path, trace, file in recordings():
            devices = collections.defaultdict(list)
            for record in file.memory:
                devices[(record["Device Type"], record["Device Id"])].append(record)
            rows = {row["device_name"]: row for row in trace.memory()}
            curve = list(trace.memory("curve"))
            allocations = list(trace.memory("allocations"))
            self.assertEqual(len(rows), len(devices), path)
            for (kind, number), records in devices.items():
                name = "cpu" if kind == 0 else f"cuda:{number}"
                of_curve = [row for row in curve if row["device_name"] == name]
                sizes = [row["bytes"] for row in allocations if row["device_name"] == name and row["allocated_at_ns"] is not None]
                self.check(f"{path}: {name}", rows[name], peak_bytes=max(record["Total Allocated"] for record in records))
                self.check(f"{path}: {name}", {"records": len(of_curve), "last": of_curve[-1]["allocated_bytes"], "bytes": sum(sizes),
                                               "allocations": len(sizes)},
                           records=len(records), last=records[-1]["Total Allocated"],
                           bytes=sum(record["Bytes"] for record in records if record["Bytes"] > 0),
                           allocations=sum(record["Bytes"] > 0 for record in records))
                recorded += 1
        self.assertGreaterEqual(recorded, 3)
        self.assertFigures(15)

    def test_figures_of_modules_and_lines(self):
        for path, trace, file in recordings():
            modules = {name.removeprefix("nn.Module: "): calls for name, calls in file.by_name("python_function").items()
                       if name.startswith("nn.Module: ")}
            rows = {row["name"]: row for row in trace.modules() if row["calls"] is not None}
            self.assertEqual(set(rows), set(modules), path)

            for name, calls in modules.items():
                total = sum(each.duration for each in calls) + rows[name]["backward_cpu_time_ns"]
                self.check(f"{path}: {name}", rows[name], calls=len(calls), cpu_time_total_ns=total)

            frames = {name: calls for name, calls in file.by_name("python_function").items() if LINE.fullmatch(name)}
            rows = {row["source_line"]: row for row in trace.lines(libraries=True) if row["calls"] is not None}
            self.assertLessEqual(set(rows), set(frames), path)
            own, total = collections.Counter(), collections.Counter()
            elsewhere = set()  # lines with backward passes inside, which are in the lines of their forward operators
            for each in file.host:
                around = [other.name for other in each.with_parents() if other.name in rows]
                own.update({name: each.self_time for name in around[:1]})
                total.update({name: each.self_time for name in around})
                if each.name.startswith("autograd::engine::"):
                    elsewhere.update(around)
            for name, row in rows.items():
                file_name, line, function = LINE.fullmatch(name).groups()
                self.check(f"{path}: {name}", row, file=file_name, line=int(line), function=function, calls=len(frames[name]))
                if row["backward_cpu_time_ns"] == 0 and name not in elsewhere:
                    self.check(f"{path}: {name}", row, cpu_time_total_ns=total[name], self_cpu_time_ns=own[name])
        self.assertFigures(150)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Figures.test_{name}" for name in sys.argv[1:])])
