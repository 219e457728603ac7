#!/usr/bin/env python3
"""Compares the counts of `tbtrace diff` with HolisticTraceAnalysis's TraceDiff.

    python3 -m e2e.hta.diff_test --tbtrace PATH BASE NEW

BASE and NEW are folders with the trace of one rank, as TraceDiff takes them. Compared is how often each operator,
annotation, kernel, memcpy and memset is in all steps of a side. Their times are not: TraceDiff adds up durations, also
of operators in others, and `diff` divides the step, so that its rows add up. Needs the packages of requirements_hta.txt.
Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import gzip
import json
import logging
import pathlib
import subprocess
import sys


def calls_of_runtime(folder):
    """CUDA calls, which TraceDiff counts as operators; here they are part of the operator that made them."""
    names = set()
    for path in folder.iterdir():
        data = path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        names.update(row.get("name") for row in json.loads(text)["traceEvents"]
                     if row.get("cat") in ("cuda_runtime", "cuda_driver", "Runtime"))
    return names


def counts_of_hta(base, new):
    """By division and name: the counts of both sides per step."""
    logging.disable(logging.WARNING)
    from hta.trace_diff import DeviceType, LabeledTrace, TraceDiff
    sides = [LabeledTrace("base", trace_dir=str(base)), LabeledTrace("new", trace_dir=str(new))]
    steps = [side.iterations() for side in sides]
    calls = calls_of_runtime(base) | calls_of_runtime(new)
    counts = {}
    for by, device in (("operator", DeviceType.CPU), ("kernel", DeviceType.GPU)):
        table = TraceDiff.compare_traces(*sides, control_iteration=steps[0], test_iteration=steps[1],
                                         device_type=device)
        for name, row in table.iterrows():
            if not name.startswith("ProfilerStep") and name not in calls:
                counts[by, name] = (row["base_counts"] / len(steps[0]), row["new_counts"] / len(steps[1]))
    return counts


def counts_of_ours(tbtrace, base, new):
    done = subprocess.run([tbtrace, "diff", base, new, "--group-by", "operator,kernel", "--format", "json"],
                          capture_output=True, check=True)
    counts = {}
    for row in json.loads(done.stdout)["rows"]:
        # A kernel that took the place of another one has two names there.
        for name, pair in ((row["key"], (row["base_count"] if not row["base_key"] else 0, row["new_count"])),
                           (row["base_key"], (row["base_count"], 0))):
            if name and any(pair):
                counts[row["by"], name] = pair
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("base", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    given = parser.parse_args()
    theirs = counts_of_hta(given.base, given.new)
    ours = counts_of_ours(given.tbtrace, given.base, given.new)
    failed = 0
    for row in sorted(set(theirs) | set(ours)):
        want, got = theirs.get(row, (0, 0)), ours.get(row, (0, 0))
        if any(abs(one - other) > 1e-6 for one, other in zip(want, got)):
            failed += 1
            print(f"{row[0]} {row[1][:100]}: HTA counts {want}, diff {got}")
    passed = len(set(theirs) | set(ours)) - failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
