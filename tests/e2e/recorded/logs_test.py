#!/usr/bin/env python3
"""Trains a model that records itself, and shows its log directory to TensorBoard with torch-tb-profiler.

    python3 -m e2e.recorded.logs_test --tbtrace PATH --program train_resnet18

The directory is served as the program leaves it. Every route of every view that the run can have answers with strict
JSON, the figures are those of the files as an independent reading finds them, and the plugin logs nothing but what the
content forces. Needs the packages of requirements.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import collections
import sys

from e2e.consumers import Report
from e2e.plugin.log_directory_test import Run, check_run
from e2e.recorded.program import files_in, log_directory, on_tensorboard, read_options, recorded

WINDOWS, STEPS = 2, 3  # of the program's schedule


class Recorded(Run):
    """Windows of one worker, in the order of their files: each begins at time 0."""

    def matched(self):
        return list(zip(self.traces, sorted(self.spans, key=lambda span: span.query["span"])))


def check_training(report, run):
    report(run.views == ["Overview", "Operator", "Trace", "Memory", "Module"], f"views {run.views}")
    report(len(run.spans) == WINDOWS, f"{len(run.spans)} spans")
    for span in run.spans:
        steps = [row[0] for row in span.get("overview")["steps"]["rows"]]
        report(len(steps) == STEPS, f"steps {steps}")
        report(any("DataLoader" in str(column) for column in span.get("overview")["steps"]["columns"]), "no DataLoader")
        parts = {row["name"]: row["value"] for row in span.get("overview")["performance"][0]["children"]}
        report(parts["DataLoader"] > 0, f"parts of the step {parts}")
        names = {row["name"] for row in span.get("operation/table", group_by="Operation")["data"]}
        report({"aten::conv2d", "aten::convolution_backward", "aten::batch_norm"} <= names, f"operators {names}")
        curve = span.get("memory_curve", time_metric="ms", memory_metric="MB")
        report(curve["rows"].get("CPU"), "no curve of memory")
        report(len(span.get("memory_events", time_metric="ms", memory_metric="KB")["rows"]["CPU"]) > 100,
               "few events of memory")


def occurrences(nodes):
    counts = collections.Counter()
    for node in nodes:
        counts[node["name"]] += node["occurences"]
        counts += occurrences(node["children"])
    return counts


def check_modules(report, run):
    for trace, span in run.matched():
        shown = occurrences(span.get("module")["data"])
        written = collections.Counter(row.name.removeprefix("nn.Module: ") for row in trace.modules)
        report(shown == written, f"modules {shown} and {written}")
        # A model of 20 convolutions with as many norms, 8 blocks, one of all; each runs once a step.
        classes = collections.Counter(name.rsplit("_", 1)[0] for name in shown)
        report(classes == {"Conv2d": 20, "BatchNorm2d": 20, "Block": 8, "Sequential": 5, "ResNet18": 1, "Linear": 1},
               f"classes {classes}")
        report(set(shown.values()) == {STEPS}, f"calls {shown}")


def check_stacks(report, run):
    for span in run.spans:
        stacks = span.get("operation/stack", op_name="aten::conv2d", group_by="Operation")
        frames = {frame for row in stacks["data"] for frame in row["call_stack"].split(";")}
        for function in ("forward", "main"):
            report(any("train_resnet18.cc(" in frame and frame.endswith(function) for frame in frames),
                   f"no {function} in {frames}")


def main():
    options = read_options(__doc__)
    report = Report()
    with log_directory() as logdir:
        recorded(report, options.program, logdir / "resnet18")
        run = Recorded(files_in(logdir / "resnet18"), "resnet18")
        report(len(run.inputs) == WINDOWS, f"files {run.inputs}")
        with on_tensorboard(report, logdir, run):
            check_run(report, options.tbtrace, run)
            check_training(report, run)
            check_modules(report, run)
            check_stacks(report, run)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
