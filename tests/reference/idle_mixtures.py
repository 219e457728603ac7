"""Random programs for idle_simulator.py."""
from idle_machine import RUNTIMES, Machine


class Mixture:
    """A program that does several of these things in each step."""

    def __init__(self, machine, host, rng):
        self.machine, self.host, self.rng = machine, host, rng
        self.is_cold = rng.random() < 0.3
        self.known = set()
        self.devices = rng.choice((1, 1, 1, 2, 3))
        self.device = 0
        self.last = []
        self.scale = rng.choice((0.2, 1, 1, 4))
        self.names = [f"aten::op{number}" for number in range(rng.randint(3, 9))]
        has_allocator = machine.names["malloc"] is not None
        every = [self.compute] * 5 + [self.small, self.python, self.annotation, self.item, self.copy, self.synchronize,
                                      self.event, self.collect, self.gloo, self.lookup, self.recompile, self.overhead,
                                      self.backward, self.peer, self.jitter, self.other, self.load]
        every += [self.allocate, self.retry] if has_allocator else []
        every += [self.unrecorded] if machine.names["graph"] is not None else []
        every += [self.next_device] * 3 if self.devices > 1 else []
        self.parts = rng.sample(every, rng.randint(3, 9)) + [self.compute, self.compute]

    def run(self):
        host, rng = self.host, self.rng
        for name in self.names:
            self.operator(name)
        host.item()
        for self.number in range(rng.randint(3, 7)):
            with host.frame("train.py(10): main"), host.step(self.number):
                for _ in range(rng.randint(4, 14)):
                    rng.choice(self.parts)()
                    host.python(host.between(0.5, 20 * self.scale))

    def operator(self, name=None, **options):
        name = name or self.rng.choice(self.names)
        is_first = name not in self.known
        self.known.add(name)
        if is_first and self.is_cold:
            options.update(call_ns=self.host.between(1500, 9000), label="cold_start")
        after = self.last if self.devices > 1 else ()
        self.last = [self.host.run(name, device=self.device, after=after, **options)]

    def compute(self):
        for _ in range(self.rng.randint(2, 8)):
            self.operator(duration=self.host.between(2, 60 * self.scale))

    def small(self):
        for _ in range(self.rng.randint(5, 20)):
            self.operator(duration=self.host.between(1, 4))

    def python(self):
        self.host.python(self.host.between(20, 400 * self.scale))

    def annotation(self):
        self.host.annotated("layer", self.host.between(20, 400 * self.scale))

    def item(self):
        self.host.item(self.device)

    def copy(self):
        self.host.pageable_copy(self.device)

    def synchronize(self):
        self.host.synchronize(self.device)

    def event(self):
        of_device = [each for each in self.machine.activities if each.device == self.device]
        self.host.wait("event_wait", of_device[-1:])

    def named(self, category, name, cause, low, high):
        with self.host.range(category, name, cause):
            self.host.spend(self.host.between(low, high * self.scale), cause)

    def load(self):
        self.named("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data", 10, 900)

    def collect(self):
        self.named("cpu_op", "Python GC", "garbage_collection", 10, 900)

    def gloo(self):
        self.named("user_annotation", "gloo:all_reduce", "host_communication", 10, 900)

    def lookup(self):
        self.named("cpu_op", "TorchDynamo Cache Lookup", "compiler", 10, 200)

    def recompile(self):
        if self.number > 0:
            self.named("cpu_op", "compile_fx (dynamo_timed)", "compiler", 10, 900)

    def overhead(self):
        host = self.host
        with host.operator("aten::mm"):
            start = host.now
            host.launch("kernel_of_aten::mm", self.device, call_ns=host.between(40, 800), label="profiler")
            self.machine.record("overhead", "Activity Buffer Request", (-1, 0), start, host.now)

    def allocate(self):
        host = self.host
        with host.operator("aten::empty"):
            host.call("malloc", host.between(50, 900), "allocation")
        if self.rng.random() < 0.5:
            host.call("free", host.between(50, 900), "allocation")

    def retry(self):
        host = self.host
        with host.operator("aten::empty"):
            host.doing.append("allocation")
            host.synchronize(self.device)
            host.call("free", host.between(50, 300), "allocation")
            host.call("malloc", host.between(50, 300), "allocation")
            host.doing.pop()

    def backward(self):
        host = self.host
        with host.frame("torch/autograd/graph.py(800): _engine_run_backward"):
            with host.on_thread(1001 + self.device):
                for _ in range(self.rng.randint(3, 9)):
                    with host.operator("autograd::engine::evaluate_function: MulBackward0"):
                        host.spend(host.between(2, 9), "launches")
                        self.operator(duration=host.between(2, 40 * self.scale))

    def peer(self):
        self.operator(blocked_until=self.host.now + self.host.between(20, 400 * self.scale))

    def jitter(self):
        self.operator("aten::op0", call_ns=self.host.between(1000, 1900))

    def other(self):
        self.host.call("record", self.host.between(2, 30), "launches")

    def unrecorded(self):
        host = self.host
        first = host.launch("body", self.device, what="graph", duration=host.between(20, 60))
        rest = host.launch("body", self.device, what="record", is_recorded=False, duration=host.between(1200, 4000),
                           after=[first])
        host.launches.pop()
        host.wait("stream_wait", [rest])

    def next_device(self):
        self.device = (self.device + 1) % self.devices


def mixture(rng):
    machine = Machine(rng, rng.choice(sorted(RUNTIMES)), rng.random() < 0.5)
    Mixture(machine, machine.host(), rng).run()
    return machine
