#!/usr/bin/env python3
"""Compares `tbtrace whatif` with simulated programs, whose critical path is known, and their time after a change.

    path_simulator.py --tbtrace PATH [--programs N] [--seed N] [--keep FOLDER]

A program has steps of operators, launches on two streams, waits of streams and of the host, and a backward pass on a
thread of its own. Half of the recordings have the rows that say which stream a call waits for; in the others, in which
only one stream can be meant, it has to be found out by time. What is on the path has to be that of the simulation, to the nanosecond. With a change, such as
operators that take half as long, the predicted step has to be that of a simulation with the change.
The last line is 'N passed, N failed'. There are 150 programs, or as many as TBTRACE_RANDOM_PERCENT says
(tests/fixtures/random_rounds.h).
"""
import json
import subprocess

from path_programs import KERNELS, OPERATORS, Run, Scaled, make_step, vary
from rounds import run_rounds


def table(tbtrace, path, *options):
    done = subprocess.run([tbtrace, "whatif", *options, str(path), "--format", "json"], capture_output=True, timeout=60,
                          check=True)
    return json.loads(done.stdout)


def path_problem(answer, run):
    rows = {(row["kind"], row["name"]): row["on_path_ns"] for row in answer["rows"] if row["on_path_ns"]}
    wanted = run.path()
    for key in sorted(rows.keys() | wanted.keys()):
        if rows.get(key, 0) != wanted.get(key, 0):
            return f"{key} is {rows.get(key, 0)} ns on the path, not {wanted.get(key, 0)}"
    total = sum(run.durations())
    if answer["totals"]["on_path_ns"] != total:
        return f"the path has {answer['totals']['on_path_ns']} ns, and the steps {total}"
    return None


def prediction_problem(tbtrace, path, steps, rng):
    """With a change, the step has to be that of a simulation with the change."""
    kind = rng.choice(["operator", "kernel", "communication", "launch", "data_loader"])
    names = {row["name"] for row in json.loads(path.read_text())["traceEvents"]}
    if kind == "communication" and not names.intersection(KERNELS[3:]):
        kind = "launch"
    known = {"operator": OPERATORS, "kernel": KERNELS[:3]}.get(kind)
    name = rng.choice([each for each in known if each in names]) if known else None
    change = Scaled(kind, name, rng.choice([0, 0.1, 0.5, 0.9, 2, 5]))
    run = Run(steps, change)
    totals = table(tbtrace, path, "--set", change.text())["totals"]
    wanted = sum(run.durations()) / len(run.windows)
    if abs(totals["predicted_ns"] - wanted) > 1e-4 * wanted:
        return f"{change.text()}: a step takes {totals['predicted_ns']} ns, not {wanted}"
    if abs(totals["on_path_ns"] - sum(run.durations())) > 1e-4 * sum(run.durations()):
        return f"{change.text()}: the path has {totals['on_path_ns']} ns, and the steps {sum(run.durations())}"
    return None


def problem_of_program(tbtrace, folder, rng, number):
    has_backward, ends_with_sync = rng.random() < 0.5, rng.random() < 0.5
    has_ids = number % 2 == 0
    one_stream = not has_ids and rng.random() < 0.5
    step = make_step(rng, has_backward, ends_with_sync, streams=(7,) if one_stream else (7, 7, 7, 20),
                     syncs=(7, 20, None, None) if has_ids else (7,) if one_stream else (None,))
    steps = [vary(rng, step) for _ in range(rng.randint(3, 6))]
    run = Run(steps, has_ids=has_ids)
    path = folder / "trace.json"
    run.write(path)
    problem = None if run.has_tie else path_problem(table(tbtrace, path, "--critical-path"), run)
    return problem or (prediction_problem(tbtrace, path, steps, rng) if has_ids else None)


run_rounds(__doc__, "program", 150, problem_of_program)
