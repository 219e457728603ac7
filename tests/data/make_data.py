#!/usr/bin/env python3
"""Writes the traces in this folder: small ones of our own making, each with a trait that tests rely on.

    python3 tests/data/make_data.py            writes them
    python3 tests/data/make_data.py --check    exits with 1 if a file differs from what this would write

The events are invented; their layout is that of the writers: Kineto's of torch 2.13 (an event over several
lines, nothing escaped), that of 2021, and the one of trace tools that write a bare array.
"""

import gzip
import io
import json
import pathlib
import pickle
import sys
import tarfile
import tempfile
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent
BASE_NS = 1790857026000000000
START_NS = 4353549719765904  # of the recording; torch counts from its base
PROCESS = 4000
BACKWARD_THREAD = 4007
LAST = 900_000


def text(value):
    """A value as Kineto prints it: texts in quotes, with nothing escaped."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value)


def micros(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class Kineto:
    """A recording in the layout of torch 2.13."""

    def __init__(self, members=(), start_ns=START_NS):
        self.start_ns = start_ns
        self.members = dict(members)
        self.events = []
        self.index = 0

    def add(self, phase, arguments=None, **members):
        lines = [f'    "ph": "{phase}"'] + [f'    "{key}": {value}' for key, value in members.items()]
        if arguments is not None:
            inner = ", ".join(f'"{key}": {text(value)}' for key, value in arguments.items())
            lines.append(f'    "args": {{\n      {inner}\n    }}')
        self.events.append("  {\n" + ",\n".join(lines) + "\n  }")

    def at(self, ns):
        return micros(self.start_ns + ns)

    def label(self, name, process, thread, key, value):
        self.add("M", {key: value}, name=text(name), ts=self.at(0), pid=text(process), tid=text(thread))

    def op(self, name, start, end, *, category="cpu_op", thread=PROCESS, dims=None, **arguments):
        """An operator or annotation of the host; returns its External id."""
        number = self.index + 1
        values = {"External id": number, "Record function id": 0}
        values.update({key.replace("_", " "): value for key, value in arguments.items()})
        if dims is not None:
            values["Input type"] = ["float"] * len(dims)
            values["Input Dims"] = dims
        values["Ev Idx"] = self.index
        self.index += 1
        self.range(category, name, PROCESS, thread, start, end, values)
        return number

    def range(self, category, name, process, thread, start, end, arguments):
        self.add("X", arguments, cat=text(category), name=text(name), pid=text(process), tid=text(thread),
                 ts=self.at(start), dur=micros(end - start))

    def arrow(self, category, number, start, end):
        for phase, (process, thread, ns) in (("s", start), ("f", end)):
            extra = {} if phase == "s" else {"bp": '"e"'}
            self.add(phase, None, id=number, pid=process, tid=thread, ts=self.at(ns), cat=text(category),
                     name=text(category), **extra)

    def memory(self, ns, count, total, device_type=0, thread=PROCESS):
        self.add("i", {"Total Reserved": 0, "Total Allocated": total, "Bytes": count,
                       "Device Id": -1 if device_type == 0 else 0, "Device Type": device_type, "Addr": 4096 + ns,
                       "finished": False, "Ev Idx": self.index},
                 cat='"cpu_instant_event"', s='"t"', name='"[memory]"', pid=PROCESS, tid=thread, ts=self.at(ns))
        self.index += 1

    def launch(self, operator, correlation, call, called, work, name, ran, *, stream=7, thread=PROCESS,
               category="kernel", **more):
        """A call of the runtime in an operator, what it started on the device, and the arrow between them."""
        common = {"External id": operator} if operator else {}
        self.range("cuda_runtime", call, PROCESS, thread, *called,
                   {**common, "cbid": 211, "correlation": correlation})
        self.range(category, name, 0, stream, *ran,
                   {**common, "device": 0, "context": 1, "stream": stream, "correlation": correlation, **more})
        self.arrow("ac2g", correlation, (PROCESS, thread, called[0]), (0, stream, ran[0]))
        assert work == category

    def document(self, name, last=LAST):
        self.range("Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", 0, last, {"Op count": 0})
        self.add("i", None, s='"g"', name='"Record Window End"', pid='""', tid='""', ts=self.at(last))
        members = {"schemaVersion": 1, **self.members, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
        head = "".join(f'  "{key}": {text(value)},\n' for key, value in members.items())
        return "{\n" + head + '  "traceEvents": [\n    \n' + ",\n".join(self.events) + f'\n  ],"traceName": "{name}" }}\n'


def gpu_step(name, *, rank=0, host="node-a", start_ns=START_NS, number=1, slower=0):
    """A training step on a GPU: a copy to it, two kernels of the forward pass, two of the backward pass that
    autograd's thread launches, a fill, a kernel that nothing in the file launched, memory and FLOPs.
    `slower`: by how much aten::mm is."""
    trace = Kineto({"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
                    "deviceProperties": [{"id": 0, "name": "Example GPU", "totalGlobalMem": 85899345920}],
                    "profile_memory": 1, "record_shapes": 1, "with_flops": 1, "host_name": host}, start_ns)
    trace.label("process_name", PROCESS, 0, "name", "python")
    trace.label("thread_name", PROCESS, PROCESS, "name", "thread 4000 (python)")
    trace.label("thread_name", PROCESS, BACKWARD_THREAD, "name", "thread 4007 (pt_autograd_0)")
    trace.label("process_name", 0, 0, "name", "python")
    trace.label("process_labels", 0, 0, "labels", "GPU 0")
    trace.label("thread_name", 0, 7, "name", "stream 7")

    step = trace.op(f"ProfilerStep#{number}", 1_000, 800_000, category="user_annotation")
    trace.op("aten::to", 10_000, 90_000, dims=[[32, 64], [], []])
    copy = trace.op("aten::copy_", 20_000, 85_000, dims=[[32, 64], [32, 64], []], overload_name="")
    trace.launch(copy, 101, "cudaMemcpyAsync", (30_000, 80_000), "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)",
                 (60_250, 78_000), category="gpu_memcpy", bytes=8192)
    trace.memory(25_000, 8192, 8192, device_type=1)

    forward = trace.op("forward", 100_000, 300_000, category="user_annotation")
    trace.op("aten::linear", 110_000, 200_000, dims=[[32, 64], [128, 64], [128]])
    addmm = trace.op("aten::addmm", 120_000, 190_000, dims=[[128], [32, 64], [64, 128], [], []],
                     Sequence_number=11, Fwd_thread_id=0)
    trace.memory(125_000, 16384, 24576, device_type=1)
    trace.launch(addmm, 102, "cudaLaunchKernel", (150_000, 160_125), "kernel", "void gemm_128x64<float, true>(float*)",
                 (170_000, 290_500), grid=[4, 2, 1], block=[256, 1, 1])
    relu = trace.op("aten::relu", 210_000, 280_000, dims=[[32, 128]], Sequence_number=12, Fwd_thread_id=0)
    clamp = trace.op("aten::clamp_min", 220_000, 270_000, dims=[[32, 128], []])
    trace.memory(225_000, 16384, 40960, device_type=1)
    trace.launch(clamp, 103, "cudaLaunchKernel", (240_000, 250_000), "kernel", "void elementwise<4, relu>(int, float*)",
                 (290_500, 310_000), grid=[16, 1, 1], block=[128, 1, 1])

    thread = {"thread": BACKWARD_THREAD}
    trace.op("autograd::engine::evaluate_function: AddmmBackward0", 400_000, 600_000, **thread,
             Sequence_number=11, Fwd_thread_id=1)
    trace.op("AddmmBackward0", 410_000, 590_000, **thread, dims=[[32, 128]], Sequence_number=11, Fwd_thread_id=1)
    mm = trace.op("aten::mm", 420_000, 520_000 + slower, **thread, dims=[[128, 32], [32, 64]])
    trace.memory(425_000, 32768, 73728, device_type=1, **thread)
    trace.launch(mm, 104, "cudaLaunchKernel", (440_000, 450_000), "kernel", "void gemm_128x64<float, false>(float*)",
                 (460_000, 560_000), **thread, grid=[2, 2, 1], block=[256, 1, 1])
    zero = trace.op("aten::zero_", 530_000, 580_000, **thread, dims=[[128]])
    trace.launch(zero, 105, "cudaMemsetAsync", (540_000, 550_000), "gpu_memset", "Memset (Device)",
                 (560_000, 561_750), **thread, category="gpu_memset", bytes=512)
    trace.arrow("fwdbwd", 11, (PROCESS, PROCESS, 120_000), (PROCESS, BACKWARD_THREAD, 410_000))

    scratch = trace.op("aten::empty", 610_000, 620_000, dims=[[], [], [], [], [], []])
    trace.memory(615_000, 256, 256)
    trace.memory(700_000, -256, 0)
    trace.range("cuda_runtime", "cudaDeviceSynchronize", PROCESS, PROCESS, 720_000, 790_000,
                {"External id": step, "cbid": 165, "correlation": 106})
    trace.range("kernel", "void nobody_launched_this()", 0, 20, 600_000, 640_000,
                {"device": 0, "context": 1, "stream": 20, "correlation": 999})
    trace.range("gpu_user_annotation", f"ProfilerStep#{number}", 0, 7, 60_250, 561_750, {"External id": step})
    trace.range("gpu_user_annotation", "forward", 0, 7, 170_000, 310_000, {"External id": forward})
    assert scratch > relu
    return trace.document(name)


def cpu_steps(name):
    """Three steps on the host, each a microsecond longer than the one before: batches from the data loader, an
    operator in another, memory, and time that nothing has a name for."""
    trace = Kineto({"profile_memory": 1, "host_name": "node-a"})
    allocated = 0
    for number in range(3):
        start = 10_000 + 250_000 * number
        longer = 1_000 * number
        trace.op(f"ProfilerStep#{number + 7}", start, start + 200_000 + longer, category="user_annotation")
        trace.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start + 5_000, start + 45_000,
                 category="user_annotation")
        trace.op("aten::linear", start + 50_000, start + 150_000 + longer)
        allocated += 4 << 20
        trace.memory(start + 60_000, 4 << 20, allocated)
        trace.op("aten::addmm", start + 70_000, start + 140_000 + longer)
        trace.memory(start + 80_000, 1 << 20, allocated + (1 << 20))
        trace.memory(start + 130_000, -(1 << 20), allocated)
    return trace.document(name)


def stacks(name):
    """Python frames, modules and operators of two calls of one line; times are whole microseconds."""
    trace = Kineto({"with_stack": 1, "with_modules": 1, "host_name": "node-a"})

    def frame(label, start, end, number, parent, **more):
        trace.range("python_function", label, PROCESS, PROCESS, start, end,
                    {"Python parent id": parent, "Python id": number, **more, "Ev Idx": trace.index})
        trace.index += 1

    frame("train.py(30): <module>", 0, 800_000, 1, None)
    frame("train.py(12): step", 10_000, 700_000, 2, 1)
    for number, start in ((3, 50_000), (5, 350_000)):
        frame("nn.Module: Linear_0", start, start + 250_000, number, 2, **{"Python module id": 0})
        frame("torch/nn/modules/linear.py(130): forward", start + 10_000, start + 240_000, number + 1, number)
        stack = "torch/nn/modules/linear.py(130): forward;nn.Module: Linear_0;train.py(12): step;train.py(30): <module>"
        trace.op("aten::linear", start + 20_000, start + 220_000, Call_stack=stack)
        trace.op("aten::addmm", start + 40_000, start + 200_000, Call_stack=stack)
    return trace.document(name)


HOSTILE = ("<script>alert(1)</script>", "=HYPERLINK(1)", "a|b `c` **d**", "two words;semi;colon", "comma, and 'quotes'",
           "back\\slash", 'say "hello"', "tab\\tand newline\\n", "caf\u00e9 \u4f8b \U0001f525", "-1+1", "\u001b[31mred",
           "&amp; <b>", "", "-" * 120)


def cuda_graph(name):
    """Two replays of a CUDA graph whose kernels bear the labels of the program, as torch 2.15 writes them: one stays on
    its stream and one is moved; one has a module's name; the text of torch 2.14; one kernel has none. A kernel that an
    operator launched, whose `name` is no label. Python frames as of torch 2.14, and rows with `External id` 0."""
    trace = Kineto({"deviceProperties": [{"id": 0, "name": "Example GPU", "totalGlobalMem": 85899345920}]})
    trace.label("process_name", PROCESS, 0, "name", "python")
    trace.label("thread_name", 0, 7, "name", "stream 7")
    trace.label("thread_name", 0, 61, "name", "attention")
    frame = {"Python id": 1, "Python thread": 0}
    trace.range("python_function", "serve.py(10): <module>", PROCESS, PROCESS, 500, 850_000, {**frame, "Ev Idx": 90})
    trace.range("python_function", "serve.py(30): decode", PROCESS, PROCESS, 2_000, 700_000,
                {"Python parent id": 1, "Python id": 2, "Python thread": 0, "CallFrom": "serve.py:14", "Ev Idx": 91})
    trace.op("ProfilerStep#1", 1_000, 800_000, category="user_annotation")
    trace.range("user_annotation", "request", PROCESS, PROCESS, 3_000, 650_000, {"External id": 0, "Ev Idx": 92})
    trace.range("gpu_user_annotation", "request", 0, 7, 100_000, 600_000, {"External id": 0})
    eager = trace.op("aten::relu", 10_000, 60_000)
    node = {"device": 0, "context": 1}
    common = {"External id": eager, "correlation": 101}
    trace.range("cuda_runtime", "cudaLaunchKernel", PROCESS, PROCESS, 20_000, 30_000, common)
    trace.range("kernel", "relu_kernel", 0, 7, 40_000, 50_000, {**common, **node, "stream": 7, "name": "eager"})
    for correlation, start in ((102, 100_000), (103, 300_000)):
        trace.range("cuda_runtime", "cudaGraphLaunch", PROCESS, PROCESS, start, start + 20_000,
                    {"External id": 0, "cbid": 311, "correlation": correlation})
        replayed = (("flash_fwd", 7, 30_000, {"stream": 61, "original_stream": 7, "name": "attention"}),
                    ("gemm", 7, 20_000, {"stream": 7, "name": "mlp", "annotated_stream": 62}),
                    ("gemm", 7, 25_000, {"stream": 7, "module_fqn": "layers.0.ffn"}),
                    ("gemm", 7, 5_000, {"stream": 7, "annotation": r'[{\"name\": \"layer\"}, {\"name\": \"mlp\"}]'}),
                    ("norm", 7, 10_000, {"stream": 7}))
        at = start + 50_000
        for number, (kernel, _, length, more) in enumerate(replayed, 1):
            trace.range("kernel", kernel, 0, more["stream"], at, at + length,
                        {"External id": 0, **node, **more, "correlation": correlation, "graph id": 2,
                         "graph node id": (2 << 32) + number})
            at += length
        trace.range("gpu_memset", "Memset (Device)", 0, 7, at, at + 1_000,
                    {"External id": 0, **node, "stream": 7, "correlation": correlation, "bytes": 64, "graph id": 2,
                     "graph node id": (2 << 32) + 9, "name": "attention"})
        trace.arrow("ac2g", correlation, (PROCESS, PROCESS, start), (0, 61, start + 50_000))
    return trace.document(name)


def serving(name):
    """Twelve iterations of an engine that names them as vLLM does: two prefills, a mixed one and decodes, each a replay
    of a CUDA graph with an attention, a matrix product and an all-reduce; the host waits for each."""
    trace = Kineto({"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
                    "deviceProperties": [{"id": 0, "name": "Example GPU", "totalGlobalMem": 85899345920}]})
    batches = [(1, 1200, 0), (2, 900, 1)] + [(0, 0, 3)] * 3 + [(4, 3100, 0)] + [(0, 0, 8)] * 6
    at = 10_000
    for number, (prompts, prompt_tokens, decoding) in enumerate(batches):
        lengths = [(20_000 + 4 * prompt_tokens + 90 * decoding, "flash_fwd_splitkv_kernel"),
                   (15_000 + 9 * prompt_tokens + 20 * decoding, "nvjet_tst_128x64"),
                   (5_000 + 100 * (number % 4), "cross_device_reduce_1stage")]
        launch, device = at + 6_000, at + 14_000
        end = device + sum(length for length, _ in lengths) + 4_000
        trace.op(f"execute_context_{prompts}({prompt_tokens})_generation_{decoding}({decoding})", at, end,
                 category="user_annotation")
        common = {"External id": 0, "correlation": 500 + number}
        trace.range("cuda_runtime", "cudaGraphLaunch", PROCESS, PROCESS, launch, launch + 5_000,
                    {**common, "cbid": 311})
        for node, (length, kernel) in enumerate(lengths):
            trace.range("kernel", kernel, 0, 7, device, device + length,
                        {**common, "device": 0, "context": 1, "stream": 7, "graph id": 2,
                         "graph node id": (2 << 32) + node})
            device += length
        at = end + 8_000
    return trace.document(name, at)


def hostile_names(name):
    """Names as users and templates make them, unescaped as Kineto writes them."""
    trace = Kineto({"host_name": "node-a"})
    trace.op("outer", 0, 800_000)
    for number, label in enumerate(HOSTILE):
        trace.op(label, 10_000 + 50_000 * number, 10_000 + 50_000 * number + 1_000 * (number + 1))
    return trace.document(name)


def old_dialect():
    """As torch 1.8 wrote it: other categories, whole microseconds, ids as texts, no base time."""
    device, origin = "GPU 0", 1623143089861000
    rows = [("Operator", "ProfilerStep#2", "python", "4000", 0, 900, {}),
            ("Operator", "aten::linear", "python", "4000", 50, 400, {"Input Dims": [[32, 64], [128, 64], [128]]}),
            ("Operator", "aten::addmm", "python", "4000", 80, 300, {"Input Dims": [[128], [32, 64], [64, 128]]}),
            ("Operator", "aten::relu", "python", "4000", 500, 200, {"Input Dims": [[32, 128]]})]
    events = [{"ph": "X", "cat": category, "name": label, "pid": process, "tid": thread, "ts": origin + start,
               "dur": length, "args": {"Device": PROCESS, "External id": number, "Trace name": "PyTorch Profiler",
                                       "Trace iteration": 0, **arguments}}
              for number, (category, label, process, thread, start, length, arguments) in enumerate(rows, 2)]
    for operator, correlation, start, kernel, length in ((4, 31, 120, "sgemm_32x32", 150),
                                                         (5, 32, 550, "relu_kernel", 40)):
        common = {"external id": operator, "correlation": correlation}
        events.append({"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": "python", "tid": "4000",
                       "ts": origin + start, "dur": 10, "args": {**common, "cbid": 211}})
        events.append({"ph": "X", "cat": "Kernel", "name": kernel, "pid": 0, "tid": "stream 7",
                       "ts": origin + start + 20, "dur": length, "args": {**common, "device": 0, "stream": 7}})
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}], "traceEvents": events},
                      indent=1) + "\n"


def bare_array():
    """Events only, in an array that is never closed, as tools write it that may be killed."""
    events = [{"ph": "B", "name": "load", "pid": 1, "tid": 1, "ts": 5}, {"ph": "E", "pid": 1, "tid": 1, "ts": 8}]
    events += [{"ph": "X", "name": label, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": start, "dur": length}
               for label, start, length in (("train", 10, 100), ("matmul", 20, 30.5), ("matmul", 60, 20.25))]
    return "[\n" + ",\n".join(json.dumps(event) for event in events) + ",\n"


def damaged(whole):
    """The step with 100 bytes of an event zeroed, and with its end cut off inside another."""
    hole = whole.index('"aten::relu"') + 5
    return whole[:hole] + "\0" * 100 + whole[hole + 100:whole.index("cudaDeviceSynchronize") + 9]


def gzipped(content):
    """The same bytes from every zlib: stored blocks depend on no compression."""
    data = content if isinstance(content, bytes) else content.encode()
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    tail = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + body + tail
    assert gzip.decompress(packed) == data
    return packed


def zstandard(content):
    """A frame of RFC 8878 whose blocks are stored, so that the same bytes need no library; 1,000 bytes each."""
    data = content.encode()
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    for start in range(0, len(data), 1000):
        block = data[start:start + 1000]
        last = start + 1000 >= len(data)
        frame += (last | len(block) << 3).to_bytes(3, "little") + block
    return frame


def tar_archive(members, links=()):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        for name, target in links:
            link = tarfile.TarInfo(name)
            link.type = tarfile.SYMTYPE
            link.linkname = target
            tar.addfile(link)
    return packed.getvalue()


def archive(members):
    """A tar.gz as people attach it: members, a link, and a name that leads out of the folder."""
    return gzipped(tar_archive(members, [("ranks/latest.json", "/etc/passwd")]))


def of_process(pid, name):
    return {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}


def rocprof():
    """rocprof --hip-trace: times as text, no categories, work in processes GPU0 and COPY."""
    events = [of_process(2, "0 CPU HIP API"), of_process(6, "1 GPU0"), of_process(1, "2 COPY"), of_process(0, "3 Markers and Ranges")]
    rows = [(0, 7, "train", 1000, 900), (2, 7, "hipMemcpyAsync", 1010, 5), (1, 0, "CopyHostToDevice", 1020, 100)]
    rows += [row for step in range(3) for row in ((2, 7, "hipLaunchKernel", 1100 + 200 * step, 10),
                                                  (6, 0, "Cijk_Ailk_Bljk_SB.kd", 1120 + 200 * step, 150))]
    events += [{"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": str(start), "dur": str(length),
                "args": {"DurationNs": str(length * 1000)}} for pid, tid, name, start, length in rows]
    return json.dumps({"traceEvents": events, "otherData": {}}) + "\n"


def tensorflow1(streams):
    """TensorFlow 1's timeline: the same work under `all`, and under its stream if it lists streams."""
    device = "/job:localhost/replica:0/task:0/device:GPU:0"
    names = [device + " Compute", "/device:GPU:0/stream:all Compute", "/device:GPU:0/memcpy Compute"]
    rows = [(1, "MatMul", 1000, 40), (2, "MatMul", 1020, 100), (3, "MEMCPYHtoD", 1130, 30)]
    if streams:
        names.append("/device:GPU:0/stream:14 Compute")
        rows += [(4, "MatMul", 1020, 100), (4, "MEMCPYHtoD", 1130, 30)]
    events = [of_process(pid, name) for pid, name in enumerate(names, 1)]
    events += [{"ph": "X", "cat": "Op", "name": name, "pid": pid, "tid": 0, "ts": start, "dur": length,
                "args": {"name": "tower/" + name, "op": name}} for pid, name, start, length in rows]
    return json.dumps({"traceEvents": events}) + "\n"


def converted_from_nsys():
    """nsys2json.py: names in place of ids; ranges of NVTX beside the streams."""
    rows = [("nvtx", "NVTX Thread 7", "step 1", 1000, 500), ("cuda", "Stream 7", "sgemm_128x64", 1010.5, 300.25),
            ("cuda", "Stream 13", "relu", 1320, 20)]
    return json.dumps([{"name": name, "ph": "X", "cat": category, "ts": start, "dur": length, "tid": thread,
                        "pid": "Device 1", "args": {}} for category, thread, name, start, length in rows]) + "\n"


def onnx_runtime():
    """ONNX Runtime with the CUDA provider: kernels and copies have the category Kernel."""
    rows = [("Session", "model_run", 10, 900, {}), ("Node", "MatMul_1_kernel_time", 20, 300, {"provider": "CUDAExecutionProvider"}),
            ("Kernel", "MemcpyHostToDevice", 30, 50, {"stream": "7"}), ("Kernel", "ampere_sgemm_128x64", 90, 200, {"stream": "7"})]
    return json.dumps([{"cat": category, "pid": 300, "tid": 300, "dur": length, "ts": start, "ph": "X", "name": name,
                        "args": args} for category, name, start, length, args in rows]) + "\n"


def devtools():
    """The Performance panel of Chrome's developer tools."""
    rows = [("devtools.timeline", "RunTask", 100, 60), ("v8,devtools.timeline", "FunctionCall", 110, 40),
            ("blink.user_timing", "measure", 120, 5)]
    return json.dumps({"traceEvents": [{"args": {}, "cat": category, "dur": length, "name": name, "ph": "X", "pid": 11,
                                        "tid": 1, "ts": start} for category, name, start, length in rows]}) + "\n"


def recovered():
    """What the journal of a process has that was killed in its fourth step, in a convolution."""
    last_us = 12345000.0
    rows = [{"ph": "M", "name": "thread_name", "pid": 4711, "tid": 4712, "ts": 0, "args": {"name": "loader"}}]

    def add(name, category, thread, start, duration=None, process=4711, **arguments):
        if duration is None:
            duration = last_us - start
            arguments["finished"] = "false"
        rows.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start,
                     "dur": round(duration, 3), "args": arguments})

    def convolution(at, number):
        ids = {"External id": 100 + number}
        add("aten::conv2d", "cpu_op", 4711, at, 120000.25, **ids)
        ids["correlation"] = number
        add("cudaLaunchKernel", "cuda_runtime", 4711, at + 50, 12.5, **ids)
        add("conv_kernel", "kernel", 7, at + 90, 300000.5, process=0, device=0, stream=7, **ids)

    add("PyTorch Profiler (0)", "Trace", "Trace", 0.0, last_us, process="Traces")
    number = 0
    for step, (start, duration) in enumerate([(1000.0, 998000.0), (1000000.0, 1040000.0), (2050000.0, 1010000.0)], 1):
        add(f"ProfilerStep#{step}", "user_annotation", 4711, start, duration)
        add("train_step", "user_annotation", 4711, start + 100, duration - 200)
        for share in (0.1, 0.5):
            number += 1
            convolution(start + duration * share, number)
    add("ProfilerStep#4", "user_annotation", 4711, 3070000.0)
    add("train_step", "user_annotation", 4711, 3070100.0)
    convolution(3170000.0, 7)
    add("aten::conv2d", "cpu_op", 4711, 11141000.0)
    add("aten::_convolution", "cpu_op", 4711, 11142000.001, **{"External id": 108})
    add("cudaLaunchKernel", "cuda_runtime", 4713, 12344000.0, **{"External id": 109, "correlation": 9})
    add("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", 4712, 11000000.0)
    for thread in (4714, 4715, 4716, 4717):
        add("wait", "user_annotation", thread, 10000000.0 + thread)
    add("load", "user_annotation", 4717, 2000.0, 5000.0)
    base_ns = 1795857988000000000
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85899345920}],
            "host_name": "node3", "baseTimeNanoseconds": base_ns,
            "tbtrace_recovered": {"process_id": 4711, "host": "node3",
                                  "last_sign_of_life_ns": base_ns + int(last_us * 1000),
                                  "unfinished_ranges": 10, "window_was_open": True, "lost_records": 0}}
    members = "".join(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    return "{\n" + members + '"traceEvents": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n"


def memory_snapshot():
    """The start of what torch.cuda.memory._dump_snapshot() writes."""
    segment = {"device": 0, "address": 139637976727552, "total_size": 2097152, "allocated_size": 512, "blocks": []}
    return pickle.dumps({"segments": [segment], "device_traces": [[]]}, protocol=2)


def failed_training():
    """A snapshot of a GPU of 100 MiB that 30 MiB cannot be had of although 90 are free: a small block keeps each segment."""
    sys.path.insert(0, str(FOLDER.parent / "snapshots"))
    import allocator as model
    gpu = model.Allocator(capacity=100 << 20)
    keep, work = [model.frame("/home/u/project/cache.py", 12, "remember")], []
    for layer in range(5):
        forward = [model.frame("/home/u/project/model.py", 40 + layer, "forward"), model.frame("/home/u/project/train.py", 20, "main")]
        gpu.alloc(2 << 20, frames=keep)
        work += [gpu.alloc(9 << 20, frames=forward), gpu.alloc(9 << 20, frames=forward)]
    for address in work:
        gpu.free(address)
    try:
        gpu.alloc(30 << 20, frames=[model.frame("/home/u/project/train.py", 31, "evaluate")])
    except model.OutOfMemory:
        return pickle.dumps(model.snapshot([gpu]), protocol=4)
    return b""


def files():
    step = gpu_step("gpu_step.json")
    small = stacks("stacks.json")
    rank1 = gpu_step("gpu_step_rank1.json", rank=1)
    return {
        "gpu_step.json": step,
        "gpu_step_later.json": gpu_step("gpu_step_later.json", start_ns=START_NS + 2_000_000, number=2,
                                        slower=5_000),
        "gpu_step_rank1.json": rank1,
        "gpu_step_other_host.json": gpu_step("gpu_step_other_host.json", host="node-b"),
        "cpu_steps.json": cpu_steps("cpu_steps.json"),
        "stacks.json": small,
        "stacks.json.gz": gzipped(small),
        "cuda_graph.json": cuda_graph("cuda_graph.json"),
        "stacks.json.zst": zstandard(small),
        "serving.json": serving("serving.json"),
        "cut.json.zst": zstandard(small)[:len(small) // 2],
        "twice.json.gz": gzipped(gzipped(small)),
        "mixed_ranks/rank0.json": step,
        "mixed_ranks/rank1.json.zst": zstandard(rank1),
        "mixed_ranks/notes.txt": "Recorded on node-a.\n",
        "mixed_ranks.tar": tar_archive({"host0/rank0.json.gz": gzipped(step), "host1/rank1.json": rank1}),
        "two_ranks.tar.gz": archive({"ranks/rank0.json": step, "../ranks/rank1.json": rank1,
                                     "ranks/README.md": "two ranks"}),
        "rocprof.json": rocprof(),
        "tensorflow1.json": tensorflow1(False),
        "tensorflow1_streams.json": tensorflow1(True),
        "nsys2json.json": converted_from_nsys(),
        "onnx_runtime.json": onnx_runtime(),
        "devtools.json": devtools(),
        "recovered.json": recovered(),
        "memory_snapshot.pickle": memory_snapshot(),
        "failed_training.pickle": failed_training(),
        "execution_trace.json": '{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "now", "start_ts": 0, "nodes": []}\n',
        "page.html": "<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n",
        "hostile_names.json": hostile_names("hostile_names.json"),
        "old_dialect.json": old_dialect(),
        "bare_array.json": bare_array(),
        "damaged.json": damaged(step),
        "cut.json.gz": gzipped(small)[:len(small) // 2],
        "no_trace.json": '{"name": "not a trace"}\n',
        "text.txt": "These are words.\n",
        "empty.json": "",
    }


def slow_loader_job():
    """Four ranks of which one waits for its data loader; their clocks are up to a second apart."""
    sys.path.insert(0, str(FOLDER.parent / "jobs"))
    import made_jobs
    with tempfile.TemporaryDirectory() as folder:
        truth = made_jobs.make(folder, 1, kind="fsdp", world_size=4, steps=4, layers=1, clean=False,
                               cause_names=("input",), dialect="torch_2_10", clock_kind="free", length="short",
                               hiccup=False, wait="each", with_stack=False, grad_norm=True)
        return {f"slow_loader_job/rank{rank}.json": (pathlib.Path(folder) / path).read_text()
                for rank, path in truth["files"].items()}


def main():
    checking = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not checking:
        sys.exit("make_data: takes --check or nothing")
    different = []
    for name, content in (files() | slow_loader_job()).items():
        data = content if isinstance(content, bytes) else content.encode()
        path = FOLDER / name
        if not checking:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            different.append(name)
    if different:
        sys.exit(f"make_data: {', '.join(different)} differ; run tests/data/make_data.py")


if __name__ == "__main__":
    main()
