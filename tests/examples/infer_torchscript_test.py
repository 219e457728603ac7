#!/usr/bin/env python3
"""Runs examples/infer_torchscript.cc with the model that it makes and with one of a file, and reads what it recorded.

    infer_torchscript_test.py PROGRAM

Python 3, nothing besides.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

RUNS = 4  # that the program's schedule records


def infer(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=100)


def recorded(logdir):
    """Ranges of the one log file."""
    (path,) = logdir.glob("*.pt.trace.json")
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [event for event in events if event["ph"] == "X" and event["cat"] != "Trace"]


def check(done, logdir, batch):
    assert done.returncode == 0, done.stderr
    ranges = recorded(logdir)
    calls = collections.Counter(event["name"] for event in ranges)
    assert calls["model_inference"] == RUNS, calls
    assert calls["aten::matmul"] == 2 * RUNS and calls["aten::softmax"] == RUNS, calls
    assert {name for name in calls if name.startswith("ProfilerStep#")} == {
        f"ProfilerStep#{2 + number}" for number in range(RUNS)}, calls
    shapes = collections.Counter(str(event["args"]["Input Dims"]) for event in ranges if event["name"] == "aten::matmul")
    assert shapes == {f"[[{batch}, 64], [64, 128]]": RUNS, f"[[{batch}, 128], [128, 10]]": RUNS}, shapes
    rows = [line.split() for line in done.stdout.splitlines()]
    assert any(row[0] == "model_inference" and row[-1] == str(RUNS) for row in rows if row), done.stdout
    assert "Self CPU Mem" in done.stdout and "Self CPU time total" in done.stdout, done.stdout


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        made, named = pathlib.Path(scratch) / "made", pathlib.Path(scratch) / "named"
        check(infer(program, made), made, 32)
        check(infer(program, named, made / "model.pt", 7, 64), named, 7)
        missing = infer(program, named, made / "missing.pt", 7, 64)
        assert missing.returncode == 1 and "missing.pt" in missing.stderr, missing
        other = infer(program, named, made / "model.pt", 7, 65)
        assert other.returncode == 1 and other.stderr, other
    print("models: 1 made, 1 read, 2 refused")


if __name__ == "__main__":
    main()
