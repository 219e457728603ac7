"""An independent reading of profiler traces: exact integer nanoseconds, trees of host ranges, launches, device work.

Not the program's: made for comparing what consumers say about a converted trace with what the original holds.
"""
import collections
import decimal
import gzip
import json
import re

RECOGNISED_COLLECTIVES = frozenset(
    f"{library}:{name}" for library in ("nccl", "gloo")
    for name in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter"))
OPERATORS = {"cpu_op", "operator"}
ANNOTATIONS = {"user_annotation"}
KERNELS = {"kernel", "concurrent_kernel", "mtia_ccp_events"}
COPIES = {"memcpy", "gpu_memcpy", "memset", "gpu_memset"}
# What torch-tb-profiler 0.4.3 knows.
PLUGIN_CATEGORIES = {"trace", "cpu_op", "operator", "runtime", "kernel", "memcpy", "gpu_memcpy", "memset", "gpu_memset",
                     "python", "memory", "python_function", "user_annotation", "gpu_user_annotation"}


def is_launch(category):
    return category == "runtime" or category.endswith(("_runtime", "_driver"))


def is_data_loading(name):
    return (name.startswith("enumerate(DataLoader)#") and name.endswith(".__next__")
            or name.startswith("enumerate(DataPipe)#"))


def is_listed(name):
    """Whether the plugin's operator table lists an operator of this name."""
    return not (is_data_loading(name)
                or name.startswith(("Optimizer.", "ProfilerStep#", "[pl][profile]", "[pl][module]"))
                or name in ("DataParallel.forward", "DistributedDataParallel.forward"))


def nanoseconds(number):
    return int((decimal.Decimal(number) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))


class Row:
    __slots__ = ("category", "name", "pid", "tid", "start", "end", "args", "children", "launches")

    def __init__(self, event):
        self.category = event["cat"].lower()
        self.name = event.get("name", "")
        self.pid, self.tid = event.get("pid"), event.get("tid")
        self.start = nanoseconds(event["ts"])
        self.end = self.start + max(0, nanoseconds(event.get("dur", 0)))
        self.args = event.get("args") or {}
        self.children = []
        self.launches = []

    @property
    def duration(self):
        return self.end - self.start


def load(path):
    """The document as it is; numbers with a fraction as exact decimals."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig", errors="replace")
    try:
        return json.loads(text, parse_float=decimal.Decimal, strict=False)
    except json.JSONDecodeError:  # bare N/A, as Kineto wrote it at times
        return json.loads(re.sub(r'(?<!")N/A(?!")', '"N/A"', text), parse_float=decimal.Decimal, strict=False)


class Trace:
    def __init__(self, path):
        self.path = path
        self.document = load(path)
        events = self.document["traceEvents"] if isinstance(self.document, dict) else self.document
        self.metadata = self.document if isinstance(self.document, dict) else {}
        self.events = [event for event in events if isinstance(event, dict)]
        spans = [event for event in self.events if event.get("ph") == "X" and "ts" in event]
        self.rows = sorted((Row(event) for event in spans if event.get("cat")), key=lambda row: row.start)
        self.kernels = [row for row in self.rows if row.category in KERNELS]
        self.device_rows = [row for row in self.rows if row.category in KERNELS | COPIES]
        self.launches = [row for row in self.rows if is_launch(row.category)]
        self.launch_names = {row.name for row in self.launches}
        self.operators = [row for row in self.rows if row.category in OPERATORS]
        # Of a step without length the plugin cannot say what part of it something took.
        self.steps = [row for row in self.rows if row.category in OPERATORS | ANNOTATIONS
                      and re.fullmatch(r"ProfilerStep#\d+", row.name) and row.duration > 0]
        self.memory = [event for event in self.events if event.get("name") == "[memory]"
                       and (event.get("ph") == "i" or event.get("cat") == "cpu_instant_event")]
        self.modules = [row for row in self.rows if row.category == "python_function"
                        and row.args.get("Python module id") is not None]

    def in_plugin_tree(self, row):
        """Whether a row is a node of the tree that the plugin builds out of the converted trace."""
        if row.category in OPERATORS or row.category == "python":
            return True
        if row.category == "python_function":
            return row.args.get("Python module id") is not None
        return row.category in ANNOTATIONS and (
            row.name.startswith(("ProfilerStep#", "Optimizer.step")) or is_data_loading(row.name)
            or row.name in RECOGNISED_COLLECTIVES)

    def trees(self):
        """Roots of the host's ranges, thread by thread. Where ranges cross, one goes to a lane of its own: the
        annotation if one is one. Returns also how many crossings of two operators there are."""
        threads = collections.defaultdict(list)
        for row in self.rows:
            if self.in_plugin_tree(row):
                row.children = []
                threads[(str(row.pid), str(row.tid))].append(row)
        roots, crossings = [], 0
        for rows in threads.values():
            while rows:
                rows.sort(key=lambda row: (row.start, -row.end))
                lane, stack = [], []
                for row in rows:
                    while stack and stack[-1].end <= row.start:
                        stack.pop()
                    if stack and row.end > stack[-1].end:
                        crossings += row.category in OPERATORS and stack[-1].category in OPERATORS
                        lane.append(row)
                        continue
                    (stack[-1].children if stack else roots).append(row)
                    stack.append(row)
                rows = lane
        return roots, crossings

    def operator_calls(self):
        """Calls by name as the plugin counts them, and by how many a count may be off because of crossing operators."""
        roots, crossings = self.trees()
        calls = collections.Counter(row.name for row in self.operators if is_listed(row.name))
        pending = list(roots)
        while pending:
            row = pending.pop()
            # The plugin joins a node with its only child when both are operators of the same name.
            while (row.category in OPERATORS and len(row.children) == 1
                   and row.children[0].category in OPERATORS and row.children[0].name == row.name):
                if is_listed(row.name):
                    calls[row.name] -= 1
                row = row.children[0]
            pending.extend(row.children)
        return calls, crossings

    def launched_by(self):
        """Device rows by the launch whose correlation they share."""
        launches = {}
        for row in self.launches:
            if row.args.get("correlation") is not None:
                launches[row.args["correlation"]] = row
        launched = collections.defaultdict(list)
        for row in self.device_rows:
            launch = launches.get(row.args.get("correlation"))
            if launch is not None:
                launched[id(launch)].append(row)
        return launched

    def shown_steps(self):
        """Names of the steps in the plugin's Overview: those at the end that launched nothing, or much less than the
        one before, are left out."""
        names = [row.name.split("#")[1] for row in self.steps]
        if not names:
            return ["0"]
        launched = self.launched_by()
        matched, index = [0] * len(self.steps), 0
        for launch in sorted(self.launches, key=lambda row: row.start):
            while index < len(self.steps) and launch.start >= self.steps[index].end:
                index += 1
            if index == len(self.steps):
                break
            if self.steps[index].start <= launch.start and launch.end <= self.steps[index].end:
                matched[index] += len(launched[id(launch)])
        last = max((i for i, count in enumerate(matched) if count), default=None)
        if last is None or len(names) == 1:
            return names
        keep = last if last > 0 and matched[last - 1] * 0.8 > matched[last] else last + 1
        return names[:keep]

    def has_work_without_launch(self):
        """Whether there is device work of which no call is recorded that launched it."""
        launched = sum(map(len, self.launched_by().values()))
        return launched < len(self.device_rows)

    def understood_by_plugin(self):
        """Whether torch-tb-profiler 0.4.3 understands the trace as it is, every time in it exact."""
        if not isinstance(self.document, dict) or not self.rows and not self.memory:
            return False
        for row in self.rows:
            if row.category not in PLUGIN_CATEGORIES or row.category == "gpu_user_annotation":
                return False
            if row.start % 1000 or row.end % 1000:
                return False
            if row.category in ANNOTATIONS and not (
                    row.name.startswith("ProfilerStep#") or row.name in RECOGNISED_COLLECTIVES):
                return False
        return True


def worker_of(trace):
    """The worker's name as the file's metadata have it."""
    host, rank = trace.metadata.get("host_name"), (trace.metadata.get("distributedInfo") or {})
    rank = rank.get("rank") if isinstance(rank, dict) else None
    return None if host is None or rank is None else f"{host}_{rank}"
