#!/usr/bin/env python3
"""Whether time and memory grow in proportion to the trace.

    sizes.py [--build FOLDER] [--sizes 100MB 1GB 4GB] [--rounds N] [--check] [--folder FOLDER]

Makes a trace of each size, then runs `tbtrace ops` and `tbtrace convert --to plugin`, each in a process of its own on
two threads, in turns. Prints medians of the time and the largest resident set, both per GB of text and per event, and
how far they are from proportion: from those of the largest trace per GB, once what a process takes for an empty trace
is subtracted.

--check exits with 1 where a trace of 1 GB or more takes 10 % more or less time or memory per GB than the largest one.
"""

import argparse
import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MOST_AWAY = 0.10
CHECKED_BYTES = 1e9


def run(command):
    """Seconds and bytes of memory of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"sizes: '{' '.join(map(str, command))}' failed with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def text_size(path):
    """Bytes and lines with a phase: Kineto's layout has one per event."""
    size = events = 0
    with gzip.open(path, "rb") as file:
        rest = b""
        while block := file.read(1 << 24):
            size += len(block)
            block = rest + block
            events += block.count(b'"ph": ')
            rest = block[-5:]
    return size, events


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build", type=pathlib.Path)
    options.add_argument("--sizes", nargs="+", default=["100MB", "1GB", "4GB"])
    options.add_argument("--rounds", default=3, type=int)
    options.add_argument("--folder", type=pathlib.Path, help="where the traces are made; default: a temporary one")
    options.add_argument("--check", action="store_true")
    options = options.parse_args()
    tbtrace = options.build / "tools" / "tbtrace"
    make = options.build / "benchmarks" / "tbtrace_make_trace"
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        empty = folder / "empty.json"
        empty.write_text('{"traceEvents": []}\n')
        traces = [empty]
        for size in options.sizes:
            traces.append(folder / f"{size}.json.gz")
            subprocess.run([make, "--size", size, traces[-1]], check=True, stdout=subprocess.DEVNULL)
        logs = folder / "logs"
        commands = {
            "ops": [tbtrace, "ops", "--quiet", "--threads", "2"],
            "convert": [tbtrace, "convert", "--quiet", "--threads", "2", "--to", "plugin", "--overwrite", "-o", logs],
        }
        runs = {(name, trace): [] for name in commands for trace in traces}
        for _ in range(options.rounds):
            for (name, trace), done in runs.items():
                done.append(run([*commands[name], trace]))
        missed = []
        print("| trace | text MB | events | call | ms | ms per GB | memory MB | MB per GB | bytes per event |")
        print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
        sizes = {trace: text_size(trace) for trace in traces[1:]}
        for name in commands:
            per_gb = {}
            base = [statistics.median(column) for column in zip(*runs[name, empty])]
            for trace in traces[1:]:
                size, events = sizes[trace]
                took = [statistics.median(column) for column in zip(*runs[name, trace])]
                per_gb[trace] = [(got - least) / size * 1e9 for got, least in zip(took, base)]
                print(f"| {trace.name.split('.')[0]} | {size / 1e6:.0f} | {events} | `{name}` | {took[0] * 1000:.0f} | "
                      f"{per_gb[trace][0] * 1000:.0f} | {took[1] / 1e6:.0f} | {per_gb[trace][1] / 1e6:.0f} | "
                      f"{took[1] / events:.0f} |", flush=True)
            for trace in traces[1:]:
                for what, here, largest in zip(("time", "memory"), per_gb[trace], per_gb[traces[-1]]):
                    if sizes[trace][0] >= CHECKED_BYTES * 0.9 and abs(here / largest - 1) > MOST_AWAY:
                        missed.append(f"{name} of {trace.name}: {what} per GB is {here / largest:.2f} times that of "
                                      "the largest trace")
    for line in missed:
        print(f"sizes: missed: {line}", file=sys.stderr)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
