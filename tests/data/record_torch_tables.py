#!/usr/bin/env python3
"""Records with the torch that runs it, and keeps what torch printed of each recording: torch_2_15/ beside this file.

Run it from the repository's root:

    python tests/data/record_torch_tables.py [NAME...]

The folder is named after torch's version. tables.json has, for each text, its trace and the command of tbtrace that
prints it. Traces are rewritten as those of examples/record_traces.py, so that they name no folder of this machine. The
recording `made_device` has invented events, because no GPU is needed for it: torch's own Python code gives kernels to
operators and adds up.
"""

import argparse
import dataclasses
import gzip
import json
import pathlib
import sys
import tempfile

import torch
from torch.autograd import DeviceType, profiler, profiler_util
from torch.profiler import ProfilerActivity, profile, record_function

sys.path.insert(0, str(pathlib.Path("examples").resolve()))
from record_traces import Perceptron, train, without_places  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = pathlib.Path("tests/data") / ("torch_" + "_".join(torch.__version__.split(".")[:2]))
# Name, arguments of key_averages() (None: of events()), arguments of table().
DEFAULT = ("default", {}, {})
TOP_LEVEL = ("top_level", {}, {"sort_by": "count", "top_level_events_only": True})
EVENTS = ("events", None, {"row_limit": 12, "max_src_column_width": 40})
SHAPES = ("shapes", {"group_by_input_shape": True}, {"sort_by": "cpu_memory_usage", "row_limit": 20})
FRAMES = ("frames", {"include_python_functions": True}, {"sort_by": "self_cpu_time_total", "row_limit": 30})
STACKS = ("stacks", {"group_by_stack_n": 4}, {"sort_by": "cpu_time_total", "row_limit": 8, "max_src_column_width": 60})
OVERLOADS = ("overloads", {"group_by_overload_name": True}, {"sort_by": "cpu_time_total", "row_limit": 20})
DEVICE = ("device", {}, {"sort_by": "self_cuda_time_total", "row_limit": -1})


def config(**options):
    return torch._C._profiler._ExperimentalConfig(**options)  # pylint: disable=protected-access


def training():
    """A step with shapes, allocations and FLOPs."""
    model, batch = Perceptron(), torch.randn(32, 64)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_flops=True) as prof:
        train(model, batch, 1, prof)
    return prof, (DEFAULT, TOP_LEVEL, SHAPES)


def frames():
    """Python functions and modules, and the stacks of operators."""
    model, batch = Perceptron(), torch.randn(8, 64)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True,
                 experimental_config=config(verbose=True)) as prof:
        with record_function("predict"):
            model(batch).argmax()
    return prof, (DEFAULT, EVENTS, FRAMES, STACKS)


def overloads():
    """Overloads, and names that torch demangles, joins or leaves out."""
    with profile(activities=[ProfilerActivity.CPU], experimental_config=config(capture_overload_names=True)) as prof:
        for name in ("_Z4funcv", "ProfilerStep#7", "ProfilerStep#8", "aten::is_leaf", "a.b", "[memory]"):
            with record_function(name):
                (torch.ones(4) + torch.ones(4)).mul_(2)
    return prof, (DEFAULT, EVENTS, OVERLOADS)


@dataclasses.dataclass
class MadeEvent:
    """An event as Kineto gives it to torch. `linked`: the id of the operator that launched it."""

    category: str
    label: str
    thread: int
    start: int
    end: int
    correlation: int
    linked: int = 0

    @property
    def on_device(self):
        return self.category in ("kernel", "gpu_memcpy")

    @property
    def id_in_file(self):
        """The argument `External id`, which is also what torch calls `external_id`."""
        return self.linked or (self.correlation if self.category in ("cpu_op", "user_annotation") else 0)

    def __getattr__(self, question):
        answers = {
            "name": self.label, "overload_name": "", "start_ns": self.start, "end_ns": self.end,
            "correlation_id": self.correlation, "linked_correlation_id": self.linked, "external_id": self.id_in_file,
            "start_thread_id": self.thread, "end_thread_id": self.thread, "device_resource_id": self.thread,
            "device_type": DeviceType.CUDA if self.on_device else DeviceType.CPU, "activity_type": self.category,
            "is_user_annotation": self.category == "user_annotation", "sequence_nr": -1, "cuda_elapsed_us": -1,
        }
        if question.startswith("__"):
            raise AttributeError(question)
        empty = {"shapes": [], "concrete_inputs": [], "stack": [], "dtypes": [], "structured_input_shapes": [],
                 "structured_input_strides": []}
        return lambda: answers.get(question, empty.get(question, 0))

    def row(self, number):
        arguments = {"External id": self.id_in_file} if self.id_in_file else {}
        if self.category in ("cpu_op", "user_annotation"):
            arguments["Ev Idx"] = number
        else:
            arguments["correlation"] = self.correlation
        return {"ph": "X", "cat": self.category, "name": self.label, "pid": 0 if self.on_device else 4711,
                "tid": self.thread, "ts": self.start / 1000, "dur": (self.end - self.start) / 1000, "args": arguments}


class MadeRecording:
    with_stack = False

    def __init__(self, events):
        self.made = sorted(events, key=lambda event: event.start)
        inner = profiler.profile(use_kineto=True)
        inner.use_device = "cuda"
        self.kineto_results = argparse.Namespace(events=lambda: self.made, trace_start_ns=lambda: 0)
        rows = inner._parse_kineto_results(self.kineto_results)  # pylint: disable=protected-access
        self.list = profiler_util.EventList(rows, use_device="cuda")
        self.list._build_tree()  # pylint: disable=protected-access

    def events(self):
        return self.list

    def key_averages(self, **group):
        return self.list.key_averages(**group)

    def export_chrome_trace(self, path):
        rows = [event.row(number) for number, event in enumerate(self.made)]
        rows.append({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
                     "tid": "PyTorch Profiler", "ts": 0, "dur": 1000, "args": {}})
        head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "made"}]}
        pathlib.Path(path).write_text(json.dumps({**head, "traceEvents": rows}))


def made_device():
    """Kernels of operators and of nothing, and calls that belong to no operator but have an operator's number."""
    return MadeRecording([
        MadeEvent("user_annotation", "forward", 1, 1000, 400500, 1),
        MadeEvent("cpu_op", "aten::linear", 1, 2010, 200030, 2),
        MadeEvent("cpu_op", "aten::addmm", 1, 5000, 190070, 3),
        MadeEvent("cuda_runtime", "cudaLaunchKernel", 1, 50000, 61000, 11, linked=3),
        MadeEvent("kernel", "gemm", 7, 70000, 170333, 11, linked=3),
        MadeEvent("cpu_op", "aten::copy_", 1, 250000, 390000, 4),
        MadeEvent("cuda_runtime", "cudaMemcpyAsync", 1, 260000, 280010, 12, linked=4),
        MadeEvent("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, 290000, 300701, 12, linked=4),
        MadeEvent("kernel", "of nothing", 7, 310000, 320000, 13),
        MadeEvent("cuda_runtime", "cudaStreamSynchronize", 1, 401000, 420000, 3),
        MadeEvent("cuda_driver", "cuLaunchKernel", 2, 430000, 440000, 4),
        MadeEvent("overhead", "Activity Buffer Request", 1, 450000, 460000, 0),
    ]), (DEFAULT, TOP_LEVEL, EVENTS, DEVICE)


def options(group, table):
    given = {"sort_by": "none"} | ({"per_event": True} if group is None else group) | table
    return [part for key, value in given.items()
            for part in ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])]


def record(make):
    name = make.__name__
    torch.manual_seed(0)
    prof, tables = make()
    version = ".".join(torch.__version__.split(".")[:2])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        text = without_places(path.read_text(), name)
        trace = FOLDER / f"{name}.json.gz"
        with open(trace, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
            file.write(text.encode())
        made = []
        for table, group, arguments in tables:
            rows = prof.events() if group is None else prof.key_averages(**group)
            made.append((f"{name}.{table}.txt", rows.table(**arguments),
                         ["ops", "--torch", version, *options(group, arguments)]))
        if prof.with_stack:
            prof.export_stacks(str(path), "self_cpu_time_total")
            made.append((f"{name}.lines.txt", path.read_text(), ["flamegraph", "--compat", "torch"]))
    for file, text, _ in made:
        (FOLDER / file).write_text(without_places(text, name), encoding="utf-8", newline="")
    return [{"trace": trace.name, "text": file, "command": command} for file, _, command in made]


def main():
    recordings = {make.__name__: make for make in (training, frames, overloads, made_device)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(recordings)} (default: all)")
    names = parser.parse_args().names
    if unknown := set(names) - set(recordings):
        parser.error(f"there is no recording {', '.join(sorted(unknown))}")
    torch.set_num_threads(2)
    FOLDER.mkdir(exist_ok=True)
    index = FOLDER / "tables.json"
    made = json.loads(index.read_text(encoding="utf-8"))["tables"] if names and index.exists() else []
    for name in names or recordings:
        made = [one for one in made if one["trace"] != f"{name}.json.gz"] + record(recordings[name])
    index.write_text(json.dumps({"tables": made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
