"""What the ranks of a job do: lists of instructions for hosts, streams and collectives, with their nominal durations.

A program has no causes in it. The simulator adds them, so two simulations of a program differ by nothing else.
Durations are nanoseconds. All noise is drawn here, from a generator per rank and purpose.
"""
import random
from dataclasses import dataclass, field

COMPUTE_STREAM = 7
MAIN, BACKWARD, RUN_LOOP = 0, 1, 2  # threads of a rank: the program's, autograd's, gloo's


@dataclass(slots=True)
class Collective:
    group: str
    name: str            # c10d's: allreduce, send, ...
    annotation: str      # after "nccl:" or "gloo:"
    operator: str        # c10d::allreduce_; an operator's own name if `custom`
    step: int            # number of the step in the recording
    sequence: int        # in the group or the direction, from 0
    recorded_sequence: int  # as torch counts, from the start of the job
    dtype: str
    in_elements: int
    out_elements: int
    bytes: int
    transfer: int
    ranks: tuple
    custom: bool = False
    sender: int = -1
    receiver: int = -1
    jitter: dict = field(default_factory=dict)   # by rank
    starts: dict = field(default_factory=dict)
    ends: dict = field(default_factory=dict)
    actual_transfer: int = 0

    def clear(self):
        self.starts, self.ends, self.actual_transfer = {}, {}, 0


class Noise:
    """Durations near a nominal one, from a generator of its own."""

    def __init__(self, seed, sigma):
        self.random = random.Random(seed)
        self.sigma = sigma

    def __call__(self, nominal):
        spread = self.random.gauss(0, self.sigma)
        return max(1, int(nominal * (1 + max(-3 * self.sigma, min(3 * self.sigma, spread)))))


class RankProgram:
    """The instructions of one rank. `code` holds tuples, whose first element says which; simulator.py runs them."""

    def __init__(self, rank, settings):
        name = f"{settings.seed}/{rank}"
        self.rank = rank
        self.code = []
        self.step = 0
        self.slots = 0
        self.settings = settings
        self.kernel_noise = Noise(name + "/kernels", settings.kernel_noise)
        self.host_noise = Noise(name + "/host", settings.host_noise)
        constant = random.Random(name + "/constant")
        self.gpu_factor = 1 + constant.random() * settings.rank_spread
        self.host_factor = 1 + constant.random() * settings.rank_spread
        self.events = 0
        self.last_event = None   # of the step before

    # Hosts.

    def begin(self, name, category="cpu_op", thread=MAIN):
        self.code.append(("begin", name, category, thread))

    def end(self):
        self.code.append(("end",))

    def host(self, nominal):
        self.code.append(("host", self.host_noise(nominal * self.host_factor)))

    def loader(self, nominal):
        """Waits for the data loader."""
        self.code.append(("loader", self.host_noise(nominal), self.step))

    def cpu_operator(self, name, nominal, thread=MAIN):
        """An operator that computes on the host."""
        self.code.append(("cpu", name, thread, self.kernel_noise(nominal * self.gpu_factor), self.step))

    def slot(self, thread):
        """A place where a pause of the host may happen."""
        self.code.append(("slot", self.step, self.slots, thread))
        self.slots += 1

    def pause(self, nominal, name):
        self.begin(name, "user_annotation")
        self.code.append(("host", int(nominal)))
        self.end()

    # Streams.

    def kernel(self, operator, kernel, nominal, thread=MAIN, stream=COMPUTE_STREAM):
        settings = self.settings
        self.code.append(("kernel", operator, kernel, stream, thread,
                          self.kernel_noise(nominal * self.gpu_factor * settings.kernel_scale),
                          self.host_noise(settings.launch_ns * self.host_factor), self.step))

    def copy_to_device(self, nominal, size):
        self.code.append(("copy", "aten::copy_", "Memcpy HtoD (Pinned -> Device)", COMPUTE_STREAM, MAIN,
                          self.kernel_noise(nominal * self.settings.kernel_scale),
                          self.host_noise(self.settings.launch_ns), self.step, size))

    def collective(self, collective, stream, thread=MAIN):
        launch = self.host_noise(3 * self.settings.launch_ns * self.host_factor)
        self.code.append(("collective", collective, stream, thread, launch, self.step))

    def host_collective(self, collective):
        self.code.append(("host_collective", collective, self.host_noise(20_000)))

    def record(self, stream):
        """An event after what `stream` has to do so far."""
        self.events += 1
        self.code.append(("record", stream, self.events))
        return self.events

    def wait(self, stream, event):
        """What `stream` gets from now on waits for the event."""
        self.code.append(("wait", stream, event))

    def synchronize(self, stream, thread=MAIN):
        """The host waits for the stream, as `loss.item()` does."""
        self.code.append(("synchronize", stream, thread))

    def wait_event(self, event):
        """The host waits for the event."""
        self.code.append(("host_wait", event))

    # Steps.

    def begin_step(self, step):
        self.step = step
        self.slots = 0
        self.code.append(("step", step))

    def end_step(self):
        self.code.append(("step_end", self.step))


class Program:
    """The programs of all ranks, and the collectives between them."""

    def __init__(self, settings):
        self.settings = settings
        self.groups = {}      # name -> ranks
        self.descriptions = {}
        self.collectives = []
        self.noise = Noise(f"{settings.seed}/transfers", settings.transfer_noise)
        self.jitter = random.Random(f"{settings.seed}/jitter")
        self.start = random.Random(f"{settings.seed}/starts")
        self.counts = {}
        self.recorded = {}
        self.ranks = [RankProgram(rank, settings) for rank in range(settings.world_size)]
        self.starts = [self.start.randrange(settings.start_spread_ns + 1) for _ in self.ranks]

    def group(self, name, ranks, description):
        self.groups[name] = tuple(ranks)
        self.descriptions[name] = description
        self.recorded[name] = 1 + self.start.randrange(5000)
        return name

    def is_inside_node(self, ranks):
        return len({rank // self.settings.gpus_per_node for rank in ranks}) == 1

    def transfer_time(self, name, size, ranks):
        settings = self.settings
        inside = self.is_inside_node(ranks)
        bandwidth = settings.inner_bandwidth if inside else settings.outer_bandwidth  # bytes per ns
        others = len(ranks) - 1
        rounds = {"allreduce": 2 * others, "_allgather_base": others, "_reduce_scatter_base": others}.get(name, 1)
        share = rounds / len(ranks) if name not in ("send", "broadcast") else 1
        latency = (4_000 if inside else 12_000) + rounds * 700
        return self.noise((latency + size * share / bandwidth) * settings.network_factor * settings.transfer_scale)

    def message(self, kind, group, step, elements, dtype, ranks=None, custom=None):
        """A new collective of a group, or of a sender and a receiver in it."""
        names = {"allreduce": ("all_reduce", "c10d::allreduce_"),
                 "_allgather_base": ("_all_gather_base", "c10d::_allgather_base_"),
                 "_reduce_scatter_base": ("_reduce_scatter_base", "c10d::_reduce_scatter_base_"),
                 "broadcast": ("broadcast", "c10d::broadcast_"),
                 "send": ("send", "c10d::send")}
        annotation, operator = names[kind]
        members = tuple(ranks) if ranks else self.groups[group]
        key = (group, *members) if kind == "send" else group
        sequence = self.counts.get(key, 0)
        self.counts[key] = sequence + 1
        size = elements * (2 if dtype in ("BFloat16", "Half") else 4)
        parts = len(members)
        collective = Collective(
            group=group, name=kind, annotation=annotation, operator=custom or operator, step=step, sequence=sequence,
            # c10d writes the number of the next collective beside messages, so it stays the same for them.
            recorded_sequence=self.recorded[group] + (0 if kind == "send" else sequence), dtype=dtype,
            in_elements=elements // parts if kind == "_allgather_base" else elements,
            out_elements=elements // parts if kind == "_reduce_scatter_base" else elements,
            bytes=size, transfer=self.transfer_time(kind, size, members), ranks=members, custom=bool(custom))
        if kind == "send":
            collective.sender, collective.receiver = members
        collective.jitter = {rank: self.jitter.randrange(self.settings.end_jitter_ns + 1) for rank in members}
        # One rank sees the end as it is.
        collective.jitter[members[self.jitter.randrange(parts)]] = 0
        self.collectives.append(collective)
        return collective
