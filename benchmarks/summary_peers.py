#!/usr/bin/env python3
"""Times tbtrace's SummaryWriter and torch's on the same scalars, in turn, in one run.

    summary_peers.py --program build/benchmarks/tbtrace_summary_writer --python PYTHON [--rounds N]

PYTHON has torch and tensorboard (PYTHONPATH may name where the latter is). Prints both medians and their ratio.
"""
import argparse
import re
import statistics
import subprocess
import sys
import tempfile

TORCH = """
import sys, time
from torch.utils.tensorboard import SummaryWriter
tags = ["loss/train", "loss/validation", "profiler/step_time_ms", "profiler/gpu/0/busy_pct"]
count = int(sys.argv[2])
start = time.perf_counter()
writer = SummaryWriter(sys.argv[1])
for number in range(count):
    writer.add_scalar(tags[number % 4], float(number), number // 4)
writer.close()
print("per_second", count / (time.perf_counter() - start))
"""


def per_second(command):
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"per_second ([\d.]+)", printed)[1]), printed.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ours, torchs = [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            speed, printed = per_second([options.program, folder])
            ours.append(speed)
            print("tbtrace:", printed, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            speed, printed = per_second([options.python, "-c", TORCH, folder, "50000"])
            torchs.append(speed)
            print("torch:  ", printed, flush=True)
    ratio = statistics.median(ours) / statistics.median(torchs)
    print(f"medians: tbtrace {statistics.median(ours):,.0f}/s, torch {statistics.median(torchs):,.0f}/s, {ratio:.0f} times")


if __name__ == "__main__":
    main()
