#!/usr/bin/env python3
"""Does reading many traces one after the other keep memory flat?

    memory_test.py [COUNT]

Reads so many traces (1,000 if not said), takes tables of each in all ways, and compares the process's memory after a
fifth of them with that at the end. A failed call and an unread Arrow stream are part of each round.
"""

import contextlib
import gc
import pathlib
import pickle
import sys

import pyarrow

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("gpu_step.json", "gpu_step_rank1.json", "cpu_steps.json", "stacks.json", "hostile_names.json", "damaged.json")
MOST_GROWTH = 4 << 20  # bytes; one table of each trace that stays would be a hundred times as much


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def one_round(path):
    trace = tbtrace.read(path, threads=1)
    for table in (trace.operators(("shape", "stack")), trace.kernels("launch"), trace.steps(), trace.modules(),
                  trace.events(), trace.memory("curve"), trace.checks()):
        pyarrow.table(table)
        table.to_dicts()
        table._repr_html_()
        table.__arrow_c_stream__()
        table.__arrow_c_schema__()
        next(pyarrow.RecordBatchReader.from_stream(table), None)
    trace.flame_graph().svg()
    str(trace.summary())
    trace.key_averages().table()
    _ = trace.issues, trace.links, trace.metadata, trace.identity
    partial = pickle.loads(pickle.dumps(trace.partial(str(path))))
    with contextlib.suppress(ValueError):
        tbtrace.merge([partial, partial])
    with contextlib.suppress(tbtrace.TraceError):
        tbtrace.read(ROOT / "tests/data/no_trace.json")
    with contextlib.suppress(ValueError):
        trace.kernels("colour")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    before = 0
    for number in range(count):
        one_round(ROOT / "tests/data" / NAMES[number % len(NAMES)])
        if number == count // 5:
            gc.collect()
            before = resident()
    gc.collect()
    growth = resident() - before
    print(f"{count} traces: {growth} bytes more at the end than after a fifth of them, {before} bytes then")
    sys.exit(growth > MOST_GROWTH)


if __name__ == "__main__":
    main()
