#!/usr/bin/env python3
"""Compares `tbtrace gpu --compat hta` with HolisticTraceAnalysis's temporal breakdown, overlap, idle time and queues.

    python3 -m e2e.hta.gpu_test --tbtrace PATH [--expect WHAT=COUNT]... TRACE...

It runs without its rounding of times to whole microseconds and with the last step. What it said is recorded
(recorded_answers.py), together with what traces_test.py compares.

Needs the packages of requirements_hta.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import collections
import gzip
import json
import math
import sys

from e2e.consumers import run_name
from e2e.hta.answers import chosen, compare_all, rows_of

KINDS = ["idle_time(us)", "compute_time(us)", "non_compute_time(us)", "kernel_time(us)",
         "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"]
TIMES = ["idle_ns", "computation_ns", "non_compute_ns", "window_ns"]
SHARES = ["idle_percent", "computation_percent", "non_compute_percent"]
QUEUE = ["queue_changes", "queue_change_mean", "queue_change_stddev", "queue_change_min", "queue_change_quartile_1",
         "queue_change_median", "queue_change_quartile_3", "queue_change_max"]
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
            "runFunction - job_prep_and_submit_for_execution", "hipLaunchKernel", "hipExtModuleLaunchKernel",
            "hipMemsetAsync", "hipMemcpyAsync", "hipMemcpyWithStream"}
# It shows shares, and idle time in microseconds, with two decimals.
HALF_A_DIGIT = 0.005 + 1e-9


def fails(answer):
    return isinstance(answer, str)


def number(value):
    return math.nan if value is None else value


def is_close(want, got, apart):
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    return abs(want - got) <= apart


class Times:
    """What of a trace's times decides how exact HTA's figures are."""

    def __init__(self, trace):
        data = trace.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        rows = [row for row in json.loads(text).get("traceEvents", []) if "dur" in row and "ts" in row]
        self.last_us = max((abs(float(row["ts"])) for row in rows), default=0.0)
        self.are_whole = all(float(row[key]).is_integer() for row in rows for key in ("ts", "dur"))
        calls = collections.Counter(row["ts"] for row in rows if row.get("name") in LAUNCHES)
        on_streams = sorted((row for row in rows if "stream" in (row.get("args") or {})), key=lambda row: float(row["ts"]))
        starts = collections.Counter(row["ts"] for row in on_streams)
        self.ties = sum(calls[start] * count for start, count in starts.items())
        self.undecided_us = self.gaps_with_launch_near_their_start(rows, on_streams)

    def gaps_with_launch_near_their_start(self, rows, on_streams):
        """Whether these are host wait depends on digits that its doubles do not have."""
        if self.are_whole:
            return 0
        launches = {row["args"]["correlation"]: float(row["ts"]) for row in rows
                    if "correlation" in (row.get("args") or {}) and "stream" not in row["args"]}
        ends, total = {}, 0
        for row in on_streams:
            stream, start = row["args"]["stream"], float(row["ts"])
            launch = launches.get(row["args"].get("correlation"), math.inf)
            if stream in ends and abs(launch - ends[stream]) <= 4 * math.ulp(self.last_us):
                total += abs(start - ends[stream]) + math.ulp(self.last_us)
            ends[stream] = start + float(row["dur"])
        return total

    def most_apart(self, sums):
        """Its times are doubles in microseconds. `sums`: how many are added up, each rounded up or down."""
        return 2 * (1 + math.sqrt(sums)) * math.ulp(self.last_us)


class Comparison:
    def __init__(self, expected, program, trace):
        self.expected = expected
        self.whole = rows_of(program, "gpu", trace)
        self.streams = rows_of(program, "gpu", trace, "--group-by", "stream")
        self.times = Times(trace)
        self.compared = collections.Counter()

    def types(self):
        """Each stretch of time is cut to whole microseconds."""
        sums = {frozenset(kind.split(" overlapping ")): us for kind, us in
                chosen(self.expected["types"], ["kernel_type", "sum"])}
        if not self.whole:
            return None if not sums else f"no row, expected {sums}"
        row = self.whole[0]
        most_apart = 0 if self.times.are_whole else 2 * row["activities"]
        for key, counts in (("computation_ns", lambda kinds: "COMPUTATION" in kinds),
                            ("communication_ns", lambda kinds: "COMMUNICATION" in kinds),
                            ("memory_ns", lambda kinds: "MEMORY" in kinds),
                            ("overlap_ns", lambda kinds: {"COMPUTATION", "COMMUNICATION"} <= kinds),
                            ("exposed_communication_ns",
                             lambda kinds: "COMMUNICATION" in kinds and "COMPUTATION" not in kinds),
                            ("exposed_memory_ns", lambda kinds: kinds == {"MEMORY"})):
            want, got = sum(us for kinds, us in sums.items() if counts(kinds)), row[key] / 1000
            if not -1e-6 <= got - want <= most_apart + 1e-6:
                return f"{key}: {got} us, expected {want}"
            self.compared["types"] += 1
        return None

    def time_by_kind(self):
        answer = self.expected["time by kind"]
        if fails(answer):
            return None if not self.whole else f"{len(self.whole)} rows, but it fails"
        row = self.whole[0]
        want = chosen(answer, KINDS)[0]
        got = [row[key] / 1000 for key in TIMES] + [number(row[key]) for key in SHARES]
        apart = self.times.most_apart(row["activities"])
        self.compared["time by kind"] += 1
        return None if all(is_close(w, g, apart + (HALF_A_DIGIT if place >= len(TIMES) else 0))
                           for place, (w, g) in enumerate(zip(want, got))) else f"{got}, expected {want}"

    def overlap(self):
        answer = self.expected["overlap"]
        if fails(answer) or not self.whole:
            return None if fails(answer) or math.isnan(answer[1][0][1]) else "no row"
        want, got = answer[1][0][1], number(self.whole[0]["overlap_percent"])
        self.compared["overlap"] += 1
        return None if is_close(want, got, HALF_A_DIGIT + 1e-6 * got) else f"{got}, expected {want}"

    def idle_time(self):
        answer = self.expected["idle time"]
        rows = {int(row["stream"]): row for row in self.streams if row["idle_ns"] is not None}
        if fails(answer):
            return None if not rows else f"{len(rows)} streams, but it fails"
        causes = collections.defaultdict(lambda: dict.fromkeys(["host_wait", "kernel_wait", "other"], 0.0))
        for stream, cause, idle_us in chosen(answer, ["stream", "idle_category", "idle_time"]):
            causes[stream][cause] = idle_us
        if causes.keys() != rows.keys():
            return f"streams {sorted(rows)}, expected {sorted(causes)}"
        for stream, want in causes.items():
            got = {cause: rows[stream][f"idle_{cause}_ns"] / 1000 for cause in want}
            apart = HALF_A_DIGIT + self.times.most_apart(rows[stream]["activities"])
            if not is_close(sum(want.values()), sum(got.values()), 3 * apart):
                return f"stream {stream}: {sum(got.values())} us, expected {sum(want.values())}"
            if not all(is_close(want[cause], got[cause], apart + self.times.undecided_us) for cause in want):
                return f"stream {stream}: {got}, expected {want}"
            self.compared["idle time"] += 1
        return None

    def queues(self):
        answer = self.expected["queues"]
        got = [[number(row[key]) for key in QUEUE] for row in self.streams if row["queue_changes"] is not None]
        if fails(answer):
            return None if not got else f"{len(got)} streams, but it fails"
        want = answer[1]
        if len(want) != len(got):
            return f"{len(got)} streams, expected {len(want)}"
        for one, other in zip(sorted(want), sorted(got)):
            if not all(is_close(w, g, 1e-9 * max(1, abs(w))) for w, g in zip(one, other)):
                if not self.differs_by_ties(one, other):
                    return f"{other}, expected {one}"
                self.compared["queues with ties"] += 1
            self.compared["queues"] += 1
        return None

    def differs_by_ties(self, want, got):
        """A call and an activity that start together: it sorts them as numpy's quicksort leaves them, here the call is
        first. Each pair in the other order makes the sum of all lengths 2 smaller."""
        smaller = got[0] * got[1] - want[0] * want[1]
        pairs = round(smaller / 2)
        return want[0] == got[0] and 0 < pairs <= self.times.ties and is_close(2 * pairs, smaller, 1e-3)


def compare(program, trace, expected, report, compared):
    comparison = Comparison(expected, program, trace)
    for what in (comparison.types, comparison.time_by_kind, comparison.overlap, comparison.idle_time, comparison.queues):
        wrong = what()
        report(not wrong, f"{run_name(trace)}: {what.__name__}: {wrong}")
    compared.update(comparison.compared)


if __name__ == "__main__":
    sys.exit(compare_all(__doc__, compare))
