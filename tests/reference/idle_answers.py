#!/usr/bin/env python3
"""Compares the causes of idle time of `tbtrace gpu` with the rules of docs/findings.md, applied instant by instant.

    idle_answers.py --tbtrace PATH TRACE_OR_FOLDER...

Traces that Python's json cannot read, and those whose idle time this script does not find as tbtrace does (other
writers' categories, several processes with the same ids), are left out and counted. The last line is 'N passed, N
failed'; each device is one.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

from idle_rules import CAUSES, Account
from idle_trace import Trace, Unsupported


def run(tbtrace, path, *options):
    done = subprocess.run([tbtrace, "gpu", *options, str(path), "--format", "json"], capture_output=True, timeout=600)
    return json.loads(done.stdout) if done.returncode == 0 else None


def sums_of(intervals):
    sums = collections.Counter()
    for start, end, cause, _ in intervals:
        sums[cause] += end - start
    return sums



def first_difference(tbtrace, path, trace, device, intervals):
    """The first gap whose largest cause is another one, with what the rules say of each part."""
    table = run(tbtrace, path, "--gaps", "--row-limit", "1000000") or {"rows": []}
    mine = collections.defaultdict(list)
    for interval in intervals:
        mine[interval[3] - trace.window_start].append(interval)
    for row in sorted(table["rows"], key=lambda row: row["start_ns"]):
        if row["device"] != device or row["start_ns"] not in mine:
            continue
        parts = mine[row["start_ns"]]
        sums = sums_of(parts)
        theirs = row.get("why") or "unknown"
        if sums[theirs] == row.get("why_ns") and sums[theirs] == max(sums.values()):
            continue
        lines = [f"  first gap: at {row['start_ns']} ns, before {row['before']}: tbtrace has {theirs} for "
                 f"{row.get('why_ns')} of {row['duration_ns']} ns; the rules have:"]
        for start, end, cause, _ in parts[:40]:
            lines.append(f"    {start - trace.window_start} to {end - trace.window_start} ({end - start} ns): {cause}")
        return "\n".join(lines)
    return "  no gap whose largest cause differs"


def compare(tbtrace, path):
    """The number of devices that agree; of those that do not; or why the trace was left out."""
    table = run(tbtrace, path)
    if table is None:
        return "tbtrace has no table of it"
    if not table["rows"]:
        return "no device activities"
    try:
        trace = Trace(path)
    except Unsupported as error:
        return str(error)
    account = Account(trace)
    passed = failed = 0
    for row in table["rows"]:
        if "idle_causes" not in row:
            sys.exit("this tbtrace has no idle_causes")
        device = row["device"]
        if device not in account.devices:
            return f"device {device} is not found"
        intervals = list(account.intervals(device))
        sums = sums_of(intervals)
        start = min(each.start for each in account.devices[device])
        end = max(each.end for each in account.devices[device])
        if (end - start, sum(sums.values())) != (row["window_ns"], row["idle_ns"]):
            return (f"device {device} has a window of {row['window_ns']} ns and is idle for {row['idle_ns']} ns, here "
                    f"{end - start} and {sum(sums.values())} ns")
        theirs = {each["cause"]: each["ns"] for each in row["idle_causes"]}
        problems = list(problems_of(row))
        if theirs == dict(sums) and not problems:
            passed += 1
            continue
        failed += 1
        print(f"FAILED {path}, device {device}:", *problems)
        for cause in CAUSES + tuple(theirs.keys() - set(CAUSES)):
            if theirs.get(cause, 0) != sums[cause]:
                print(f"  {cause}: tbtrace {theirs.get(cause, 0)} ns, rules {sums[cause]} ns")
        if theirs != dict(sums):
            print(first_difference(tbtrace, path, trace, device, intervals))
    return passed, failed


def problems_of(row):
    """What is wrong with the list by itself."""
    causes = row["idle_causes"]
    if sum(each["ns"] for each in causes) != row["idle_ns"]:
        yield "the causes do not add up to idle_ns"
    if [each["ns"] for each in causes] != sorted((each["ns"] for each in causes), reverse=True):
        yield "the largest cause is not the first"
    if any(each["ns"] <= 0 or each["largest"]["duration_ns"] > each["ns"] for each in causes):
        yield "a cause without time, or with a part that is longer"
    if len({each["cause"] for each in causes}) != len(causes):
        yield "a cause is there twice"


def traces_of(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*.json*")
                              if each.name.endswith((".json", ".json.gz")) and "plugin_out" not in each.parts)
        else:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--only-rules", action="store_true", help="print what the rules say, without tbtrace's answers")
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    passed = failed = 0
    left_out = []
    for path in traces_of(arguments.traces):
        if arguments.only_rules:
            account = Account(Trace(path))
            for device in sorted(account.devices, key=str):
                print(path.name, device, dict(sums_of(account.intervals(device)).most_common()))
            continue
        result = compare(arguments.tbtrace, path)
        if isinstance(result, str):
            left_out.append((path, result))
            continue
        passed += result[0]
        failed += result[1]
    for path, reason in left_out:
        print(f"left out: {path}: {reason}")
    print(f"{len(left_out)} traces left out")
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
