"""The clocks of ranks: what each shows at a true time, and the true time of what it shows. Integers only."""
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    offset_ns: int = 0
    drift_ppb: int = 0
    base_ns: int = 0       # the file's baseTimeNanoseconds
    reference_ns: int = 0

    def shown(self, true_ns):
        """What the file has as its time, before base_ns is added."""
        return true_ns + self.offset_ns + (true_ns - self.reference_ns) * self.drift_ppb // 10**9 - self.base_ns

    def true(self, shown_ns):
        """The true time of shown(), within a nanosecond."""
        since = shown_ns + self.base_ns - self.offset_ns - self.reference_ns
        return self.reference_ns + (since * 10**9 + (10**9 + self.drift_ppb) // 2) // (10**9 + self.drift_ppb)


def draw_clocks(settings, reference_ns):
    """Clocks of all ranks. The first is right: true time is what it shows."""
    rng = random.Random(f"{settings.clock_seed}/clocks")
    clocks = []
    for rank in range(settings.world_size):
        node = rank // settings.gpus_per_node
        base = (reference_ns // 10**15 - rng.randrange(1, 4)) * 10**15 + rng.randrange(4) * 10**9
        if not settings.dialect.has_base:
            base = 0
        limits = {"close": (20_000, 0), "per_node": (10**9, 50_000), "free": (10**9, 50_000)}
        offset, drift = limits[settings.clock_kind]
        of_node = random.Random(f"{settings.clock_seed}/clocks/{node}") if settings.clock_kind == "per_node" else rng
        offset, drift = of_node.randint(-offset, offset), of_node.randint(-drift, drift)
        if rank == 0 or (settings.clock_kind == "per_node" and node == 0):
            offset = drift = 0
        clocks.append(Clock(offset, drift, base, reference_ns))
    return clocks
