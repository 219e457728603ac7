"""Traces as idle_answers.py needs them: host ranges, what is around them, device work and the calls that launched it.

Written from docs/formats/chrome_json.md, with Python's json instead of tbtrace's readers.
"""
import bisect
import decimal
import gzip
import heapq
import json
import re

CALL_CATEGORIES = {"runtime", "cuda_runtime", "cuda_driver", "glow_runtime", "mtia_runtime", "xpu_runtime",
                   "xpu_driver", "privateuse1_runtime", "privateuse1_driver"}
KINDS = {"": "operator", "cpu_op": "operator", "operator": "operator", "user_annotation": "annotation",
         "python_function": "frame", "python": "frame", "overhead": "overhead", "kernel": "kernel",
         "mtia_ccp_events": "kernel", "hpu_op": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy",
         "gpu_memset": "memset", "memset": "memset", "trace": "span"}
KINDS.update({name: "call" for name in CALL_CATEGORIES})
KINDS.update({name: "device_other" for name in ("gpu_user_annotation", "cuda_sync", "cuda_profiler_range", "xpu_sync",
                                                "mtia_insight", "mtia_counters")})
HOST_KINDS = {"operator", "annotation", "frame", "call", "other"}
WORK_KINDS = {"kernel", "memcpy", "memset"}
OUTER_FIRST = {"annotation": 0, "frame": 1, "call": 3}  # of ranges that start and end together
SECOND = 1_000_000_000


class Unsupported(Exception):
    """A trace that is not read here, with the reason."""


class Range:
    __slots__ = ("kind", "name", "track", "start", "end", "correlation", "order", "parent", "operator", "work",
                 "self_ns", "launch", "has_step_number", "cause")

    def __init__(self, kind, name, track, start, end, correlation, has_step_number=False):
        self.kind, self.name, self.track, self.start, self.end = kind, name, track, start, end
        self.correlation = correlation
        self.has_step_number = has_step_number
        self.parent = self.operator = self.launch = None
        self.work = []  # what a call launched, in order of start
        self.self_ns = 0
        self.cause = ()  # not looked for yet

    def process(self):
        return self.track[0]


def nanoseconds(value):
    """Microseconds as nanoseconds, half away from 0; floats come as text."""
    if isinstance(value, int):
        return value * 1000
    match = re.fullmatch(r"(-?)(\d+)(?:\.(\d*))?", value)
    if not match:
        number = decimal.Decimal(value)  # with an exponent
        sign = "-" if number < 0 else ""
        whole, _, decimals = f"{abs(number):f}".partition(".")
    else:
        sign, whole, decimals = match[1], match[2], match[3] or ""
    decimals += "0000"
    result = int(whole) * 1000 + int(decimals[:3]) + (decimals[3] >= "5")
    return -result if sign else result


def identifier(value):
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def whole_number(value):
    value = identifier(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


class Trace:
    def __init__(self, path):
        opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
        try:
            with opener(path, "rb") as file:
                document = json.loads(file.read(), parse_float=str)
        except (ValueError, EOFError, OSError) as error:
            raise Unsupported(f"Python's json cannot read it ({error})") from None
        events = document.get("traceEvents") if isinstance(document, dict) else document
        if not isinstance(events, list):
            raise Unsupported("it has no events")
        self.host, self.work, self.overhead, self.flows, self.spans = [], [], [], [], []
        self.first_ns = None
        self.read([event for event in events if isinstance(event, dict)])
        self.tracks = list(dict.fromkeys(each.track for each in self.in_file_order))
        self.nest()
        self.link()
        self.leave_out_misplaced()

    def read(self, events):
        rows = []
        open_rows = {}
        for number, event in enumerate(events):
            phase = event.get("ph")
            if phase not in ("X", "B", "E", "s", "f") or event.get("ts") is None:
                continue
            time = nanoseconds(event["ts"])
            process = identifier(event.get("pid", 0))
            track = (process, identifier(event["tid"]) if event.get("tid") is not None else process)
            if phase in "sf":
                category = str(event.get("cat", ""))
                if category == "ac2g" or category.startswith(("async", "cpu_to_")):
                    self.flows.append((phase, event.get("id"), track, time))
                continue
            arguments = event.get("args") or {}
            if phase == "E":
                self.end_range(open_rows.get(track, []), event.get("name"), time)
                continue
            if event.get("name") is None:
                continue
            kind = KINDS.get(str(event.get("cat") or "").lower(), "other")
            end = time + max(0, nanoseconds(event.get("dur") or 0)) if phase == "X" else None
            if arguments.get("finished") == "false" and "Python id" in arguments:
                end = time
            row = Range(kind, event["name"], track, time, end, whole_number(arguments.get("correlation", 0)),
                        "step_num" in arguments)
            rank = whole_number(arguments.get("Ev Idx", arguments.get("Profiler Event Index", 1 << 62)))
            rows.append((row, rank, number))
            if phase == "B":
                open_rows.setdefault(track, []).append(row)
        last = max((row.end or row.start for row, _, _ in rows), default=0)
        for row, _, _ in rows:
            row.end = last if row.end is None else row.end
        self.in_file_order = [row for row, _, _ in rows]
        rows.sort(key=lambda each: (each[0].start, each[1], each[2]))
        for row, _, _ in rows:
            if row.kind in HOST_KINDS:
                self.host.append(row)
            elif row.kind in WORK_KINDS:
                self.work.append(row)
            elif row.kind == "overhead":
                self.overhead.append(row)
            elif row.kind == "span":
                self.spans.append(row)
        span = next((row for row in self.spans if row.name == "PyTorch Profiler (0)"), None)
        starts = [row.start for row in self.in_file_order if row.kind != "span"]
        self.window_start = span.start if span else min(starts, default=0)

    @staticmethod
    def end_range(open_rows, name, time):
        for at in range(len(open_rows) - 1, -1, -1):
            if name is None or open_rows[at].name == name:
                open_rows.pop(at).end = time
                return

    def nest(self):
        """What is around each host range, the operator around it, and its time to itself."""
        self.host.sort(key=lambda row: (row.start, row.start - row.end, OUTER_FIRST.get(row.kind, 2)))  # stable
        self.threads = {}
        for order, row in enumerate(self.host):
            row.order = order
            self.threads.setdefault(row.track, []).append(row)
        for rows in self.threads.values():
            open_rows, parents = [], []
            for row in rows:
                while open_rows and open_rows[-1].end <= row.start:
                    open_rows.pop()
                while parents and (parents[-1].end < row.end or parents[-1].end <= row.start):
                    parents.pop()
                if row.kind == "call":  # it ends by the driver's clock: only its start counts
                    row.parent = open_rows[-1] if open_rows else None
                else:
                    row.parent = parents[-1] if parents else None
                around = row.parent
                row.operator = around if around is None or around.kind == "operator" else around.operator
                open_rows.append(row)
                parents.append(row)
            Innermost(rows).add_self_times()

    def link(self):
        calls = {}
        ambiguous = set()
        for row in self.host:
            if row.kind == "call" and row.correlation:
                first = calls.setdefault(row.correlation, row)
                if first.process() != row.process():
                    ambiguous.add(row.correlation)
        if any(each.correlation in ambiguous for each in self.work):
            raise Unsupported("several processes use the same correlations")
        at = {(row.track, row.start): row for row in reversed(self.host) if row.kind == "call"}
        ends, starts = {}, {}
        for phase, number, track, time in self.flows:
            (starts.setdefault(number, (track, time)) if phase == "s" else ends.setdefault((track, time), number))
        for each in self.work:
            each.launch = calls.get(each.correlation)
            if each.launch is None and (each.track, each.start) in ends:
                each.launch = at.get(starts.get(ends[each.track, each.start]))
            if each.launch is not None:
                each.launch.work.append(each)

    def leave_out_misplaced(self):
        def is_misplaced(each):
            early = each.launch is not None and each.launch.start - each.start > SECOND
            return early or (reach is not None and (each.end < reach[0] or each.start > reach[1]))
        if not self.host:
            return
        reach = self.reach(self.host[0].start, max(row.end for row in self.host))
        placed = [each for each in self.work if not is_misplaced(each)]
        if 2 * (len(self.work) - len(placed)) < len(self.work):
            self.work = placed

    def reach(self, start, end):
        far = end - start + SECOND
        first, last = start, end
        for each in self.work:
            if each.end >= start:
                if each.start - last > far:
                    break
                last = max(last, each.end)
        for each in sorted((each for each in self.work if each.start < start), key=lambda each: -each.end):
            if first - each.end > far:
                break
            if first - each.start <= far:
                first = min(first, each.start)
        outside = sum(each.end < first or each.start > last for each in self.work)
        return None if outside == 0 or 2 * outside >= len(self.work) else (first, last)


class Innermost:
    """Of the ranges of a thread that are open at an instant, the one that started last."""

    def __init__(self, rows):
        self.rows = rows
        self.edges = sorted({edge for row in rows for edge in (row.start, row.end)})
        self.ranges = []
        open_rows, at = [], 0
        for edge in self.edges:
            while at < len(rows) and rows[at].start <= edge:
                heapq.heappush(open_rows, (-rows[at].order, rows[at]))
                at += 1
            while open_rows and open_rows[0][1].end <= edge:
                heapq.heappop(open_rows)
            self.ranges.append(open_rows[0][1] if open_rows else None)

    def add_self_times(self):
        for start, end, row in zip(self.edges, self.edges[1:], self.ranges):
            if row is not None:
                row.self_ns += end - start

    def at(self, time):
        found = bisect.bisect_right(self.edges, time) - 1
        return None if found < 0 else self.ranges[found]


class Union:
    """Times that intervals cover, merged."""

    def __init__(self, intervals):
        self.starts, self.ends = [], []
        for start, end in sorted(intervals):
            if start == end:
                continue
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)
        self.edges = sorted(self.starts + self.ends)

    def covers(self, time):
        found = bisect.bisect_right(self.starts, time) - 1
        return found >= 0 and time < self.ends[found]
