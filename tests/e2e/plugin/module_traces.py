"""Random traces with modules: small ones, in which a module rarely appears without something unusual."""
import json
import random

PASS = "autograd::engine::evaluate_function: "
GRADIENT = PASS + "torch::autograd::AccumulateGrad"
MODULES = ["nn.Module: Net_0", "nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Block_0", "Plain",
           "nn.Module: nn.Module: Twice"]
OPERATORS = ["aten::mm", "aten::add", "aten::relu", "aten::mm", "DataParallel.forward", "Optimizer.zero_grad#SGD",
             "Optimizer.step#SGD", "enumerate(DataLoader)#_Iter.__next__", "nccl:all_reduce"]
PATHS = ["net", "net.0", "net.1", "net.0.0", "head", "head.a.b", "other.c", "a.", ".b"]


class Architecture:
    """What a call of a module does each time: submodules by their places."""

    def __init__(self, rng, depth=0):
        self.name, self.id = rng.choice(MODULES), rng.randrange(5)
        self.path = rng.choice(PATHS)
        self.frames = rng.randrange(3)  # Python functions between it and its submodules
        self.operators = rng.randrange(4)
        self.inner = [Architecture(rng, depth + 1) for _ in range(rng.randrange(4))] if depth < 3 else []
        if self.inner and rng.random() < 0.3:
            self.inner.append(self.inner[0])  # one submodule called twice


class Recording:
    def __init__(self, seed, flows):
        self.rng = random.Random(seed)
        self.flow_category = flows
        self.lightning = self.rng.random() < 0.15
        self.is_odd = self.rng.random() < 0.35  # with what makes the plugin fail at times
        self.ticks = self.rng.choice([1, 1, 1, 8, 1000])  # per microsecond
        self.spread = 37 if self.ticks == 1000 else 1
        self.events, self.flows = [], []
        self.python_id = self.external_id = self.correlation = 0
        self.forward = []  # starts of operators in modules
        self.has_kernels = self.rng.random() < 0.6

    def odd(self, share=0.03):
        return self.is_odd and self.rng.random() < share

    def time(self, ticks):
        ticks *= self.spread
        return ticks // self.ticks if ticks % self.ticks == 0 else ticks / self.ticks

    def add(self, category, name, start, end, thread, **arguments):
        if self.odd(0.01):
            end += self.rng.randrange(1, 40)
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": self.time(start),
                            "dur": self.time(end - start), "args": arguments})

    def parts(self, start, end, count):
        """Ranges one after the other; some begin or end with what is around them."""
        if end - start < 2 * count or count == 0:
            return []
        cuts = sorted(self.rng.sample(range(start + 1, end), 2 * count - 2)) if count > 1 else []
        cuts = [start + (self.rng.random() < 0.8)] + cuts + [end - (self.rng.random() < 0.8)]
        return [pair for pair in zip(cuts[::2], cuts[1::2]) if pair[0] < pair[1]]

    def frame(self, category, name, start, end, thread, parent, **arguments):
        self.python_id += 1
        own = self.python_id
        ids = {"Python id": own, "Python parent id": parent, **arguments}
        if parent is None or self.odd():
            del ids["Python parent id"]
        if self.odd(0.005):
            del ids["Python id"]
        if self.odd():
            ids["Python id"] = self.rng.randrange(1, own + 1)
        if self.odd():
            ids["Python parent id"] = self.rng.randrange(own + 3)
        self.add(category, name, start, end, thread, **ids)
        return own

    def operator(self, start, end, thread, in_module, depth=0):
        self.external_id += 1
        ids = {"External id": self.external_id}
        if self.odd():
            ids["External id"] = self.rng.choice([1, self.external_id - 1])
        if self.odd():
            ids = self.rng.choice([{}, {"External id": 0}])
        name = self.rng.choice(OPERATORS[:4] if self.rng.random() < 0.8 else OPERATORS)
        self.add("cpu_op", name, start, end, thread, **ids)
        if in_module and depth == 0:
            self.forward.append(start)
        if self.has_kernels and self.rng.random() < 0.5 and end - start > 3:
            self.launch(start, end, thread, ids)
        if depth < 2 and self.rng.random() < 0.4:
            for inner in self.parts(start, end, self.rng.randrange(1, 3)):
                self.operator(*inner, thread, in_module, depth + 1)

    def launch(self, start, end, thread, ids):
        self.correlation += not self.odd()
        if self.odd(0.1):
            ids = self.rng.choice([{}, {"External id": 0}])
            thread = self.rng.randrange(1, 4)
        self.add("Runtime", "cudaLaunchKernel", start + 1, start + 2, thread, correlation=self.correlation, **ids)
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            begin = start + self.rng.randrange(-3, 60)
            self.add("kernel", "gemm", begin, begin + self.rng.randrange(1, 30), 7, correlation=self.correlation,
                     device=0, **ids)
            self.events[-1]["pid"] = 0

    def call(self, module, start, end, thread, parent):
        if self.lightning:
            kind = self.rng.choice(["torch.nn.Linear: ", "torch.nn.Linear: ", "Net: "])
            self.external_id += 1
            self.add("cpu_op", "[pl][module]" + ("" if self.odd() else kind) + module.path, start, end, thread,
                     **{"External id": self.external_id})
            own = parent
        else:
            own = self.frame("python_function", module.name, start, end, thread, parent,
                             **{"Python module id": module.id})
        for number in range(module.frames):
            if end - start > 8:
                start, end = start + 1, end - 1
                own = self.frame("python_function", f"forward{number}", start, end, thread, own)
        work = module.inner + [None] * module.operators
        self.rng.shuffle(work) if self.odd(0.2) else None
        for part, (begin, stop) in zip(work, self.parts(start, end, len(work))):
            if part is None:
                self.operator(begin, stop, thread, True)
            else:
                self.call(part, begin, stop, thread, own)

    def backward(self, start, thread):
        """Passes for some of the forward operators, later than all of them."""
        for number, forward in enumerate(reversed(self.forward)):
            if self.rng.random() < 0.3:
                continue
            end = start + 10 + self.rng.randrange(20)
            name = GRADIENT if self.odd() else PASS + "MmBackward0"
            self.add("cpu_op", name, start, end, thread, **{"External id": 10_000 + number})
            self.add("cpu_op", "MmBackward0", start + 1, end - 1, thread, **{"External id": 20_000 + number})
            if self.odd(0.1) and not self.lightning:
                self.frame("python_function", self.rng.choice(MODULES), start + 2, end - 2, thread, None,
                           **{"Python module id": self.rng.randrange(5)})
            if self.flow_category and self.rng.random() < 0.9:
                twice = self.odd(0.05)
                for time in [forward] + [self.rng.choice(self.forward)] * twice:
                    self.arrow(time, start + 1 if not self.odd() else start)
            if self.rng.random() < 0.3:
                self.add("cpu_op", GRADIENT, end, end + 3, thread, **{"External id": 30_000 + number})
                end += 3
            start = end + self.rng.randrange(4)
        return start

    def arrow(self, forward, backward):
        number = len(self.flows) // 2
        for phase, ticks in (("s", forward), ("f", backward)):
            self.flows.append({"ph": phase, "cat": self.flow_category, "name": "fwdbwd", "id": number, "pid": 1,
                               "tid": 1, "ts": self.time(ticks), **({"bp": "e"} if phase == "f" else {})})

    def make(self):
        models = [Architecture(self.rng) for _ in range(self.rng.randrange(1, 3))]
        now = 10
        for step in range(self.rng.randrange(1, 4)):
            thread = 1 if self.rng.random() < 0.7 else self.rng.randrange(2, 4)
            start, first = now, now + 1
            self.forward.clear()
            for model in models:
                if self.rng.random() < 0.3:
                    continue
                end = first + self.rng.randrange(20, 400)
                outer = self.frame("python_function", "train", first, end, thread, None)
                self.call(model, first + 1, end - 1, thread, outer)
                first = end + self.rng.randrange(1, 5)
            self.operator(first, first + 9, thread, False)
            first += 10
            if self.rng.random() < 0.6:
                first = self.backward(first, self.rng.choice([thread, 4]))
            now = first + 1
            if self.rng.random() < 0.6:
                self.add("user_annotation", f"ProfilerStep#{step}", start, now, thread, **{"External id": 50_000 + step})
        if self.lightning:
            self.add("cpu_op", "[pl][profile]run_training_batch", 5, now + 1, 1)
        rows = self.events + self.flows
        if self.rng.random() < 0.3:
            self.rng.shuffle(rows)
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "computeMajor": 8}]}
        if self.lightning:
            trace["Framework"] = "pytorch-lightning"
        return {**trace, "traceEvents": rows}


def random_trace(seed, flows):
    """`flows`: the category of flow events from forward to backward, None for a trace without them."""
    return json.loads(json.dumps(Recording(seed, flows).make()))
