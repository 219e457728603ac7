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
ITERATIONS = (  # of serving engines, docs/formats/steps.md
    re.compile(r"execute_context_\d+\(\d+\)_generation_\d+\(\d+\)|execute_new_\d+_cached_\d+"),
    re.compile(r"step\[.*\]|(?:eager_)?(?:prefill|decode)\[.*\]"),
    re.compile(r"\[Executor\] _forward_step \d+.*|(?:v2_)?gpu_model_runner: forward"),
)

# Calls of the runtimes and drivers of CUDA, ROCm, XPU, MTIA, MUSA and Ascend.
COPY = re.compile("memcpy|memorycopy|urEnqueueMem(Buffer|Image)(Read|Write|Copy)", re.I)
ON_DEVICE = re.compile("DtoD|D2D")
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
LOADING = re.compile("loading|compil", re.I)
COLLECTION = re.compile(r"Python GC|.*gc\.collect|<built-in function collect>")
LOOKUP = re.compile("TorchDynamo Cache Lookup|Torch-Compiled Region.*cache lookup", re.I)
COMPILATION = re.compile(r".*\(dynamo_timed\)$")
COMPILER_FRAME = re.compile(
    r"(^|/)torch/_dynamo/(convert_frame|symbolic_convert|output_graph|bytecode_)|"
    r"(^|/)torch/_inductor/(compile_fx|graph|scheduler|codegen|lowering|codecache|async_compile|select_algorithm)|"
    r"(^|/)torch/_inductor/runtime/(triton_heuristics|coordinate_descent_tuner|benchmarking)\.py\(\d+\): "
    r"(?!run$|launcher$|__call__$)|"
    r"(^|/)triton/(compiler/|runtime/autotuner\.py\(\d+\): (_bench|benchmark|kernel_call|do_bench)|testing\.py)")
VIEW = re.compile(  # makes a tensor without looking at a value
    r"aten::(alias|as_strided|chunk|detach|empty|empty_like|empty_strided|expand|narrow|permute|select|slice|split|"
    r"split_with_sizes|squeeze|t|transpose|unbind|unsqueeze|view|_unsafe_view|_reshape_alias)(\.\w+)?$")
CPU_OPTIMIZER = re.compile(r"Optimizer\.step#.*CPU")
WAITING_FRAME = re.compile(  # for no device
    r"<built-in (method acquire of _thread\.|function sleep>|method sleep of |method get of _queue\.SimpleQueue|"
    r"method (poll|select) of |method (recv|accept|recv_into) of _socket\.)|"
    r"(^|/)(threading\.py\(\d+\): (wait|acquire|join)|(?<!multiprocessing/)queue\.py\(\d+\): (get|put|join)|"
    r"selectors\.py\(\d+\): select|multiprocessing/(connection\.py\(\d+\): (poll|wait|recv)|"
    r"queues\.py\(\d+\): get))$")
HOST_COLLECTIVE = re.compile(r"(gloo|mpi|ucc):|(c10d::(monitored_)?)?barrier_?$")
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
        self.find_blocking_launches()
        self.find_repeated_setup()
        self.find_first_calls()
        self.find_warm_ups()
        self.find_operators_contents()
        self.loading = Union((row.start, row.end) for row in trace.overhead if LOADING.search(row.name))
        self.overhead = Union((row.start, row.end) for row in trace.overhead if not LOADING.search(row.name))

    # What the rules name.

    def find_steps(self):
        ranges = [row for row in self.trace.host if row.kind in ("annotation", "operator")]
        self.steps = [row for row in ranges if STEP.fullmatch(row.name)]
        annotations = [row for row in ranges if row.kind == "annotation"]
        iterations = [row for row in annotations
                      if row.has_step_number or any(each.fullmatch(row.name) for each in ITERATIONS)]
        self.marks = {id(row) for row in self.steps + iterations}
        self.step_threads = {row.track for row in self.steps} or {row.track for row in iterations}
        self.steps = sorted(self.steps or iterations, key=lambda row: row.start)
        if not self.step_threads:
            self.forward_threads = {}
            for row in self.trace.host:
                if row.kind == "operator" and not row.name.startswith("autograd::"):
                    self.forward_threads.setdefault(row.process(), row.track)
            self.data_threads = set(self.forward_threads.values())
        else:
            self.forward_threads, self.data_threads = {}, self.step_threads

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
        with_kernels = {track for track, (rows, _) in self.launches.items()
                        if any(each.kind == "kernel" for row in rows for each in row.work)}
        self.working = collections.defaultdict(list)
        for process in dict.fromkeys(track[0] for track in self.trace.tracks):
            of_process = [track for track in self.trace.tracks if track[0] == process]
            for working in (with_kernels | self.step_threads, set(self.launches), set(self.forward_threads.values())):
                if any(track in working for track in of_process):
                    self.working[process] = [track for track in of_process if track in working]
                    break
        self.find_groups()
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

    def find_groups(self):
        """Of each device, those that are connected with it by threads that launch on several."""
        self.groups = {device: {device} for device in self.devices}
        for rows, _ in self.launches.values():
            joined = set()
            for device in {each.process() for row in rows for each in row.work if each.process() in self.devices}:
                joined |= self.groups[device]
            for device in joined:
                self.groups[device] = joined

    def find_blocking_launches(self):
        """The launches that return after their kernels, if nine of ten do."""
        kernels = [each for each in self.trace.work if each.kind == "kernel" and each.launch is not None]
        blocking = [each for each in kernels if each.end <= each.launch.end]
        does = bool(kernels) and len(kernels) - len(blocking) <= len(kernels) // 10
        self.blocking = {id(each.launch) for each in blocking} if does else set()

    def find_repeated_setup(self):
        """(process, name) of the calls that begin in half or more of several steps, or in later ones."""
        self.repeated, self.repeated_later = set(), {}
        begins = collections.defaultdict(list)
        for row in self.trace.host:
            if row.kind == "call" and COLD_CALL.match(row.name):
                begins[row.process(), row.name].append(row.start)
        for (process, name), starts in begins.items():
            steps = [row for row in self.steps if row.process() == process]
            having = [place for place, step in enumerate(steps) if any(step.start <= at < step.end for at in starts)]
            later = [place for place in having if place > 0]
            if len(steps) > 1 and 2 * len(having) >= len(steps):
                self.repeated.add((process, name))
            if len(later) > 1 and 2 * (later[-1] + 1) > len(steps):
                self.repeated_later[process, name] = steps[0].end

    def find_first_calls(self):
        self.first_calls = set()
        named, kinds = collections.defaultdict(list), collections.defaultdict(list)
        for row in self.trace.host:
            if row.kind == "call" and not is_wait(row) and not is_copy(row):
                own = row.end - row.start
                keys = [("operator", row.operator.name if row.operator is not None else "")]
                if row.work:
                    keys.append(("kernel", row.work[0].name))
            elif row.kind == "operator" and id(row) not in self.marks:
                own, keys = row.self_ns, [("operators",)]
            else:
                continue
            entry = (row.order, own, row, keys)
            named[row.process(), row.kind, row.name].append(entry)
            for key in keys:
                kinds[row.process(), row.kind, row.name, key].append(entry)
        for (process, kind, name), entries in named.items():
            for entry in entries:
                if entry[1] >= MILLISECOND and any(
                        self.is_first(entry, kinds[process, kind, name, key], entries) for key in entry[3]):
                    self.first_calls.add(id(entry[2]))

    @staticmethod
    def is_first(entry, of_kind, of_name):
        order, own, row, _ = entry
        count = len(of_kind)
        if count == 1:
            others = [each[1] for each in of_name if each[0] != order]
            if row.kind == "operator":
                return False
            return not is_allocation(row) or not others or 10 * statistics.median_low(others) < own
        place = next(place for place, each in enumerate(of_kind) if each[0] == order)
        if place >= 2 and place >= count // 10:
            return False
        late = [each[1] for each in of_kind[(count + 1) // 2:]]
        return 10 * statistics.median_low(late) < own and 2 * max(late) < own

    def find_warm_ups(self):
        """The processes that compile, and those that allocate, before the end of the first of several steps only."""
        self.compiles_once, self.allocates_once = set(), set()
        for once, does in ((self.compiles_once, self.compiles), (self.allocates_once, is_allocation)):
            last = {}
            for row in self.trace.host:
                if does(row):
                    last[row.process()] = max(row.start, last.get(row.process(), row.start))
            for process, start in last.items():
                steps = [row for row in self.steps if row.process() == process]
                if len(steps) > 1 and start < steps[0].end:
                    once.add(process)

    def find_operators_contents(self):
        self.copying, self.allocating = {}, set()  # by operator: when the first copy begins; that it allocates
        self.launching = set()  # outermost operators with launches
        for row in self.trace.host:
            if row.kind == "call" and row.work:
                self.launching.add(id(self.outermost(row)))
            if row.operator is not None and row.kind == "call":
                if is_copy(row):
                    self.copying.setdefault(id(row.operator), row.start)
                if is_allocation(row):
                    self.allocating.add(id(row.operator))

    @staticmethod
    def outermost(row):
        """The outermost operator that is the range or around it."""
        found = row if row.kind == "operator" else row.operator
        while found is not None and found.operator is not None:
            found = found.operator
        return found

    def computes(self, row):
        """Whether the host computes in the operator: it launches nothing."""
        found = self.outermost(row)
        return found is not None and found.end - found.start >= 100_000 and (
            id(found) not in self.launching and VIEW.match(found.name) is None)

    @staticmethod
    def compiles(row):
        return (row.kind == "frame" and COMPILER_FRAME.search(row.name) is not None) or (
            row.kind != "call" and COMPILATION.match(row.name) is not None)

    def named_cause(self, row):
        """`data` to `allocation`, by the range's own name."""
        if row.kind == "call":
            key = row.process(), row.name
            if COLD_CALL.match(row.name) and key not in self.repeated and (
                    key not in self.repeated_later or row.start < self.repeated_later[key]):
                return "cold_start"
            if is_allocation(row) or (self.waits(row) and row.operator is not None and
                                      id(row.operator) in self.allocating and not self.is_copy_wait(row)):
                return "cold_start" if row.process() in self.allocates_once else "allocation"
            return None
        if DATA.match(row.name):
            return "data" if row.track in self.data_threads else None
        if row.name.startswith("profiler::") or (row.kind == "frame" and PROFILER_FRAME.search(row.name)):
            return "profiler"
        if COLLECTION.match(row.name):
            return "garbage_collection"
        if LOOKUP.match(row.name):
            return "compiler"
        if self.compiles(row):
            return "cold_start" if row.process() in self.compiles_once else "compiler"
        by_name = HOST_COLLECTIVE_FRAME.search if row.kind == "frame" else HOST_COLLECTIVE.match
        return "host_communication" if by_name(row.name) else None

    def cause_of(self, row):
        """By name, the innermost of the range and those around it; a first call comes before allocations only."""
        if row.cause == ():
            named, is_first, each = None, False, row
            while each is not None:
                is_first = is_first or (named is None and id(each) in self.first_calls)
                named = named or (None if id(each) in self.marks else self.named_cause(each))
                each = each.parent
            row.cause = "cold_start" if is_first and named in (None, "allocation") else named
        return row.cause

    def waits(self, call):
        if is_wait(call) or id(call) in self.blocking:
            return True
        copies = [each for each in call.work if not ON_DEVICE.search(each.name)]
        return is_copy(call) and bool(copies) and call.end >= max(each.end for each in copies)

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
        if row.kind == "call" and (self.loading.covers(time) or self.overhead.covers(time)):
            return ("cold_start" if self.loading.covers(time) else "profiler"), row
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
                       if other != device and other in self.groups[device] for each in rows)
        edges = [others.edges, self.overhead.edges, self.loading.edges]
        edges += [self.innermost[track].edges for track in tracks]
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
        _, what, row = self.acting(start)
        if what == "waits":
            self.wait, self.budget = row, start - row.start

    def acting(self, time):
        """The thread that counts, with what it does."""
        own = None if self.launch is None else self.launch.track
        what, row = ("silent", None) if own is None else self.account.state(own, time)
        if what in ("in code", "silent"):
            others = [(track, *self.account.state(track, time)) for track in self.tracks if track != own]
            for each in others:
                if each[1] in NAMED or each[1] in ("waits", "works"):
                    return each
            if what == "silent":
                return next((each for each in others if each[1] == "in code"), (own, what, row))
        return own, what, row

    def causes(self, start, end):
        """(start, end, cause) of an interval in which nothing begins or ends."""
        other_is_busy = self.others.covers(start)
        if self.launch is not None and start >= self.launch.end:
            return [(start, end, "other_device" if other_is_busy else "device")]
        track, what, row = self.acting(start)
        if what in NAMED:
            return [(start, end, what)]
        if self.launch is None:
            return [(start, end, "unknown")]
        if what == "waits":
            cause = "other_device" if other_is_busy else self.cause_of_wait(row)
            if cause == "unrecorded_work":
                if self.wait is not row:
                    self.wait, self.budget = row, 0 if self.wait is None else self.budget
                self.budget += end - start
            return [(start, end, cause)]
        parts = []
        if self.wait is not None and start >= self.wait.end and self.budget > 0 and not (
                what == "works" and self.account.computes(row)) and not (
                    what == "in code" and (CPU_OPTIMIZER.match(row.name) if row.kind != "frame" else
                                           WAITING_FRAME.search(row.name))):
            cut = min(end, start + self.budget)
            self.budget -= cut - start
            cause = self.cause_of_wait(self.wait)
            parts.append((start, cut, "synchronization" if cause == "unrecorded_work" else cause))
            start = cut
            if start == end:
                return parts
        if what == "silent":
            cause = "other_device" if other_is_busy else "nothing_recorded"
        elif other_is_busy and self.launches_elsewhere(track if what == "works" else self.launch.track, start):
            cause = "other_device"
        else:
            cause = "launches" if what == "works" else "code"
        return parts + [(start, end, cause)]

    def cause_of_wait(self, call):
        starts, ends = self.account.ends.get(self.process, ((), ()))
        found = bisect.bisect_left(starts, call.end)
        if is_wait(call) and not is_copy(call) and 0 < found < len(starts) and (
                call.end - max(call.start, ends[found - 1]) >= MILLISECOND):
            return "unrecorded_work"
        return "copies" if self.account.is_copy_wait(call) else "synchronization"

    def launches_elsewhere(self, track, time):
        """Whether the next launch of the thread, or the one that it is in, is for another device."""
        calls, ends = self.account.launches.get(track, ((), ()))
        found = bisect.bisect_right(ends, time)
        return found < len(calls) and all(each.process() != self.device for each in calls[found].work)
