#!/usr/bin/env python3
"""tbtrace against what Python users have, and against a bare walk over the text.

    benchmarks/peers.py [--build build] [--python .venv/bin/python] [--repeat 5] [--check] [TRACE...]

Each run is a process of its own; the contenders take turns, so that a busy moment hits all of them alike. Figures
are medians. Two traces of more than 500 MB, with and without shapes, are made for it unless --no-made is given.
What is timed:

  tbtrace            reading and operator table (tbtrace_operator_table), without the start of the process
  whole              `tbtrace ops FILE` from the start of the process to its end; memory is that of this process
  convert            `tbtrace convert --to plugin FILE -o LOGDIR` from start to end, on two threads, with gzip and
                     without
  walk               a walk over the inflated text in memory (tbtrace_walk), without reading and inflating
  orjson             gunzip and orjson.loads, without the start of the interpreter and the imports
  torch-tb-profiler  its parser and its operator table, without the start of the interpreter and the imports

--check exits with 1 where a limit of docs/performance.md is missed.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE_SIZE = "520MB"
SLOW_ROUNDS = 3  # of torch-tb-profiler, which takes half a minute for a large trace

LEAST_TEXT = 30e6  # below it the start of the process counts too much
LARGE_TEXT = 500e6
LEAST_SHARE_OF_WALK = 0.45
LEAST_SHARE_OF_WALK_LARGE = 0.55
LEAST_SHARE_OF_WALK_TWO = 0.65  # on two threads
LEAST_SHARE_OF_WALK_TWO_LARGE = 0.8
LEAST_TIMES_ORJSON = 10.5
LEAST_TIMES_PLUGIN = 45
LEAST_SPEEDUP = 1 / 1.1
LEAST_SPEEDUP_LARGE = 1.3
LEAST_TIMES_PLUGIN_CONVERT = 12
MOST_TIMES_OPS_CONVERT = 2.2
MOST_TIMES_OPS_CONVERT_PLAIN = 1.8
MOST_MEMORY = 0.3
MOST_BYTES_PER_EVENT = 65
MOST_BYTES_PER_EVENT_SHAPES = 75

ORJSON = """
import gzip, sys, time
import orjson
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    text = file.read()
if text[:2] == b"\\x1f\\x8b":
    text = gzip.decompress(text)
document = orjson.loads(text)
print("took", time.perf_counter() - start, flush=True)
import os
os._exit(0 if document else 1)
"""

def plugin_program(more="pass"):
    """A program that parses a trace as torch-tb-profiler does, and then runs `more`, an indented statement."""
    return f"""
import logging, os, sys, tempfile, time, warnings
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
with tempfile.TemporaryDirectory() as cache:
    start = time.perf_counter()
    data = RunProfileData.parse("worker", 1, sys.argv[1], cache)
    profile = RunGenerator("worker", 1, data).generate_run_profile()
    rows = profile.operation_table_by_name["data"]
    {more}
    print("took", time.perf_counter() - start, flush=True)
os._exit(0 if rows else 1)
"""


class Failed(Exception):
    pass


def run(command):
    """Seconds of the whole process, its largest memory in bytes, and what it printed."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            last = (errors.read().decode(errors="replace").strip().splitlines() or ["no message"])[-1]
            raise Failed(f"'{' '.join(map(str, command[:2]))}' failed: {last}")
        return seconds, usage.ru_maxrss * 1024, output.read().decode(errors="replace")


class Contender:
    """One way to read a trace; `inside` takes the seconds from what the process printed."""

    def __init__(self, name, command, inside=None, rounds=None):
        self.name = name
        self.command = command
        self.inside = inside
        self.rounds = rounds
        self.seconds = []
        self.memory = []
        self.output = ""
        self.failure = None

    def take_turn(self, round_number, trace):
        if self.failure or (self.rounds is not None and round_number >= self.rounds):
            return
        try:
            seconds, memory, self.output = run([*self.command, str(trace)])
        except (Failed, OSError) as failure:
            self.failure = str(failure)
            return
        self.seconds.append(self.inside(self.output) if self.inside else seconds)
        self.memory.append(memory)

    def time(self):
        return statistics.median(self.seconds) if self.seconds else None


def seconds_of(word):
    """Finds the seconds after a word at the start of a line."""
    return lambda output: float(next(line for line in output.splitlines() if line.startswith(word)).split()[1])


seconds_taken = seconds_of("took")


def open_text(trace):
    with open(trace, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(trace, "rb") if packed else open(trace, "rb")


def text_size(trace):
    """Bytes of the text, inflated."""
    with open_text(trace) as file:
        return sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))


def records_shapes(trace):
    with open_text(trace) as file:
        head = file.read(1 << 16)
    return b'"record_shapes": 1' in head or b'"record_shapes": true' in head


class Measured:
    """What one trace cost each contender."""

    def __init__(self, trace, options):
        tbtrace = options.build / "tools" / "tbtrace"
        walk = options.build / "benchmarks" / "tbtrace_walk"
        table = str(options.build / "benchmarks" / "tbtrace_operator_table")
        ops = [str(tbtrace), "ops", "--quiet", "--threads"]
        self.name = trace.name.split(".")[0]
        self.one = Contender("tbtrace", [table, "1"], seconds_taken)
        self.two = Contender("tbtrace, 2 threads", [table, "2"], seconds_taken)
        self.whole = Contender("tbtrace ops", [*ops, "1"])
        self.whole_two = Contender("tbtrace ops, 2 threads", [*ops, "2"])
        convert = [str(tbtrace), "convert", "--quiet", "--threads", "2", "--overwrite", "--to", "plugin", "--output",
                   options.log_directory]
        self.convert = Contender("tbtrace convert", convert)
        self.convert_plain = Contender("tbtrace convert --no-gzip", [*convert, "--no-gzip"])
        self.walk = Contender("walk", [str(walk)], lambda output: json.loads(output)["ms"] / 1000)
        self.orjson = Contender("orjson", [options.python, "-c", ORJSON], seconds_taken)
        self.plugin = Contender("torch-tb-profiler", [options.python, "-c", plugin_program()], seconds_taken,
                                SLOW_ROUNDS)
        self.contenders = [self.one, self.two, self.whole, self.whole_two, self.convert, self.convert_plain, self.walk,
                           self.orjson, self.plugin]
        for round_number in range(options.repeat):
            for contender in self.contenders:
                contender.take_turn(round_number, trace)
        for needed in self.contenders[:7]:
            if needed.failure:
                raise Failed(f"{trace}: {needed.failure}")
        # An event is an element of `traceEvents`, whatever its phase. The walk has counted them.
        self.text = json.loads(self.walk.output)["text_bytes"]
        self.events = json.loads(self.walk.output)["events"]
        self.shapes = records_shapes(trace)
        self.peak = statistics.median(self.whole_two.memory)

    def times(self, contender):
        """How often tbtrace on one thread goes into the contender's time."""
        return None if contender.time() is None else contender.time() / self.one.time()

    def convert_times(self, contender):
        """How often a conversion goes into the contender's time."""
        return None if contender.time() is None else contender.time() / self.convert.time()

    def times_of_ops(self, convert):
        """How often `ops` on two threads goes into a conversion's time."""
        return convert.time() / self.whole_two.time()

    def speedup(self):
        return self.one.time() / self.two.time()

    def misses(self):
        large = self.text >= LARGE_TEXT
        bounds = []
        if self.text >= LEAST_TEXT:
            bounds += [
                ("share of the walk's speed", self.times(self.walk),
                 LEAST_SHARE_OF_WALK_LARGE if large else LEAST_SHARE_OF_WALK, None),
                ("share of the walk's speed on two threads", self.walk.time() / self.two.time(),
                 LEAST_SHARE_OF_WALK_TWO_LARGE if large else LEAST_SHARE_OF_WALK_TWO, None),
                ("times orjson's speed", self.times(self.orjson), LEAST_TIMES_ORJSON, None),
                ("times torch-tb-profiler's speed", self.times(self.plugin), LEAST_TIMES_PLUGIN, None),
                ("times torch-tb-profiler's speed when converting", self.convert_times(self.plugin),
                 LEAST_TIMES_PLUGIN_CONVERT, None),
                ("conversion in times of `tbtrace ops`", self.times_of_ops(self.convert), None, MOST_TIMES_OPS_CONVERT),
                ("conversion without gzip in times of `tbtrace ops`", self.times_of_ops(self.convert_plain), None,
                 MOST_TIMES_OPS_CONVERT_PLAIN),
                ("speed of two threads", self.speedup(), LEAST_SPEEDUP_LARGE if large else LEAST_SPEEDUP, None),
            ]
        if large:
            most = MOST_BYTES_PER_EVENT_SHAPES if self.shapes else MOST_BYTES_PER_EVENT
            bounds += [
                ("memory as a share of the text", self.peak / self.text, None, MOST_MEMORY),
                ("bytes of memory per event", self.peak / self.events, None, most),
            ]
        for what, value, least, most in bounds:
            if value is None:
                yield f"{self.name}: {what} is unknown, a contender failed"
            elif least is not None and value < least:
                yield f"{self.name}: {what} is {value:.2f}, not {least:.2f} or more"
            elif most is not None and value > most:
                yield f"{self.name}: {what} is {value:.2f}, not {most:.2f} or less"


def cell(value, form="{:.0f}"):
    return "-" if value is None else form.format(value)


def milliseconds(contender):
    return None if contender.time() is None else contender.time() * 1000


def markdown(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        lines.append("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |")
        if number == 0:
            lines.append("| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def report(measured):
    speed = [["trace", "text MB", "events", "tbtrace ms", "MB/s", "whole ms", "walk ms", "share of walk", "orjson ms",
              "times", "torch-tb-profiler ms", "times"]]
    memory = [["trace", "1 thread ms", "2 threads ms", "speedup", "share of walk", "memory MB", "share of text", "bytes per event",
               "orjson MB", "torch-tb-profiler MB"]]
    convert = [["trace", "ops ms", "convert ms", "MB/s", "in times of ops", "without gzip ms", "in times of ops",
                "torch-tb-profiler ms", "times", "memory MB"]]
    for trace in measured:
        convert.append([trace.name, cell(milliseconds(trace.whole_two)), cell(milliseconds(trace.convert)),
                        f"{trace.text / 1e6 / trace.convert.time():.0f}",
                        f"{trace.times_of_ops(trace.convert):.1f}", cell(milliseconds(trace.convert_plain)),
                        f"{trace.times_of_ops(trace.convert_plain):.1f}", cell(milliseconds(trace.plugin)),
                        cell(trace.convert_times(trace.plugin), "{:.1f}"),
                        f"{statistics.median(trace.convert.memory) / 1e6:.0f}"])
        speed.append([trace.name, f"{trace.text / 1e6:.0f}", str(trace.events), cell(milliseconds(trace.one)),
                      f"{trace.text / 1e6 / trace.one.time():.0f}", cell(milliseconds(trace.whole)),
                      cell(milliseconds(trace.walk)),
                      cell(trace.times(trace.walk), "{:.2f}"), cell(milliseconds(trace.orjson)),
                      cell(trace.times(trace.orjson), "{:.1f}"), cell(milliseconds(trace.plugin)),
                      cell(trace.times(trace.plugin))])
        peers = [cell(max(c.memory, default=0) / 1e6 or None) for c in (trace.orjson, trace.plugin)]
        memory.append([trace.name, cell(milliseconds(trace.one)), cell(milliseconds(trace.two)),
                       f"{trace.speedup():.2f}", f"{trace.walk.time() / trace.two.time():.2f}",
                       f"{trace.peak / 1e6:.0f}", f"{trace.peak / trace.text:.2f}",
                       f"{trace.peak / trace.events:.0f}", *peers])
    print(markdown(speed), markdown(memory), markdown(convert), sep="\n\n", flush=True)


def measure_all(program, measure, options):
    """What `measure` makes of each trace; None, and a message, if one cannot be measured."""
    measured = []
    try:
        for trace in options.traces:
            print(f"{program}: {trace.name}", file=sys.stderr)
            measured.append(measure(trace, options))
    except (Failed, OSError) as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        return None
    return measured


def conclude(program, measured, check):
    """Says which contenders failed and which limits were missed. Returns the exit code."""
    for trace in measured:
        for contender in trace.contenders:
            if contender.failure:
                print(f"{program}: {trace.name}: {contender.name}: {contender.failure}", file=sys.stderr)
    missed = [line for trace in measured for line in trace.misses()]
    for line in missed:
        print(f"{program}: missed: {line}", file=sys.stderr)
    return 1 if check and missed else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=pathlib.Path, metavar="TRACE")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"), help="has orjson and torch-tb-profiler")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each contender")
    parser.add_argument("--no-made", action="store_true", help="only the traces that are named")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    return parser.parse_args()


def main():
    options = arguments()
    measured = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            options.log_directory = str(pathlib.Path(folder) / "logs")
            traces = list(options.traces)
            if not options.no_made:
                make = options.build / "benchmarks" / "tbtrace_make_trace"
                for name, extra in (("made.json.gz", []), ("made_shapes.json.gz", ["--shapes"])):
                    traces.append(pathlib.Path(folder) / name)
                    run([str(make), "--size", MADE_SIZE, *extra, str(traces[-1])])
            for trace in traces:
                print(f"peers: {trace.name}", file=sys.stderr)
                measured.append(Measured(trace, options))
    except (Failed, OSError) as failure:
        print(f"peers: {failure}", file=sys.stderr)
        return 2
    if not measured:
        print("peers: no trace was named", file=sys.stderr)
        return 2
    report(measured)
    return conclude("peers", measured, options.check)


if __name__ == "__main__":
    sys.exit(main())
