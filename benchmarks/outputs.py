#!/usr/bin/env python3
"""Peak memory and time of long outputs: event lists of a large trace, stacks of a deep one.

    outputs.py [--build FOLDER] [--program PROGRAM]... [--rounds N] [--check]

Makes the traces in a temporary folder. Each call is a process of its own that writes into a file. Seconds are those of
the processor, medians; memory is the largest resident set. Several programs take turns. --check ends with 1 if an event list takes 64 MiB more than the
summary of the same trace, or lines of stacks take 64 MiB more than twice the trace.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

MIB = 1 << 20
DEPTH, OPERATORS, STACKED = 10, 170_000, 30_000


def write_events(path, events):
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "with_stack": 1, "traceEvents": [\n')
        for number, event in enumerate(events):
            file.write((",\n" if number else "") + event)
        file.write("\n]}\n")


def deep_events():
    """Frames in each other, and operators in the innermost."""
    frame = ('{{"ph": "X", "cat": "python_function", "name": "dist-packages/model/layer_{0}.py({0}): forward_{0}", '
             '"pid": 1, "tid": 1, "ts": {0}, "dur": {1}, "args": {{"Python id": {2}}}}}')
    operator = '{{"ph": "X", "cat": "cpu_op", "name": "op_{}", "pid": 1, "tid": 1, "ts": {}, "dur": 1}}'
    yield from (frame.format(level, 3 * OPERATORS - 2 * level, level + 1) for level in range(DEPTH))
    yield from (operator.format(number, DEPTH + 2 * number) for number in range(OPERATORS))


def stacked_events():
    """Operators with the stacks of 60 frames that called them."""
    stack = "".join(f"dist-packages/model/layer_{level}.py({level}): forward_{level};" for level in range(60))
    operator = ('{{"ph": "X", "cat": "cpu_op", "name": "op_{}", "pid": 1, "tid": 1, "ts": {}, "dur": 1, '
                '"args": {{"Call stack": "' + stack + '"}}}}')
    yield from (operator.format(number, 2 * number) for number in range(STACKED))


def measured(program, words, output):
    """Seconds of the processor, and the largest resident set in MiB."""
    with open(output, "wb") as out, subprocess.Popen([program, *words, "--threads", "1"], stdout=out) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{program} {' '.join(words)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MIB


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build", type=pathlib.Path)
    options.add_argument("--program", action="append")
    options.add_argument("--rounds", default=3, type=int)
    options.add_argument("--check", action="store_true")
    options = options.parse_args()
    programs = options.program or [str(options.build / "tools" / "tbtrace")]
    missed = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make = str(options.build / "benchmarks" / "tbtrace_make_trace")
        traces = {"made": folder / "made.json", "made_shapes": folder / "made_shapes.json", "deep": folder / "deep.json",
                  "stacked": folder / "stacked.json"}
        subprocess.run([make, "--size", "540MB", traces["made"]], check=True)
        subprocess.run([make, "--size", "540MB", "--shapes", traces["made_shapes"]], check=True)
        write_events(traces["deep"], deep_events())
        write_events(traces["stacked"], stacked_events())
        calls = []
        for name in ("made", "made_shapes"):
            calls.append((name, ["ops"]))
            for form in ("text", "csv", "json", "md"):
                for sort in ([], ["--sort-by", "self_cpu_time_total"]):
                    calls.append((name, ["ops", "--per-event", "--row-limit", "-1", "--format", form, *sort]))
        calls += [("deep", ["flamegraph", "--format", "folded"]), ("stacked", ["flamegraph", "--compat", "torch"])]
        print("| trace | text MB | call | output MB |" + " seconds | memory MiB |" * len(programs))
        print("| --- | ---: | --- | ---: |" + " ---: | ---: |" * len(programs))
        summary = {}
        for name, words in calls:
            output = folder / "output"
            runs = [[measured(program, [*words, traces[name]], output) for program in programs]
                    for _ in range(options.rounds)]
            text = traces[name].stat().st_size
            line = f"| {name} | {text / 1e6:.0f} | `{' '.join(words)}` | {output.stat().st_size / 1e6:.0f} |"
            for program, column in zip(programs, zip(*runs)):
                memory = max(peak for _, peak in column)
                line += f" {statistics.median(seconds for seconds, _ in column):.2f} | {memory:.0f} |"
                if words == ["ops"]:
                    summary[program] = memory
                elif memory > (summary[program] if words[0] == "ops" else 2 * text / MIB) + 64:
                    missed.append(f"{program}: {name}: {' '.join(words)}: {memory:.0f} MiB")
            print(line, flush=True)
    print("\n".join(missed), file=sys.stderr, end="\n" if missed else "")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
