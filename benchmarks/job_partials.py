#!/usr/bin/env python3
"""What a job of a thousand ranks takes that is there as partials: merging them, and `collectives` and `summary` of them.

    benchmarks/job_partials.py [--build build] [--ranks 1024] [--collectives 2000] [--steps 10]

Makes a trace of each rank of one group: in each step as many kernels as collectives, of 40 names, and one rank that is
late. Prints seconds and the largest memory of each command, and what a rank's record takes in its partial.
Python 3, nothing besides.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEP_US = 100_000
START_US = 1_700_000_000_000_000
SLOW_RANK = 7


def trace_text(rank, options):
    """The trace of a rank whose clock is up to a millisecond off."""
    randomly = random.Random(rank)
    offset = randomly.uniform(-1000, 1000)
    shared = random.Random(0)  # what all ranks have in common
    each = options.collectives // options.steps
    slot = STEP_US / each
    group = {"Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, ..., -1]",
             "Group size": options.ranks, "dtype": "BFloat16", "Collective name": "allreduce"}
    events = []
    correlation = 0
    for step in range(options.steps):
        base = START_US + step * STEP_US * 1.02 + offset
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": round(base, 3), "dur": STEP_US})
        for number in range(each):
            at = base + number * slot
            late = slot * (0.2 if rank == SLOW_RANK else 0) + abs(randomly.gauss(0, slot * 0.02))
            work = slot * 0.4 + late
            end = at + slot * (0.9 + 0.02 * shared.random())
            elements = 1 << (10 + number % 12)
            for name, start, until, stream, more in (
                    (f"void gemm_{number % 40}(float*)", at, at + work, 7, {"grid": [number % 40 + 1, 1, 1]}),
                    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", at + work, end + randomly.gauss(0, 0.5), 20,
                     group | {"Seq": step * each + number, "In msg nelems": elements, "Out msg nelems": elements})):
                correlation += 1
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                               "ts": round(at - 3 + correlation % 2, 3), "dur": 0.5, "args": {"correlation": correlation}})
                events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": round(start, 3),
                               "dur": round(until - start, 3),
                               "args": more | {"correlation": correlation, "device": 0, "stream": stream}})
    head = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": options.ranks},
            "traceEvents": events}
    return json.dumps(head)


def measured(command):
    """Seconds, megabytes and standard output."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[1]} failed")
    return time.perf_counter() - started, usage.ru_maxrss / 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--ranks", type=int, default=1024, metavar="N")
    parser.add_argument("--collectives", type=int, default=2000, metavar="N", help="of each rank")
    parser.add_argument("--steps", type=int, default=10, metavar="N")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the partials; not made again if it has them")
    options = parser.parse_args()
    program = options.build / "tools" / "tbtrace"
    with tempfile.TemporaryDirectory(prefix="tbtrace-job-") as name:
        folder = pathlib.Path(name)
        parts = options.keep or folder / "parts"
        parts.mkdir(exist_ok=True, parents=True)
        trace = folder / "rank.json"
        made = 0.0
        for rank in range(options.ranks):
            place = parts / f"rank{rank:05}.tbp"
            if place.exists():
                continue
            trace.write_text(trace_text(rank, options))
            made += measured([program, "save", trace, "-o", place, "-q"])[0]
        size = sum(place.stat().st_size for place in parts.glob("*.tbp"))
        if made:
            print(f"partials: {made / options.ranks * 1000:.0f} ms each, {size / options.ranks / 1000:.1f} kB each")
        job = folder / "job.tbp"
        rows = [("add PARTS -o job.tbp", [program, "add", parts, "-o", job, "-q"]),
                ("collectives job.tbp", [program, "collectives", job, "--format", "json", "-q"]),
                ("summary job.tbp", [program, "summary", job, "--format", "json", "-q"]),
                ("collectives PARTS/*.tbp", [program, "collectives", *sorted(parts.glob("*.tbp")), "--format", "json", "-q"])]
        for words, command in rows:
            seconds, megabytes, output = measured(command)
            print(f"{words}: {seconds:.2f} s, {megabytes:.0f} MB" + (f", {job.stat().st_size / 1e6:.1f} MB" if "-o" in words else ""))
            if words.startswith("collectives job"):
                found = json.loads(output)
                print(f"  {len(found['rows'])} collectives, {found['totals']['unmatched']} unmatched, "
                      f"stragglers {[one['rank'] for one in found['stragglers']]}")


if __name__ == "__main__":
    main()
