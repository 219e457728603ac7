"""Why a GPU is idle, straight from docs/findings.md: for each instant of each gap, the first rule that applies.

Nobody who wrote this had read tbtrace's own analysis, and it takes nothing from it.
"""
import bisect
import collections
import re
import statistics

from idle_trace import Innermost, Union

MILLISECOND = 1_000_000
NAMED = ("data", "cold_start", "profiler", "garbage_collection", "compiler", "host_communication", "allocation")
CAUSES = NAMED + ("copies", "synchronization", "launches", "code", "other_device", "device", "unrecorded_work",
                  "nothing_recorded", "unknown")

STEP = re.compile(r"ProfilerStep#\d+")
ITERATIONS = (  # docs/formats/steps.md
    re.compile(r"[\W_]*(?:epoch\W*\d+\W+)?(?:\w*[\W_])?\w*(?:step|iter|iteration|batch)[\s=:#_]*\d+[\W_]*", re.I),
    re.compile(r"execute_context_\d+\(\d+\)_generation_\d+\(\d+\)|execute_new_\d+_cached_\d+"),
    re.compile(r"step\[.*\]|(?:eager_)?(?:prefill|decode)\[.*\]"),
    re.compile(r"\[Executor\] _forward_step \d+.*|(?:v2_)?gpu_model_runner: forward"),
    re.compile("execute_model|run_batch|forward_batch_generation|train_step|training_step|train_batch|decode_step|"
               "generate_token|train"),
)

# Calls of the runtimes and drivers of CUDA, ROCm, XPU, MTIA, MUSA and Ascend.
COPY = re.compile("memcpy|memorycopy|urEnqueueMem(Buffer|Image)(Read|Write|Copy)", re.I)
WAIT = re.compile("synchronize|urQueueFinish|urEventWait$|syclQueueWait|hostSynchronize", re.I)
ALLOCATION = re.compile(
    "(cuda|hip|musa|aclrt|mtia)_?(Ext)?(Host)?(Malloc|Free|Alloc|HostAlloc|HostFree|HostRegister|HostUnregister)|"
    "(hip|cu)Mem(Alloc|Free|Create|Release|Map|Unmap|SetAccess|Address|Host|GetAllocationGranularity)|"
    "ur(USM(Device|Host|Shared)(Alloc|Free)|USM(Pool)?(Free|Alloc)|VirtualMem|PhysicalMem)|"
    "ze(Mem(Alloc|Free)|VirtualMem|PhysicalMem)|aclrt(Reserve|Release|Map|Unmap)Mem|aclrt(Malloc|Free)Physical")
COLD_CALL = re.compile(
    "(cuda|hip|musa|cu)Stream(Create|Destroy)|(cu|hip)Ctx(Create|Destroy)|(cu|hip)DevicePrimaryCtx|"
    "(cuda|cu|hip|musa)(Module|Library)(Load|Get|Unload)|(cu|hip)Link|cudaInitDevice|cuInit$|hipInit$|"
    "ur(Queue|Context|Program|Kernel)(Create|Build|Compile|Link)|ze(Module|Kernel|Context|CommandQueue)(Create|Build)|"
    "aclrtCreate(Stream|Context)|aclInit|aclrtBinaryLoad|(create|make)(Stream|Context)$", re.I)
DATA = re.compile(r"enumerate\(Data(Loader|Pipe)\)#")
PROFILER_FRAME = re.compile(r"(^|/)torch/(profiler/|autograd/profiler)|<built-in method _record_function_")
COLLECTION = re.compile(r"Python GC|.*gc\.collect|<built-in function collect>")
LOOKUP = re.compile("TorchDynamo Cache Lookup|Torch-Compiled Region.*cache lookup", re.I)
COMPILATION = re.compile(r".*\(dynamo_timed\)$")
COMPILER_FRAME = re.compile(
    r"(^|/)torch/_dynamo/(convert_frame|symbolic_convert|output_graph|bytecode_)|"
    r"(^|/)torch/_inductor/(compile_fx|graph|scheduler|codegen|lowering|codecache|async_compile|select_algorithm)|"
    r"(^|/)torch/_inductor/runtime/(triton_heuristics|coordinate_descent_tuner|benchmarking)\.py\(\d+\): "
    r"(?!run$|launcher$|__call__$)|"
    r"(^|/)triton/(compiler/|runtime/autotuner\.py\(\d+\): (_bench|benchmark|kernel_call|do_bench)|testing\.py)")
HOST_COLLECTIVE = re.compile(r"(gloo|mpi):|(c10d::)?(monitored_)?barrier_?$|(c10d::)?(TCP|File|Hash|Prefix)?Store\b")
HOST_COLLECTIVE_FRAME = re.compile(r"distributed_c10d\.py\(\d+\): ((monitored_)?barrier|\w+_object(_list)?)$|"
                                   r"\b(TCP|File|Hash|Prefix)?Store object|(^|/)rendezvous\.py|torch/distributed/store")


def is_wait(call):
    return call.kind == "call" and WAIT.search(call.name) is not None


def is_copy(call):
    return call.kind == "call" and (COPY.search(call.name) is not None or
                                    (bool(call.work) and all(each.kind == "memcpy" for each in call.work)))


def is_allocation(call):
    return call.kind == "call" and ALLOCATION.match(call.name) is not None


class Account:
    """The causes of a trace's idle time."""

    def __init__(self, trace):
        self.trace = trace
        self.find_steps()
        self.find_threads()
        self.find_first_calls()
        self.find_compilation()
        self.find_operators_contents()
        self.overhead = Union((row.start, row.end) for row in trace.overhead)

    # What the rules name.

    def find_steps(self):
        ranges = [row for row in self.trace.host if row.kind in ("annotation", "operator")]
        self.steps = [row for row in ranges if STEP.fullmatch(row.name)]
        annotations = [row for row in ranges if row.kind == "annotation"]
        iterations = [row for row in annotations
                      if row.has_step_number or any(each.fullmatch(row.name) for each in ITERATIONS)]
        self.marks = {id(row) for row in self.steps + iterations}
        self.step_threads = {row.track for row in self.steps} or {row.track for row in iterations}
        self.step_starts = self.steps or iterations

    def find_threads(self):
        """The innermost ranges of each thread, without steps, and its launches; each process's threads and devices."""
        self.innermost = {
            track: Innermost([row for row in rows if id(row) not in self.marks])
            for track, rows in self.trace.threads.items()
        }
        self.devices = collections.defaultdict(list)
        self.process_of = {}
        for each in self.trace.work:
            self.devices[each.process()].append(each)
            if each.launch is not None:
                self.process_of.setdefault(each.process(), each.launch.process())
        launches = collections.defaultdict(list)
        for row in self.trace.host:
            if row.kind == "call" and row.work:
                launches[row.track].append(row)
        self.launches = {}  # of each thread: calls, and when they return
        for track, rows in launches.items():
            rows.sort(key=lambda row: row.end)
            self.launches[track] = (rows, [row.end for row in rows])
        working = set(self.launches) | self.step_threads
        self.working = collections.defaultdict(list)
        for track in self.trace.tracks:
            if track in working:
                self.working[track[0]].append(track)
        for device in self.devices:
            if device not in self.process_of and len(self.working) == 1:
                self.process_of[device] = next(iter(self.working))
        self.ends = {}  # of a process's work, by start: when it began, and the last end until then
        for process in set(self.process_of.values()):
            work = sorted((each for device, rows in self.devices.items() if self.process_of.get(device) == process
                           for each in rows), key=lambda each: each.start)
            ends, last = [], None
            for each in work:
                last = each.end if last is None else max(last, each.end)
                ends.append(last)
            self.ends[process] = ([each.start for each in work], ends)

    def find_first_calls(self):
        self.first_calls = set()
        groups = collections.defaultdict(list)
        durations = collections.defaultdict(list)
        kernels = {}  # operator -> the first activity launched directly in it
        for row in self.trace.host:
            if row.kind == "call" and row.work and row.operator is not None:
                kernels.setdefault(id(row.operator), row.work[0].name)
        for row in self.trace.host:
            around = "" if row.operator is None else row.operator.name
            if row.kind == "call" and not is_wait(row) and not is_copy(row):
                kernel = row.work[0].name if row.work else None
                own = row.end - row.start
            elif row.kind == "operator" and id(row) not in self.marks:
                kernel = kernels.get(id(row))
                own = row.self_ns
            else:
                continue
            place = ("operator", around) if kernel is None else ("kernel", kernel)
            groups[row.process(), row.kind, row.name, place].append((own, row))
            durations[row.process(), row.kind, row.name].append(own)
        for (process, kind, name, _), members in groups.items():
            own, row = members[0]
            if own < MILLISECOND or any(10 * later >= own for later, _ in members[1:]):
                continue
            if is_allocation(row) and len(members) == 1:
                others = sorted(durations[process, kind, name])
                others.remove(own)
                if others and 10 * statistics.median_low(others) >= own:
                    continue
            self.first_calls.add(id(row))

    def find_compilation(self):
        """The processes that compile in the first of several steps only."""
        self.warming_up = set()
        for process in self.working:
            steps = [row for row in self.step_starts if row.process() == process]
            starts = [row.start for row in self.trace.host if row.process() == process and self.compiles(row)]
            if len(steps) > 1 and starts and all(steps[0].start <= start < steps[0].end for start in starts):
                self.warming_up.add(process)

    def find_operators_contents(self):
        self.copying, self.allocating = {}, set()  # by operator: when the first copy begins; that it allocates
        for row in self.trace.host:
            if row.operator is not None and row.kind == "call":
                if is_copy(row):
                    self.copying.setdefault(id(row.operator), row.start)
                if is_allocation(row):
                    self.allocating.add(id(row.operator))

    @staticmethod
    def compiles(row):
        return (row.kind == "frame" and COMPILER_FRAME.search(row.name) is not None) or (
            row.kind != "call" and COMPILATION.match(row.name) is not None)

    def named_cause(self, row):
        """`data` to `allocation`, by the range's own name."""
        if row.kind == "call":
            if COLD_CALL.match(row.name):
                return "cold_start"
            if is_allocation(row) or (self.waits(row) and row.operator is not None and
                                      id(row.operator) in self.allocating):
                return "allocation"
            return None
        if DATA.match(row.name):
            return "data" if not self.step_threads or row.track in self.step_threads else None
        if row.name.startswith("profiler::") or (row.kind == "frame" and PROFILER_FRAME.search(row.name)):
            return "profiler"
        if COLLECTION.match(row.name):
            return "garbage_collection"
        if LOOKUP.match(row.name):
            return "compiler"
        if self.compiles(row):
            return "cold_start" if row.process() in self.warming_up else "compiler"
        by_name = HOST_COLLECTIVE_FRAME.search if row.kind == "frame" else HOST_COLLECTIVE.match
        return "host_communication" if by_name(row.name) else None

    def cause_of(self, row):
        """Of the range and those around it, the innermost that has one of the causes `data` to `allocation`."""
        if row.cause == ():
            row.cause = self.own_cause(row) or self.cause_around(row)
        return row.cause

    def own_cause(self, row):
        """By its name, or as a first call, which an allocation can be as well."""
        named = None if id(row) in self.marks else self.named_cause(row)
        return "cold_start" if id(row) in self.first_calls and named in (None, "allocation") else named

    def cause_around(self, row):
        """An operator is a first call without what it calls."""
        while row.parent is not None:
            row = row.parent
            named = None if id(row) in self.marks else self.named_cause(row)
            cause = self.own_cause(row) if row.kind == "call" else named
            if cause:
                return cause
        return None

    def waits(self, call):
        if is_wait(call):
            return True
        return is_copy(call) and bool(call.work) and call.end > max(each.end for each in call.work)

    def is_copy_wait(self, call):
        if is_copy(call):
            return True
        copied = None if call.operator is None else self.copying.get(id(call.operator))
        return copied is not None and copied < call.start

    def state(self, track, time):
        """What a thread does: (what, the range)."""
        thread = self.innermost.get(track)
        row = thread.at(time) if thread else None
        if row is None:
            return "silent", None
        if row.kind == "call" and self.overhead.covers(time):
            return "profiler", row
        cause = self.cause_of(row)
        if cause:
            return cause, row
        if row.kind == "call":
            return ("waits" if self.waits(row) else "works"), row
        return ("works" if row.kind == "operator" else "in code"), row

    # The rules.

    def gaps(self, device):
        """(start, end, next activity) of each time in which nothing runs."""
        last = None
        launched_first = sorted(self.devices[device], key=lambda each: (
            each.start, each.launch is None, each.launch.start if each.launch else 0))
        for each in launched_first:
            if last is not None and each.start > last:
                yield last, each.start, each
            last = each.end if last is None else max(last, each.end)

    def intervals(self, device):
        """(start, end, cause, start of the gap) of all idle time."""
        process = self.process_of.get(device)
        tracks = self.working.get(process, [])
        others = Union((each.start, each.end) for other, rows in self.devices.items()
                       if other != device and self.process_of.get(other) == process for each in rows)
        edges = [others.edges, self.overhead.edges] + [self.innermost[track].edges for track in tracks]
        for start, end, following in self.gaps(device):
            cuts = {start, end}
            if following.launch is not None and start < following.launch.end < end:
                cuts.add(following.launch.end)
            for each in edges:
                cuts.update(each[bisect.bisect_right(each, start):bisect.bisect_left(each, end)])
            cuts = sorted(cuts)
            gap = Gap(self, start, following, tracks, others)
            for first, last in zip(cuts, cuts[1:]):
                for part_start, part_end, cause in gap.causes(first, last):
                    yield part_start, part_end, cause, start


class Gap:
    def __init__(self, account, start, following, tracks, others):
        self.account, self.launch, self.tracks, self.others = account, following.launch, tracks, others
        self.device = following.process()
        self.process = account.process_of.get(self.device)
        self.wait, self.budget = None, 0
        if self.launch is None:
            return
        for track in [self.launch.track] + [each for each in tracks if each != self.launch.track]:
            what, row = account.state(track, start)
            if what == "waits":
                self.wait, self.budget = row, start - row.start
                break

    def causes(self, start, end):
        """(start, end, cause) of an interval in which nothing begins or ends."""
        other_is_busy = self.others.covers(start)
        if self.launch is not None and start >= self.launch.end:
            return [(start, end, "other_device" if other_is_busy else "device")]
        if self.launch is None:
            states = [self.account.state(track, start)[0] for track in self.tracks]
            return [(start, end, next((each for each in states if each in NAMED), "unknown"))]
        own = what, row = self.account.state(self.launch.track, start)
        acting = self.launch.track
        others = [(track, *self.account.state(track, start)) for track in self.tracks if track != acting]
        if what in ("in code", "silent"):
            for track, other, other_row in others:
                if other in NAMED or other in ("waits", "works"):
                    acting, what, row = track, other, other_row
                    break
        if what in NAMED:
            return [(start, end, what)]
        if what == "waits":
            return [(start, end, "other_device" if other_is_busy else self.cause_of_wait(row))]
        parts = []
        if self.wait is not None and start >= self.wait.end and self.budget > 0:
            cut = min(end, start + self.budget)
            self.budget -= cut - start
            parts.append((start, cut, "other_device" if other_is_busy else self.cause_of_wait(self.wait)))
            start = cut
            if start == end:
                return parts
        in_code = own[0] == "in code" or any(other == "in code" for _, other, _ in others)
        if what == "works":
            cause = "other_device" if other_is_busy and self.launches_elsewhere(acting, start) else "launches"
        elif other_is_busy:
            cause = "other_device"
        else:
            cause = "code" if in_code else "nothing_recorded"
        return parts + [(start, end, cause)]

    def cause_of_wait(self, call):
        if self.account.is_copy_wait(call):
            return "copies"
        starts, ends = self.account.ends.get(self.process, ((), ()))
        found = bisect.bisect_left(starts, call.end) - 1
        last = max(call.start, ends[found]) if found >= 0 else call.start
        return "unrecorded_work" if call.end - last >= MILLISECOND else "synchronization"

    def launches_elsewhere(self, track, time):
        """Whether the next launch of the thread, or the one that it is in, is for another device."""
        calls, ends = self.account.launches.get(track, ((), ()))
        found = bisect.bisect_right(ends, time)
        return found < len(calls) and all(each.process() != self.device for each in calls[found].work)
