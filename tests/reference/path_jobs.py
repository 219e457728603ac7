#!/usr/bin/env python3
"""Compares `tbtrace whatif` of several ranks with simulated jobs, whose critical path is known, and their time after a change.

    path_jobs.py --tbtrace PATH [--jobs N] [--seed N] [--keep FOLDER]

The ranks of a job run the same operators, launches and waits, each with its own durations, and one of them may be slower.
A collective ends on all ranks at once: when the last rank has come, and the transfer has taken its time. Each rank has a
clock of its own. What is on the path has to be that of the simulation, rank by rank, to the microsecond that clocks are
compared within. With a change, such as a rank that takes half as long, the predicted step has to be within 0.1 % of that
of a simulation with the change.
The last line is 'N passed, N failed'. There are 60 jobs, or as many as TBTRACE_RANDOM_PERCENT says
(tests/fixtures/random_rounds.h).
"""
import json
import re
import subprocess

from path_programs import KERNELS, OPERATORS, Change, Event, Run, Scaled, make_step, on_path, vary
from rounds import run_rounds

COLLECTIVE = KERNELS[3]
MOST_OFF = 1e-3  # of a step
CLOCK_NS = 1_000  # of what is on the path


class RankScaled(Change):
    """All work that is not communication takes a factor of its time."""

    def __init__(self, factor):
        self.factor = factor

    def operator(self, name):
        return self.factor

    def kernel(self, name, operator):
        return 1 if name == COLLECTIVE else self.factor

    def loader(self):
        return self.factor

    def own(self):
        return self.factor


class RankRun(Run):
    """One rank; its collectives wait for `finish`."""

    def __init__(self, change):
        self.arrived = None
        super().__init__([], change)

    def end_kernel(self, start, end, stream, correlation):
        if end.name == COLLECTIVE:
            self.arrived = (start, end, stream, correlation)
        else:
            end.rank = self
            super().end_kernel(start, end, stream, correlation)

    def finish(self, last, transfer):
        start, end, stream, correlation = self.arrived
        end = Event(last.time + transfer, last, end.kind, end.name)
        end.rank = self
        super().end_kernel(start, end, stream, correlation)

    def spend(self, thread, *what):
        time = super().spend(thread, *what)
        self.host[thread].rank = self
        return time

    def last_of(self, causes):
        for cause in causes:
            if cause.cause is not None and not hasattr(cause, "rank"):
                cause.rank = self
        return super().last_of(causes)


class Job:
    """Simulates the steps of all ranks: a list of actions for each rank, of each step."""

    def __init__(self, steps, offsets, changes=None):
        self.runs = [RankRun(change) for change in changes or [Change()] * len(offsets)]
        self.offsets, self.windows, self.has_tie = offsets, [], False
        before = 0
        for number, of_ranks in enumerate(steps):
            starts = [run.host[1] for run in self.runs]
            for run in self.runs:
                run.step_work = []
            for actions in zip(*of_ranks):
                self.do(actions)
            last = None
            for run, start in zip(self.runs, starts):
                run.add("user_annotation", f"ProfilerStep#{number}", start.time, run.host[1].time, 1)
                for event in (run.host[1], *run.step_work):
                    last = event if last is None or event.time > last.time else last
            begins = max(before, max(start.time for start in starts))
            if last.time < begins == before and self.windows:
                last = self.windows[-1][2]
            before = max(begins, last.time)
            self.windows.append((begins, before, last))

    def do(self, actions):
        for run, (thread, *action) in zip(self.runs, actions):
            run.arrived = None
            made = getattr(run, "do_" + action[0])(thread, *action[1:])
            if run is self.runs[0] and run.arrived:
                transfer = made[1]
        if not self.runs[0].arrived:
            return
        starts = [run.arrived[0] for run in self.runs]
        last = self.runs[0].last_of(starts)
        for run in self.runs:
            self.has_tie = self.has_tie or run.has_tie
            run.finish(last, transfer)

    def write(self, folder):
        for rank, run in enumerate(self.runs):
            path = folder / f"rank{rank}.json"
            for row in run.rows:
                row["ts"] += self.offsets[rank]
            run.write(path)
            trace = json.loads(path.read_text())
            collectives = [row for row in trace["traceEvents"] if row["name"] == COLLECTIVE]
            collectives.sort(key=lambda row: row["args"]["correlation"])  # in the order of the program
            for number, row in enumerate(collectives):
                row["args"].update({"Collective name": "allreduce", "Process Group Name": "0", "Seq": number,
                                    "Group size": len(self.runs)})
            trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": len(self.runs)}
            path.write_text(json.dumps(trace))

    def mean(self):
        return sum(until - start for start, until, _ in self.windows) / len(self.windows)

    def path(self):
        """By rank, kind and name; of communication, of which all ranks have the end in common, by kind and name."""
        def key_of(event):
            rank = None if event.kind == "communication" else self.runs.index(event.rank)
            return rank, event.kind, event.name
        return on_path(self.windows, key_of)


def table(tbtrace, folder, *options):
    done = subprocess.run([tbtrace, "whatif", *options, str(folder), "--format", "json"], capture_output=True, timeout=60,
                          text=True)
    if done.returncode:
        return {"error": done.stderr}
    return json.loads(done.stdout)


def path_problem(answer, job):
    found = {}
    for row in answer["rows"]:
        key = (None if row["kind"] == "communication" else row["rank"], row["kind"], row["name"])
        found[key] = found.get(key, 0) + row["on_path_ns"]
    wanted = job.path()
    for key in sorted(found.keys() | wanted.keys(), key=str):
        if abs(found.get(key, 0) - wanted.get(key, 0)) > CLOCK_NS:
            return f"{key} is {found.get(key, 0)} ns on the path, not {wanted.get(key, 0)}"
    return None


def factor_in(tbtrace, folder, rank):
    """How much faster a rank would be at the pace of the others; the rest is checked with it."""
    done = subprocess.run([tbtrace, "whatif", "--set", f"rank:{rank} =others", str(folder)], capture_output=True, text=True)
    return float(re.search(r"its work takes ([0-9.]+) times as long", done.stdout.replace("\n", " ").replace("    ", "")).group(1))


def prediction_problem(tbtrace, folder, steps, offsets, rng):
    kind = rng.choice(["rank", "rank", "others", "operator", "communication", "launch"])
    ranks = len(offsets)
    rank = rng.randrange(ranks)
    if kind in ("rank", "others"):
        factor = rng.choice([0, 0.25, 0.5, 2]) if kind == "rank" else factor_in(tbtrace, folder, rank)
        text = f"rank:{rank} =others" if kind == "others" else f"rank:{rank} x{factor}"
        changes = [RankScaled(factor) if each == rank else Change() for each in range(ranks)]
    else:
        change = Scaled(kind, rng.choice(OPERATORS) if kind == "operator" else None, rng.choice([0, 0.1, 0.5, 2]))
        text, changes = change.text(), [change] * ranks
    answer = table(tbtrace, folder, "--set", text)
    if "error" in answer and "named" in answer["error"]:
        return None  # no rank has the operator
    if "error" in answer or answer["refusal"]:
        return f"{text}: {answer.get('error') or answer['refusal']}"
    wanted = Job(steps, offsets, changes).mean()
    totals = answer["totals"]
    if abs(totals["predicted_ns"] - wanted) > MOST_OFF * wanted:
        return f"{text}: a step takes {totals['predicted_ns']} ns, not {wanted}"
    if abs(totals["on_path_ns"] - wanted * len(steps)) > MOST_OFF * wanted * len(steps):
        return f"{text}: the path has {totals['on_path_ns']} ns, and the steps {wanted * len(steps)}"
    return None


def slower(actions, factor):
    return [tuple(round(each * factor) if isinstance(each, int) and place > 1 and each > 20 else each
                  for place, each in enumerate(action)) for action in actions]


def problem_of_job(tbtrace, folder, rng, number):
    ranks = rng.randint(2, 8)
    step = make_step(rng, rng.random() < 0.5, rng.random() < 0.5)
    for _ in range(2):
        place = rng.randrange(1, len(step))
        step.insert(place, (step[place][0], "launch", "aten::add", 700, 2_000, 600, 20, COLLECTIVE, rng.randint(9_000, 90_000)))
    straggler = rng.randrange(ranks) if rng.random() < 0.7 else None
    steps = [[slower(vary(rng, step), 1.6 if rank == straggler else 1) for rank in range(ranks)]
             for _ in range(rng.randint(3, 6))]
    offsets = [rng.randrange(-9_000_000, 9_000_000) + 20_000_000 for _ in range(ranks)]
    job = Job(steps, offsets)
    job.write(folder)
    answer = table(tbtrace, folder, "--critical-path")
    if "error" in answer:
        return answer["error"]
    total = round(job.mean() * len(steps))
    if abs(answer["totals"]["on_path_ns"] - total) > CLOCK_NS:
        return f"the path has {answer['totals']['on_path_ns']} ns, and the steps {total}"
    problem = None if job.has_tie else path_problem(answer, job)
    return problem or prediction_problem(tbtrace, folder, steps, offsets, rng)


run_rounds(__doc__, "job", 60, problem_of_job)
