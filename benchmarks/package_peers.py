#!/usr/bin/env python3
"""One question, asked with what Python users have: the time of all kernels by name, in a data frame.

    benchmarks/package_peers.py [--build build] [--python .venv-python/bin/python] [--peers .venv/bin/python] [--repeat 3] TRACE

Each run is a process of its own; the contenders take turns. Printed are medians: processor time and peak memory of the
process without its imports, and the lines of code of the programs below, without imports. All have to find the same
total. HolisticTraceAnalysis (HTA) and pandas come from --peers, the others from --python.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# By contender: which Python, its imports, and its program, which leaves the total in ns in `total`.
PROGRAMS = {
    "tbtrace": ("python", "import tbtrace, pandas", """
frame = tbtrace.read(TRACE).kernels().to_pandas()[["name", "count", "total_ns"]]
total = int(frame["total_ns"].sum())
"""),
    "json + pandas": ("python", "import gzip, json, pandas", """
events = pandas.DataFrame(json.load(gzip.open(TRACE, "rt"))["traceEvents"])
frame = events[events["cat"] == "kernel"].groupby("name")["dur"].agg(["count", "sum"])
total = round(frame["sum"].sum() * 1000)
"""),
    "DuckDB": ("python", "import duckdb, pandas", """
columns = "{traceEvents: 'struct(cat varchar, name varchar, dur double)[]'}"
events = f"read_json('{TRACE}', maximum_object_size=2000000000, columns={columns})"
events = f"(select unnest(traceEvents, recursive := true) from {events}) where cat = 'kernel'"
frame = duckdb.sql(f"select name, count(*) as count, sum(dur) as dur from {events} group by name").df()
total = round(frame["dur"].sum() * 1000)
"""),
    "HTA": ("peers", "from hta.trace_analysis import TraceAnalysis", """
analysis = TraceAnalysis(trace_files={0: TRACE})
frame = analysis.get_gpu_kernel_breakdown(False, duration_ratio=1, num_kernels=10**6, include_memory_kernels=False)[1]
total = round(frame["sum (us)"].sum() * 1000)
"""),
}
RUN = """
import sys, resource
TRACE = sys.argv[1]
{imports}
before = resource.getrusage(resource.RUSAGE_SELF)
{program}
after = resource.getrusage(resource.RUSAGE_SELF)
spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print("\\nMEASURED", spent, after.ru_maxrss / 1024, total)
"""


def measured(python, build, imports, program, trace):
    """(seconds, MB, total) of one run."""
    code = RUN.format(imports=imports, program=program)
    environment = os.environ | {"PYTHONPATH": str(build / "python")} if "tbtrace" in imports else os.environ
    done = subprocess.run([python, "-W", "ignore", "-c", code, trace], capture_output=True, text=True, env=environment)
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("MEASURED")]
    if not found:
        sys.exit(f"{python}: {done.stderr.strip().splitlines()[-1:]}")
    return tuple(map(float, found[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--python", default=str(ROOT / ".venv-python/bin/python"))
    parser.add_argument("--peers", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    runs = {name: [] for name in PROGRAMS}
    for _ in range(given.repeat):
        for name, (which, imports, program) in PROGRAMS.items():
            python = given.python if which == "python" else given.peers
            runs[name].append(measured(python, given.build.resolve(), imports, program, given.trace))
    print(f"| {'':13} | seconds | MB   | lines | total of kernels, ms |")
    print(f"| {'-' * 13} | ------- | ---- | ----- | -------------------- |")
    for name, found in runs.items():
        seconds, size, total = (statistics.median(values) for values in zip(*found))
        lines = len(PROGRAMS[name][2].strip().splitlines()) - 1  # without that of the total
        print(f"| {name:13} | {seconds:7.2f} | {size:4.0f} | {lines:5} | {total / 1e6:20.3f} |")


if __name__ == "__main__":
    main()
