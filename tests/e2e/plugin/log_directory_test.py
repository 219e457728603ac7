#!/usr/bin/env python3
"""Shows log directories that `tbtrace convert` writes to TensorBoard with torch-tb-profiler, and checks its answers.

    python3 -m e2e.plugin.log_directory_test --tbtrace PATH [--expected DIR] [--expect WHAT=COUNT]... TRACE...

TRACE is a file, a folder of one run's files (a file per rank), or files of one run joined by `+`. They are converted
into log directories, a run each, and read back over HTTP: every route of every view that the trace can fill answers
with strict JSON; calls, kernel times, times on operators and steps are those of the original as an independent reading
finds them; the plugin logs nothing but what the content forces.

With --expected, originals that the plugin understands as they are have to give the same answers as what was made of
them; DIR holds the plugin's answers on file (`resnet50_num_workers_0.span1.expected.jsonl`). What it answered to an
original is recorded (recorded_answers.py).

Needs the packages of requirements.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from e2e.consumers import Report, TensorBoard, convert, expect_option, run_name, strict_json
from e2e.plugin.answers import alike, first_difference, from_first, renamed, without_stacks
from e2e.plugin.log import check_log
from e2e.recorded_answers import RecordedAnswers
from e2e.trace_reading import RECOGNISED_COLLECTIVES, Trace, is_listed, worker_of

PLUGIN_FILES = re.compile(r"\.pt\.trace\.json(\.gz)?$")

# Runs with names that are not JSON, which Python cannot read.
CANNOT_READ = {"data.hostile_names", "frame_names_quoted.trace", "names_quoted.trace"}


def trace_files(folder):
    return sorted(path for path in folder.iterdir() if re.search(r"\.json(\.gz)?$", path.name))


def inputs_of(argument):
    """The files of one run."""
    if "+" in argument:
        return [pathlib.Path(part) for part in argument.split("+")]
    path = pathlib.Path(argument)
    return trace_files(path) if path.is_dir() else [path]


class Span:
    """What the plugin says about one worker's span."""

    def __init__(self, server, run, worker, span):
        self.server, self.query = server, {"run": run, "worker": worker, "span": span}
        self.answers = {}

    def get(self, route, **query):
        key = (route, *sorted(query.items()))
        if key not in self.answers:
            status, body = self.server.get(route, **self.query, **query)
            if status != 200:
                raise RuntimeError(f"{route} {query}: status {status}: {body[-200:]!r}")
            self.answers[key] = strict_json(body)
        return self.answers[key]


class Run:
    def __init__(self, inputs, name):
        self.inputs, self.name = inputs, name
        try:
            self.traces = [Trace(path) for path in inputs]
        except ValueError as error:
            print(f"Python cannot read {name}: {error}")
            self.traces = []
        self.views, self.spans, self.distributed = [], [], []

    def ask(self, server):
        """All routes; raises on the first that does not answer."""
        def get(route, **query):
            status, body = server.get(route, **query)
            if status != 200:
                raise RuntimeError(f"{route} {query}: status {status}: {body[-200:]!r}")
            return strict_json(body)

        self.views = get("views", run=self.name)
        for worker in get("workers", run=self.name, view="Overview"):
            for name in get("spans", run=self.name, worker=worker):
                self.spans.append(Span(server, self.name, worker, name))
        for span in self.spans:
            ask_span(span, self.views)
        for trace, span in self.matched() if self.traces else []:
            if any(map(trace.in_plugin_tree, trace.rows)):  # there is no tree of nothing
                span.get("tree")
        if "Distributed" in self.views:
            for worker in get("workers", run=self.name, view="Distributed"):
                for name in get("spans", run=self.name, worker=worker):
                    span = Span(server, self.name, worker, name)
                    for route in ("gpuinfo", "overlap", "waittime", "commops"):
                        span.get("distributed/" + route)
                    self.distributed.append(span)

    def matched(self):
        """Pairs of original and span."""
        if len(self.spans) != len(self.traces):
            raise RuntimeError(f"{len(self.spans)} spans of {len(self.traces)} traces")
        if len(self.spans) == 1:
            return [(self.traces[0], self.spans[0])]
        firsts = [min((row.start for row in trace.rows), default=0) for trace in self.traces]
        by_worker = sorted(self.spans, key=lambda span: (span.query["worker"], span.query["span"]))
        workers = {span.query["worker"] for span in self.spans}
        traces = self.traces if len(workers) > 1 else [trace for _, trace in sorted(
            zip(firsts, self.traces), key=lambda pair: pair[0])]
        return list(zip(traces, by_worker))


    def recorded(self):
        """All answers, as JSON can hold them."""
        def of(spans):
            return [[span.query, list(span.answers.items())] for span in spans]
        return {"views": self.views, "spans": of(self.spans), "distributed": of(self.distributed)}

    def remember(self, recorded):
        """Answers as recorded() gave them, under this run's name."""
        def spans(items):
            for query, answers in items:
                span = Span(None, self.name, query["worker"], query["span"])
                span.answers = {(key[0], *map(tuple, key[1:])): answer for key, answer in answers}
                yield span
        self.views = recorded["views"]
        self.spans, self.distributed = list(spans(recorded["spans"])), list(spans(recorded["distributed"]))


def ask_span(span, views):
    span.get("overview")
    for group in ("Operation", "OperationAndInputShape"):
        span.get("operation", group_by=group)
        table = span.get("operation/table", group_by=group)["data"]
        row = next((row for row in table if row["has_call_stack"]), None)
        if row:
            shape = {"input_shape": row["input_shape"]} if "input_shape" in row else {}
            span.get("operation/stack", op_name=row["name"], group_by=group, **shape)
    span.get("trace")
    # A view is there when one of the run's spans fills it.
    for view, asked in (("Kernel", (("kernel", {}), ("kernel/table", {"group_by": "Kernel"}),
                                    ("kernel/table", {"group_by": "KernelNameAndOpName"}), ("kernel/tc_pie", {}))),
                        ("Memory", (("memory", {"memory_metric": "KB"}),
                                    ("memory_curve", {"time_metric": "ms", "memory_metric": "MB"}),
                                    ("memory_events", {"time_metric": "ms", "memory_metric": "KB"}))),
                        ("Module", (("module", {}),)), ("Lightning", (("module", {}),))):
        if view in views:
            for route, query in asked:
                span.get(route, **query)


def figures_of_program(program, trace):
    """Device time that the program says is that of operators which the plugin lists, and its links."""
    done = subprocess.run([program, "ops", str(trace.path), "--format", "json", "--strict-totals"],
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"ops: exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    answer = json.loads(done.stdout)
    known = sum(row["self_device_time_total_ns"] for row in answer["rows"]
                if row["device_type"] == "CPU" and is_listed(row["key"])
                and row["key"] not in ("ProfilerStep*", "[idle]", "[unattributed]")
                and row["key"] not in trace.launch_names and not row["is_user_annotation"])
    return known, answer["links"]


def pie_sum(pie):
    return math.fsum(value for _, value in (pie or {"rows": []})["rows"])


def near(us, ns):
    """Whether a sum of doubles in us is a sum in ns."""
    return abs(us * 1000 - ns) <= 0.5 + abs(ns) * 1e-9


def check_views(report, run):
    traces, views = run.traces, run.views
    def has(condition):
        return any(condition(trace) for trace in traces)
    def communicates(trace):
        return any(row.name in RECOGNISED_COLLECTIVES for row in trace.rows
                   if row.category in ("cpu_op", "operator", "user_annotation"))
    lightning = has(lambda trace: trace.metadata.get("Framework") == "pytorch-lightning")
    collectives = [sum(row.name in RECOGNISED_COLLECTIVES for row in trace.rows
                       if row.category in ("cpu_op", "operator", "user_annotation")) for trace in traces]
    expected = {"Overview", "Operator", "Trace"}
    for view, there in (
            ("Kernel", has(lambda trace: any(not is_communication(trace, row) for row in trace.kernels))),
            ("Memory", has(lambda trace: bool(trace.memory))),
            ("Module", has(lambda trace: bool(trace.modules)) and not lightning),
            ("Lightning", lightning),
            ("Distributed", all(communicates(trace) for trace in traces) and len(set(collectives)) == 1)):
        if there:
            expected.add(view)
    report(set(views) == expected, f"{run.name}: views {sorted(views)}, expected {sorted(expected)}")


def is_communication(trace, kernel):
    """Whether the plugin counts a kernel as communication: its external id is that of a collective."""
    if not hasattr(trace, "collective_ids"):
        trace.collective_ids = {row.args.get("External id", row.args.get("external id")) for row in trace.rows
                                if row.name in RECOGNISED_COLLECTIVES and row.name.startswith("nccl:")}
        trace.collective_ids.discard(None)
    return kernel.args.get("External id", kernel.args.get("external id")) in trace.collective_ids


def check_calls(report, where, trace, span):
    calls, crossings = trace.operator_calls()
    got = {row["name"]: row["calls"] for row in span.get("operation/table", group_by="Operation")["data"]}
    wrong = {name: (got.get(name, 0), calls.get(name, 0)) for name in got.keys() | calls.keys()
             if abs(got.get(name, 0) - calls.get(name, 0)) > crossings}
    report(not wrong, f"{where}: calls (the plugin's, the original's) of {len(wrong)} operators: "
                      f"{dict(list(wrong.items())[:4])}")


def check_kernels(report, where, trace, span, views):
    expected = collections.Counter()
    for row in trace.kernels:
        expected[row.name] += row.duration
    if "Kernel" not in views:
        report(all(is_communication(trace, row) for row in trace.kernels), f"{where}: kernels, but no Kernel view")
        return
    pie = dict(span.get("kernel")["total"]["rows"])
    table = span.get("kernel/table", group_by="Kernel")["data"]
    names = {row[0] for row in table["rows"]}
    report(near(math.fsum(pie.values()), sum(expected.values())),
           f"{where}: kernels take {math.fsum(pie.values())} us, expected {sum(expected.values())} ns")
    wrong = {name: (pie.get(name), expected.get(name)) for name in pie.keys() | expected.keys()
             if not near(pie.get(name, 0), expected.get(name, 0))}
    report(not wrong, f"{where}: {len(wrong)} kernels take another time: {dict(list(wrong.items())[:3])}")
    report(names == set(expected), f"{where}: kernels by name")


def check_device_time(report, where, program, trace, span):
    """Returns whether there was something to compare."""
    if trace.understood_by_plugin() and trace.has_work_without_launch():
        return False  # the plugin's answers to the original hold, in which such work has no operator
    known, links = figures_of_program(program, trace)
    got = pie_sum(span.get("operation", group_by="Operation")["device_self_time"])
    report(near(got, known), f"{where}: operators have {got} us on the device, expected {known} ns ({links})")
    return True


def check_steps(report, where, trace, span):
    got = [row[0] for row in span.get("overview")["steps"]["rows"]]
    expected = trace.shown_steps()
    starts = [row.start for row in trace.steps][:len(expected)] or [0]
    same = len(got) == len(expected) and all(  # in any order where they start at once
        sorted(got[at] for at in group) == sorted(expected[at] for at in group)
        for group in ([at for at, other in enumerate(starts) if other == start] for start in set(starts)))
    report(same, f"{where}: steps {got}, expected {expected}")


def check_worker(report, where, trace, span):
    if worker_of(trace) is not None and not PLUGIN_FILES.search(trace.path.name):
        report(span.query["worker"] == worker_of(trace), f"{where}: the worker is {worker_of(trace)}")


def differing_answers(original, converted):
    """Differences between the plugin's answers to an original and to what was made of it."""
    differences = []
    if original.views != converted.views:
        differences.append(f"views {original.views}, now {converted.views}")
    for what in ("spans", "distributed"):
        counts = len(getattr(original, what)), len(getattr(converted, what))
        if counts[0] != counts[1]:
            differences.append(f"{what}: {counts[0]}, now {counts[1]}")
    for theirs, ours in zip(original.spans, converted.spans):
        # A converted trace may have call stacks that the plugin did not see in the original.
        more = [key for key in ours.answers.keys() - theirs.answers.keys() if key[0] != "operation/stack"]
        if more:
            differences.append(f"answers that the original has not: {sorted(more)}")
        for key, answer in theirs.answers.items():
            if key[0] == "trace":
                continue
            now = ours.answers.get(key)
            if key[0] == "tree":
                answer, now = from_first(answer), from_first(now)
            if key[0] == "memory_curve":
                answer, now = ({**each, "metadata": {**each["metadata"], "first_ts": 0}} for each in (answer, now))
            if key[0] == "operation/table":
                answer, now = (without_stacks(each) for each in (answer, now))
            if not alike(answer, now):
                differences.append(f"{key}: {first_difference(answer, now)}")
    for theirs, ours in zip(original.distributed, converted.distributed):
        for key, answer in theirs.answers.items():
            answer, now = renamed(answer, original), renamed(ours.answers.get(key), converted)
            if not alike(answer, now):
                differences.append(f"{key}: {first_difference(answer, now)}")
    return differences


def check_answers_on_file(report, run, folder):
    """The ResNet-50 sample's first span, as the plugin's own end-to-end test has it on file."""
    lines = [json.loads(line) for line in
             (folder / f"{run.inputs[0].parent.name}.span1.expected.jsonl").read_text().splitlines() if line.strip()]
    span = run.spans[0]
    for number, (route, query) in enumerate((
            ("overview", {}), ("operation", {"group_by": "Operation"}), ("operation/table", {"group_by": "Operation"}),
            ("kernel/table", {"group_by": "Kernel"}), ("kernel", {"group_by": "Kernel"}))):
        status, body = span.server.get(route, **span.query, **query)
        now = strict_json(body)
        report(status == 200 and alike(lines[number], now),
               f"{run.name}: {route} is not what is on file: {first_difference(lines[number], now)}")


def as_the_plugin_names_it(path):
    """A name under which the plugin finds an original."""
    if PLUGIN_FILES.search(path.name):
        return path.name
    packed = path.read_bytes()[:2] == b"\x1f\x8b"
    return re.sub(r"\.json(\.gz)?$", "", path.name) + ".pt.trace.json" + ".gz" * packed


def copied(inputs, folder):
    folder.mkdir(parents=True)
    for path in inputs:
        shutil.copy(path, folder / as_the_plugin_names_it(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--expected", type=pathlib.Path, help="a folder with answers of the plugin")
    parser.add_argument("--at-once", type=int, default=24, help="files that one TensorBoard is given")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the log directories and logs here")
    expect_option(parser)
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    report = Report()
    compared = collections.Counter()
    started = time.monotonic()
    runs = []
    for argument in options.traces:
        inputs = inputs_of(argument)
        name = run_name(inputs[0]) if len(inputs) == 1 else f"{inputs[0].parent.name}.together.{len(runs)}"
        runs.append(Run(inputs, name))
    groups, size = [[]], 0
    for run in runs:
        if size >= options.at_once:
            groups.append([])
            size = 0
        groups[-1].append(run)
        size += len(run.inputs)
    with tempfile.TemporaryDirectory() as scratch:
        for number, group in enumerate(groups):
            folder = (options.keep or pathlib.Path(scratch)) / str(number)
            shutil.rmtree(folder, ignore_errors=True)
            check_group(report, options, group, folder, compared)
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    report.expect_counts(options.expect, compared)
    print(f"{len(runs)} runs, {time.monotonic() - started:.1f} s")
    return report.end()


def check_group(report, options, runs, folder, compared):
    logdir = folder / "logs"
    logdir.mkdir(parents=True)
    shown, originals, asked = [], {}, set()
    on_file = RecordedAnswers("torch_tb_profiler", "requirements.txt", "plugin/log_directory_test.py", "consumers.py",
                              "trace_reading.py")
    for run in runs:
        run.folder = str(logdir / run.name)
        try:
            convert(options.tbtrace, run.inputs, logdir, run.name)
            shown.append(run)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            report(False, f"{run.name}: {error}")
            continue
        if options.expected and run.traces and all(trace.understood_by_plugin() for trace in run.traces):
            original = Run.__new__(Run)
            original.__dict__.update(run.__dict__, name=f"original.{run.name}", spans=[], views=[], distributed=[])
            original.folder = str(logdir / original.name)
            originals[run.name] = original
            recorded = on_file.of(run.inputs)
            if recorded is not None:
                original.remember(recorded)
            else:
                asked.add(original.name)
                copied(run.inputs, logdir / original.name)
    log = folder / "tensorboard.log"
    with TensorBoard(logdir, log) as server:
        wanted = [run.name for run in shown] + sorted(asked)
        loaded = server.wait_for(wanted, 240)
        for run in shown:
            if not report(run.name in loaded, f"{run.name}: not loaded"):
                continue
            try:
                run.ask(server)
                compared["device times"] += check_run(report, options.tbtrace, run)
            except (RuntimeError, ValueError, OSError, KeyError, TypeError) as error:
                report(False, f"{run.name}: {type(error).__name__}: {error}")
                continue
            if options.expected and run.inputs[0].parent.name == "resnet50_num_workers_0" and len(run.spans) > 1:
                check_answers_on_file(report, run, options.expected)
            if run.name in originals:
                original = originals[run.name]
                try:
                    if original.name in asked:
                        original.ask(server)
                        on_file.record(run.inputs, original.recorded())
                except (RuntimeError, ValueError, OSError) as error:
                    report(False, f"{run.name}: the plugin cannot show the original: {error}")
                    continue
                compared["originals"] += 1
                differences = differing_answers(original, run)
                report(not differences, f"{run.name}: other answers than to the original: {differences[:9]}")
    check_log(report, log, shown)


def check_run(report, program, run):
    """Returns of how many spans the device time was compared."""
    report(bool(run.traces) != (run.name in CANNOT_READ), f"{run.name}: CANNOT_READ is wrong about it")
    if not run.traces:
        report({"Overview", "Operator", "Trace"} <= set(run.views), f"{run.name}: views {run.views}")
        return 0
    check_views(report, run)
    compared = 0
    for trace, span in run.matched():
        where = f"{run.name} {span.query['worker']} {span.query['span']}"
        check_worker(report, where, trace, span)
        check_calls(report, where, trace, span)
        check_kernels(report, where, trace, span, run.views)
        compared += check_device_time(report, where, program, trace, span)
        check_steps(report, where, trace, span)
    return compared


if __name__ == "__main__":
    sys.exit(main())
