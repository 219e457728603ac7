"""Writes what a rank recorded as Chrome trace JSON, in the layout of Kineto's own writer."""
import json

from .dialects import annotation_name, collective_arguments, operator_name
from .program import BACKWARD, MAIN, RUN_LOOP

DEVICE = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_094_236_160, "computeMajor": 8,
          "computeMinor": 0, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
          "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 108,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912, "sharedMemPerMultiprocessor": 167936}
THREAD_NAMES = {MAIN: "python", BACKWARD: "pt_autograd_0", RUN_LOOP: "pt_gloo_runloop"}
LAUNCH = ('"registers per thread": 64, "shared memory": 16384,\n      "blocks per SM": 7.407407, "warps per SM": '
          '59.259258,\n      "grid": [800, 1, 1],\n      "block": [256, 1, 1],\n      "est. achieved occupancy %": 38')
CALL_IDS = {"cudaLaunchKernel": 211, "cudaLaunchKernelExC": 430, "cudaMemcpyAsync": 41, "cudaStreamSynchronize": 131,
            "cudaFree": 22, "cudaMalloc": 20}
ROCM_NAMES = {"cudaLaunchKernel": "hipLaunchKernel", "cudaLaunchKernelExC": "hipExtLaunchKernel",
              "cudaMemcpyAsync": "hipMemcpyWithStream", "cudaStreamSynchronize": "hipStreamSynchronize",
              "cudaFree": "hipFree", "cudaMalloc": "hipMalloc"}


class TraceWriter:
    """One rank's file."""

    def __init__(self, state, program, clock, dialect):
        settings = program.settings
        self.state, self.program, self.clock, self.dialect = state, program, clock, dialect
        self.settings = settings
        self.backend = "gloo" if settings.kind == "gloo" else "nccl"
        self.rank = state.rank
        self.device = self.rank % settings.gpus_per_node
        self.pid = 77 if settings.same_pids else 4_000 + 13 * self.rank
        self.host = f"pod{self.rank}" if settings.same_pids else f"node{self.rank // settings.gpus_per_node}"
        self.threads = {MAIN: self.pid, BACKWARD: self.pid + 1, RUN_LOOP: self.pid + 2}
        self.events = []
        self.names = {}

    def time(self, true_ns):
        shown = self.clock.shown(true_ns)
        if not self.dialect.has_base:
            return shown // 1000 * 1000
        return shown

    @staticmethod
    def text(ns):
        whole, part = divmod(ns, 1000)
        return f"{whole}.{part:03d}" if part else f"{whole}"

    def quoted(self, name):
        text = self.names.get(name)
        if text is None:
            text = self.names[name] = json.dumps(name)
        return text

    def add(self, category, name, pid, tid, start, end, arguments):
        begin = self.time(start)
        self.events.append(
            f'  {{\n    "ph": "X", "cat": "{category}", "name": {self.quoted(name)}, "pid": {pid}, "tid": {tid},\n'
            f'    "ts": {self.text(begin)}, "dur": {self.text(self.time(end) - begin)},\n'
            f'    "args": {{\n      {arguments}\n    }}\n  }}')

    def flow(self, phase, number, pid, tid, start):
        end = ', "bp": "e"' if phase == "f" else ""
        self.events.append(
            f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, "ts": '
            f'{self.text(self.time(start))},\n    "cat": "ac2g", "name": "ac2g"{end}\n  }}')

    # Hosts.

    def add_ranges(self):
        """Gives each range its External id, which is 0 for those that this torch does not write."""
        dialect = self.dialect
        number = frames = 0
        for index, row in enumerate(self.state.ranges):
            start, end, thread, category, name, what = row[:6]
            extra = ""
            if category == "python_function":
                frame = ""
                if name != "Python GC":
                    frames += 1
                    frame = f'"Python parent id": null, "Python id": {frames}, '
                self.add(category, name, self.pid, self.threads[thread], start, end, f'{frame}"Ev Idx": {index}')
                continue
            if isinstance(name, tuple):
                name = f"ProfilerStep#{self.settings.first_step + name[1]}"
            elif name is None:  # a collective's annotation
                if not dialect.has_annotations:
                    row.append(0)
                    continue
                name = annotation_name(what, self.rank, self.backend, self.program.groups[what.group])
            elif name == "record_param_comms":
                if not dialect.has_param_comms:
                    row.append(0)
                    continue
                extra = collective_arguments(dialect, what, self.rank, self.program, False)
            elif name == "c10d::send":
                name = self.operator_of(index, name)
            number += 1
            row.append(number)
            record = f', "Record function id": {number}' if dialect.has_group_names else ""
            self.add(category, name, self.pid, self.threads[thread], start, end,
                     f'"External id": {number}{record}, "Ev Idx": {index}{extra}')

    def operator_of(self, index, name):
        """Which side of a message this is says the range below."""
        below = self.state.ranges[index + 1][5]
        return operator_name(below, self.rank) if below else name

    def owner(self, ranges):
        """The External id of the innermost operator around a launch."""
        if ranges is None:
            return 0
        if isinstance(ranges, list) and ranges and isinstance(ranges[0], list):
            return next((row[6] for row in reversed(ranges[:2]) if row[6]), 0)
        return ranges[6]

    def add_calls(self):
        rocm = self.dialect.kernels == "rccl"
        for start, end, thread, name, correlation, ranges, launches in self.state.calls:
            shown = ROCM_NAMES[name] if rocm else name
            external = self.owner(ranges)
            link = f'"External id": {external}, ' if external else ""
            self.add("cuda_runtime", shown, self.pid, self.threads[thread], start, end,
                     f'{link}"cbid": {CALL_IDS[name]}, "correlation": {correlation}')
            if launches:
                self.flow("s", correlation, self.pid, self.threads[thread], start)

    # GPUs.

    def add_kernels(self):
        launch = "" if self.settings.is_compact else ",\n      " + LAUNCH
        for start, end, stream, name, correlation, ranges, kind, collective in self.state.kernels:
            external = self.owner(ranges)
            place = f'"device": {self.device}, "context": 1, "stream": {stream}, "correlation": {correlation}'
            if isinstance(kind, tuple):
                size = kind[1]
                self.add("gpu_memcpy", name, self.device, stream, start, end,
                         f'"External id": {external}, {place}, "bytes": {size}, '
                         f'"memory bandwidth (GB/s)": {size / max(1, end - start):.6f}')
            else:
                extra = ""
                if collective is not None:
                    name = self.dialect.kernel_name(collective)
                    if not collective.custom:
                        extra = collective_arguments(self.dialect, collective, self.rank, self.program, True)
                self.add("kernel", name, self.device, stream, start, end,
                         f'"External id": {external}, "queued": 0, {place}{launch}{extra}')
            self.flow("f", correlation, self.device, stream, start)
            if collective is not None and len(ranges) > 2 and ranges[2][6]:
                shown = annotation_name(collective, self.rank, self.backend, self.program.groups[collective.group])
                self.add("gpu_user_annotation", shown, self.device, stream, start, end,
                         f'"External id": {ranges[2][6]}')

    # The document.

    def add_names(self, first):
        at = self.text(self.time(first))

        def metadata(name, pid, tid, key, value):
            self.events.append(f'  {{\n    "name": "{name}", "ph": "M", "ts": {at}, "pid": {pid}, "tid": {tid},\n'
                               f'    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}')
        metadata("process_name", self.pid, 0, "name", "python")
        metadata("process_labels", self.pid, 0, "labels", "CPU")
        metadata("process_sort_index", self.pid, 0, "sort_index", self.pid)
        if self.backend == "nccl":
            metadata("process_name", self.device, 0, "name", "python")
            metadata("process_labels", self.device, 0, "labels", f"GPU {self.device}")
            metadata("process_sort_index", self.device, 0, "sort_index", 5_000_000 + self.device)
            for stream in sorted(self.state.streams):
                metadata("thread_name", self.device, stream, "name", f"stream {stream} ")
                metadata("thread_sort_index", self.device, stream, "sort_index", stream)
        used = {row[2] for row in self.state.ranges}
        for thread in sorted(used):
            number = self.threads[thread]
            metadata("thread_name", self.pid, number, "name", f"thread {number} ({THREAD_NAMES[thread]})")
            metadata("thread_sort_index", self.pid, number, "sort_index", number)

    def add_span(self, first, last):
        begin = self.time(first)
        at = self.text(begin)
        self.events.append(
            f'  {{\n    "ph": "X", "cat": "Trace", "ts": {at}, "dur": {self.text(self.time(last) - begin)},\n'
            f'    "pid": "Spans", "tid": "PyTorch Profiler",\n    "name": "PyTorch Profiler (0)",\n'
            f'    "args": {{\n      "Op count": 0\n    }}\n  }}')
        self.events.append(f'  {{\n    "name": "process_sort_index", "ph": "M", "ts": {at},\n    "pid": "Spans", '
                           f'"tid": 0,\n    "args": {{\n      "sort_index": 536870912\n    }}\n  }}')
        self.events.append(f'  {{\n    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",\n    "pid": '
                           f'"Traces", "tid": "Trace PyTorch Profiler", "ts": {at}\n  }}')
        self.events.append(f'  {{\n    "name": "Record Window End", "ph": "i", "s": "g",\n    "pid": "", "tid": "", '
                           f'"ts": {self.text(self.time(last))}\n  }}')

    def head(self):
        settings, dialect = self.settings, self.dialect
        devices = [DEVICE | {"id": at} for at in range(settings.gpus_per_node)] if self.backend == "nccl" else []
        distributed = {"backend": self.backend, "rank": self.rank, "world_size": settings.world_size}
        if dialect.has_groups:
            config = self.backend if self.backend == "gloo" else "cpu:gloo,cuda:nccl"
            groups = [{"pg_name": name, "pg_desc": self.program.descriptions[name], "backend_config": config,
                       "pg_size": len(ranks), "ranks": list(ranks)}
                      for name, ranks in self.program.groups.items() if self.rank in ranks]
            distributed |= {"pg_count": len(groups), "pg_config": groups}
        head = {"schemaVersion": 1, "deviceProperties": devices}
        if self.backend == "nccl" and dialect.has_base:
            key = "hip" if dialect.kernels == "rccl" else "cuda"
            head |= {f"{key}_runtime_version": 12060, f"{key}_driver_version": 12040}
        if settings.with_stack:
            head["with_stack"] = 1
        return head | {"distributedInfo": distributed}

    def file_name(self):
        """As users name files by rank, or as torch's tensorboard_trace_handler does."""
        if self.settings.file_names == "rank":
            return f"rank{self.rank}.pt.trace.json"
        return f"{self.host}_{self.pid}.{self.clock.reference_ns // 10**6 + 5_000 + self.rank % 3}.pt.trace.json"

    def document(self):
        state = self.state
        first = min(row[0] for row in state.ranges) - 120_000
        last = max([row[1] for row in state.ranges] + [row[1] for row in state.kernels]) + 200_000
        self.add_ranges()
        self.add_names(first)
        self.add_calls()
        self.add_kernels()
        self.add_span(first, last)
        head = self.head()
        tail = {"host_name": self.host} if self.dialect.has_sequence else {}
        if self.dialect.has_base:
            tail |= {"displayTimeUnit": "ms", "baseTimeNanoseconds": self.clock.base_ns}
        tail["traceName"] = self.file_name()
        text = "{\n" + "".join(f'  "{key}": {json.dumps(value)},\n' for key, value in head.items())
        text += '  "traceEvents": [\n' + ",\n".join(self.events) + "\n  ]"
        return text + "".join(f',\n  "{key}": {json.dumps(value)}' for key, value in tail.items()) + "\n}\n"
