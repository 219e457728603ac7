#!/usr/bin/env python3
"""Compares `tbtrace kernels --compat hta` with HolisticTraceAnalysis's kernel breakdown and launch statistics.

    python3 -m e2e.hta.kernels_test --tbtrace PATH [--expect WHAT=COUNT]... TRACE...

Rows and their numbers have to be equal for each trace that it can load. It runs without its rounding of times to whole
microseconds, with the last step, and without its row `others`. What it said is recorded (recorded_answers.py), together
with what traces_test.py compares.

Needs the packages of requirements_hta.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import collections
import sys

from e2e.consumers import run_name
from e2e.hta.answers import chosen, compare_all, rows_of
from e2e.hta.traces_test import near

KERNELS = ["name", "sum (us)", "max (us)", "min (us)", "stddev", "mean (us)", "kernel_type"]
LAUNCHES = ["correlation", "cpu_duration", "gpu_duration", "launch_delay"]
# Its times are doubles in microseconds, since 1970 in some files.
MOST_APART_US = 0.6


def us(ns):
    return ns / 1000


def kernels(rows):
    return [[row["name"], us(row["total_ns"]), us(row["max_ns"]), us(row["min_ns"]), us(row["stddev_ns"]),
             us(row["mean_ns"]), row["type"].upper()] for row in rows]


def launches(rows):
    return [[row["correlation"], us(row["launch_call_ns"]), us(row["duration_ns"]), us(row["launch_delay_ns"])]
            for row in rows]


def is_close(want, got, apart=0.0):
    if isinstance(want, str):
        return want == got
    return near(float(want), float(got)) or abs(want - got) <= apart + 1e-9 * max(abs(want), 1)


def difference(expected, got, apart):
    if len(expected) != len(got):
        names = collections.Counter(row[0] for row in expected)
        names.subtract(row[0] for row in got)
        return f"{len(got)} rows, expected {len(expected)}: {[item for item in names.items() if item[1]][:3]}"
    for want, have in zip(sorted(expected, key=str), sorted(got, key=str)):
        if not all(is_close(w, h, apart if place == len(want) - 1 else 0) for place, (w, h) in enumerate(zip(want, have))):
            return f"{have}, expected {want}"
    return None


def compare(program, trace, expected, report, compared):
    where = run_name(trace)
    wanted = chosen(expected["kernels"], KERNELS)
    wrong = difference(wanted, kernels(rows_of(program, "kernels", trace)), 0)
    report(not wrong, f"{where}: kernels: {wrong}")
    compared["kernels"] += len(wanted)
    if str(expected["launches"]).startswith("fails"):
        return
    wanted = chosen(expected["launches"], LAUNCHES)
    wrong = difference(wanted, launches(rows_of(program, "kernels", trace, "--per-event")), MOST_APART_US)
    report(not wrong, f"{where}: launches: {wrong}")
    compared["launches"] += len(wanted)


if __name__ == "__main__":
    sys.exit(compare_all(__doc__, compare))
