#!/usr/bin/env python3
"""Runs the parts of gpu_checks and judges what they recorded; tests/gpu/run_all.sh calls it.

    judge.py --program gpu_checks --tbtrace PATH --results FOLDER [--parts 1,2a,...] [--seconds N] [--built SECONDS]

Prints a line for each part, PASS or FAIL with its figures, what was wrong below it, and at last 'gpu: N passed, M
failed'. FOLDER gets logs, traces and figures.json. Python 3, nothing besides.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

from device_parts import copies, graphs, long_run, memory, streams
from option_parts import journal, options, unfinished
from recording_parts import cycles, doctor, launch_cost, links, logs, ours_first, step_time, torch_before, torch_first
from toolbox_parts import layers, levels, lines, ranges, reporter, speed
from torch_parts import in_processes, in_turns, tables

PARTS = (
    ("1", "doctor", doctor),
    ("2a", "kernels, in turns with torch's profiler", in_turns),
    ("2b", "kernels, in processes without torch's profiler", in_processes),
    ("3", "operators, against what the driver was told", links),
    ("4", "cost of a launch", launch_cost),
    ("5", "time of a step", step_time),
    ("6", "starts and stops", cycles),
    ("7", "graphs", graphs),
    ("8", "two streams", streams),
    ("9", "copies", copies),
    ("10", "long run", long_run),
    ("11a", "torch's profiler first, then ours", torch_first),
    ("11b", "ours first, then torch's profiler", ours_first),
    ("11c", "ours after torch's profiler has ended", torch_before),
    ("12", "log directory", logs),
    ("13", "memory", memory),
    ("14a", "options", options),
    ("14b", "a window that ends before the GPU is done", unfinished),
    ("15", "tables of torch's recordings", tables),
    ("16", "benchmark, beside events and the allocator", speed),
    ("17a", "model summary, on the GPU and on the host", layers),
    ("17b", "three levels of a model", levels),
    ("18a", "memory reporter", reporter),
    ("18b", "memory of lines", lines),
    ("19", "ranges of a training loop", ranges),
    ("20", "journal, of a process that ends without notice", journal),
)


NO_FAULT = "Profiler clears events at the end of each cycle"  # as torch's profiler says it


class Part:
    """What is found out in one part."""

    def __init__(self, number, title, runner):
        self.number, self.title, self.runner = number, title, runner
        self.figures, self.notes, self.failures = [], [], []
        self.folder = runner.results / f"{number}_{title.split(',')[0].replace(' ', '_').replace(chr(39), '')}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.measured = {}

    def check(self, condition, what):
        if not condition:
            self.failures.append(what)
        return bool(condition)

    def figure(self, text):
        """Stands in the part's line."""
        self.figures.append(text)

    def note(self, text):
        """Stands below it."""
        self.notes.append(text)

    def run(self, name, *arguments, timeout=120, warns=False):
        """The figures that a part of the program prints; it may say nothing, unless `warns`."""
        figures = self.runner.run(self, name, arguments, timeout)
        self.measured[name] = figures
        for warning in [] if warns else sorted(set(figures.get("warnings", []))):
            self.check(NO_FAULT in warning, f"{name} warned: {warning}")
        return figures

    def print(self, seconds):
        verdict = "FAIL" if self.failures else "PASS"
        print(f"{verdict} {self.number:<4}{self.title}: {'; '.join(self.figures) or '-'} [{seconds:.0f} s]")
        for failure in self.failures[:12]:
            print(f"        wrong: {failure}"[:600])
        if len(self.failures) > 12:
            print(f"        and {len(self.failures) - 12} more")
        for note in self.notes:
            print(f"        {note}"[:600])
        sys.stdout.flush()


class Runner:
    def __init__(self, program, tbtrace, results, seconds):
        self.program, self.tbtrace, self.results = program, tbtrace, results
        self.deadline = time.monotonic() + seconds

    def run(self, part, name, arguments, timeout):
        timeout = min(timeout, self.deadline - time.monotonic())
        if timeout < 1:
            raise RuntimeError("there was no time left (--seconds)")
        log = part.folder / f"{name}.log"
        with open(log, "ab") as errors:
            try:
                done = subprocess.run([self.program, name, str(part.folder), *map(str, arguments)],
                                      stdout=subprocess.PIPE, stderr=errors, timeout=timeout)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"{name} was not done after {timeout:.0f} s") from None
        said = (log.read_text(errors="replace").strip().splitlines() or ["nothing said"])[-1]
        lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("{")]
        if not lines:
            raise RuntimeError(f"{name}: exit {done.returncode}: {said[:400]}")
        part.check(done.returncode == 0, f"{name}: exit {done.returncode} after its figures: {said[:400]}")
        return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--results", required=True, type=pathlib.Path)
    parser.add_argument("--parts", default="", help="numbers, with commas between; 2 means 2a and 2b")
    parser.add_argument("--seconds", type=float, default=570, help="after which no part begins")
    parser.add_argument("--built", help="seconds that the build took, which is a part that passed")
    given = parser.parse_args()
    wanted = [number for number in given.parts.split(",") if number]
    runner = Runner(given.program, given.tbtrace, given.results, given.seconds)
    summary = {}
    passed = failed = 0
    if given.built:
        print(f"PASS 0   build: {given.built} s")
        passed += 1
    for number, title, judge in PARTS:
        if wanted and number not in wanted and number.rstrip("abc") not in wanted:
            continue
        part = Part(number, title, runner)
        start = time.monotonic()
        try:
            judge(part)
        except Exception as error:  # a part that breaks off is one that failed
            part.check(False, f"{type(error).__name__}: {error}")
        part.print(time.monotonic() - start)
        passed += not part.failures
        failed += bool(part.failures)
        summary[number] = {"title": title, "passed": not part.failures, "figures": part.figures, "notes": part.notes,
                           "failures": part.failures, "measured": part.measured}
        (given.results / "figures.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(f"gpu: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
