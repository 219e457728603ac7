"""A small simulated process: a host whose calls take time, and devices that run what it launched, in order per stream.

Cases say what the program does; when kernels start and how long waits last follows from it. Times are microseconds.
Files look like Kineto's, with names that PyTorch writes and figures of our own.
"""
import contextlib
import json

DEVICES = {
    "A100": ("NVIDIA A100-SXM4-80GB", 85_017_493_504, 8, 0, 108),
    "H100": ("NVIDIA H100 80GB HBM3", 85_017_493_504, 9, 0, 132),
    "V100": ("Tesla V100-SXM2-32GB", 34_079_899_648, 7, 0, 80),
    "GTX1080": ("NVIDIA GeForce GTX 1080", 8_507_949_056, 6, 1, 20),
    "MI300X": ("AMD Instinct MI300X", 206_141_652_992, 9, 4, 304),
    "B580": ("Intel(R) Arc(TM) B580 Graphics", 12_450_791_424, None, None, None),
    "PVC": ("Intel(R) Data Center GPU Max 1550", 68_719_476_736, None, None, None),
}
RUNTIMES = {
    "cuda": {"category": "cuda_runtime", "launch": "cudaLaunchKernel", "copy": "cudaMemcpyAsync",
             "synchronize": "cudaDeviceSynchronize", "stream_synchronize": "cudaStreamSynchronize",
             "graph": "cudaGraphLaunch"},
    "hip": {"category": "cuda_runtime", "launch": "hipLaunchKernel", "copy": "hipMemcpyWithStream",
            "synchronize": "hipDeviceSynchronize", "stream_synchronize": "hipStreamSynchronize",
            "graph": "hipGraphLaunch"},
    "xpu": {"category": "xpu_runtime", "launch": "urEnqueueKernelLaunch", "copy": "urEnqueueUSMMemcpy",
            "synchronize": "urQueueFinish", "stream_synchronize": "urQueueFinish",
            "graph": "urCommandBufferEnqueueExp"},
}
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, " \
      "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
START = 1_000_000.0
PID = 3100
MAIN = 3100


class Machine:
    def __init__(self, device="A100", gpus=1, runtime="cuda", rank=None, world=1, now=START, header=None):
        self.now, self.rank, self.thread = now, rank, MAIN
        self.runtime = RUNTIMES[runtime]
        self.events, self.ids, self.correlation = [], 0, 100
        self.free = {}          # (device, stream): when its last activity ends
        self.operators = []     # open operators, innermost last
        self.allocated, self.reserved, self.address = {}, {}, 0x7f00_0000_0000
        name, memory, major, minor, multiprocessors = DEVICES[device]
        self.header = {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms"}
        for gpu in range(gpus):
            properties = {"id": gpu, "name": name, "totalGlobalMem": memory}
            if major is not None:
                properties |= {"computeMajor": major, "computeMinor": minor, "numSms": multiprocessors, "warpSize": 32}
            self.header["deviceProperties"].append(properties)
            self.event("M", "process_labels", gpu, 0, args={"labels": f"GPU {gpu}"})
        if rank is not None:
            self.header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
        self.header |= header or {}

    # The file

    def event(self, phase, name, pid, tid, start=START, category=None, duration=None, args=None):
        event = {"ph": phase, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3)}
        if category is not None:
            event["cat"] = category
        if duration is not None:
            event["dur"] = round(duration, 3)
        if args is not None:
            event["args"] = args
        self.events.append(event)
        return event

    def document(self):
        shapes = any("Input Dims" in event.get("args", {}) for event in self.events)
        return self.header | ({"record_shapes": 1} if shapes else {}) | {"traceEvents": self.events}

    def write(self, path):
        path.write_text(json.dumps(self.document(), separators=(",", ":")))

    # The host

    @contextlib.contextmanager
    def range(self, name, category="user_annotation", **args):
        """A range of the thread around what happens inside."""
        self.ids += 1
        external = {} if category == "python_function" else {"External id": self.ids}
        event = self.event("X", name, PID, self.thread, self.now, category, 0, external | args)
        self.operators.append(self.ids)
        yield event
        self.operators.pop()
        event["dur"] = round(self.now - event["ts"], 3)

    @contextlib.contextmanager
    def on(self, thread):
        """Another thread does what happens inside, while this one waits for it."""
        before, self.thread = self.thread, thread
        yield
        self.thread = before

    def step(self, number):
        return self.range(f"ProfilerStep#{number}")

    def frame(self, name, **args):
        return self.range(name, "python_function", **({"Python id": self.ids + 1} | args))

    def module(self, name):
        return self.frame(f"nn.Module: {name}", **{"Python module id": 0})

    def run(self, microseconds):
        """The host is in whatever range is open, or in code that is not recorded."""
        self.now += microseconds

    def spend(self, name, microseconds, category="user_annotation", **args):
        with self.range(name, category, **args):
            self.run(microseconds)

    def call(self, name, microseconds, category=None, **args):
        """A call of the runtime that launches nothing."""
        self.spend(name, microseconds, category or self.runtime["category"], **args)

    # Devices

    def launch(self, kernels, stream=7, device=0, call=None, took=5.0, category=None, after=(), pid=None):
        """A call that launches kernels, a list of (name, microseconds); gives (start, end) of the last one."""
        self.correlation += 1
        correlation, operator = self.correlation, self.operators[-1] if self.operators else 0
        name = call or self.runtime["launch"]
        self.event("X", name, PID, self.thread, self.now, category or self.runtime["category"], took,
                   {"External id": operator, "cbid": 211, "correlation": correlation})
        self.now += took
        start = end = max([self.now + 3.0, self.free.get((device, stream), 0.0), *after])
        for kernel, microseconds in kernels:
            start = max(end, start)
            self.activity(kernel, "kernel", start, microseconds, stream, device,
                          {"External id": operator, "correlation": correlation, "grid": [432, 1, 1],
                           "block": [256, 1, 1], "registers per thread": 64, "shared memory": 0,
                           "blocks per SM": 4.0, "warps per SM": 32.0, "est. achieved occupancy %": 50})
            end = start + microseconds
        self.free[device, stream] = end
        return start, end

    def activity(self, name, category, start, microseconds, stream, device, args):
        self.event("X", name, device, stream, start, category, microseconds,
                   {"device": device, "context": 1, "stream": stream} | args)

    def op(self, name, host=12.0, kernel=None, gpu=0.0, stream=7, device=0, shapes=None, dtype="c10::BFloat16",
           after=(), took=5.0, call=None, category=None, **args):
        """An operator that launches one kernel or none; gives the kernel's (start, end)."""
        if shapes:
            args |= {"Input Dims": shapes, "Input type": [dtype if shape else "" for shape in shapes]}
        with self.range(name, "cpu_op", **args):
            if kernel is None:
                self.run(host)
                return None
            self.run((host - took) / 2)
            times = self.launch([(kernel, gpu)], stream, device, call, took, category, after)
            self.run((host - took) / 2)
        return times

    def mm(self, gpu, host=12.0, size=2048, kernel=GEMM, **kwargs):
        return self.op("aten::mm", host, kernel, gpu, shapes=[[size, size], [size, size]], **kwargs)

    def add(self, gpu, host=12.0, **kwargs):
        return self.op("aten::add", host, ADD, gpu, shapes=[[2048, 2048], [2048, 2048]], **kwargs)

    def copy(self, kind, size, microseconds, blocking, stream=7, device=0, call=None, after=()):
        """A copy call; a blocking one returns when the copy has ended. kind: HtoD, DtoH, DtoD."""
        self.correlation += 1
        correlation, operator = self.correlation, self.operators[-1] if self.operators else 0
        called = self.now
        start = max([called + 6.0, self.free.get((device, stream), 0.0), *after])
        end = start + microseconds
        sides = {"HtoD": ("Pageable" if blocking else "Pinned", "Device"),
                 "DtoH": ("Device", "Pageable" if blocking else "Pinned"), "DtoD": ("Device", "Device")}[kind]
        self.activity(f"Memcpy {kind} ({sides[0]} -> {sides[1]})", "gpu_memcpy", start, microseconds, stream, device,
                      {"External id": operator, "correlation": correlation, "bytes": size})
        self.free[device, stream] = end
        self.now = end + 4.0 if blocking else called + 5.0
        self.event("X", call or self.runtime["copy"], PID, self.thread, called, self.runtime["category"],
                   self.now - called, {"External id": operator, "cbid": 41, "correlation": correlation})
        return start, end

    def wait(self, call=None, device=None):
        """A call that waits for all work of a device, or of all."""
        called = self.now
        ends = [end for (gpu, _), end in self.free.items() if device in (None, gpu)]
        self.now = max([called + 3.0, *(end + 5.0 for end in ends)])
        self.event("X", call or self.runtime["synchronize"], PID, self.thread, called, self.runtime["category"],
                   self.now - called, {"External id": self.operators[-1] if self.operators else 0})

    def read(self, operator="aten::item", microseconds=1.5, size=4, **kwargs):
        """A number of the GPU is read: a copy that waits, and a synchronization that has nothing left to wait for."""
        with self.range(operator, "cpu_op"):
            with self.range("aten::_local_scalar_dense", "cpu_op") if operator == "aten::item" \
                    else contextlib.nullcontext():
                self.run(4.0)
                self.copy("DtoH", size, microseconds, True, **kwargs)
                if self.runtime["category"] == "cuda_runtime":
                    self.call(self.runtime["stream_synchronize"], 2.0)
                self.run(2.0)

    # Memory

    def allocate(self, size, device=0, grow=0):
        """Bytes that are allocated (or freed, if negative); grow: what the cache reserves for it."""
        self.allocated[device] = self.allocated.get(device, 0) + size
        self.reserved[device] = self.reserved.get(device, 0) + grow
        self.address += 1 << 28
        return self.record(self.address, size, device)

    def release(self, block):
        address, size, device = block
        self.allocated[device] -= size
        self.record(address, -size, device)

    def record(self, address, size, device):
        self.run(1.0)
        self.event("i", "[memory]", PID, self.thread, self.now, "cpu_instant_event", args={
            "Total Reserved": self.reserved[device], "Total Allocated": self.allocated[device], "Bytes": size,
            "Addr": address, "Device Id": device, "Device Type": 1})["s"] = "t"
        return address, size, device


COLLECTIVES = {
    "all_reduce": ("c10d::allreduce_", "nccl:all_reduce", "AllReduce_Sum_bf16_RING_LL"),
    "all_gather": ("c10d::_allgather_base_", "nccl:_all_gather_base", "AllGather_RING_LL"),
    "reduce_scatter": ("c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base", "ReduceScatter_Sum_bf16_RING_LL"),
    "broadcast": ("c10d::broadcast_", "nccl:broadcast", "Broadcast_RING_LL"),
    "all_to_all": ("c10d::alltoall_base_", "nccl:all_to_all", "SendRecv"),
    "recv": ("c10d::recv_", "nccl:recv 1<-0", "SendRecv"),
}


def collective(machine, kind, elements, microseconds, stream=20, ranks=8, after=(), host=30.0, group="0", kernel=None):
    """A collective that this rank launches; gives its kernel's (start, end)."""
    c10d, annotation, function = COLLECTIVES[kind]
    kernel = kernel or f"ncclDevKernel_{function}(ncclDevKernelArgsStorage<4096ul>)"
    machine.sequences = getattr(machine, "sequences", {})
    machine.sequences[group] = sequence = machine.sequences.get(group, 0) + 1
    args = {"Collective name": annotation.split(":")[1].split()[0].strip("_"), "In msg nelems": elements,
            "Out msg nelems": elements, "Group size": ranks, "dtype": "BFloat16", "In split size": "[]",
            "Out split size": "[]", "Process Group Name": group, "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(ranks))), "Rank": machine.rank or 0, "Seq": sequence}
    with machine.range(c10d, "cpu_op"), machine.range("record_param_comms", "cpu_op", **args), \
            machine.range(annotation):
        machine.run(host / 2)
        times = machine.launch([(kernel, microseconds)], stream, after=after)
        machine.events[-1]["args"] |= args
        machine.run(host / 2)
    return times


def meet(machines, kind, elements, transfer, **kwargs):
    """The same collective on all ranks: it ends on all of them when the last one has come and the data is moved."""
    ranks = len(machines)
    kernels = []
    for machine in machines:
        stream = kwargs.get("stream", 20)
        kwargs["after"] = [machine.free.get((0, 7), 0.0)]
        collective(machine, kind, elements, 0.0, ranks=ranks, **kwargs)
        kernels.append(next(event for event in reversed(machine.events) if event.get("cat") == "kernel"))
    end = max(kernel["ts"] for kernel in kernels) + transfer
    for machine, kernel in zip(machines, kernels):
        kernel["dur"] = round(end - kernel["ts"], 3)
        machine.free[0, stream] = machine.free[0, 7] = end
    return end
