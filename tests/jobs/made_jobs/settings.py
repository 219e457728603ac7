"""What a job is like: everything that is drawn from its seed before it is simulated.

Each setting has a generator of its own, so giving one (`draw(7, kind="ddp")`) leaves the others as they were, as far as
they do not depend on it.
"""
import random
from dataclasses import dataclass

from .dialects import DIALECTS, Dialect
from .effects import CAUSES

LONGER = 400   # steps of seconds, in which a clock drifts by more than a collective's end is known to
KINDS = ("ddp", "fsdp", "tp", "tp_dp", "pp", "pp_dp", "custom", "gloo")


@dataclass
class Settings:
    seed: int
    kind: str
    world_size: int
    gpus_per_node: int
    tensor_ranks: int          # of one group
    stages: int
    micro_batches: int
    schedule: str              # of a pipeline: gpipe, 1f1b
    steps: int
    first_step: int
    layers: int
    extra_layers: int          # of a pipeline's last stage
    dialect: Dialect
    clean: bool
    cause_names: tuple
    hiccup: bool
    clock_kind: str            # close, per_node, free
    clock_seed: int
    length: str                # short, long_steps, pause
    wait: str                  # how hosts wait for the GPU: each step, or for the one before
    tensor_stream: str         # compute, own
    kernel_noise: float
    host_noise: float
    transfer_noise: float
    rank_spread: float
    launch_ns: int
    kernel_scale: float
    transfer_scale: float
    network_factor: float
    inner_bandwidth: float     # bytes per ns
    outer_bandwidth: float
    start_spread_ns: int
    end_jitter_ns: int
    with_stack: bool
    grad_norm: bool
    bucket_elements: int
    activation_elements: int
    pause_ns: int
    loader_ns: int             # how long all ranks wait for data
    imbalance: float           # by how much the work of a rank differs from step to step, at most
    file_names: str            # rank, worker
    same_pids: bool            # as in containers

    @property
    def records_gc(self):
        """torch records garbage collections since 2.9, when asked to, with stacks."""
        return self.with_stack and self.dialect.name == "torch_2_10"

    @property
    def is_compact(self):
        """Whether launch configurations are left out, so that large jobs stay small."""
        return self.world_size > 16


def world_sizes(kind):
    return {"tp": (4, 8), "custom": (4, 8), "gloo": (4, 8, 16), "pp": (4, 8), "pp_dp": (8, 16, 32),
            "tp_dp": (8, 16, 32, 64)}.get(kind, (4, 8, 8, 16, 32, 64))


def draw(seed, **given):
    values = {"seed": seed}

    def pick(name, make):
        if name in given:
            values[name] = given.pop(name)
        else:
            values[name] = make(random.Random(f"{seed}/settings/{name}"))
        return values[name]

    kind = pick("kind", lambda r: r.choice(KINDS + ("ddp", "fsdp", "tp_dp", "pp_dp")))
    world = pick("world_size", lambda r: r.choice(world_sizes(kind)))
    pick("gpus_per_node", lambda r: 8 if world <= 8 or r.random() < 0.8 else 4)
    pick("tensor_ranks", lambda r: {"tp": world, "custom": world, "tp_dp": r.choice((2, 4, 8 if world > 8 else 4))}
         .get(kind, 1))
    pick("stages", lambda r: {"pp": world, "pp_dp": 4 if world <= 16 else r.choice((4, 8))}.get(kind, 1))
    pick("micro_batches", lambda r: r.choice((4, 6, 8)) if world <= 8 else 4)
    pick("schedule", lambda r: r.choice(("gpipe", "1f1b")))
    pick("steps", lambda r: r.randint(4, 10) if world <= 8 else r.randint(4, 6) if world <= 32 else 4)
    pick("first_step", lambda r: r.randrange(1, 500))
    pick("layers", lambda r: r.randint(3, 5) if world <= 8 else 3 if world <= 32 else 2)
    pick("extra_layers", lambda r: r.choice((0, 1, 1)) if kind.startswith("pp") else 0)
    names = ["torch_2_10"] * 5 + ["torch_2_5"] * 2 + ["torch_2_3", "torch_2_0", "torch_1_12", "rocm_2_7"]
    dialect = pick("dialect", lambda r: "torch_2_10" if kind == "gloo" else r.choice(names))
    if isinstance(dialect, str):
        values["dialect"] = DIALECTS[dialect]
    clean = pick("clean", lambda r: r.random() < 0.5)
    pick("cause_names", lambda r: () if clean else draw_causes(r, kind))
    pick("hiccup", lambda r: r.random() < 0.4)
    pick("clock_kind", lambda r: r.choice(("close", "close", "free", "per_node")))
    pick("clock_seed", lambda r: seed)
    length = pick("length", lambda r: r.choice(("short",) * 8 + ("long_steps", "pause")))
    pick("wait", lambda r: r.choice(("each", "each", "each", "previous")))
    pick("tensor_stream", lambda r: r.choice(("compute", "compute", "own")))
    pick("kernel_noise", lambda r: r.uniform(0.01, 0.05))
    pick("host_noise", lambda r: r.uniform(0.01, 0.05))
    pick("transfer_noise", lambda r: r.uniform(0.005, 0.05))
    pick("rank_spread", lambda r: r.uniform(0, 0.009))
    pick("launch_ns", lambda r: r.randint(9_000, 18_000))
    long = length == "long_steps"
    pick("kernel_scale", lambda r: r.uniform(0.6, 1.6) * (LONGER if long else 1))
    pick("transfer_scale", lambda r: LONGER if long else 1)
    pick("network_factor", lambda r: r.uniform(1.5, 4) if clean and r.random() < 0.25 else 1.0)
    pick("inner_bandwidth", lambda r: r.uniform(100, 350))
    pick("outer_bandwidth", lambda r: r.uniform(20, 45))
    pick("start_spread_ns", lambda r: r.randint(0, 300_000))
    pick("end_jitter_ns", lambda r: r.randint(0, 3_000))
    pick("with_stack", lambda r: r.random() < 0.6)
    pick("grad_norm", lambda r: r.random() < 0.5)
    pick("bucket_elements", lambda r: r.randint(2, 7) * 1_000_000)
    pick("activation_elements", lambda r: r.randint(2, 8) << 20)
    pick("pause_ns", lambda r: r.randint(20, 40) * 1_000_000_000 if length == "pause" else 0)
    pick("loader_ns", lambda r: r.randint(1_500_000, 6_000_000) if r.random() < 0.15 else 60_000)
    pick("imbalance", lambda r: 0.0)
    pick("file_names", lambda r: r.choice(("rank", "worker")))
    pick("same_pids", lambda r: r.random() < 0.3)
    if given:
        raise TypeError(f"a job has no settings {', '.join(sorted(given))}")
    settings = Settings(**values)
    if settings.steps < 2 or settings.world_size < 2:
        raise ValueError("a job has at least two ranks and two steps")
    return settings


def draw_causes(rng, kind):
    names = [name for name in CAUSES if allows(kind, name)]
    return tuple(rng.sample(names, 2)) if rng.random() < 0.15 else (rng.choice(names),)


def allows(kind, cause):
    if kind == "custom":
        return cause not in ("input", "network")  # a server has no data loader, its ranks one group in one node
    if kind == "gloo":
        return cause not in ("launch", "memory")  # which are of GPUs
    return True
