#!/usr/bin/env python3
"""Are kernels and operators in the groups that they belong to, for each combination of keys?

    groups_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME. The oracle reads the JSON of the trace with Python's json and looks for each
event through all others: what is around it, what launched it. It shares no code with tbtrace. TBTRACE_RANDOM_PERCENT
says how many random traces there are.
"""

import collections
import gzip
import itertools
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import unittest
from decimal import Decimal

import tbtrace

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/traces"
REAL = [ROOT / "tests/data" / name for name in ("gpu_step.json", "gpu_step_rank1.json", "cuda_graph.json",
                                                "h200/perceptron.json.gz", "h200/streams.json.gz")]
REAL += [path for path in (SHARED / "hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz",
                           SHARED / "hta/trace_filter/sampled_rank-0.json.gz",
                           SHARED / "minimal/all_views/node0_101.1700000000000.pt.trace.json") if path.exists()]
ROUNDS = max(1, 40 * int(os.environ.get("TBTRACE_RANDOM_PERCENT") or 100) // 100)
KERNEL_KEYS = ["operator", "name", "shape", "stack", "module", "line", "device", "stream", "thread", "rank", "step"]
OPERATOR_KEYS = ["name", "shape", "stack", "module", "line", "device", "stream", "thread", "rank", "step"]
COLUMNS = {"shape": ["input_shapes"], "name": ["name"], "stream": ["device", "stream", "stream_name"], "line": ["source_line"]}
HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
LINE = re.compile(r".+\(\d+\): .+|.+\(\d+\): <.+>")
HIDDEN = [("autograd/__init__", "_make_grads"), ("autograd/__init__", "backward"), ("torch/tensor", "backward"),
          ("_internal/common_utils", "prof_callable"), ("_internal/common_utils", "prof_func_call"),
          ("_internal/common_utils", "prof_meth_call")]


class Event:
    def __init__(self, row):
        self.name, self.category = row["name"], str(row.get("cat", "")).lower()
        self.pid, self.tid, self.args = row["pid"], row["tid"], row.get("args", {})
        self.start = int(row["ts"] * 1000)
        self.end = self.start + int(row.get("dur", 0) * 1000)

    @property
    def duration(self):
        return self.end - self.start


class Oracle:
    def __init__(self, path):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
            document = json.load(file, parse_float=Decimal)
        rows = [row for row in document["traceEvents"] if row.get("ph") == "X"]
        self.events = [Event(row) for row in rows]
        self.host = [event for event in self.events if event.category in HOST]
        self.device = [event for event in self.events if event.category in DEVICE]
        self.rank = document.get("distributedInfo", {}).get("rank")
        self.of_thread = collections.defaultdict(list)
        for event in self.host:
            self.of_thread[event.pid, event.tid].append(event)
        self.launch_of = {event.args.get("correlation"): event for event in self.host
                          if event.category in ("cuda_runtime", "cuda_driver") and event.args.get("correlation")}
        # Files of 2022 to 2024 repeat the correlation instead of the operator's id.
        calls = [self.launch_of[event.args["correlation"]] for event in self.device
                 if event.args.get("correlation") in self.launch_of]
        calls = [event for event in calls if "External id" in event.args]
        repeats = sum(event.args["External id"] == event.args["correlation"] for event in calls)
        self.op_of_id = {} if calls and repeats >= 0.9 * len(calls) else {event.args["External id"]: event for event in self.host
                         if event.category == "cpu_op" and "External id" in event.args}

    def around(self, event, test):
        """The innermost range that the event is or is inside."""
        is_launch = event.category in ("cuda_runtime", "cuda_driver")

        def holds(other):
            if other is event:
                return True
            if not other.start <= event.start < other.end:
                return False
            return is_launch or other.end >= event.end

        # Of ranges with equal times the later one in the file is inside.
        found = [other for other in reversed(self.of_thread[event.pid, event.tid]) if test(other) and holds(other)]
        return max(found, key=lambda other: (other.start, -other.end, other is event), default=None)

    def launch(self, event):
        return self.launch_of.get(event.args.get("correlation"))

    def operator(self, event):
        """Of work on a device."""
        launch = self.launch(event)
        by_id = self.op_of_id.get(event.args.get("External id"))
        if by_id is not None or launch is None:
            return by_id
        return (self.around(launch, lambda other: other.category == "cpu_op")
                or self.around(launch, lambda other: other.category == "user_annotation"))

    def side(self, event):
        if event.category not in DEVICE:
            return event
        return self.launch(event) or self.operator(event)

    def step(self, side):
        steps = [other for other in self.host if other.name.startswith("ProfilerStep#") and other.pid == side.pid
                 and (other.start <= side.start < other.end or other is side)]
        step = max(steps, key=lambda other: other.start, default=None)
        return int(step.name.partition("#")[2]) if step else None

    def frames(self, owner):
        frames = [other for other in self.of_thread[owner.pid, owner.tid] if other.category == "python_function"
                  and other is not owner and other.start <= owner.start < other.end]
        recorded = [name for name in owner.args.get("Call stack", "").split(";") if name]
        names = recorded or [frame.name for frame in sorted(frames, key=lambda frame: frame.start, reverse=True)]
        return [name for name in names if not any(one in name and two in name for one, two in HIDDEN)]

    def key(self, event, key):
        is_device = event.category in DEVICE
        side = self.side(event)
        if key == "name":
            return event.name
        if key == "operator":
            op = self.operator(event)
            return op.name if op else "[unattributed]"
        if key == "shape":
            op = self.operator(event) if is_device else event
            return shapes(op) or None if op else None
        if key == "stack":
            owner = (self.operator(event) or side) if is_device else event
            return (self.frames(owner) or None) if owner else None
        if key == "device":
            return int(event.args.get("device", event.pid)) if is_device else None
        if key == "stream":
            return (self.key(event, "device"), event.tid, str(event.tid)) if is_device else (None, None, None)
        if key == "rank":
            return self.rank
        if side is None:
            return None
        if key == "thread":
            return str(side.tid)
        if key == "step":
            return self.step(side)
        if key == "module":
            found = self.around(side, lambda other: other.name.startswith("nn.Module: "))
        else:  # of the program's own code; work on a device has the line of its operator
            owner = (self.operator(event) or side) if is_device else event
            found = self.around(owner, lambda other: other.category == "python_function"
                                and not other.name.startswith("nn.Module: ") and LINE.fullmatch(other.name))
        return found.name if found else None

    def groups(self, events, keys):
        found = collections.defaultdict(list)
        for event in events:
            found[repr([self.key(event, key) for key in keys])].append(event)
        return found

    def self_ns(self, event):
        """Time in which no range inside ran. The ranges of a thread are nested."""
        inside = [other for other in self.of_thread[event.pid, event.tid] if other is not event
                  and other.start >= event.start and other.end <= event.end]
        outermost = [one for one in inside if not any(two is not one and two.start <= one.start and two.end >= one.end
                                                      for two in inside)]
        return event.duration - sum(other.duration for other in outermost)


def shapes(event):
    """As torch has them: nothing of lists of tensors."""
    dims = event.args.get("Input Dims") or event.args.get("Input dims") or []
    types = event.args.get("Input type") or []
    return [[] if number < len(types) and types[number] == "TensorList" else one for number, one in enumerate(dims)]


def key_of_row(row, keys):
    values = []
    for key in keys:
        columns = [row[name] for name in COLUMNS.get(key, [key])]
        values.append(tuple(columns) if len(columns) > 1 else columns[0])
    return repr(values)


def write_random(path, seed):
    """Threads with nested ranges at distinct times, which launch kernels and copies on streams of two devices."""
    made = random.Random(seed)
    clock = itertools.count(1000)
    now = lambda: next(clock) * 1.0  # noqa: E731
    rows, launches = [], []
    numbers = itertools.count(1)
    has = {what: made.random() < 0.7 for what in ("shapes", "frames", "steps", "rank")}

    def add(category, name, start, tid, args):
        rows.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": now() - start,
                     "args": args})

    def run(tid, depth):
        start = now()
        kind = made.choice(["cpu_op", "cpu_op", "python_function", "module", "user_annotation", "launch"])
        args = {}
        if kind == "launch" or depth > 5:
            number = next(numbers)
            if made.random() < 0.85:
                launches.append(number)
            add("cuda_runtime", made.choice(["cudaLaunchKernel", "cudaMemcpyAsync"]), start, tid,
                {"correlation": number})
            return
        for _ in range(made.randrange(4)):
            run(tid, depth + 1)
        if kind == "module":
            kind, name = "python_function", f"nn.Module: Linear_{made.randrange(2)}"
        elif kind == "python_function":
            name = made.choice(["train.py(12): step", "model.py(3): forward", "<built-in method relu>"])
        else:
            name = made.choice(["aten::mm", "aten::add", "region"])
        if kind == "cpu_op" and has["shapes"] and made.random() < 0.8:
            args = {"Input Dims": made.choice([[[2, 3]], [[2, 3], [4]]]), "Input type": ["float"] * 2}
        if kind == "python_function" and not has["frames"]:
            kind = "user_annotation"
            name = "region"
        if kind == "python_function":  # what tells frames from other functions
            args = {"Python id": next(numbers), "Python parent id": None}
        if name.startswith("nn.Module: "):
            args["Python module id"] = next(numbers)
        add(kind, name, start, tid, args)

    for _ in range(made.randrange(1, 5)):
        start = now()
        for tid in (made.sample([10, 11, 12], made.randrange(1, 3))):
            for _ in range(made.randrange(3)):
                run(tid, 0)
        if has["steps"]:
            add("user_annotation", f"ProfilerStep#{len(rows)}", start, 10, {})
    for number in launches + [10**6 + made.randrange(5) for _ in range(made.randrange(2))]:
        start = now()
        device, stream = made.randrange(2), made.choice([7, 8])
        category = made.choice(["kernel", "kernel", "kernel", "gpu_memcpy"])
        name = made.choice(["gemm", "void add<float>(float*)"]) if category == "kernel" else "Memcpy HtoD"
        rows.append({"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": start,
                     "dur": made.randrange(5) / 10, "args": {"correlation": number, "device": device, "stream": stream}})
    made.shuffle(rows)
    document = {"schemaVersion": 1, "deviceProperties": [{"id": 0}, {"id": 1}], "traceEvents": rows}
    if has["rank"]:
        document["distributedInfo"] = {"rank": made.randrange(4), "world_size": 4}
    path.write_text(json.dumps(document))


def combinations(keys, made):
    """All single ones, and some of two, three and all."""
    yield from ([key] for key in keys)
    for count in (2, 2, 3, 4, len(keys)):
        yield made.sample(keys, count)


class Groups(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(__import__("tempfile").TemporaryDirectory()))

    def random_traces(self):
        for seed in range(ROUNDS):
            path = self.folder / f"{seed}.json"
            write_random(path, seed)
            yield path, random.Random(seed)

    def traces(self):
        yield from ((path, random.Random(path.name)) for path in REAL)
        yield from self.random_traces()

    def assertKernels(self, path, trace, oracle, keys):
        where = (path.name, keys)
        table = trace.kernels(keys)
        wanted = oracle.groups([event for event in oracle.device if event.category == "kernel"], keys)
        found = {key_of_row(row, keys): row for row in table}
        self.assertEqual(len(found), len(table), where)
        self.assertEqual(set(found), set(wanted), where)
        for key, kernels in wanted.items():
            self.assertEqual((found[key]["count"], found[key]["total_ns"]),
                             (len(kernels), sum(kernel.duration for kernel in kernels)), (where, key))
        self.assertEqual(sum(row["total_ns"] for row in table), table.totals["total_ns"])
        self.assertEqual(sum(row["count"] for row in table), table.totals["count"])
        self.assertNotes(table, keys, where)

    def assertNotes(self, table, keys, where):
        """One for each key that some rows have no value of, and for no others."""
        nouns = {"shape": "input shapes", "thread": "host thread"}
        for key in set(keys) - {"operator", "name"}:
            column = COLUMNS.get(key, [key])[-1]
            has_null = any(row[column] is None and row["count"] for row in table
                           if row.get("key") not in ("[idle]", "[unattributed]"))
            noted = any(f" have no {nouns.get(key, key)}: " in note for note in table.notes)
            self.assertEqual(has_null, noted, (where, key, table.notes))

    def test_kernels_are_in_their_groups(self):
        some = 0
        for path, made in self.traces():
            trace, oracle = tbtrace.read(path), Oracle(path)
            wanted = combinations(KERNEL_KEYS, made)
            if len(oracle.events) > 5000:  # the oracle takes quadratic time
                wanted = [["operator"], ["step", "module", "line"]]
            for keys in wanted:
                self.assertKernels(path, trace, oracle, keys)
                some += len(trace.kernels(keys)) > 1
        self.assertGreater(some, 50)

    def test_the_order_of_keys_changes_nothing(self):
        for path in REAL[:2]:
            trace = tbtrace.read(path)
            for keys in (["step", "name", "module"], ["operator", "shape", "stream"]):
                tables = [trace.kernels(order) for order in itertools.permutations(keys)]
                self.assertTrue(all(table.to_dicts() == tables[0].to_dicts() for table in tables))
                keys = [key for key in keys if key != "operator"]
                tables = [trace.operators(order, figures="exact") for order in itertools.permutations(keys)]
                self.assertTrue(all(table.to_dicts() == tables[0].to_dicts() for table in tables))

    def test_operators_are_in_their_groups(self):
        for path, made in self.random_traces():
            trace, oracle = tbtrace.read(path), Oracle(path)
            owned = collections.Counter()
            for event in oracle.device:
                launch = oracle.launch(event)
                owner = oracle.operator(event)
                if owner is None and launch is not None:
                    owner = oracle.around(launch, lambda other: other is not launch) or launch
                owned[id(owner) if owner else None] += event.duration
            for keys in combinations(OPERATOR_KEYS, made):
                where = (path.name, keys)
                table = trace.operators(keys, figures="exact", group_by_stack_n=100)
                # Stacks and shapes of work on devices are those of torch: it has none.
                wanted = collections.defaultdict(lambda: [0, 0, 0])
                for event in oracle.host + oracle.device:
                    is_device = event.category in DEVICE
                    name = "ProfilerStep*" if event.name.startswith("ProfilerStep#") else event.name
                    values = []
                    for key in keys:
                        if key == "shape":
                            values.append([] if is_device else shapes(event))
                        elif key == "stack":
                            values.append([] if is_device or event.category == "cuda_runtime" else oracle.frames(event))
                        elif key != "name":
                            values.append(oracle.key(event, key))
                    row = wanted[repr((name, is_device, event.category == "user_annotation", values))]
                    row[0] += 1
                    row[1] += 0 if is_device else oracle.self_ns(event)
                    row[2] += event.duration if is_device else owned[id(event)]
                found = {}
                for row in table:
                    if row["key"] in ("[idle]", "[unattributed]"):
                        continue
                    values = [tuple(row[name] for name in COLUMNS.get(key, [key])) if key == "stream"
                              else row[COLUMNS.get(key, [key])[0]] for key in keys if key != "name"]
                    key = repr((row["key"], row["device_type"] != "CPU", row["is_user_annotation"], values))
                    self.assertNotIn(key, found, where)
                    found[key] = [row["count"], row["self_cpu_time_total_ns"], row["self_device_time_total_ns"]]
                self.assertEqual(found, dict(wanted), where)
                self.assertNotes(table, [key for key in keys if key not in ("shape", "stack")], where)

    def test_torch_figures_of_groups_add_up(self):
        """To those of the rows without the group, for each name."""
        paths = REAL + sorted((ROOT / "examples/traces").glob("*.json.gz"))
        for path in paths:
            trace = tbtrace.read(path)
            plain = {(row["key"], row["device_type"], row["is_user_annotation"]): row for row in trace.operators()}
            for keys in ("module", "line", ("thread", "step"), ("device", "stream"), "rank", ("module", "line", "step")):
                sums = collections.defaultdict(collections.Counter)
                for row in trace.operators(keys):
                    for name in ("count", "self_cpu_time_total_ns", "self_device_time_total_ns",
                                 "self_cpu_memory_usage_bytes", "flops"):
                        sums[row["key"], row["device_type"], row["is_user_annotation"]][name] += row[name] or 0
                self.assertEqual(set(sums), set(plain))
                for key, total in sums.items():
                    for name, value in total.items():
                        # torch's doubles are rounded to ns row by row
                        self.assertAlmostEqual(value, plain[key][name] or 0, delta=plain[key]["count"], msg=(path.name, keys, key))

    def test_memory_and_flops_that_were_not_recorded_are_unknown(self):
        figures = ("cpu_memory_usage_bytes", "self_cpu_memory_usage_bytes", "device_memory_usage_bytes",
                   "self_device_memory_usage_bytes", "flops")
        seen = set()
        for path in REAL:
            head = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
            has_memory = any(event.get("name") == "[memory]" for event in head["traceEvents"]) or bool(head.get("profile_memory"))
            has_flops = bool(head.get("with_flops"))
            for row in tbtrace.read(path).operators(figures="torch"):
                is_known = [row[name] is not None for name in figures]
                self.assertEqual(is_known, 4 * [has_memory] + [has_flops], (path.name, row["key"]))
            seen |= {has_memory, has_flops}
        self.assertEqual(seen, {False, True})

    def test_the_command_line_has_the_same_groups(self):
        for path in REAL:
            trace = tbtrace.read(path)
            for keys in (["step", "module"], ["device"], ["operator", "name", "shape"], ["stack", "line", "thread"]):
                self.assertEqual(trace.kernels(keys).to_dicts(), self.printed("kernels", path, "--group-by", ",".join(keys)))
                operators = [key for key in keys if key != "operator"]
                self.assertEqual(trace.operators(operators, figures="exact").to_dicts(),
                                 self.printed("ops", path, "--strict-totals", "--group-by", ",".join(operators)))
                self.assertEqual(trace.operators(operators).to_dicts(),
                                 self.printed("ops", path, "--group-by", ",".join(operators)))

    def printed(self, verb, path, *options):
        done = subprocess.run([PROGRAM, verb, path, *options, "--format", "json", "-q"], capture_output=True, timeout=100,
                              check=True, env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"})
        return json.loads(done.stdout)["rows"]

    def test_ranks_and_pickles_keep_groups(self):
        ranks = tbtrace.TraceSet.open([ROOT / "tests/data/gpu_step.json", ROOT / "tests/data/gpu_step_rank1.json"])
        table = ranks.operators(["rank", "step", "stream"])
        self.assertEqual({row["rank"] for row in table}, {0, 1, None})
        for trace, rank in zip(ranks, ranks.ranks, strict=True):
            counts = collections.Counter(row["key"] for row in trace.operators(figures="exact")
                                         for _ in range(row["count"]))
            of_rank = collections.Counter(row["key"] for row in table if row["rank"] == rank for _ in range(row["count"]))
            self.assertEqual(of_rank, counts - collections.Counter({"[idle]": 10**6, "[unattributed]": 10**6}))
        for made in (table, ranks[0].operators(("module", "line")), ranks[0].kernels(("step", "line"))):
            again = pickle.loads(pickle.dumps(made))
            self.assertEqual((again.to_dicts(), again.notes, str(again)), (made.to_dicts(), made.notes, str(made)))

    def test_what_cannot_be_grouped_says_why(self):
        trace = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        for call in (lambda: trace.operators("module", figures="plugin"), lambda: trace.kernels("step", figures="plugin"),
                     lambda: trace.partial().kernels("step"), lambda: trace.partial().kernels("rank"),
                     lambda: trace.kernels("colour"), lambda: trace.operators(("name", "colour")),
                     lambda: tbtrace.read(ROOT / "tests/data/gpu_step.json",
                                          arguments=["launches", "placement"]).kernels("shape")):
            with self.assertRaises(ValueError) as refused:
                call()
            self.assertRegex(str(refused.exception), "group|traces|takes|one of|read")

    def test_launches_wait_as_long_as_they_do(self):
        for path, _ in self.traces():
            oracle, table = Oracle(path), tbtrace.read(path).kernels(per_event=True)
            work = [(event, oracle.launch(event)) for event in oracle.device if oracle.launch(event)]
            waits = [(launch.end, event.start, int(event.args.get("device", event.pid)), launch) for event, launch in work
                     if event.start > launch.end]
            wanted = []
            for event, launch in work:
                if event.category != "kernel":
                    continue
                device = int(event.args.get("device", event.pid))
                queue = sum(launched < launch.end < started and where == device for launched, started, where, _ in waits)
                wanted.append((event.name, event.start, launch.start, launch.duration, event.duration,
                               max(0, event.start - launch.end), queue))
            first = min(row["start_ns"] for row in table) if len(table) else 0
            zero = min(event.start for event, _ in work if event.category == "kernel") if wanted else 0
            found = [(row["name"], row["start_ns"] - first + zero, row["launch_start_ns"] - first + zero,
                      row["launch_call_ns"], row["duration_ns"], row["launch_delay_ns"], row["queue_length"])
                     for row in table]
            self.assertEqual(sorted(found), sorted(wanted), path.name)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"Groups.test_{name}" for name in sys.argv[2:])])
