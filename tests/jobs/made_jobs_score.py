"""Does `tbtrace collectives` say what is true of made jobs? The rank that holds the job up and why, nobody in clean jobs,
clocks and their drift, and every collective with its last rank. Prints a line for each job that is wrong, and a summary.

    python3 tests/jobs/made_jobs_score.py TBTRACE --seed 1 --count 20 [--at-least 0.95]

A rank that holds up a job is right if its cause is; where the traces show only a gap (`visible` is false), `unknown` is
right as well. Of a slow network with several candidates one of them is right, and so is nobody.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import made_jobs  # noqa: E402

OFFSET_LIMIT_NS = 5_000


def analysed(program, folder):
    result = subprocess.run([program, "collectives", str(folder), "--format", "json", "-q", "--threads", "1"],
                            stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)


def judge_ranks(truth, stragglers):
    """What is wrong with the accusations, in words; empty if nothing is."""
    wrong = []
    left = list(stragglers)
    for cause in sorted(truth["causes"], key=lambda row: len(row["candidates"])):
        named = [one for one in left if one["rank"] in cause["candidates"] or one["peer"] in cause["candidates"]]
        own = [one for one in named if one["rank"] == cause["rank"] and one["cause"] == cause["cause"]] or named
        allowed = {cause["cause"]} | (set() if cause["visible"] else {"unknown"})
        text = f"{cause['cause']} ({cause['variant']}) of rank {cause['rank']} +{cause['excess_share']:.1%} " \
               f"in {len(cause['steps'])} of {len(truth['step_numbers'])} steps"
        if not own:
            if len(cause["candidates"]) == 1 or (cause["cause"] != "network"):
                wrong.append("missed " + text)
            continue
        left.remove(own[0])
        if own[0]["cause"] not in allowed:
            wrong.append(f"{text} called {own[0]['cause']}")
    for one in left:
        wrong.append(f"accused rank {one['rank']} of {one['cause']} +{one['share']:.1%}")
    return wrong


def single_delays(seed, truth):
    """Places of the causes that do not delay the job in two of its steps and in a third of all. A host that runs ahead
    of its GPU can hide a cause from the second step on; then no analysis can tell it from a single delay. How much each
    step is delayed is known from the simulation without the cause."""
    if not truth["causes"]:
        return []
    made = made_jobs.simulate(seed)
    least = max(2, -(-len(truth["step_numbers"]) // 3))

    def durations(causes):
        times = made.run(causes).step_times()
        return [times[0][1] - times[0][0]] + [after[1] - before[1] for before, after in zip(times, times[1:])]

    whole = durations(made.causes)
    found = []
    for at in range(len(made.causes)):
        without = durations(made.causes[:at] + made.causes[at + 1:])
        late = sum(one - other > 0.015 * made.sizes.step_ns for one, other in zip(whole, without))
        if late < least:
            found.append(at)
    return found


class Score:
    def __init__(self):
        self.counts = collections.Counter()
        self.worst_offset = 0

    def add(self, truth, found):
        single = [truth["causes"][at] for at in single_delays(truth["seed"], truth)]
        self.counts["causes that delay one step only, not counted"] += len(single)
        # To name such a rank is not wrong either.
        stragglers = [one for one in found["stragglers"] if one["rank"] not in [cause["rank"] for cause in single]]
        counted = [cause for cause in truth["causes"] if cause not in single]
        wrong = judge_ranks(truth | {"causes": counted}, stragglers)
        group = "clean" if truth["clean"] else "with causes" if counted else "with single delays only"
        self.counts[group] += 1
        self.counts[group + ", wrong"] += bool(wrong)
        wrong += self.judge_clocks(truth, found["by_rank"])
        wrong += self.judge_collectives(truth, found)
        return wrong

    def judge_clocks(self, truth, ranks):
        wrong = []
        clocks = {row["rank"]: row for row in truth["clocks"]["ranks"]}
        reference_ns = truth["clocks"]["reference_ns"]
        for row in ranks:
            clock = clocks[row["rank"]]
            if row["clock_reference"] is None:
                self.counts["clocks unknown"] += 1
                continue
            if row["clock_reference"] != 0:
                self.counts["clocks with another reference"] += 1
                continue
            if row["rank"] == 0:
                continue
            drift_ppm = clock["drift_ppb"] / 1000
            at = row["clock_at_ns"]
            true = (at - clock["offset_ns"] - reference_ns) / (1 + drift_ppm / 1e6)  # since the reference
            off = abs(row["clock_offset_ns"] - (clock["offset_ns"] + true * drift_ppm / 1e6))
            self.worst_offset = max(self.worst_offset, off)
            self.counts["clocks"] += 1
            self.counts["clocks off by more than 5 us"] += off > OFFSET_LIMIT_NS
            self.counts["clocks outside their interval"] += off > row["clock_error_ns"]
            self.counts["drifts outside their interval"] += \
                abs(row["clock_drift_ppm"] - drift_ppm) > row["clock_drift_error_ppm"] + 1e-4
            if off > OFFSET_LIMIT_NS:
                wrong.append(f"clock of rank {row['rank']} is off by {off / 1000:.1f} us, said +-"
                             f"{row['clock_error_ns'] / 1000:.1f}")
        return wrong[:1]

    def judge_collectives(self, truth, found):
        """The last ranks are compared where the ranks' starts are 10 us apart or more."""
        expected = collections.Counter()
        said = collections.Counter()
        for row in truth["collectives"]:
            starts = sorted(row["start_ns"])
            self.counts["collectives"] += 1
            if row["name"] != "send":
                expected[row["step"], len(row["ranks"]), row["last_rank"]] += starts[-1] - starts[-2] >= 10_000
        for row in found["rows"]:
            self.counts["matched"] += 1
            if row["name"] != "send" and row["last_rank"] is not None:
                said[row["step"], row["ranks"], row["last_rank"]] += 1
        if found["totals"]["unmatched"] == 0:
            missing = sum((expected - said).values())
            self.counts["last ranks"] += sum(expected.values())
            self.counts["last ranks not found"] += missing
        return []

    def accusations_right(self):
        total = self.counts["with causes"]
        return 1 - self.counts["with causes, wrong"] / total if total else 1

    def text(self):
        lines = [f"{name}: {count}" for name, count in sorted(self.counts.items())]
        return "\n".join(lines + [f"largest clock error: {self.worst_offset / 1000:.2f} us",
                                  f"right of jobs with causes: {self.accusations_right():.1%}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tbtrace")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--at-least", type=float, default=0.95, help="share of jobs with causes that must be right")
    parser.add_argument("--most-accused", type=float, default=1 / 300, help="share of clean jobs with an accused rank")
    parser.add_argument("--most-ranks", type=int, help="leaves out larger jobs")
    parser.add_argument("--keep", help="a folder for the jobs that are wrong")
    options = parser.parse_args()
    score = Score()
    for seed in range(options.seed, options.seed + options.count):
        if options.most_ranks and made_jobs.settings.draw(seed).world_size > options.most_ranks:
            continue
        with tempfile.TemporaryDirectory() as folder:
            truth = made_jobs.make(folder, seed)
            job = pathlib.Path(folder) / "jobs" / truth["job"]
            wrong = score.add(truth, analysed(options.tbtrace, job))
            if wrong:
                what = ", ".join(row["kind"] for row in truth["disturbances"])
                print(f"{truth['job']} {truth['dialect']} [{what}]: {'; '.join(wrong)}", flush=True)
                if options.keep:
                    shutil.copytree(folder, options.keep, dirs_exist_ok=True)
    print(score.text())
    accused = score.counts["clean, wrong"] / max(1, score.counts["clean"])
    is_right = score.accusations_right() >= options.at_least and accused <= options.most_accused and \
        score.counts["clocks off by more than 5 us"] == 0
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
