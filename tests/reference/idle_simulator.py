#!/usr/bin/env python3
"""Compares the causes of idle time of `tbtrace gpu` with simulated programs, whose causes are known.

    idle_simulator.py --tbtrace PATH [--mixtures N] [--seed N] [--only NAME] [--keep FOLDER]

Without --tbtrace, the rules of docs/findings.md (idle_rules.py) are compared instead. Each made program must have the
right main cause and at least 98 % of its idle time right, all mixtures together 98 % as well, and causes must add up.
The last line is 'N passed, N failed'. Programs whose cause the rules do not find are 'disputed': printed, and not
counted. There are 50 mixtures, or as many as TBTRACE_RANDOM_PERCENT says (tests/fixtures/random_rounds.h).
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile

import idle_mixtures
import idle_programs
from idle_rules import Account
from idle_trace import Trace

ENOUGH = 0.98


def sums_of(intervals):
    sums = collections.Counter()
    for interval in intervals:
        sums[interval[2]] += interval[1] - interval[0]
    return sums


def table_of(tbtrace, path):
    """{device: {cause: ns}}, and what is wrong with the table by itself."""
    problems = []
    if tbtrace is None:
        account = Account(Trace(path))
        return {device: sums_of(account.intervals(device)) for device in account.devices}, problems
    table = json.loads(subprocess.run([tbtrace, "gpu", str(path), "--format", "json"], capture_output=True, check=True,
                                      timeout=60).stdout)
    gaps = json.loads(subprocess.run([tbtrace, "gpu", "--gaps", str(path), "--format", "json"], capture_output=True,
                                     check=True, timeout=60).stdout)["totals"]
    sums = {row["device"]: collections.Counter({each["cause"]: each["ns"] for each in row["idle_causes"]})
            for row in table["rows"]}
    for row in table["rows"]:
        if sum(each["ns"] for each in row["idle_causes"]) != row["idle_ns"]:
            problems.append(f"the causes of device {row['device']} do not add up to its idle time")
    for cause in {cause for causes in sums.values() for cause in causes}:
        if gaps[f"{cause}_ns"] != sum(causes[cause] for causes in sums.values()):
            problems.append(f"{cause}_ns of the table gaps is another sum")
    return sums, problems


class Check:
    def __init__(self, tbtrace, folder, keep):
        self.tbtrace, self.path, self.keep = tbtrace, folder / "trace.json", keep
        self.confusions = collections.Counter()

    def compare(self, machine, name, confuses=True):
        """(idle ns, those whose cause is right, true sums, answered sums, problems)."""
        machine.write(self.path)
        if self.keep:
            (self.keep / f"{name}.json").write_bytes(self.path.read_bytes())
        answers, problems = table_of(self.tbtrace, self.path)
        idle = right = 0
        truths, all_answers = collections.Counter(), collections.Counter()
        for device in {each.device for each in machine.activities if each.is_recorded}:
            truth = sums_of(machine.truth(device))
            answer = answers.get(device, collections.Counter())
            if sum(truth.values()) != sum(answer.values()):
                problems.append(f"device {device} is idle for {sum(truth.values())} ns, not {sum(answer.values())}")
            idle += sum(truth.values())
            right += sum((truth & answer).values())
            truths += truth
            all_answers += answer
        if self.tbtrace is None and confuses:
            self.confuse(machine)
        return idle, right, truths, all_answers, problems

    def confuse(self, machine):
        """Which cause the rules take for which, instant by instant."""
        account = Account(Trace(self.path))
        for device in account.devices:
            truth = list(machine.truth(device))
            at = 0
            for start, end, cause, _ in account.intervals(device):
                while at < len(truth) and truth[at][1] <= start:
                    at += 1
                each = at
                while each < len(truth) and truth[each][0] < end:
                    overlap = min(end, truth[each][1]) - max(start, truth[each][0])
                    if truth[each][2] != cause:
                        self.confusions[truth[each][2], cause] += overlap
                    each += 1


def shares(sums):
    idle = max(1, sum(sums.values()))
    return ", ".join(f"{cause} {100 * ns / idle:.1f} %" for cause, ns in sums.most_common())


def problems_of(check, name, program, seed):
    """(what is wrong with the answer to a made program, the causes as text)."""
    machine = program.run(random.Random(seed))
    idle, right, truth, answer, problems = check.compare(machine, name, not program.disputed)
    if truth.most_common(1)[0][0] != program.cause or truth[program.cause] < program.share * idle:
        problems.append("the program does not do what it is made for")
    if answer.most_common(1)[0][0] != program.cause:
        problems.append(f"the main cause is not {program.cause}")
    if right < ENOUGH * idle:
        problems.append(f"{100 * right / idle:.2f} % of the idle time have the right cause")
    if program.has_costly_waits:
        saved = idle - idle_of(program.run(random.Random(seed), has_waits=False))
        said = answer["copies"] + answer["synchronization"]
        if abs(said - saved) > 0.25 * saved:
            problems.append(f"without waits the GPU is idle for {saved} ns less, not {said}")
    return problems, f"  true: {shares(truth)}\n  said: {shares(answer)}"


def idle_of(machine):
    devices = {each.device for each in machine.activities if each.is_recorded}
    return sum(end - start for device in devices for start, end, _ in machine.truth(device))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tbtrace")
    percent = int(os.environ.get("TBTRACE_RANDOM_PERCENT") or 100)
    parser.add_argument("--mixtures", type=int, default=max(1, 50 * percent // 100))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="made programs whose names contain this, and no mixtures")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the traces")
    arguments = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        check = Check(arguments.tbtrace, pathlib.Path(folder), arguments.keep)
        for name, program in idle_programs.PROGRAMS.items():
            if arguments.only and arguments.only not in name:
                continue
            problems, sums = problems_of(check, name, program, arguments.seed)
            if program.disputed:
                print(f"disputed: {name}: {'; '.join(problems) or 'right'}\n{sums}\n  ({program.disputed})")
                continue
            passed, failed = (passed, failed + 1) if problems else (passed + 1, failed)
            if problems:
                print(f"FAILED {name}: {'; '.join(problems)}\n{sums}")
        total = correct = 0
        for number in range(0 if arguments.only else arguments.mixtures):
            machine = idle_mixtures.mixture(random.Random(f"{arguments.seed} {number}"))
            idle, right, truth, answer, problems = check.compare(machine, f"mixture {number}")
            total, correct = total + idle, correct + right
            if problems or right < 0.9 * idle:
                print(f"mixture {number}: {100 * right / idle:.2f} %; {'; '.join(problems)}\n  true: {shares(truth)}\n"
                      f"  said: {shares(answer)}")
            if problems:
                failed += 1
        if total:
            print(f"mixtures: {100 * correct / total:.3f} % of the idle time have the right cause")
            passed, failed = (passed + 1, failed) if correct >= ENOUGH * total else (passed, failed + 1)
        for (truth, said), ns in check.confusions.most_common(20):
            print(f"  {truth} taken for {said}: {ns / 1e6:.3f} ms")
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
