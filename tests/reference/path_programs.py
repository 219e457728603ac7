"""Programs of a host and a device whose critical path is known, because they are simulated here."""
import json


class Event:
    """Something that happens at a time, after a cause: another event, and what was done since then."""

    def __init__(self, time, cause=None, kind=None, name=None):
        self.time, self.cause, self.kind, self.name = time, cause, kind, name


LAUNCH, GAP, EVENT, RETURN, OWN = 4_321, 1_017, 1_703, 2_131, 3_019
OPERATORS = ["aten::mm", "aten::add", "aten::relu", "aten::_softmax"]
KERNELS = ["gemm_kernel", "add_kernel", "relu_kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"]


def make_step(rng, has_backward, ends_with_sync, streams=(7, 7, 7, 20), syncs=(7, 20, None, None)):
    """What a step does: actions with their durations in ns."""
    actions = []

    def add_work(thread, count):
        for _ in range(count):
            actions.append((thread, "code", rng.randint(100, 9_000)))
            what = rng.random()
            if what < 0.75:
                stream = rng.choice(streams)
                kernel = rng.choice(KERNELS)
                if stream == 20 and rng.random() < 0.6:
                    actions.append((thread, "wait_event", 20, 7))
                if stream == 7 and 20 in streams and rng.random() < 0.2:
                    actions.append((thread, "wait_event", 7, 20))
                length = rng.choice([1, 1, 1, 20]) * rng.randint(500, 9_000)
                actions.append((thread, "launch", rng.choice(OPERATORS), rng.randint(50, 5_000), rng.randint(900, 4_000),
                                rng.randint(50, 3_000), stream, kernel, length))
            elif what < 0.85:
                actions.append((thread, "operator", rng.choice(OPERATORS), rng.randint(500, 90_000)))
            else:
                actions.append((thread, "sync", rng.choice(syncs)))

    actions.append((1, "loader", rng.randint(100, 60_000)))
    add_work(1, rng.randint(3, 15))
    if has_backward:
        actions.append((1, "hand_over", rng.randint(100, 9_000)))
        add_work(2, rng.randint(2, 15))
        actions.append((2, "hand_back", rng.randint(100, 9_000)))
    add_work(1, rng.randint(1, 5))
    if ends_with_sync:
        actions.append((1, "sync", syncs[-1]))
    actions.append((1, "code", rng.randint(100, 20_000)))
    return actions


def warm_up():
    """What a program does before its steps: each delay without another cause, so that all are known."""
    actions = []

    def launch(stream, length):
        actions.extend([(1, "code", 500), (1, "launch", "aten::mm", 100, 1_500, 100, stream, "gemm_kernel", length)])

    for _ in range(9):
        for stream in (None, 7, 20):
            for other in (7, 20):
                launch(other, 50_000)
                launch(other, 70_000)
            actions += [(1, "sync", stream), (1, "sync", None), (1, "code", 9_000), (1, "sync", stream),
                        (1, "code", 5_000)]
        for stream, other in ((7, 20), (20, 7)):
            launch(other, 40_000)
            actions.append((1, "wait_event", stream, other))
            launch(stream, 30_000)
            actions += [(1, "sync", None), (1, "code", 9_000)]
    return actions


def vary(rng, actions):
    """The same step with other durations."""
    return [tuple(max(1, round(each * rng.uniform(0.8, 1.25))) if isinstance(each, int) and place > 1 and each > 20
                  else each for place, each in enumerate(action)) for action in actions]


class Change:
    """Factors of durations; by default there is no change."""

    def operator(self, name):
        return 1

    def kernel(self, name, operator):
        return 1

    def launch(self):
        return 1

    def call(self, name, operator):
        return self.operator(operator)

    def loader(self):
        return 1

    def own(self):
        """Of what the host does besides, and of calls."""
        return 1


class Scaled(Change):
    """One thing takes a factor of its time."""

    def __init__(self, kind, name, factor):
        self.what, self.name, self.factor = kind, name, factor

    def text(self):
        return self.what + (f":{self.name}" if self.name else "") + f" x{self.factor}"

    def if_named(self, kind, name):
        return self.factor if (self.what, self.name) == (kind, name) else 1

    def operator(self, name):
        return self.if_named("operator", name)

    def kernel(self, name, operator):
        communicates = name.startswith("nccl")
        return (self.operator(operator) * (1 if communicates else self.if_named("kernel", name))
                * (self.if_named("communication", None) if communicates else 1))

    def launch(self):
        return self.if_named("launch", None)

    def call(self, name, operator):
        return self.operator(operator) * (self.launch() if name == "cudaLaunchKernel" else 1)

    def loader(self):
        return self.if_named("data_loader", None)


def on_path(windows, key_of):
    """The time on the critical path of steps, by key: (start, end, the last event) of each."""
    sums = {}
    runs = []  # steps that go on into each other have one path
    for start, until, event in windows:
        if runs and runs[-1][1] == start:
            start = runs.pop()[0]
        runs.append((start, until, event))
    for start, until, event in runs:
        while until > start:
            begins = max(start, event.cause.time)
            if begins < until:
                key = key_of(event)
                sums[key] = sums.get(key, 0) + until - begins
                until = begins
            event = event.cause
    return sums


class Run:
    """Simulates steps, and writes what a profiler would have recorded."""

    def __init__(self, steps, change=None, has_ids=True):
        self.change, self.has_ids = change or Change(), has_ids
        self.rows, self.correlation = [], 0
        self.has_tie = False  # two causes at the same time: there are several critical paths
        self.host = {1: Event(1_000_000), 2: Event(0)}
        self.streams, self.pending = {}, {}
        self.windows = []  # start, end, last event
        before = 0
        self.step_work = []
        for thread, *action in warm_up():
            getattr(self, "do_" + action[0])(thread, *action[1:])
        for number, actions in enumerate(steps):
            start = self.host[1]
            self.step_work = []
            for thread, *action in actions:
                getattr(self, "do_" + action[0])(thread, *action[1:])
            end = self.host[1]
            self.add("user_annotation", f"ProfilerStep#{number}", start.time, end.time, 1)
            last = max([end, *self.step_work], key=lambda event: event.time)
            begins = max(start.time, before)
            if last.time < begins == before and self.windows:  # the step before ends later
                last = self.windows[-1][2]
            before = max(begins, last.time)
            self.windows.append((begins, before, last))

    def add(self, category, name, start, end, thread, process=1, **args):
        self.rows.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start,
                          "dur": end - start, "args": args})

    def spend(self, thread, duration, kind, name):
        before = self.host[thread]
        self.host[thread] = Event(before.time + round(duration), before, kind, name)
        return before.time

    def last_of(self, causes):
        last = max(causes, key=lambda event: event.time)
        self.has_tie = self.has_tie or [each.time for each in causes].count(last.time) > 1
        return last

    def do_code(self, thread, duration):
        self.spend(thread, duration * self.change.own(), "code", "[between ranges]")

    def do_loader(self, thread, duration):
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        start = self.spend(thread, duration * self.change.loader(), "data_loader", name)
        self.add("user_annotation", name, start, self.host[thread].time, thread)

    def do_operator(self, thread, name, duration):
        start = self.spend(thread, duration * self.change.operator(name), "operator", name)
        self.add("cpu_op", name, start, self.host[thread].time, thread)

    def do_launch(self, thread, name, before, call, after, stream, kernel, length):
        factor = self.change.operator(name)
        begins = self.spend(thread, before * factor, "operator", name)
        launch = self.host[thread]
        self.spend(thread, call * self.change.call("cudaLaunchKernel", name), "call", "cudaLaunchKernel")
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", launch.time, self.host[thread].time, thread,
                 correlation=self.correlation)
        self.spend(thread, after * factor, "operator", name)
        self.add("cpu_op", name, begins, self.host[thread].time, thread)
        causes = [Event(launch.time + round(LAUNCH * self.change.launch()), launch, "launch", "cudaLaunchKernel")]
        if stream in self.streams:
            last = self.streams[stream]
            causes.append(Event(last.time + GAP, last, "stream", "[next work]"))
        for last in self.pending.pop(stream, []):
            causes.append(Event(last.time + EVENT, last, "stream", "[next work]"))
        start = self.last_of(causes)
        length = round(length * self.change.kernel(kernel, name))
        kind = "communication" if kernel.startswith("nccl") else "kernel"
        self.end_kernel(start, Event(start.time + length, start, kind, kernel), stream, self.correlation)
        return start, length

    def end_kernel(self, start, end, stream, correlation):
        self.add("kernel", end.name, start.time, end.time, stream, 0, correlation=correlation, stream=stream, device=0)
        self.streams[stream] = end
        self.step_work.append(end)

    def do_wait_event(self, thread, stream, other):
        start = self.spend(thread, 1_500 * self.change.own(), "call", "cudaStreamWaitEvent")
        self.correlation += 1
        self.add("cuda_runtime", "cudaStreamWaitEvent", start, self.host[thread].time, thread,
                 correlation=self.correlation)
        if other in self.streams:
            self.pending.setdefault(stream, []).append(self.streams[other])
            if self.has_ids:
                self.add("cuda_sync", "Stream Wait Event", start, start, stream, 0, correlation=self.correlation,
                         cuda_sync_kind="Stream Wait Event", stream=stream, wait_on_stream=other,
                         wait_on_cuda_event_id=1)

    def do_sync(self, thread, stream):
        name = "cudaDeviceSynchronize" if stream is None else "cudaStreamSynchronize"
        start = self.spend(thread, OWN * self.change.own(), "call", name)
        waited = [last for each, last in self.streams.items() if stream in (None, each)]
        causes = [self.host[thread]] + [Event(last.time + RETURN, last, "synchronization", name) for last in waited]
        self.host[thread] = self.last_of(causes)
        self.correlation += 1
        self.add("cuda_runtime", name, start, self.host[thread].time, thread, correlation=self.correlation)
        if self.has_ids:
            kind = "Context Sync" if stream is None else "Stream Sync"
            self.add("cuda_sync", kind, start, start, -1 if stream is None else stream, 0, cuda_sync_kind=kind,
                     correlation=self.correlation, stream=4294967295 if stream is None else stream)

    def do_hand_over(self, thread, duration):
        self.spend(thread, duration * self.change.own(), "code", "[between ranges]")
        self.host[2] = self.host[thread]
        name = "autograd::engine::evaluate_function: MmBackward0"
        start = self.spend(2, 777 * self.change.own(), "operator", name)
        self.add("cpu_op", name, start, self.host[2].time, 2)

    def do_hand_back(self, thread, duration):
        name = "MmBackward0"
        start = self.spend(thread, 333 * self.change.own(), "operator", name)
        self.add("cpu_op", name, start, self.host[thread].time, thread)
        self.host[1] = self.host[thread]
        self.spend(1, duration * self.change.own(), "code", "[between ranges]")
        name = "aten::zero_"
        start = self.spend(1, 444 * self.change.own(), "operator", name)
        self.add("cpu_op", name, start, self.host[1].time, 1)

    def write(self, path):
        rows = sorted(self.rows, key=lambda row: (row["ts"], -row["dur"]))
        for row in rows:
            row["ts"], row["dur"] = row["ts"] / 1000, row["dur"] / 1000
        path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": rows}))

    def durations(self):
        return [end - start for start, end, _ in self.windows]

    def path(self):
        """The time on the critical path of all steps, by kind and name."""
        return on_path(self.windows, lambda event: (event.kind, event.name))
