"""A program with GPUs, simulated: it decides what the host does, when activities run, and so why a GPU is idle.

A Host is a thread of control. It moves between threads (autograd's, for example), which take turns. Machine.truth() has
the cause of each nanosecond of idle time from what the simulation decided, not from the trace that it writes.
"""
import bisect
import contextlib
import json
import math

MICROSECOND = 1_000
MILLISECOND = 1_000_000


def runtime(prefix, **others):
    names = {
        "category": "cuda_runtime", "kernel": "kernel", "memcpy": "gpu_memcpy",
        "launch": "LaunchKernel", "graph": "GraphLaunch", "copy": "MemcpyAsync", "blocking_copy": "Memcpy",
        "stream_wait": "StreamSynchronize", "device_wait": "DeviceSynchronize", "event_wait": "EventSynchronize",
        "malloc": "Malloc", "free": "Free", "host_alloc": "HostAlloc", "stream": "StreamCreateWithFlags",
        "module": "ModuleLoadData", "record": "EventRecord",
    }
    names = {key: name if key in ("category", "kernel", "memcpy") else prefix + name for key, name in names.items()}
    return {**names, **others}


RUNTIMES = {
    "cuda": runtime("cuda", module="cuLibraryLoadData"),
    "hip": runtime("hip", blocking_copy="hipMemcpyWithStream", host_alloc="hipHostMalloc"),
    "xpu": runtime("ur", category="xpu_runtime", launch="urEnqueueKernelLaunch", graph="urEnqueueCommandBufferExp",
                   copy="urEnqueueUSMMemcpy", blocking_copy="urEnqueueUSMMemcpy", stream_wait="urQueueFinish",
                   device_wait="urQueueFinish", event_wait="urEventWait", malloc="urUSMDeviceAlloc", free="urUSMFree",
                   host_alloc="urUSMHostAlloc", stream="urQueueCreate", module="urProgramBuild",
                   record="urEnqueueEventsWaitWithBarrier"),
    "ascend": runtime("aclrt", category="privateuse1_runtime", stream_wait="aclrtSynchronizeStream",
                      device_wait="aclrtSynchronizeDevice", event_wait="aclrtSynchronizeEvent",
                      host_alloc="aclrtMallocHost", stream="aclrtCreateStream", module="aclrtBinaryLoad",
                      record="aclrtRecordEvent"),
    "mtia": runtime("", category="mtia_runtime", kernel="mtia_ccp_events", memcpy="mtia_ccp_events",
                    launch="runFunction - job_prep_and_submit_for_execution", copy="enqueueCommand memcpyDtoHAsync",
                    blocking_copy="enqueueCommand memcpyDtoHAsync", stream_wait="synchronizeStream",
                    device_wait="synchronize", event_wait="synchronizeEvent", record="recordEvent",
                    malloc=None, free=None, host_alloc=None, stream=None, module=None, graph=None),
}


class Activity:
    """A kernel or a copy. `after`: those that it waits for; `blocked_until`: another rank lets it run then."""

    def __init__(self, host, device, start, end, launch, after, blocked_until):
        self.host, self.device, self.start, self.end, self.launch = host, device, start, end, launch
        self.after, self.blocked_until = after, blocked_until
        self.is_recorded = self.has_launch = True


class Wait:
    def __init__(self, start, end, cause, activities):
        self.start, self.end, self.cause, self.activities = start, end, cause, activities


class Machine:
    def __init__(self, rng, names="cuda", stacks=False):
        self.rng, self.names, self.stacks = rng, RUNTIMES[names], stacks
        self.events, self.activities, self.hosts = [], [], []
        self.busy_until = {}
        self.correlation = 0
        self.has_waits = True  # without waits, the same program shows what they cost

    def host(self, process=1000, start=1_000 * MICROSECOND):
        self.hosts.append(Host(self, process, start))
        return self.hosts[-1]

    def record(self, category, name, track, start, end, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": track[0], "tid": track[1],
                            "ts": start / 1000, "dur": (end - start) / 1000, "args": arguments})

    def write(self, path):
        self.events.sort(key=lambda event: event["ts"])
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}))

    # Why a device is idle.

    def truth(self, device):
        """(start, end, cause) of the idle time of a device."""
        recorded = sorted((each for each in self.activities if each.device == device and each.is_recorded),
                          key=lambda each: (each.start, each.launch[0]))
        last = None
        for each in recorded:
            if last is not None and each.start > last:
                yield from self.of_gap(device, last, each)
            last = each.end if last is None else max(last, each.end)

    def of_gap(self, device, start, following):
        host = following.host
        others = [each for each in self.activities
                  if each.host.process == host.process and each.end > start and each.start < following.start]
        cuts = {start, following.start, following.launch[1], following.blocked_until or 0}
        cuts.update(time for each in others for time in (each.start, each.end))
        cuts.update(time for part in host.parts_between(start, following.start) for time in part[:2])
        cuts = sorted(cut for cut in cuts if start <= cut <= following.start)
        wait = host.wait_at(start)
        budget = start - wait.start if wait else 0
        for first, last in zip(cuts, cuts[1:]):
            running = [each for each in others if each.start <= first < each.end]
            cause = self.instant(device, following, first, running)
            is_late = isinstance(cause, tuple)
            if is_late and wait and first >= wait.end and budget > 0:
                cut = min(last, first + budget)
                budget -= cut - first
                yield first, cut, wait.cause
                first = cut
            if first < last:
                yield first, last, cause[0] if is_late else cause

    def instant(self, device, following, time, running):
        """A cause; in a tuple if the host was late, so that a wait before may be why."""
        host = following.host
        if any(each.device == device for each in running):
            return "unrecorded_work"  # recorded ones do not run in a gap
        elsewhere = any(each.device != device and each.host is host for each in running)
        what = host.part_at(time)
        named = what is not None and what[2] in NAMED
        if not following.has_launch:
            return what[2] if named else "unknown"
        if time >= following.launch[1]:
            blocked = elsewhere and any(each.device != device and each.end > time for each in following.after)
            return "other_device" if blocked else "device"
        if what is None:
            return ("nothing_recorded",)
        if named:
            return what[2]
        if what[2] == "wait":
            if not any(each.device != device and each.end > time for each in what[3].activities):
                return what[3].cause
            if not elsewhere:
                return what[3].cause
            return "other_device" if any(each.is_recorded for each in running) else "unrecorded_work"
        is_for_another = elsewhere and host.is_for_another(time, device, following)
        return ("other_device",) if is_for_another else (what[2],)


NAMED = {"data", "cold_start", "profiler", "garbage_collection", "compiler", "host_communication", "allocation"}


class Host:
    def __init__(self, machine, process, start):
        self.machine, self.rng, self.process = machine, machine.rng, process
        self.now = start
        self.thread = process
        self.open_kinds = {}  # of each thread: which ranges are open
        self.parts = []  # (start, end, label, wait)
        self.launches = []  # (end of the call, device)
        self.doing = []
        self.known = set()

    # What the host does.

    def spend(self, duration, label, wait=None):
        if duration > 0:
            self.parts.append((self.now, self.now + duration, self.doing[-1] if self.doing else label, wait))
            self.now += duration

    def between(self, low, high):
        return self.rng.randint(round(low * 1000), round(high * 1000))

    @contextlib.contextmanager
    def range(self, category, name, cause=None, **arguments):
        start, thread = self.now, self.thread
        kinds = self.open_kinds.setdefault(thread, [])
        kinds.append(category)
        if cause:
            self.doing.append(cause)
        yield
        if cause:
            self.doing.pop()
        kinds.pop()
        self.machine.record(category, name, (self.process, thread), start, self.now, **arguments)

    def operator(self, name, cause=None):
        return self.range("cpu_op", name, cause)

    @contextlib.contextmanager
    def frame(self, name, cause=None):
        """A Python function, which only recordings with stacks have."""
        with contextlib.ExitStack() as stack:
            if self.machine.stacks:
                stack.enter_context(self.range("python_function", name, cause, **{"Python id": len(self.parts)}))
            yield

    def step(self, number):
        return self.range("user_annotation", f"ProfilerStep#{number}")

    def python(self, duration, name="model.py(12): prepare"):
        """Code between operators."""
        with self.frame(name):
            kinds = [kind for kind in self.open_kinds.get(self.thread, ()) if kind != "user_annotation"]
            annotations = len(self.open_kinds.get(self.thread, ())) - len(kinds)
            is_recorded = bool(kinds) or annotations > 1  # the step is one
            self.spend(duration, "code" if is_recorded else "nothing_recorded")

    def annotated(self, name, duration):
        with self.range("user_annotation", name):
            self.spend(duration, "code")

    @contextlib.contextmanager
    def on_thread(self, thread):
        before, self.thread = self.thread, thread
        yield
        self.thread = before

    def call(self, what, duration, label, **arguments):
        name = self.machine.names.get(what, what)
        with self.range(arguments.pop("category", self.machine.names["category"]), name, None, **arguments):
            self.spend(duration, label)

    def launch(self, kernel="gemm", device=0, stream=7, duration=None, after=(), call_ns=None, label="launches",
               blocked_until=None, kind="kernel", what="launch", is_recorded=True, has_launch=True):
        machine = self.machine
        machine.correlation += 1
        number = machine.correlation
        start = self.now
        self.call(what, call_ns or self.between(4, 9), label, correlation=number)
        ready = start + self.between(2, 4) if call_ns is None else self.now - self.between(1, 3)  # a slow call is late
        ready = max([ready, machine.busy_until.get((device, stream), 0) + self.between(0.8, 1.6)] +
                    [each.end + self.between(0.5, 2) for each in after])
        begin = max(ready, blocked_until or 0)
        end = begin + (duration or self.between(3, 60))
        machine.busy_until[device, stream] = end
        activity = Activity(self, device, begin, end, (start, self.now), list(after), blocked_until)
        activity.is_recorded, activity.has_launch = is_recorded, has_launch
        machine.activities.append(activity)
        self.launches.append((self.now, device))
        if is_recorded:
            machine.record(machine.names[kind], kernel, (device, stream), begin, end, device=device, stream=stream,
                           **({"correlation": number} if has_launch else {"correlation": number + 10_000_000}))
        return activity

    def wait(self, what, activities, cause="synchronization"):
        latest = max([each.end for each in activities], default=0) if self.machine.has_waits else 0
        end = max(self.now + self.between(1, 3), latest) + self.between(2, 8)
        wait = Wait(self.now, end, cause, activities)
        with self.range(self.machine.names["category"], self.machine.names[what]):
            self.spend(end - self.now, "wait", wait)

    def synchronize(self, device=0):
        self.wait("device_wait", [each for each in self.machine.activities if each.device == device])

    def item(self, device=0, stream=7):
        with self.operator("aten::item"), self.operator("aten::_local_scalar_dense"):
            self.spend(self.between(1, 4), "launches")
            copy = self.launch("Memcpy DtoH (Device -> Pageable)", device, stream, self.between(1.2, 2), kind="memcpy",
                               what="copy")
            self.wait("stream_wait", [copy], "copies")

    def pageable_copy(self, device=0, stream=7, duration=None):
        """A copy call that returns when the copy has ended."""
        machine = self.machine
        with self.operator("aten::copy_"):
            self.spend(self.between(1, 4), "launches")
            machine.correlation += 1
            start = self.now
            free = machine.busy_until.get((device, stream), 0)
            begin = max(start + self.between(2, 4), free + self.between(0.8, 1.6))
            end = begin + (duration or self.between(2, 80))
            machine.busy_until[device, stream] = end
            back = (end if machine.has_waits else start) + self.between(2, 8)
            copy = Activity(self, device, begin, end, (start, back), [], None)
            machine.activities.append(copy)
            with self.range(machine.names["category"], machine.names["blocking_copy"], correlation=machine.correlation):
                self.spend(back - start, "wait", Wait(start, back, "copies", [copy]))
            self.launches.append((back, device))
            machine.record(machine.names["memcpy"], "Memcpy DtoH (Device -> Pageable)", (device, stream), begin, end,
                           device=device, stream=stream, correlation=machine.correlation)
        return copy

    def run(self, name="aten::mm", kernel=None, own=None, **options):
        """An operator that launches a kernel."""
        with self.operator(name):
            self.spend(own or self.between(2, 12), "launches")
            activity = self.launch(kernel or f"kernel_of_{name}", **options)
            self.spend(self.between(0.5, 2), "launches")
        return activity

    # What it did at an instant.

    def parts_between(self, start, end):
        first = max(0, bisect.bisect_right(self.parts, (start, math.inf)) - 1)
        return self.parts[first:bisect.bisect_left(self.parts, (end,))]

    def part_at(self, time):
        found = bisect.bisect_right(self.parts, (time, math.inf)) - 1
        return self.parts[found] if found >= 0 and time < self.parts[found][1] else None

    def wait_at(self, time):
        part = self.part_at(time)
        return part[3] if part is not None and part[2] == "wait" else None

    def next_launch(self, time):
        found = bisect.bisect_right(self.launches, (time, math.inf))
        return self.launches[found] if found < len(self.launches) else (None, None)

    def next_device(self, time):
        return self.next_launch(time)[1]

    def is_for_another(self, time, device, following):
        """Before a launch on another device; or what follows could not have started anyway."""
        return self.next_device(time) != device or any(
            each.device != device and each.start <= time < each.end for each in following.after)
