#!/usr/bin/env python3
"""Compares `tbtrace whatif` with jobs of which a rank, or an operator of all ranks, was really changed.

    path_job_experiments.py --tbtrace PATH --python PYTHON_WITH_TORCH [--keep FOLDER]

Ranks with gloo under torchrun run an operator that takes a given time, and wait for each other. A prediction from the
recordings before the change has to be within 5 % of a step after it. Prints a row for each experiment; the last line is
'N of M hold'.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# What the operator takes on each rank in ms, before and after, and the change that says so.
EXPERIMENTS = [
    ((40, 100), (40, 40), "rank:1 =others"),
    ((40, 100), (40, 50), "rank:1 x0.5"),
    ((40, 100), (20, 50), "operator:bench::a x0.5"),
    ((40, 60, 120), (40, 60, 50), "rank:2 =others"),
]


def run_rank(folder, own_ms):
    import time

    import torch
    import torch.distributed
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    library = torch.library.Library("bench", "DEF")
    library.define("a(Tensor x) -> Tensor")

    def work(x):
        time.sleep(own_ms[rank] / 1e3)
        return x + 1

    library.impl("a", work, "CPU")
    x = torch.randn(2000)

    def step():
        torch.ops.bench.a(x)
        torch.distributed.all_reduce(x)
        x.add_(1)

    def export(profiler):
        profiler.export_chrome_trace(f"{folder}/rank{rank}.json")

    for _ in range(5):
        step()
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=2, active=12),
                 on_trace_ready=export) as profiler:
        for _ in range(14):
            step()
            profiler.step()
    torch.distributed.destroy_process_group()


def totals(tbtrace, folder, *options):
    done = subprocess.run([tbtrace, "whatif", "--format", "json", "--quiet", *options, folder], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(done.stderr)
    answer = json.loads(done.stdout)
    return answer["totals"] | {"refusal": answer.get("refusal")}


def record(python, folder, own_ms):
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={len(own_ms)}", __file__,
                           "--rank", folder, ",".join(map(str, own_ms))], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise SystemExit(done.stderr)


def main():
    if sys.argv[1] == "--rank":
        return run_rank(sys.argv[2], [float(each) for each in sys.argv[3].split(",")])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    good = 0
    with tempfile.TemporaryDirectory() as temporary:
        folders = {}
        for own_ms in dict.fromkeys(each for experiment in EXPERIMENTS for each in experiment[:2]):
            folders[own_ms] = (options.keep or pathlib.Path(temporary)) / "_".join(map(str, own_ms))
            record(options.python, folders[own_ms], own_ms)
        for before, after, change in EXPERIMENTS:
            made = totals(options.tbtrace, folders[before], "--set", change)
            path = totals(options.tbtrace, folders[after], "--critical-path")
            if made["predicted_ns"] is None:
                print(f"{change:24} refused: {made['refusal']}")
                continue
            wanted = path["on_path_ns"] / path["steps"]
            off = made["predicted_ns"] / wanted - 1
            good += abs(off) <= 0.05
            print(f"{change:24} {made['step_ns'] * 1e-6:7.2f} ms -> {wanted * 1e-6:7.2f} ms, predicted"
                  f" {made['predicted_ns'] * 1e-6:7.2f} ms ({off * 100:+5.1f} %)")
    print(f"{good} of {len(EXPERIMENTS)} hold")
    return None


main()
