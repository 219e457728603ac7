#!/usr/bin/env python3
"""Compares what Trace.export_chrome_trace() writes in Kineto's dialect with the file that the trace was read from.

    kineto_export_test.py TRACE...

Both are read with Python's json. Ranges keep their order, names, times, process and thread ids, and all arguments that a
trace holds; no argument is new, but for null and for ids that are numbers as texts. The exceptions are those of `convert --dialect kineto`: host ranges that cross another
one, External ids of launches and device work, categories of 2020 and 2021, flow events that launches lacked. Files with
problems, and files with `B` and `E` events, are left out. Prints a line for each failure and 'N passed, M failed'.
"""
import collections
import decimal
import gzip
import json
import pathlib
import sys
import tempfile

import tbtrace

GROUPS = ["autograd", "inputs", "strides", "call_stacks", "modules", "python", "placement", "launches", "copies", "graphs",
          "collectives", "synchronization", "allocations", "annotations"]
KEPT = {"External id", "correlation", "stream", "device", "context", "grid", "block", "registers per thread",
        "shared memory", "blocks per SM", "warps per SM", "est. achieved occupancy %", "bytes", "memory bandwidth (GB/s)",
        "Python id", "Python parent id", "Python module id", "Sequence number", "Fwd thread id", "Input Dims", "Input type",
        "Concrete Inputs", "Input Strides", "Call stack", "Module Hierarchy", "graph id", "graph node id", "module_fqn", "annotation", "annotated_stream",
        "original_stream",
        "Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name"}
OLD_CATEGORIES = {"Operator", "Runtime", "Kernel", "Memcpy", "Memset"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "Kernel", "Memcpy", "Memset"}
JOINED = {"cuda_runtime", "cuda_driver", "Runtime", "kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
FLOWS = {"ac2g", "async_gpu", "async_cpu_to_gpu", "fwdbwd", "forward_backward"}
FIRST_LANE = 1_000_000_000
NANOSECOND = decimal.Decimal("0.001")


def document(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    made = json.loads(data.decode("utf-8"), parse_float=decimal.Decimal)
    return made if isinstance(made, dict) else {"traceEvents": made}


def ns(value):
    return decimal.Decimal(value).quantize(NANOSECOND, decimal.ROUND_HALF_UP)


def same(was, became):
    if isinstance(became, decimal.Decimal) or isinstance(was, decimal.Decimal):
        return float(was) == float(became)
    if isinstance(was, list) and isinstance(became, list):
        return len(was) == len(became) and all(map(same, was, became))
    return was == became


def range_difference(row, made):
    """What is wrong with a range, or None."""
    category = row.get("cat")
    if made["name"] != row["name"]:
        return "name"
    if made.get("cat") != category and category not in OLD_CATEGORIES:
        return "cat"
    if str(made["pid"]) != str(row["pid"]) or ns(made["ts"]) != ns(row["ts"]):
        return "pid or ts"
    is_host = category not in DEVICE
    if str(made["tid"]) != str(row["tid"]) and not (is_host and made["tid"] >= FIRST_LANE):
        return "tid"
    if ns(made["dur"]) != ns(row["dur"]) and not (is_host and ns(made["dur"]) < ns(row["dur"])):
        return "dur"
    before, after = row.get("args") or {}, made.get("args") or {}
    for key, value in after.items():
        is_repaired = key == "External id" and category in JOINED
        if is_repaired or same(before.get(key), value):
            continue
        return f"argument {key}: {before.get(key)!r} became {value!r}"
    lost = [key for key in KEPT & before.keys() - after.keys()
            if before[key] not in (None, "") and not (key == "External id" and category in JOINED)
            and not (key == "correlation" and before[key] == 0)]
    return f"lost {lost}" if lost else None


def places(rows):
    """The correlations of the ranges at each place."""
    found = collections.defaultdict(set)
    for row in rows:
        found[row["pid"], row["tid"], ns(row["ts"])].add((row.get("args") or {}).get("correlation"))
    return found


def flows(rows):
    return collections.Counter((row["ph"], int(row["id"]), str(row["pid"]), ns(row["ts"])) for row in rows
                               if row["ph"] in "sf" and row.get("cat") in FLOWS)


def is_memory(row):
    return row["name"] in ("[memory]", "[OutOfMemory]") and "Bytes" in (row.get("args") or {})


def memory(rows):
    keys = ("Bytes", "Device Type", "Device Id", "Addr", "Total Allocated", "Total Reserved", "Ev Idx")
    return collections.Counter((row["name"], str(row["pid"]), str(row["tid"]), ns(row["ts"]),
                                tuple(row["args"].get(key) for key in keys))
                               for row in rows if is_memory(row))


def difference(before, after):
    """What is wrong with the file, or None; and how many ranges were compared."""
    rows = [row for row in before["traceEvents"] if row["ph"] == "X" and not is_memory(row)]
    made = [row for row in after["traceEvents"] if row["ph"] == "X"]
    if len(rows) != len(made):
        return f"{len(rows)} ranges became {len(made)}", 0
    for row, became in zip(rows, made):
        if wrong := range_difference(row, became):
            return f"{wrong}: {row} became {became}"[:600], 0
    if before.get("baseTimeNanoseconds") != after.get("baseTimeNanoseconds"):
        return "another base time", 0
    had, has = flows(before["traceEvents"]), flows(after["traceEvents"])
    if had - has:
        return f"lost flow events: {list((had - has).items())[:3]}", 0
    if has - had:
        of_place = places(made)
        for row in after["traceEvents"]:
            if row["ph"] not in "sf" or (row["ph"], int(row["id"]), str(row["pid"]), ns(row["ts"])) not in has - had:
                continue
            if row["id"] not in of_place[row["pid"], row["tid"], ns(row["ts"])]:
                return f"a flow event of another correlation: {row}", 0
    if memory(before["traceEvents"]) != memory(after["traceEvents"]):
        return "other memory records", 0
    return None, len(rows)


def main():
    passed = failed = compared = 0
    for path in map(pathlib.Path, sys.argv[1:]):
        trace = tbtrace.read(path, arguments=GROUPS)
        if trace.issues:
            continue
        before = document(path)
        if any(row.get("ph") in ("B", "E") for row in before["traceEvents"]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            trace.export_chrome_trace(pathlib.Path(folder) / "made.json")
            wrong, ranges = difference(before, document(pathlib.Path(folder) / "made.json"))
        if wrong is not None:
            print(f"FAIL {path}: {wrong}")
            failed += 1
            continue
        passed += 1
        compared += ranges
    print(f"{compared} ranges compared")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
