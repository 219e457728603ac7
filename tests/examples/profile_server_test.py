#!/usr/bin/env python3
"""Runs examples/profile_server.cc and reads both of its traces.

    profile_server_test.py PROGRAM

Python 3, nothing besides.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

# Of one request; its input is made by the client's thread.
OPERATORS = {"aten::addmm": 2, "aten::relu": 1, "aten::randn": 0}


def ranges(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [event for event in events if event["ph"] == "X" and event["cat"] in ("cpu_op", "user_annotation")]


def check(path, numbers):
    """Whether a trace holds these requests; returns how many threads served them, and what others did."""
    requests, others = [], []
    for event in ranges(path):
        (requests if event["cat"] == "user_annotation" else others).append(event)
    assert sorted(event["name"] for event in requests) == sorted(f"request {number}" for number in numbers)
    threads = {request["tid"] for request in requests}
    inside = collections.defaultdict(collections.Counter)
    for event in others:
        if event["tid"] not in threads:
            inside[None][event["name"]] += 1
            continue
        around = [request["name"] for request in requests if request["tid"] == event["tid"]
                  and request["ts"] <= event["ts"] and event["ts"] + event["dur"] <= request["ts"] + request["dur"] + .001]
        assert len(around) == 1, (event, around)
        inside[around[0]][event["name"]] += 1
    for request in requests:
        for name, calls in OPERATORS.items():
            assert inside[request["name"]][name] == calls, (request["name"], inside[request["name"]])
    return len(threads), inside[None]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "traces"
        done = subprocess.run([sys.argv[1], str(folder)], capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        one, others = check(folder / "request.json.gz", [51])
        assert one == 1 and not others, (one, others)
        several, others = check(folder / "server.json.gz", range(101, 201))
        assert 1 < several <= 4 and others["aten::randn"] == 100, (several, others)
        assert "aten::addmm" in done.stdout, done.stdout
    print("1 request on 1 thread, 100 requests on several")


if __name__ == "__main__":
    main()
