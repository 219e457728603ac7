#!/usr/bin/env python3
"""What `tbtrace record` costs a program: while it waits, and while it records, by option.

    benchmarks/recording_cost.py [--pairs N] [--steps N] [--only waiting|recording] PYTHON TBTRACE

PYTHON has torch. All times are CPU time of the process, which other programs of the machine disturb less than its wall
time. Waiting: in one process, pairs of times without and with the recorder that waits for its window, of a loop of
small operators and of a training loop; what is printed is the median of the pairs' differences, with the range that
holds the true one in 95 of 100 cases. Recording: the program trains 20 layers of 64 by 64 on one thread; the medians of
the steps before the window and of those in it are compared, in three runs. Sizes are those of the trace, per operator.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

WAITING = """
import json, sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(20)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, small = torch.randn(64, 64), torch.ones(1)
def operators():
    for _ in range(2000): small.add_(0)
def step():
    optimizer.zero_grad()
    model(data).square().mean().backward()
    optimizer.step()
def steps():
    for _ in range(2): step()
def cost(work):
    start = time.process_time_ns()
    work()
    return time.process_time_ns() - start
sys.path.insert(0, sys.argv[1])
from _recording.options import Options
from _recording.schedule import Schedule
operators(), steps()
pairs = []
for number in range(int(sys.argv[2])):
    found = {}
    for waits in (False, True) if number % 2 else (True, False):
        if waits:
            schedule = Schedule(Options(logs=sys.argv[3], skip=10**9), lambda *_: None)
            schedule.watch()
            step()  # which installs what is to be installed
        found[waits] = cost(operators) / 2000, cost(steps) / 2
        if waits: schedule.finish()
    pairs.append([found[True][kind] - found[False][kind] for kind in (0, 1)])
json.dump(list(zip(*pairs)), sys.stdout)
"""
RECORDING = """
import json, sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(20)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, times = torch.randn(64, 64), []
for _ in range(int(sys.argv[1])):
    start = time.process_time_ns()
    optimizer.zero_grad()
    model(data).square().mean().backward()
    optimizer.step()
    times.append(time.process_time_ns() - start)
json.dump(times, sys.stdout)
"""
OPTIONS = {"always": ["--record-shapes=false"], "--record-shapes": [],
           "--profile-memory": ["--record-shapes=false", "--profile-memory"],
           "--with-stack": ["--record-shapes=false", "--with-stack"]}
RECORDER = pathlib.Path(__file__).resolve().parents[1] / "python" / "tbtrace"


def output_of(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def range_of_median(values):
    """By order statistics, for 95 %: no assumption about how they are distributed."""
    values, reach = sorted(values), round(0.98 * len(values) ** 0.5)
    middle = len(values) // 2
    return values[max(0, middle - reach)], values[min(len(values) - 1, middle + reach)]


def waiting(arguments, folder):
    (folder / "train.py").write_text(WAITING)
    operators, steps = json.loads(output_of([arguments.python, "-W", "ignore", folder / "train.py", RECORDER,
                                             arguments.pairs, folder / "logs"]))
    for unit, scale, values in ("ns an operator", 1, operators), ("us a training step", 1000, steps):
        low, high = range_of_median(values)
        print(f"waiting: {statistics.median(values) / scale:+.1f} {unit} ({low / scale:+.1f} to {high / scale:+.1f}, "
              f"{len(values)} pairs)", flush=True)


def recording(arguments, folder):
    (folder / "train.py").write_text(RECORDING)
    steps = arguments.steps
    for what, options in OPTIONS.items():
        costs = []
        for number in range(3):
            logs = folder / f"{what}{number}"
            record = [arguments.tbtrace, "record", "-q", "--no-summary", "-o", logs, "--skip", steps, "--steps", steps]
            program = [arguments.python, "-W", "ignore", folder / "train.py", 2 * steps + 1]
            times = json.loads(output_of([*record, *options, "--", *program]))
            before, during = (statistics.median(part) for part in (times[5:steps - 1], times[steps + 2:2 * steps - 1]))
            trace, = logs.glob("*.json*")
            operators = sum(event.get("cat") == "cpu_op" for event in json.loads(trace.read_bytes())["traceEvents"])
            costs.append((during - before) / (operators / steps) / 1000)
        print(f"{what:18} {operators / steps:6.0f} operators a step: {before / 1e6:.2f} ms, recorded "
              f"{during / 1e6:.2f} ms; {statistics.median(costs):.2f} us ({min(costs):.2f} to {max(costs):.2f}) and "
              f"{trace.stat().st_size / operators:.0f} bytes an operator", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=40, help="recorded ones; as many run before them")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--only", choices=("waiting", "recording"))
    parser.add_argument("python")
    parser.add_argument("tbtrace")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        version = [arguments.python, "-W", "ignore", "-c", "import torch; print(torch.__version__)"]
        print("torch", output_of(version).strip())
        for measure in (waiting, recording):
            if arguments.only in (None, measure.__name__):
                measure(arguments, folder)


if __name__ == "__main__":
    main()
