"""What makes ranks slow: the causes that a job has, and what they change while it is simulated."""
import random
from dataclasses import dataclass

CAUSES = ("compute", "input", "launch", "memory", "network", "garbage_collection")


@dataclass
class Cause:
    cause: str
    rank: int
    steps: tuple            # from 0
    variant: str = ""
    magnitude: float = 0.0  # compute and network: a factor; others: nanoseconds per step, launch: per launch
    places: tuple = ()      # where in a step the host is held, as shares of its slots
    peer: int = -1          # the other end of a slow link, if only one is slow
    seed: str = ""

    def touches(self, collective):
        if collective.step not in self.steps or self.rank not in collective.ranks:
            return False
        return self.peer < 0 or self.peer in collective.ranks


@dataclass
class Hiccup:
    rank: int
    step: int
    ns: int
    place: float


class Effects:
    """The causes and hiccups of one simulation. Those of a rank are the same whatever the others have."""

    def __init__(self, causes=(), hiccups=(), slots=None, work=None):
        self.work = work or {}   # by rank and step, how much of it there is
        self.kernels, self.loaders, self.launches, self.slots = {}, {}, {}, {}
        self.networks = []
        for hiccup in hiccups:
            at = int(hiccup.place * slots[hiccup.rank])
            self.slots[hiccup.rank, hiccup.step, at] = ("pause", hiccup.ns)
        for cause in causes:
            self.add(cause, slots)

    def add(self, cause, slots):
        noise = random.Random(cause.seed)
        if cause.cause == "network":
            self.networks.append(cause)
            return
        for step in cause.steps:
            key = (cause.rank, step)
            if cause.cause == "compute":
                self.kernels[key] = (cause.magnitude, cause.variant == "more_work")
            elif cause.cause == "input":
                self.loaders[key] = int(cause.magnitude * noise.uniform(0.9, 1.1))
            elif cause.cause == "launch":
                self.launches[key] = (cause.magnitude, random.Random(f"{cause.seed}/{step}"))
            else:
                kind = "memory" if cause.cause == "memory" else "gc"
                for place in cause.places:
                    amount = int(cause.magnitude / len(cause.places) * noise.uniform(0.8, 1.2))
                    self.occupy(cause.rank, step, int(place * slots[cause.rank]), slots[cause.rank], (kind, amount))

    def occupy(self, rank, step, slot, count, effect):
        for at in range(count):
            key = (rank, step, (slot + at) % count)
            if key not in self.slots:
                self.slots[key] = effect
                return
        raise ValueError("a step has too few places where its host can be held")

    def kernel_factor(self, rank, step, name):
        factor = self.work.get((rank, step), 1.0)
        slower = self.kernels.get((rank, step))
        if slower is None or (slower[1] and "gemm" not in name and "mm" not in name):
            return factor
        return factor * slower[0]

    def loader_extra(self, rank, step):
        return self.loaders.get((rank, step), 0)

    def launch_extra(self, rank, step):
        extra = self.launches.get((rank, step))
        return int(extra[0] * extra[1].uniform(0.7, 1.3)) if extra else 0

    def slot(self, rank, step, slot):
        return self.slots.get((rank, step, slot))

    def transfer_factor(self, collective):
        factor = 1.0
        for cause in self.networks:
            if cause.touches(collective):
                factor = max(factor, cause.magnitude)
        return factor
