#!/usr/bin/env python3
"""Compares the exact figures of `tbtrace gpu` and `tbtrace kernels` with HolisticTraceAnalysis's.

    python3 -m e2e.hta.figures_test --tbtrace PATH [--expect WHAT=COUNT]... TRACE...

They have the same definition of the window, the idle time, computation and each kernel's time for a trace of one device
in which kernels, memcpys and memsets name a stream, and nothing else does. If the trace has several steps, each activity must also have
exactly one host row with its correlation, from before the last step's end: HTA counts an activity once for each of these.
HTA runs without its rounding of times to whole microseconds. What it said is recorded (recorded_answers.py), together
with what traces_test.py compares.

Needs the packages of requirements_hta.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

from e2e.consumers import Report, expect_option, run_name
from e2e.hta.traces_test import CANNOT_LOAD, figures, with_known_name
from e2e.recorded_answers import RecordedAnswers

DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
# HTA's times are doubles in microseconds, since 1970 in some files.
MOST_APART_US = 0.6


def rows_of(program, verb, trace):
    done = subprocess.run([program, verb, str(trace), "--format", "json", "-q"], capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return json.loads(done.stdout)["rows"]


def chosen(table, columns):
    """Some columns of a table that starts with their names."""
    places = [table[0].index(column) for column in columns]
    return [[row[place] for place in places] for row in table[1]]


def has_the_same_definitions(trace):
    data = trace.read_bytes()
    events = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    events = [event for event in (events if isinstance(events, list) else events.get("traceEvents", []))
              if "dur" in event]
    activities = [event for event in events if "stream" in (event.get("args") or {})]
    if len({event["pid"] for event in activities}) != 1:
        return False
    if activities != [event for event in events if event.get("cat") in DEVICE_CATEGORIES]:
        return False
    steps = [event for event in events if str(event.get("name")).startswith("ProfilerStep")]
    if len({step["name"] for step in steps}) <= 1:
        return True
    last_end = max(float(step["ts"]) + float(step["dur"]) for step in steps)
    calls = collections.defaultdict(list)
    for event in events:
        arguments = event.get("args") or {}
        if "correlation" in arguments and "stream" not in arguments:
            calls[arguments["correlation"]].append(float(event["ts"]))
    return all(len(starts) == 1 and starts[0] < last_end
               for starts in (calls[event["args"].get("correlation")] for event in activities))


def is_close(want, got):
    return abs(want - got) <= MOST_APART_US + 1e-9 * abs(want)


def gpu_difference(program, trace, expected, compared):
    if str(expected["time by kind"]).startswith("fails"):
        return None
    want = chosen(expected["time by kind"], ["kernel_time(us)", "idle_time(us)", "compute_time(us)"])[0]
    row = rows_of(program, "gpu", trace)[0]
    got = [row[key] / 1000 for key in ("window_ns", "idle_ns", "computation_ns")]
    compared["devices"] += 1
    return None if all(map(is_close, want, got)) else f"window, idle time and computation: {got}, expected {want}"


def kernel_difference(program, trace, expected, compared):
    want = {name: us for name, kind, us in chosen(expected["kernels"], ["name", "kernel_type", "sum (us)"])
            if kind != "MEMORY"}
    got = {row["name"]: row["total_ns"] / 1000 for row in rows_of(program, "kernels", trace)}
    if want.keys() != got.keys():
        return f"kernels: {sorted(want.keys() ^ got.keys())[:3]} only on one side"
    compared["kernels"] += len(want)
    wrong = [(name, got[name], us) for name, us in want.items() if not is_close(us, got[name])]
    return f"kernel, time, expected: {wrong[0]}" if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    expect_option(parser)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    compared = collections.Counter()
    on_file = RecordedAnswers("hta", "requirements.txt", "requirements_hta.txt", "hta/traces_test.py")
    for trace in options.traces:
        where = run_name(trace)
        if where in CANNOT_LOAD or not has_the_same_definitions(trace):
            continue
        expected = on_file.of([trace])
        if expected is None:
            with tempfile.TemporaryDirectory() as scratch:
                expected = figures(with_known_name(trace, pathlib.Path(scratch)))
            on_file.record([trace], expected)
        for difference in (gpu_difference, kernel_difference):
            wrong = difference(options.tbtrace, trace, expected, compared)
            report(not wrong, f"{where}: {wrong}")
    report.expect_counts(options.expect, compared)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
