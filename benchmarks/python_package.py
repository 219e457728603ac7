#!/usr/bin/env python3
"""The Python package against the command line, HolisticTraceAnalysis and json.loads with pandas.

    benchmarks/python_package.py [--build build] [--python .venv-python/bin/python] [--peers .venv/bin/python]
                                 [--repeat 5] [--check] TRACE...

Each run is a process of its own; the contenders take turns, so that a busy moment hits all of them alike. Figures
are medians, on two threads. What is timed, without the start of the process or interpreter and its imports:

  command line   reading and operator table, as `tbtrace ops` does it (tbtrace_operator_table)
  Python         tbtrace.read() with the same arguments of events, key_averages().table()
  read()         tbtrace.read() with what all tables need
  events         a Polars data frame of name, thread, start and duration of all events, after reading
  HTA            HolisticTraceAnalysis: TraceAnalysis(), which reads the trace
  json + pandas  gunzip, json.loads, pandas.DataFrame of the events

Besides, once: how much longer the interpreter takes to start with `import tbtrace`.
--check exits with 1 where a limit of docs/performance.md is missed.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_TIMES_COMMAND_LINE = 1.1
LEAST_TIMES_HTA = 40
LEAST_TIMES_PANDAS = 12
MOST_SECONDS_PER_ROW = 1 / 10e6
MOST_IMPORT = 0.030
SLOW_ROUNDS = 3
LEAST_TEXT = 30e6  # below it the figures depend on chance

TIMED = """
import sys, time
sys.path.insert(0, {package!r})
import tbtrace, polars
start = time.perf_counter()
{work}
print("took", time.perf_counter() - start)
"""
TABLE = ('trace = tbtrace.read(sys.argv[1], threads=2, arguments=["autograd", "inputs", "call_stacks"])\n'
         'trace.key_averages().table()')
READ = "trace = tbtrace.read(sys.argv[1], threads=2)"
EVENTS = ('trace = tbtrace.read(sys.argv[1], threads=2)\n'
          'start = time.perf_counter()\n'
          'rows = polars.DataFrame(trace.events(["name", "thread", "start_ns", "duration_ns"]))\n'
          'print("rows", len(rows))')

HTA = """
import logging, os, sys, time, warnings
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis
start = time.perf_counter()
TraceAnalysis(trace_files={0: os.path.abspath(sys.argv[1])}, trace_dir="/", include_last_profiler_step=True)
print("took", time.perf_counter() - start, flush=True)
os._exit(0)
"""

PANDAS = """
import gzip, json, sys, time
import pandas
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    data = file.read()
document = json.loads(gzip.decompress(data) if data[:2] == b"\\x1f\\x8b" else data)
frame = pandas.DataFrame(document["traceEvents"])
print("took", time.perf_counter() - start, len(frame))
"""


class Measured:
    """What one trace cost each contender."""

    def __init__(self, trace, options):
        package = str(options.build.resolve() / "python")

        def python(name, work):
            program = TIMED.format(package=package, work=work)
            return peers.Contender(name, [options.python, "-c", program], peers.seconds_taken)

        program = str(options.build / "benchmarks" / "tbtrace_operator_table")
        self.name = trace.name.split(".")[0]
        self.text = peers.text_size(trace)
        self.command_line = peers.Contender("command line", [program, "2"], peers.seconds_taken)
        self.table = python("Python", TABLE)
        self.read = python("read()", READ)
        self.events = python("events", EVENTS)
        self.hta = peers.Contender("HTA", [options.peers, "-c", HTA], peers.seconds_taken, SLOW_ROUNDS)
        self.pandas = peers.Contender("json + pandas", [options.peers, "-c", PANDAS], peers.seconds_taken, SLOW_ROUNDS)
        self.contenders = [self.command_line, self.table, self.read, self.events, self.hta, self.pandas]
        for round_number in range(options.repeat):
            for contender in self.contenders:
                contender.take_turn(round_number, trace)
        for contender in self.contenders[:4]:
            if contender.failure:
                raise peers.Failed(f"{trace}: {contender.failure}")
        self.rows = int(peers.seconds_of("rows")(self.events.output))

    def times_command_line(self):
        return self.table.time() / self.command_line.time()

    def times(self, peer):
        return None if peer.time() is None else peer.time() / self.read.time()

    def misses(self):
        if self.text < LEAST_TEXT:
            return
        if self.times_command_line() > MOST_TIMES_COMMAND_LINE:
            yield f"{self.name}: Python takes {self.times_command_line():.2f} times as long as the command line, " \
                  f"not {MOST_TIMES_COMMAND_LINE:.2f} or less"
        if self.events.time() > MOST_SECONDS_PER_ROW * self.rows:
            yield f"{self.name}: {self.rows} events take {self.events.time() * 1000:.0f} ms to Polars"
        for peer, least in ((self.hta, LEAST_TIMES_HTA), (self.pandas, LEAST_TIMES_PANDAS)):
            if self.times(peer) is not None and self.times(peer) < least:
                yield f"{self.name}: {self.times(peer):.1f} times {peer.name}'s speed, not {least} or more"


def report(measured):
    rows = [["trace", "text MB", "command line ms", "Python ms", "times", "read() ms", "HTA ms", "times",
             "json + pandas ms", "times", "events", "to Polars ms"]]
    for trace in measured:
        rows.append([trace.name, f"{trace.text / 1e6:.0f}", f"{trace.command_line.time() * 1000:.0f}",
                     f"{trace.table.time() * 1000:.0f}", f"{trace.times_command_line():.2f}",
                     f"{trace.read.time() * 1000:.0f}", peers.cell(peers.milliseconds(trace.hta)),
                     peers.cell(trace.times(trace.hta)), peers.cell(peers.milliseconds(trace.pandas)),
                     peers.cell(trace.times(trace.pandas), "{:.1f}"), str(trace.rows),
                     f"{trace.events.time() * 1000:.0f}"])
    print(peers.markdown(rows), flush=True)


def import_time(options):
    """How much longer the interpreter takes: the difference of two medians."""
    def started(code):
        command = [options.python, "-c", f"import sys; sys.path.insert(0, {str(options.build.resolve() / 'python')!r}); {code}"]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        return time.perf_counter() - start

    pairs = [(started("pass"), started("import tbtrace")) for _ in range(21)]
    return statistics.median(with_it for _, with_it in pairs) - statistics.median(without for without, _ in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=pathlib.Path, metavar="TRACE")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--python", default=str(ROOT / ".venv-python/bin/python"), help="has Polars")
    parser.add_argument("--peers", default=str(ROOT / ".venv/bin/python"), help="has HTA and pandas")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of tbtrace")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    options = parser.parse_args()
    measured = peers.measure_all("python_package", Measured, options)
    if measured is None:
        return 2
    report(measured)
    seconds = import_time(options)
    print(f"\nimport tbtrace: {seconds * 1000:.1f} ms over the interpreter's start")
    if seconds > MOST_IMPORT:
        print(f"python_package: missed: importing takes {seconds * 1000:.1f} ms, not {MOST_IMPORT * 1000:.0f} or less", file=sys.stderr)
    return peers.conclude("python_package", measured, options.check) or (1 if options.check and seconds > MOST_IMPORT else 0)


if __name__ == "__main__":
    sys.exit(main())
