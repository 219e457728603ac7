"""Traces of tbtrace and of torch's profiler, as the checks of GPUs look at them, and what differs between two."""
import collections
import json
import pathlib

SAME_LAUNCH = ("grid", "block", "registers per thread", "shared memory", "device", "stream")
SAME_OCCUPANCY = ("est. achieved occupancy %", "blocks per SM", "warps per SM")


class Trace:
    """Rows by kind; those of the device in the order of their launches."""

    def __init__(self, path):
        trace = json.loads(pathlib.Path(path).read_text(encoding="utf-8", errors="replace"), strict=False)
        rows = collections.defaultdict(list)
        for event in trace["traceEvents"]:
            if event.get("ph") == "X":
                rows[str(event.get("cat", "")).lower()].append(event)
        self.members = {name: value for name, value in trace.items() if name != "traceEvents"}
        self.kernels, self.copies, self.sets = (
            sorted(rows[category], key=lambda row: (row["args"].get("correlation", 0), row["ts"]))
            for category in ("kernel", "gpu_memcpy", "gpu_memset"))
        self.waits = rows["cuda_sync"]
        self.operators = {row["args"]["External id"]: row for row in rows["cpu_op"] if "External id" in row["args"]}
        self.calls = {row["args"]["correlation"]: row for category in ("cuda_driver", "cuda_runtime")
                      for row in rows[category] if "correlation" in row["args"]}

    def operator(self, row):
        """Of a row of the device: its operator's row, or None."""
        return self.operators.get(row["args"].get("External id"))

    def operator_name(self, row):
        operator = self.operator(row)
        return operator["name"] if operator else None

    def call(self, row):
        return self.calls.get(row["args"].get("correlation"))

    def problems(self):
        """What the file says is missing."""
        names = ("tbtrace_device_tracing", "tbtrace_lost_device_records", "tbtrace_untimed_device_records")
        return {name: self.members[name] for name in names if name in self.members}


def names_of(rows):
    return [row["name"] for row in rows]


def aligned(ours, torchs):
    """Rows of both that are the same launches, and how many torch's lacks at its beginning; None if they are not.

    torch's profiler sets CUPTI's clock anew at each start, after which CUPTI gives the first kernels wrong times, and
    torch's profiler leaves them out.
    """
    missing = len(ours) - len(torchs)
    if missing < 0 or names_of(ours[missing:]) != names_of(torchs):
        return None
    return ours[missing:], torchs, missing


def is_near(got, expected):
    """torch's has six digits behind the point."""
    if isinstance(got, str) or isinstance(expected, str):
        return got == expected
    return abs(got - expected) <= 1e-6 * max(1.0, abs(expected))


def bytes_by_name(rows):
    found = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        found[row["name"]][0] += 1
        found[row["name"]][1] += row["args"].get("bytes", 0)
    return dict(found)


def compare_round(paths):
    """Of one recording of each: what is different, by aspect, and the time that kernels of a name took."""
    ours, torchs = (Trace(path) for path in paths)
    different = collections.defaultdict(list)
    result = {"kernels": len(ours.kernels), "sequence": names_of(ours.kernels), "problems": ours.problems(),
              "copies": bytes_by_name(ours.copies + ours.sets), "linked": 0, "missing": 0, "different": different}
    pairs = aligned(ours.kernels, torchs.kernels)
    if pairs is None:
        more = collections.Counter(names_of(ours.kernels))
        more.subtract(names_of(torchs.kernels))
        apart = {name[:90]: count for name, count in more.items() if count}
        different["kernels"].append(f"{len(ours.kernels)} of ours, {len(torchs.kernels)} of torch's; how many more of "
                                    f"ours: {dict(list(apart.items())[:4]) or 'none, they are in another order'}")
        return result
    result["missing"] = pairs[2]
    totals = {"ours": collections.Counter(), "torch": collections.Counter()}
    for mine, its in zip(*pairs[:2]):
        name = mine["name"]
        totals["ours"][name] += mine["dur"]
        totals["torch"][name] += its["dur"]
        for key in SAME_LAUNCH:
            if mine["args"].get(key) != its["args"].get(key):
                different["launch"].append(f"{key} of {name[:60]}: {mine['args'].get(key)}, {its['args'].get(key)}")
        for key in SAME_OCCUPANCY:
            if not is_near(mine["args"].get(key, "none"), its["args"].get(key, "none")):
                different["occupancy"].append(f"{key} of {name[:60]}: {mine['args'].get(key)}, {its['args'].get(key)}")
        operators = ours.operator_name(mine), torchs.operator_name(its)
        result["linked"] += operators[0] is not None
        if operators[0] != operators[1]:
            different["operator"].append(f"of {name[:60]}: {operators[0]}, {operators[1]}")
    if not pairs[2] and result["copies"] != bytes_by_name(torchs.copies + torchs.sets):
        different["copies"].append(f"{result['copies']}, {bytes_by_name(torchs.copies + torchs.sets)}")
    result["totals"] = {who: dict(times) for who, times in totals.items()}
    return result


def median(values):
    return sorted(values)[len(values) // 2] if values else 0


def durations(rounds, least_share=0.01):
    """Of each name that takes at least this share of the time: what ours says of it relative to torch's, less 1."""
    times = {"ours": collections.defaultdict(list), "torch": collections.defaultdict(list)}
    for one in rounds:
        for who, totals in one.get("totals", {}).items():
            for name, total in totals.items():
                times[who][name].append(total)
    medians = {who: {name: median(values) for name, values in by_name.items()} for who, by_name in times.items()}
    all_us = sum(medians["torch"].values())
    return {name: medians["ours"][name] / us - 1 for name, us in medians["torch"].items()
            if us > 0 and us >= least_share * all_us}


def gaps_us(trace):
    """From a launch's start to its kernel's, for kernels whose launch is there."""
    return [row["ts"] - trace.call(row)["ts"] for row in trace.kernels if trace.call(row)]
