"""Gives a job its causes: draws them, and makes each as strong as it has to be to lengthen the job noticeably."""
import dataclasses
import random
import statistics

from .effects import Cause, Effects, Hiccup
from .simulator import Simulator

LEAST_SHARE = 0.03     # of a step
MOST_SHARE = 0.8       # nobody needs a tool to see more
MOST_TRIES = 12


class TooWeak(Exception):
    """A cause of this kind cannot lengthen this job enough."""


class Sizes:
    """What causes are measured against: a job without any."""

    def __init__(self, program, start, work):
        self.slots = [rank.slots for rank in program.ranks]
        first = Simulator(program, start, Effects(work=work)).run()
        times = first.step_times()
        ends = [times[0][0]] + [end for _, end in times]
        self.step_ns = statistics.median(after - before for before, after in zip(ends, ends[1:]))
        steps = program.settings.steps
        self.launches = [len(state.kernels) / steps for state in first.ranks]


def draw_hiccups(settings, sizes):
    rng = random.Random(f"{settings.seed}/hiccups")
    rank, step = rng.randrange(settings.world_size), rng.randrange(settings.steps)
    place, share = rng.random(), rng.uniform(0.05, 0.3)
    return [Hiccup(rank, step, int(share * sizes.step_ns), place)] if settings.hiccup else []


def draw_work(settings):
    """How much work each rank has in each step: sequences are of many lengths, for instance."""
    rng = random.Random(f"{settings.seed}/work")
    return {(rank, step): 1 + rng.random() * settings.imbalance
            for rank in range(settings.world_size) for step in range(settings.steps)} if settings.imbalance else {}


def draw_cause(settings, sizes, name, at, taken):
    rng = random.Random(f"{settings.seed}/cause/{at}/{name}")
    rank = rng.choice([rank for rank in range(settings.world_size) if rank not in taken])
    least = max(2, -(-settings.steps // 3))
    steps = range(settings.steps)
    if rng.random() < 0.35:
        count = rng.randint(least, settings.steps)
        begin = rng.randint(0, settings.steps - count)
        steps = range(begin, begin + count)
    if len(settings.cause_names) == 2 and random.Random(f"{settings.seed}/halves").random() < 0.7:
        # Of two ranks that are slow in the same steps, the slower one often hides the other.
        half = settings.steps // 2
        steps = (range(half), range(half, settings.steps))[at]
    cause = Cause(name, rank, tuple(steps), seed=f"{settings.seed}/amounts/{at}/{name}")
    share = rng.uniform(0.05, 0.4)
    cause.places = tuple(rng.random() for _ in range(rng.randint(1, 3)))
    cause.magnitude = share * sizes.step_ns
    variants = {"compute": ("throttled", "more_work"), "input": ("slow_loader",), "launch": ("slow_host",),
                "memory": ("free_and_allocate",), "garbage_collection": ("collector",),
                "network": ("slow_rank", "slow_link") if settings.kind.startswith("pp") else ("slow_rank",)}
    cause.variant = rng.choice(variants[name])
    if name == "compute":
        cause.magnitude = rng.uniform(1.10, 1.60)
    elif name == "network":
        cause.magnitude = rng.uniform(1.5, 4)
        if cause.variant == "slow_link":
            replicas = settings.world_size // settings.stages
            stage = cause.rank // replicas
            cause.peer = cause.rank + (replicas if stage + 1 < settings.stages else -replicas)
    elif name == "launch":
        cause.magnitude = share * sizes.step_ns / sizes.launches[rank]
    return cause


def strengthen(cause):
    """Makes a cause stronger; False if it already is as strong as such causes are."""
    if cause.cause == "compute":
        if cause.magnitude >= 1.6:
            return False
        cause.magnitude = min(1.6, cause.magnitude + 0.1)
    else:
        cause.magnitude *= 1.5
        if cause.cause == "network" and cause.magnitude > 60:
            return False
    return True


def weaken(cause):
    if cause.cause in ("compute", "network"):
        cause.magnitude = 1 + (cause.magnitude - 1) * 0.6
    else:
        cause.magnitude *= 0.6


class MadeCauses:
    """The causes of a job, what each of them costs, and the simulated job."""

    def __init__(self, program, start):
        self.program, self.start = program, start
        self.settings = program.settings
        self.work = draw_work(self.settings)
        self.sizes = Sizes(program, start, self.work)
        self.hiccups = draw_hiccups(self.settings, self.sizes)
        self.causes = []
        for at, name in enumerate(self.settings.cause_names):
            self.causes.append(self.fitting(name, at))
        self.excesses = self.measure() if self.causes else []
        self.without = self.run(()).duration()
        self.result = self.run(self.causes)

    def run(self, causes):
        return Simulator(self.program, self.start, Effects(causes, self.hiccups, self.sizes.slots, self.work)).run()

    def fitting(self, name, at):
        """The cause, or another if this job does not notice it: a slow link hides behind the backward pass, for
        instance."""
        others = [other for other in ("compute", "garbage_collection") if other != name]
        taken = {cause.rank for cause in self.causes}
        for candidate in [name] + others:
            cause = draw_cause(self.settings, self.sizes, candidate, at, taken)
            before = self.run(self.causes).duration()
            for _ in range(MOST_TRIES):
                excess = self.run([*self.causes, cause]).duration() - before
                share = excess / len(cause.steps) / self.sizes.step_ns
                if share > MOST_SHARE:
                    weaken(cause)
                elif share > LEAST_SHARE * 1.1:
                    return cause
                elif not strengthen(cause):
                    break
        raise TooWeak(f"no cause lengthens the job of seed {self.settings.seed} enough")

    def measure(self):
        """By how many nanoseconds each cause lengthens the job: all of it less what is left without this one. Of two
        causes, one may come to nothing that way because the other hides it; it is then made stronger."""
        alone = dataclasses.replace(self.causes[0])
        for _ in range(MOST_TRIES):
            whole = self.run(self.causes).duration()
            excesses = [whole - self.run(self.causes[:at] + self.causes[at + 1:]).duration()
                        for at in range(len(self.causes))]
            weak = [cause for cause, excess in zip(self.causes, excesses)
                    if excess / len(cause.steps) < LEAST_SHARE * self.sizes.step_ns]
            if not weak:
                return excesses
            if not all([strengthen(cause) for cause in weak]):
                break
        self.causes = [alone]  # which was strong enough
        return [self.run(self.causes).duration() - self.run(()).duration()]

    def candidates(self, cause):
        """The ranks between which slow transfers do not decide: those in all groups that are slow."""
        if cause.cause != "network":
            return [cause.rank]
        groups = {collective.ranks for collective in self.program.collectives if cause.touches(collective)}
        return sorted(set.intersection(*map(set, groups)))
