#!/usr/bin/env python3
"""Compares `tbtrace collectives` with what TraceLens said of the same made jobs (record.py beside this file).

    python3 collectives_test.py --tbtrace PATH

Compared are, of each collective that TraceLens has a latency for: size, transfer time and bus bandwidth, in the order
of the process group. Its waits and skews are not: it compares times of ranks as they stand in the files, which count
from another second in each. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from jobs import JOBS, make_job  # noqa: E402

ANSWERS = HERE.parents[1] / "data/tracelens_answers.json"
KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")


def rows_of(tbtrace, folder):
    """By process group, in the order in which they ran."""
    done = subprocess.run([tbtrace, "collectives", folder, "--format", "json"], capture_output=True, check=True)
    groups = collections.defaultdict(list)
    for row in json.loads(done.stdout)["rows"]:
        if row["name"] in KINDS:
            groups[row["group"]].append(row)
    return groups


def failures_of(answers, groups):
    theirs = collections.defaultdict(list)
    for collective, size, latency_us, bus in answers:
        name, number = collective.rsplit("_", 1)
        theirs[name].append((int(number), size, latency_us, bus))
    # Ours name a group with its description and ranks: `mesh_tp 1 [0, 1, 2, 3]`.
    ours = collections.defaultdict(list)
    for group, rows in groups.items():
        ours[group.split(" [")[0].split(" ")[-1]] += rows
    if {name: len(rows) for name, rows in ours.items()} != {name: len(rows) for name, rows in theirs.items()}:
        yield f"other groups or counts: {sorted(ours)} of ours, {sorted(theirs)} of TraceLens"
        return
    for name, rows in theirs.items():
        mine = sorted(ours[name], key=lambda row: row["sequence"])
        for (number, size, latency_us, bus), row in zip(sorted(rows), mine):
            latency = round(latency_us * 1000)
            bandwidth = bus * 2**30  # its GB are of 2^30 bytes
            if row["bytes"] != size:
                yield f"{name}_{number}: {row['bytes']} bytes, TraceLens {size}"
            elif row["transfer_ns"] != latency:
                yield f"{name}_{number}: a transfer of {row['transfer_ns']} ns, TraceLens {latency}"
            elif abs(row["bus_bandwidth_bytes_per_s"] - bandwidth) > 1e-6 * bandwidth:
                yield f"{name}_{number}: {row['bus_bandwidth_bytes_per_s']} B/s, TraceLens {bandwidth}"
            else:
                yield None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tbtrace", required=True)
    tbtrace = options.parse_args().tbtrace
    answers = json.loads(ANSWERS.read_text())
    passed = failed = 0
    for name in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            make_job(folder, name)
            for failure in failures_of(answers[name], rows_of(tbtrace, pathlib.Path(folder) / "jobs")):
                passed += failure is None
                failed += failure is not None
                if failure is not None:
                    print(f"{name}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
