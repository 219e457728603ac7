"""Runs a program: when each host range, kernel and collective begins and ends, in true time.

Nothing in a program depends on which of two things came first, so the simulator needs no queue of events in the order
of time: it runs each host until it waits for something that is not known yet, and goes on with it when it is.
"""
from .effects import Effects

LAUNCH_LATENCY = 4_000   # from the start of a launch to the earliest start of its kernel
RUN_LOOP_STREAM = -1      # gloo's thread, which runs one collective after the other as a stream does


class Stuck(Exception):
    """Ranks wait for each other for ever: the program is wrong."""


class Stream:
    __slots__ = ("queue", "next", "free", "rank")

    def __init__(self, rank):
        self.queue, self.next, self.free, self.rank = [], 0, 0, rank


class RankState:
    """What one rank has done so far, and what was recorded of it."""

    def __init__(self, program, start):
        self.program = program
        self.rank = program.rank
        self.code = program.code
        self.at = 0
        self.time = start
        self.streams = {}
        self.events = {}      # number -> time
        self.waiting = {}     # number -> streams and, as None, the host
        self.open = []
        self.ranges = []      # [start, end, thread, category, name, arguments]
        self.calls = []       # [start, end, thread, name, correlation, range that it is in]
        self.kernels = []     # [start, end, stream, name, correlation, range, kind, collective]
        self.correlation = 0
        self.own_events = 0
        self.step_ends = {}
        self.step_starts = {}
        self.step_kernels = {}   # by step, how many kernels there are at its end
        self.sync_from = None

    def stream(self, number):
        stream = self.streams.get(number)
        if stream is None:
            stream = self.streams[number] = Stream(self)
        return stream


class Simulator:
    def __init__(self, program, start, effects=None):
        self.program = program
        self.effects = effects or Effects()
        self.settings = program.settings
        self.ranks = [RankState(rank, start + late) for rank, late in zip(program.ranks, program.starts)]
        self.runnable = []
        self.arrived = {}     # by collective, the streams that have come to it
        for collective in program.collectives:
            collective.clear()

    def run(self):
        self.runnable = list(reversed(self.ranks))
        while self.runnable:
            self.run_host(self.runnable.pop())
        for state in self.ranks:
            if state.at < len(state.code):
                raise Stuck(f"rank {state.rank} waits in step {state.program.step} at {state.code[state.at]}")
        return self

    # Streams.

    def advance(self, stream):
        """Runs what a stream can do, and what can go on because of it."""
        work = [stream]
        while work:
            stream = work.pop()
            state, queue = stream.rank, stream.queue
            while stream.next < len(queue):
                item = queue[stream.next]
                kind = item[0]
                if kind == "kernel":
                    row, duration, ready = item[1], item[2], item[3]
                    row[0] = stream.free if stream.free > ready else ready
                    row[1] = stream.free = row[0] + duration
                elif kind == "record":
                    number, ready = item[1], item[2]
                    state.events[number] = stream.free if stream.free > ready else ready
                    for waiter in state.waiting.pop(number, ()):
                        if waiter is None:
                            self.runnable.append(state)
                        else:
                            work.append(waiter)
                elif kind == "wait":
                    time = state.events.get(item[1])
                    if time is None:
                        waiters = state.waiting.setdefault(item[1], [])
                        if stream not in waiters:
                            waiters.append(stream)
                        break
                    if time > stream.free:
                        stream.free = time
                else:
                    collective, row, ready = item[1], item[2], item[3]
                    if state.rank in collective.ends:
                        stream.free = collective.ends[state.rank]
                        row[1] = stream.free
                    elif state.rank in collective.starts:
                        break
                    else:
                        row[0] = stream.free if stream.free > ready else ready
                        collective.starts[state.rank] = row[0]
                        collective_streams = self.arrived.setdefault(id(collective), [])
                        collective_streams.append(stream)
                        if len(collective_streams) < len(collective.ranks):
                            break
                        self.finish(collective)
                        work.extend(other for other in collective_streams if other is not stream)
                        continue
                stream.next += 1

    def finish(self, collective):
        transfer = int(collective.transfer * self.effects.transfer_factor(collective))
        collective.actual_transfer = transfer
        end = max(collective.starts.values()) + transfer
        collective.ends = {rank: end + late for rank, late in collective.jitter.items()}

    # Hosts.

    def run_host(self, state):
        code = state.code
        while state.at < len(code):
            instruction = code[state.at]
            if not getattr(self, "do_" + instruction[0])(state, *instruction[1:]):
                return
            state.at += 1

    def open_range(self, state, name, category, thread, arguments=None):
        row = [state.time, 0, thread, category, name, arguments]
        state.ranges.append(row)
        state.open.append(row)
        return row

    def close_range(self, state):
        state.open.pop()[1] = state.time

    def call(self, state, name, duration, thread, launches=False):
        state.correlation += 1
        row = [state.time, state.time + duration, thread, name, state.correlation,
               state.open[-1] if state.open else None, launches]
        state.calls.append(row)
        state.time += duration
        return row

    def push(self, state, number, item):
        stream = state.stream(number)
        stream.queue.append(item)
        self.advance(stream)

    def wait_for(self, state, number):
        """True if the event's time is known; the host then has waited for it."""
        time = state.events.get(number)
        if time is None:
            state.waiting.setdefault(number, []).append(None)
            return False
        state.time = max(state.time, time)
        return True

    def do_begin(self, state, name, category, thread):
        self.open_range(state, name, category, thread)
        return True

    def do_end(self, state):
        state.time += 1_000
        self.close_range(state)
        return True

    def do_host(self, state, duration):
        state.time += duration
        return True

    def do_loader(self, state, duration, step):
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self.open_range(state, name, "user_annotation", 0)
        state.time += duration + self.effects.loader_extra(state.rank, step)
        self.close_range(state)
        return True

    def do_cpu(self, state, name, thread, duration, step):
        state.time += 2_000 + self.effects.launch_extra(state.rank, step)
        self.open_range(state, name, "cpu_op", thread)
        state.time += int(duration * self.effects.kernel_factor(state.rank, step, name))
        self.close_range(state)
        return True

    def launch(self, state, operator, name, stream, thread, duration, host, runtime, kind, category="cpu_op"):
        before = host * 5 // 10
        state.time += before
        self.open_range(state, operator, category, thread)
        state.time += host // 10
        call = self.call(state, runtime, max(1, host * 3 // 10), thread, True)
        row = [0, 0, stream, name, call[4], state.open[-1], kind, None]
        state.kernels.append(row)
        state.time += host // 10
        self.close_range(state)
        self.push(state, stream, ("kernel", row, duration, call[0] + LAUNCH_LATENCY))

    def do_kernel(self, state, operator, name, stream, thread, duration, host, step):
        host += self.effects.launch_extra(state.rank, step)
        duration = int(duration * self.effects.kernel_factor(state.rank, step, name))
        if host > 40_000:  # a slow host is slow between operators, not in them
            state.time += host - 40_000
            host = 40_000
        self.launch(state, operator, name, stream, thread, duration, host, "cudaLaunchKernel", "kernel")
        return True

    def do_copy(self, state, operator, name, stream, thread, duration, host, step, size):
        self.launch(state, operator, name, stream, thread, duration, host, "cudaMemcpyAsync", ("memcpy", size))
        return True

    def do_collective(self, state, collective, stream, thread, host, step):
        host += self.effects.launch_extra(state.rank, step)
        if host > 80_000:
            state.time += host - 80_000
            host = 80_000
        state.time += host * 3 // 10
        ranges = [self.open_range(state, collective.operator, "cpu_op", thread)]
        if not collective.custom:
            state.time += host // 10
            ranges.append(self.open_range(state, "record_param_comms", "cpu_op", thread, collective))
            state.time += host // 10
            ranges.append(self.open_range(state, None, "user_annotation", thread, collective))
        state.time += host // 10
        runtime = "cudaLaunchKernel" if collective.custom else "cudaLaunchKernelExC"
        call = self.call(state, runtime, max(1, host * 2 // 10), thread, True)
        call[5] = ranges
        row = [0, 0, stream, None, call[4], ranges, "collective", collective]
        state.kernels.append(row)
        for _ in ranges:
            state.time += host // 20
            self.close_range(state)
        self.push(state, stream, ("collective", collective, row, call[0] + LAUNCH_LATENCY))
        return True

    def do_host_collective(self, state, collective, host):
        """A collective of gloo: its own thread runs it, and the annotation lies there."""
        self.open_range(state, collective.operator, "cpu_op", 0)
        state.time += host
        self.close_range(state)
        row = [0, 0, 2, "user_annotation", None, collective]
        state.ranges.append(row)
        self.push(state, RUN_LOOP_STREAM, ("collective", collective, row, state.time + 5_000))
        return True

    def do_record(self, state, stream, number):
        self.push(state, stream, ("record", number, state.time))
        return True

    def do_wait(self, state, stream, number):
        self.push(state, stream, ("wait", number))
        return True

    def do_host_wait(self, state, number):
        return self.wait_for(state, number)

    def do_synchronize(self, state, stream, thread):
        """`aten::item` with its copy and the call that waits."""
        if state.sync_from is None:
            self.open_range(state, "aten::item", "cpu_op", thread)
            state.time += 2_000
            self.open_range(state, "aten::_local_scalar_dense", "cpu_op", thread)
            state.time += 3_000
            call = self.call(state, "cudaMemcpyAsync", 9_000, thread, True)
            row = [0, 0, stream, "Memcpy DtoH (Device -> Pageable)", call[4], state.open[-1], ("memcpy", 4), None]
            state.kernels.append(row)
            self.push(state, stream, ("kernel", row, 1_500, call[0] + LAUNCH_LATENCY))
            state.sync_from = self.own_event(state, [stream])
        numbers, _ = state.sync_from
        if not all(self.wait_for(state, number) for number in numbers):
            return False
        start = state.sync_from[1]
        state.sync_from = None
        self.waited_call(state, "cudaStreamSynchronize", start, thread)
        self.close_range(state)
        self.close_range(state)
        return True

    def own_event(self, state, streams):
        """Events on the streams for a wait of the host, and the time at which it begins."""
        numbers = []
        for stream in streams:
            state.own_events -= 1
            numbers.append(state.own_events)
            self.push(state, stream, ("record", state.own_events, state.time))
        return numbers, state.time

    def waited_call(self, state, name, start, thread, extra=0):
        state.time += 2_000 + extra
        state.correlation += 1
        state.calls.append([start, state.time, thread, name, state.correlation,
                            state.open[-1] if state.open else None, False])

    def do_slot(self, state, step, slot, thread):
        effect = self.effects.slot(state.rank, step, slot)
        if effect is None:
            return True
        kind, amount = effect
        if kind == "pause":  # the host does nothing, and nothing is recorded of it
            state.time += amount
        elif kind == "gc":
            start = state.time
            state.time += amount
            if self.settings.records_gc:
                state.ranges.append([start, state.time, thread, "python_function", "Python GC", None])
        else:
            return self.release_memory(state, amount, thread)
        return True

    def release_memory(self, state, amount, thread):
        """cudaFree waits for the device; then the memory is allocated anew."""
        if state.sync_from is None:
            self.open_range(state, "aten::empty", "cpu_op", thread)
            state.time += 1_500
            state.sync_from = self.own_event(state, [number for number in state.streams if number != RUN_LOOP_STREAM])
        numbers, start = state.sync_from
        if not all(self.wait_for(state, number) for number in numbers):
            return False
        state.sync_from = None
        self.waited_call(state, "cudaFree", start, thread, amount * 6 // 10)
        state.time += 1_000
        self.call(state, "cudaMalloc", max(1, amount * 4 // 10), thread)
        self.close_range(state)
        return True

    # Steps.

    def do_step(self, state, step):
        state.step_starts[step] = state.time
        self.open_range(state, ("step", step), "user_annotation", 0)
        if self.settings.with_stack:
            self.open_range(state, "train.py(57): training_step", "python_function", 0)
        return True

    def do_step_end(self, state, step):
        if self.settings.with_stack:
            self.close_range(state)
        state.time += 1_000
        self.close_range(state)
        state.step_ends[step] = state.time
        state.step_kernels[step] = len(state.kernels)
        return True

    # Results.

    def step_times(self):
        """By step: the first start, and the last end of hosts and kernels that the step launched."""
        steps = range(self.settings.steps)
        starts = [min(state.step_starts[step] for state in self.ranks) for step in steps]
        return list(zip(starts, [max(self.step_end(state, step) for state in self.ranks) for step in steps]))

    def step_end(self, state, step):
        first = state.step_kernels.get(step - 1, 0)
        last = state.step_kernels[step] if step + 1 < self.settings.steps else len(state.kernels)
        return max(state.step_ends[step], max((row[1] for row in state.kernels[first:last]), default=0))

    def duration(self):
        times = self.step_times()
        return times[-1][1] - times[0][0]
