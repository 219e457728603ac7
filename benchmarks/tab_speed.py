#!/usr/bin/env python3
"""How fast the TensorBoard tab's server is; fails above its limits.

usage: PYTHONPATH=build/python .venv/bin/python benchmarks/tab_speed.py TRACE

Without a network, by the tab's WSGI applications. A log directory of 1,000 runs with 8,000 traces: the first pass, a
pass without changes, is_active(), the list. Of TRACE: a table for the first time, another one, one that was kept on the
disk, the timeline, and one table for 20 users at once, which is read once. Medians of five; of is_active(), what
95 % take at most.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

import tbtrace

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests/python"))
from tab_folder import START, Tab  # noqa: E402
from tbtrace.tab import log_directory, scan  # noqa: E402

RUNS, WORKERS, WINDOWS = 1000, 4, 2
LIMITS_MS = {"first pass": 500, "is_active": 5, "table, cold": 500, "table, kept": 20}


def seconds(act, times=5):
    """The median."""
    took = []
    for _ in range(times):
        before = time.perf_counter()
        act()
        took.append(time.perf_counter() - before)
    return statistics.median(took)


def many_runs(folder):
    for run in range(RUNS):
        place = folder / f"group{run % 10}" / f"run{run}"
        place.mkdir(parents=True)
        (place / "events.out.tfevents.1700000000.host").touch()
        for worker in range(WORKERS):
            for window in range(WINDOWS):
                (place / f"host_{worker}.{START + window}.pt.trace.json").touch()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    options = parser.parse_args()
    taken = {}
    log_directory.fresh_seconds = lambda took: 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["TBTRACE_TAB_CACHE"] = str(folder / "cache")
        many_runs(folder / "many")
        taken["first pass"] = seconds(lambda: scan.Pass(str(folder / "many")).run())
        listing = scan.Pass(str(folder / "many")).run()
        assert len(listing.traces) == RUNS * WORKERS * WINDOWS
        taken["pass without changes"] = seconds(lambda: scan.Pass(str(folder / "many"), listing).run())
        tab = Tab(folder / "many")
        waits = []
        for _ in range(200):  # also while a pass is under way
            before = time.perf_counter()
            tab.plugin.is_active()
            waits.append(time.perf_counter() - before)
            time.sleep(0.002)
        waits.sort()
        taken["is_active"], taken["is_active, slowest of 200"] = waits[190], waits[-1]
        tab.runs()
        taken["list of runs"] = seconds(lambda: tab.body("runs"))
        logs = folder / "logs"
        logs.mkdir()
        trace = options.trace.name
        shutil.copy(options.trace, logs / trace)

        def cold(view):
            shutil.rmtree(folder / "cache", ignore_errors=True)
            fresh = Tab(logs)
            fresh.runs()
            before = time.perf_counter()
            fresh.body("view", trace=trace, view=view)
            return fresh, time.perf_counter() - before

        taken["table, cold"] = statistics.median(cold("operators")[1] for _ in range(5))
        taken["timeline, cold"] = statistics.median(cold("timeline")[1] for _ in range(5))
        tab = cold("operators")[0]
        taken["table of a trace that was read"] = seconds(lambda: tab.body("view", trace=trace, view="kernels"), 1)
        tab = Tab(logs)
        tab.runs()
        taken["table, kept"] = seconds(lambda: tab.body("view", trace=trace, view="operators"))
        reads = []
        read = tbtrace.read
        tbtrace.read = lambda *arguments, **more: reads.append(1) or read(*arguments, **more)
        shutil.rmtree(folder / "cache")
        tab = Tab(logs)
        tab.runs()
        users = [threading.Thread(target=lambda: tab.body("view", trace=trace, view="gpu")) for _ in range(20)]
        before = time.perf_counter()
        for user in users:
            user.start()
        for user in users:
            user.join()
        taken["20 users, cold"] = time.perf_counter() - before
    late = len(reads) != 1
    print(f"{trace}: 20 users read it {len(reads)} times")
    for what, took in taken.items():
        limit = LIMITS_MS.get(what)
        is_over = limit is not None and took * 1000 > limit
        late = late or is_over
        print(f"{what}: {took * 1000:.1f} ms" + (f" (limit {limit}{', EXCEEDED' if is_over else ''})" if limit else ""))
    sys.exit(late)


if __name__ == "__main__":
    main()
