#!/usr/bin/env python3
"""Compares HolisticTraceAnalysis on Kineto-dialect files of `tbtrace convert` with itself on the originals.

    python3 -m e2e.hta.traces_test --tbtrace PATH [--expect WHAT=COUNT]... TRACE...

Each of its figures of one rank has to be the same for each trace that it can load as it is: time by type of kernel and
by kernel, steps, idle time and its causes, launches and their delays, overlap, copies, queue lengths. It runs without
its rounding of times to whole microseconds. What it said of an original is recorded (recorded_answers.py).

Needs the packages of requirements_hta.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import logging
import math
import os
import pathlib
import shutil
import sys
import tempfile
import time
import warnings

from e2e.consumers import Report, convert, expect_option, run_name
from e2e.recorded_answers import RecordedAnswers

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402: it logs and warns while it is imported

EVERYTHING = 1_000_000

# Traces that it cannot load as they are: they are not JSON, have a step without a number, or no duration at all.
CANNOT_LOAD = {
    "frame_names.trace", "frame_names_quoted.trace", "names_quoted.trace",
    "names_hard.trace", "names_python_export.trace",
    "test_inline.test_memory_curve_no_step_plot.0.worker0", "test_inline.test_memory_curve_step_plot.0.worker0",
}


def table(frame):
    """A data frame as rows, in an order of their own: two kernels may start at the same time."""
    rows = [[value.item() if hasattr(value, "item") else value if isinstance(value, (int, float)) else str(value)
             for value in row] for row in frame.itertuples(index=False)]
    return [list(map(str, frame.columns)), sorted(rows, key=str)]


def figures(path):
    """What it says about a trace. Where it fails, that it does."""
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir="/", include_last_profiler_step=True)
    types, kernels = analysis.get_gpu_kernel_breakdown(
        visualize=False, duration_ratio=1.0, num_kernels=EVERYTHING, include_memory_kernels=True)
    answers = {"types": table(types), "kernels": table(kernels),
               "steps": sorted(int(step) for step in analysis.get_profiler_steps())}
    asked = {
        "time by kind": lambda: table(analysis.get_temporal_breakdown(visualize=False)),
        "idle time": lambda: table(analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0]),
        "overlap": lambda: table(analysis.get_comm_comp_overlap(visualize=False)),
        "launches": lambda: table(analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]),
        "copies": lambda: table(analysis.get_memory_bw_summary(ranks=[0])),
        "queues": lambda: table(analysis.get_queue_length_summary(ranks=[0])),
    }
    for name, ask in asked.items():
        try:
            answers[name] = ask()
        except Exception as error:
            answers[name] = f"fails: {type(error).__name__}"
    return answers


def with_known_name(path, folder):
    """It takes names in .json and .gz for what they say; packed or not, a trace is found here under the right one."""
    data = path.read_bytes()
    name = folder / ("original.json.gz" if data[:2] == b"\x1f\x8b" else "original.json")
    shutil.copy(path, name)
    return name


def near(left, right):
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(near, left, right))
    if isinstance(left, float) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-12) or (math.isnan(left) and math.isnan(right))
    return left == right


def difference(expected, got):
    for what in expected:
        if not near(expected[what], got[what]):
            pairs = zip(expected[what][1], got[what][1]) if isinstance(expected[what], list) else []
            first = next((pair for pair in pairs if not near(*pair)), (expected[what], got[what]))
            return f"{what}: {first[1]}, expected {first[0]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    expect_option(parser)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    started = time.monotonic()
    compared = collections.Counter()
    on_file = RecordedAnswers("hta", "requirements.txt", "requirements_hta.txt", "hta/traces_test.py")
    for trace in options.traces:
        where = run_name(trace)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            try:
                expected = on_file.of([trace])
                if expected is None:
                    expected = figures(with_known_name(trace, folder))
                    on_file.record([trace], expected)
            except Exception as error:  # whatever it cannot do with the original is not asked of the converted
                report(where in CANNOT_LOAD, f"{where}: it cannot load the original: {type(error).__name__}: {error}")
                continue
            report(where not in CANNOT_LOAD, f"{where}: it can load the original now")
            try:
                convert(options.tbtrace, [trace], folder / "logs", "run", "--to", "plugin", "--dialect", "kineto")
                file = next((folder / "logs" / "run").iterdir())
                wrong = difference(expected, figures(file))
                report(not wrong, f"{where}: {wrong}")
                compared["rows of kernels"] += len(expected["kernels"][1])
                compared.update(what for what, answer in expected.items() if not str(answer).startswith("fails"))
            except Exception as error:
                report(False, f"{where}: {type(error).__name__}: {str(error)[:300]}")
    report.expect_counts(options.expect, compared)
    print(f"{time.monotonic() - started:.1f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
