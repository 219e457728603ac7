#!/usr/bin/env python3
"""What a job of thousands of ranks takes: measures the parts on this machine and simulates the whole.

    benchmarks/scale.py [--build build] [--ranks 1000] [--size 500MB] [--engines local,ray,spark] [--simulate 10000]

Run with .venv-python/bin/python. What is measured:

  read      `tbtrace save -j 1` of a made trace of SIZE, compressed, from start to end, and the size of what it writes
  merge     RANKS small partials in a tree, 32 at a time: seconds per task of each level, and the result's size
  engines   RANKS/5 small traces, and a quarter of them, with each engine on two workers that were started before: seconds
            for the job itself, and for each trace more than the program needs by itself

The simulation gives each stage's tasks to the worker that is free first; docs/scale.md has its assumptions. It prints
seconds for different numbers of workers, and the share of all workers' time that was work.
"""

import argparse
import heapq
import logging
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOGETHER = 32  # as tbtrace.ray and tbtrace.spark merge
NETWORK_BYTES = 1.25e9  # per second and worker
STORAGE_BYTES = 20e9  # per second, of a file system that all workers read from
SPREAD = 0.2  # a trace takes so much more or less time than the mean


def timed(call):
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def made(build, folder, count):
    """Small traces, each another one."""
    make = build / "benchmarks" / "tbtrace_make_trace"

    def one(seed):
        subprocess.run([make, "--size", "100kB", "--seed", str(seed), folder / f"rank_{seed:05}.json"], check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(1, count + 1)))
    return sorted(folder.glob("rank_*.json"))


def partial_of(build, trace, place):
    subprocess.run([build / "tools" / "tbtrace", "save", "-j", "1", "-q", trace, "-o", place], check=True)


def measure_read(build, folder, size):
    trace, place = folder / "large.json.gz", folder / "large.tbp"
    subprocess.run([build / "benchmarks" / "tbtrace_make_trace", "--shapes", "--size", size, trace], check=True)
    seconds = []
    for _ in range(3):
        place.unlink(missing_ok=True)
        seconds.append(timed(lambda: partial_of(build, trace, place))[0])
    costs = {"read_seconds": statistics.median(seconds), "file_bytes": trace.stat().st_size, "partial_bytes": place.stat().st_size}
    trace.unlink()
    return costs


def measure_merge(tbtrace, build, folder, traces):
    places = [folder / f"{trace.stem}.tbp" for trace in traces]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: partial_of(build, *pair), zip(traces, places)))
    level = [tbtrace.Partial.read(place).to_bytes() for place in places]
    levels = []
    while len(level) > 1:
        groups = [level[at:at + TOGETHER] for at in range(0, len(level), TOGETHER)]

        def merged(group):
            return tbtrace.merge([tbtrace.Partial.from_bytes(data) for data in group]).to_bytes()

        seconds, results = zip(*(timed(lambda group=group: merged(group)) for group in groups))
        levels.append({"tasks": len(groups), "seconds": sum(seconds), "bytes_in": sum(map(len, level)), "bytes_out": sum(map(len, results))})
        level = list(results)
    return levels


def engine_calls(tbtrace, build, folder, engines):
    """A call for each engine that summarizes traces on two workers."""
    def shell(traces):
        with tempfile.TemporaryDirectory(dir=folder) as place, ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda trace: partial_of(build, trace, pathlib.Path(place) / f"{trace.stem}.tbp"), traces))

    yield "shell", shell
    if "local" in engines:
        yield "local", lambda traces: tbtrace.local.summarize(traces, workers=2)
    os.environ["PYTHONPATH"] = str(build.resolve() / "python")
    if "ray" in engines:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        import tbtrace.ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield "ray", tbtrace.ray.summarize
        ray.shutdown()
    if "spark" in engines:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession

        import tbtrace.spark

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        yield "spark", lambda traces: tbtrace.spark.summarize(session, traces)
        session.stop()


def measure_engines(calls, traces):
    """(seconds of a job without traces, seconds of a worker for each trace) by engine."""
    costs = {}
    few = traces[:len(traces) // 4]
    for engine, call in calls:
        call(traces[:4])
        small, large = (statistics.median(timed(lambda: call(some))[0] for _ in range(3)) for some in (few, traces))
        each = (large - small) / (len(traces) - len(few))
        costs[engine] = (large - each * len(traces), 2 * each)
    return costs


def makespan(tasks, workers):
    free = [0.0] * workers
    for task in tasks:
        heapq.heappush(free, heapq.heappop(free) + task)
    return max(free)


def simulate(ranks, workers, costs, of_job, per_task):
    """Seconds of the whole job, and the workers' share of work."""
    randomly = random.Random(ranks * workers)
    reading = max(costs["read_seconds"], costs["file_bytes"] * min(ranks, workers) / STORAGE_BYTES)
    tasks = [reading * randomly.uniform(1 - SPREAD, 1 + SPREAD) + per_task for _ in range(ranks)]
    total = of_job + makespan(tasks, workers)
    work = ranks * costs["read_seconds"]
    size = costs["partial_bytes_inflated"]
    count = ranks
    while count > 1:
        tasks_of_level = math.ceil(count / TOGETHER)
        each = min(count, TOGETHER)
        seconds = each * size * (costs["merge_seconds_per_byte"] + 1 / NETWORK_BYTES) + per_task
        total += makespan([seconds] * tasks_of_level, min(workers, tasks_of_level))
        # What all ranks share stays; what each has of its own adds up.
        size = costs["shared_bytes"] + (size - costs["shared_bytes"]) * each
        count = tasks_of_level
    total += ranks * costs["driver_seconds_per_rank"]
    return total, work / (total * workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--ranks", type=int, default=1000, metavar="N", help="small partials to merge")
    parser.add_argument("--size", default="500MB", help="of the trace whose reading is measured")
    parser.add_argument("--engines", default="local,ray,spark")
    parser.add_argument("--simulate", type=int, default=10000, metavar="N", help="ranks of the simulated job")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    import tbtrace
    import tbtrace.local

    with tempfile.TemporaryDirectory(prefix="tbtrace-scale-") as name:
        folder = pathlib.Path(name)
        costs = measure_read(options.build, folder, options.size)
        large = tbtrace.Partial.read(folder / "large.tbp").to_bytes()
        costs["partial_bytes_inflated"] = len(large)
        traces = made(options.build, folder, options.ranks)
        levels = measure_merge(tbtrace, options.build, folder, traces)
        calls = engine_calls(tbtrace, options.build, folder, options.engines.split(","))
        engines = measure_engines(calls, traces[:max(8, options.ranks // 5)])
    costs["merge_seconds_per_byte"] = sum(level["seconds"] for level in levels) / sum(level["bytes_in"] for level in levels)
    per_source = levels[-1]["bytes_out"] / options.ranks
    costs["shared_bytes"] = max(0.0, costs["partial_bytes_inflated"] - per_source)
    costs["driver_seconds_per_rank"] = 20e-6  # a row of facts, and its place in a list
    print("costs:")
    for key, value in costs.items():
        print(f"  {key}: {value:.6g}")
    for number, level in enumerate(levels, 1):
        print(f"  merge, level {number}: {level['tasks']} tasks, {level['seconds']:.3f} s, {level['bytes_in']} bytes to {level['bytes_out']}")
    of_shell = engines["shell"][1]
    for engine, (of_job, of_trace) in engines.items():
        print(f"  {engine}: {of_job:.2f} s for a job, {of_trace * 1000:.1f} ms of a worker for a small trace, "
              f"{(of_trace - of_shell) * 1000:.1f} ms more than the program")
    for engine in [engine for engine in ("ray", "spark") if engine in engines] or ["local"]:
        of_job, of_trace = engines[engine]
        print(f"\n{engine}, {options.simulate} ranks of {options.size}\n")
        print("| workers | seconds | share of work |\n| ---: | ---: | ---: |")
        for workers in (16, 64, 256, 1024, 4096):
            seconds, share = simulate(options.simulate, workers, costs, of_job, max(0.0, of_trace - of_shell))
            print(f"| {workers} | {seconds:.1f} | {share:.2f} |")


if __name__ == "__main__":
    main()
