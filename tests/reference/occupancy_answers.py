#!/usr/bin/env python3
"""Compares `tbtrace occupancy` with the estimated achieved occupancy that Kineto recorded with each kernel.

    occupancy_answers.py --tbtrace PATH --traces DIR

Kineto has NVIDIA's own calculator, and counts a grid that is too small. It gives 0 to kernels with more shared memory
than a block has that did not ask for more. The last line is 'N passed, N failed'; each row of a trace is one.
"""
import argparse
import gzip
import json
import math
import pathlib
import subprocess

RECORDED = 0.5 + 1e-9  # they are whole percents


def agrees(row, device):
    if row["waves"] is None:
        return False
    blocks = min(row["resident_blocks"], math.prod(row["grid"]) / device["numSms"])
    expected = 100 * min(1, blocks * math.prod(row["block"]) / device["maxThreadsPerMultiprocessor"])
    is_unknown_to_kineto = row["occupancy_percent"] == 0 and row["shared_memory_bytes"] > device["sharedMemPerBlock"]
    return is_unknown_to_kineto or abs(expected - row["occupancy_percent"]) <= RECORDED


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    passed = failed = 0
    for path in sorted({*arguments.traces.glob("hta/**/*.json.gz"), *arguments.traces.rglob("worker0*.json.gz")}):
        document = json.loads(gzip.open(path).read())
        devices = {device["id"]: device for device in document.get("deviceProperties", [])}
        events = document.get("traceEvents", []) if devices else []
        if not any("est. achieved occupancy %" in event.get("args", {}) for event in events):
            continue
        done = subprocess.run([arguments.tbtrace, "occupancy", str(path), "--format", "json"], capture_output=True,
                              check=True, timeout=300)
        for row in json.loads(done.stdout)["rows"]:
            if agrees(row, devices[row["device"]]):
                passed += 1
            else:
                failed += 1
                print(f"FAILED {path.name}: {row}")
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
