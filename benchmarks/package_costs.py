#!/usr/bin/env python3
"""What the Python package costs: its import, all columns of many events, and tables beside the command line.

    benchmarks/package_costs.py [--build build] [--python .venv-python/bin/python] [--repeat 5] [--check] TRACE

TRACE should have two million events and some 540 MB; `build/benchmarks/tbtrace_make_trace --size 540MB TRACE` makes
one. Each run is a process of its own, and the contenders take turns, so that a busy moment hits all of them alike.
Figures are medians:

  import    processor time of the interpreter with `import tbtrace`, less that without
  events    a Polars data frame of all columns, and of all arguments that were read, after reading: elapsed and
            processor time
  tables    processor time of read() and a table, less that of the interpreter and its imports, by that of the command
            line for the same table

tools/wheel.sh prints the size of the wheel.

--check exits with 1 where a limit of docs/performance.md is missed.
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_IMPORT = 0.030
MOST_EVENTS = 2.0
MOST_TIMES_COMMAND_LINE = 1.1
ROUNDS_OF_IMPORT = 21
TABLES = {"kernels": "kernels()", "steps": "steps()", "gpu": "gpu()", "ops": "operators()", "check": "checks()",
          "kernels --group-by step,operator": "kernels(('step', 'operator'))"}
EVENTS = """
import time
import polars, tbtrace
trace = tbtrace.read(sys.argv[1])
names = [each.split("'")[1] for each in str(tbtrace.Trace.events.__annotations__["arguments"]).split("[")[1].split(",")]
read = []
for name in names:
    try:
        trace.events(["event"], arguments=[name])
        read.append(name)
    except ValueError:
        pass  # read() leaves it out, because no table needs it
start, used = time.perf_counter(), time.process_time()
frame = polars.DataFrame(trace.events(arguments=read))
print(time.perf_counter() - start, time.process_time() - used, len(frame), len(frame.columns))
"""


def processor_time(command):
    """Of a process and what it starts, with its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise peers.Failed(f"{command[0]}: {done.stderr.strip()}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def in_turns(repeat, contenders):
    """The median of each contender, which is a function without arguments."""
    figures = [[] for _ in contenders]
    for _ in range(repeat):
        for made, contender in zip(figures, contenders, strict=True):
            made.append(contender())
    return [statistics.median(each) for each in figures]


class Package:
    def __init__(self, options):
        self.folder = options.build.resolve() / "python"
        self.python = options.python
        self.program = options.build.resolve() / "tools/tbtrace"

    def run(self, code, *arguments):
        return processor_time([self.python, "-c", f"import sys; sys.path.insert(0, {str(self.folder)!r})\n{code}", *arguments])

    def import_time(self):
        without, with_it = in_turns(ROUNDS_OF_IMPORT, [lambda: self.run("pass")[0], lambda: self.run("import tbtrace")[0]])
        return with_it - without

    def events(self, trace, repeat):
        runs = [list(map(float, self.run(EVENTS, trace)[1].split())) for _ in range(repeat)]
        return [statistics.median(column) for column in zip(*runs, strict=True)]

    def table(self, words, method, trace, repeat):
        verb, *options = words.split()
        code = "import tbtrace\n"
        command, imports, python = in_turns(repeat, [
            lambda: processor_time([self.program, verb, *options, trace, "--format", "json", "-q", "--row-limit", "1"])[0],
            lambda: self.run(code)[0],
            lambda: self.run(f"{code}tbtrace.read(sys.argv[1]).{method}", trace)[0]])
        return command, python - imports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=pathlib.Path, metavar="TRACE")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--python", default=str(ROOT / ".venv-python/bin/python"), help="has Polars")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each contender")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    options = parser.parse_args()
    package = Package(options)
    misses = []

    def figure(text, value, most, unit=""):
        print(f"{text}: {value}{unit} (at most {most}{unit})", flush=True)
        if value > most:
            misses.append(text)

    try:
        figure("import tbtrace, processor time", round(package.import_time() * 1000, 1), MOST_IMPORT * 1000, " ms")
        elapsed, used, rows, columns = package.events(options.trace, options.repeat)
        figure(f"{rows:.0f} events with {columns:.0f} columns to Polars", round(elapsed, 2), MOST_EVENTS, " s")
        print(f"  of it processor time: {used:.2f} s")
        lines = [["table", "command line s", "Python s", "times"]]
        for words, method in TABLES.items():
            command, python = package.table(words, method, options.trace, options.repeat)
            lines.append([words, f"{command:.2f}", f"{python:.2f}", f"{python / command:.2f}"])
            if python / command > MOST_TIMES_COMMAND_LINE:
                misses.append(f"{words}: {python / command:.2f} times the command line's processor time")
        print(peers.markdown(lines))
    except peers.Failed as problem:
        print(f"package_costs: {problem}", file=sys.stderr)
        return 2
    for miss in misses:
        print(f"package_costs: missed: {miss}", file=sys.stderr)
    return 1 if options.check and misses else 0


if __name__ == "__main__":
    sys.exit(main())
