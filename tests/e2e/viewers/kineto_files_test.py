#!/usr/bin/env python3
"""Compares files of `tbtrace convert --dialect kineto` with their originals, row by row.

    python3 -m e2e.viewers.kineto_files_test --tbtrace PATH TRACE...

Both are read with Python's json. A row may differ only in what readers of Kineto's files cannot take, and each kind of
difference has to be as frequent as the conversion says it is. Times, ids, correlations, streams and unknown members
stay. Only launches and device activity get another External id; only host ranges get another thread or end earlier.
Each range, and each name of a process or thread, has a time. Flow events that were added have the correlation that their launch and kernel share. Converting
the result again changes nothing.

An original that is not JSON is converted twice only. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from e2e.consumers import Report, run_name, strict_json

MISSING = object()
DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "cuda_profiler_range", "xpu_sync",
                     "mtia_ccp_events", "mtia_insight", "mtia_counters", "hpu_op"}


class Constant(str):
    """NaN or Infinity, which are not JSON."""


def inflated(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def original(path):
    """The document, or None if it is not one for Python's json."""
    try:
        document = json.loads(inflated(path).decode("utf-8"), parse_constant=Constant)
    except ValueError:
        return None
    return {"traceEvents": document} if isinstance(document, list) else document


def converted(tbtrace, path, folder):
    """The document and its changes."""
    done = subprocess.run([tbtrace, "convert", str(path), "--run", "run", "-o", str(folder), "--to", "plugin",
                           "--dialect", "kineto", "--format", "json"], capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    [given] = json.loads(done.stdout)["inputs"]
    [file] = given["files"]
    return pathlib.Path(file["path"]), file["changes"]


def well_formed(value):
    """With U+FFFD for half a surrogate pair."""
    if isinstance(value, str) and not isinstance(value, Constant):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [well_formed(each) for each in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed(each) for key, each in value.items()}
    return value


def has_constant(value):
    if isinstance(value, dict):
        value = value.values()
    return isinstance(value, Constant) or (not isinstance(value, str) and hasattr(value, "__iter__")
                                           and any(map(has_constant, value)))


def category(row):
    """Today's name of the row's category, in lower case; empty if it has none."""
    own = str(row.get("cat") or "").lower()
    return {"operator": "cpu_op", "runtime": "cuda_runtime", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}.get(own, own)


def is_device_row(row):
    return category(row) in DEVICE_CATEGORIES


def has_launch_or_work(row):
    own = category(row)
    return own.endswith(("_runtime", "_driver")) or (is_device_row(row) and own not in ("gpu_user_annotation", "cuda_sync"))


def argument_change(row, key, before, after):
    if key in ("External id", "external id"):
        return "external_ids_repaired" if row["ph"] in "XB" and has_launch_or_work(row) else None
    if has_constant(before):
        if after is MISSING:
            return "values_left_out"
        if isinstance(after, str):
            return "values_quoted"
    return None


def member_change(row, key, before, after):
    """The change that the conversion counts this difference as; None if there may be none."""
    phase = row["ph"]
    if key == "ph" and (before, after) == ("B", "X"):
        return "pairs_joined"
    if key == "dur" and before is MISSING and phase == "B":
        return "uncounted"  # with its phase
    if key == "dur" and phase == "X" and not is_device_row(row) and isinstance(after, (int, float)) and after <= before:
        return "ranges_shortened"
    if key == "cat" and phase in "XB":
        return "categories_renamed"
    if key == "tid" and phase in "XB" and not is_device_row(row):
        return "ranges_moved_to_lanes"
    if key == "tid" and phase in "sf":
        return "uncounted"  # with its range
    if key == "ts" and phase == "M" and before in (MISSING, None):
        return "label_times_added"
    return argument_change(row, key, before, after) if has_constant(before) else None


def compare(before, after, count):
    """Counts what differs in a row; the first difference that may not be, or None."""
    pairs = [(key, before.get(key, MISSING), after.get(key, MISSING), False)
             for key in {**before, **after} if key != "args"]
    left, right = before.get("args", MISSING), after.get("args", MISSING)
    if isinstance(left, dict) and isinstance(right, dict):
        pairs += [(key, left.get(key, MISSING), right.get(key, MISSING), True) for key in {**left, **right}]
    else:
        pairs.append(("args", left, right, False))
    for key, was, became, is_argument in pairs:
        if was is not MISSING and became is not MISSING and type(was) is type(became) and was == became:
            continue
        if well_formed(was) == became and not has_constant(was):
            continue
        kind = argument_change(before, key, was, became) if is_argument else member_change(before, key, was, became)
        if kind is None:
            return f"{key}: {was!r} became {became!r} in {before}"[:600]
        count[kind] += 1
    return None


def is_flow(row):
    return row.get("ph") in ("s", "f") and row.get("cat") == "ac2g"


def correlations(rows):
    """Of complete events, by where they start."""
    found = collections.defaultdict(set)
    for row in rows:
        if row["ph"] == "X" and isinstance(row.get("args"), dict):
            found[row["pid"], row["tid"], row["ts"]].add(row["args"].get("correlation"))
    return found


def differences(before, after):
    """What differs, counted as the conversion counts it, and what is wrong."""
    count = collections.Counter()
    rows, made = before["traceEvents"], after["traceEvents"]
    of_place = None
    at = 0
    for row in rows:
        if row["ph"] == "E":
            continue
        while at < len(made) and made[at].get("ph") != row["ph"] and is_flow(made[at]):
            # A range's flow events follow it.
            of_place = of_place or correlations(made)
            flow = made[at]
            if flow["id"] not in of_place[flow["pid"], flow["tid"], flow["ts"]]:
                return count, f"flow event of another correlation: {flow}"
            count["flows_added"] += 1
            at += 1
        if at == len(made):
            return count, f"lost: {row}"[:600]
        if wrong := compare(row, made[at], count):
            return count, wrong
        at += 1
    for row in made[at:]:
        if is_flow(row):
            count["flows_added"] += 1
        elif row["ph"] != "M" or "(lane " not in row["args"]["name"]:
            return count, f"added: {row}"[:600]
    members = [{key: value for key, value in document.items() if key != "traceEvents"} for document in (before, after)]
    if wrong := compare({"ph": "document", **members[0]}, {"ph": "document", **members[1]}, count):
        return count, wrong
    return count, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    started = time.monotonic()
    compared = 0
    total = collections.Counter()
    for trace in options.traces:
        where = run_name(trace)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            try:
                file, changes = converted(options.tbtrace, trace, folder / "once")
                again, changes_again = converted(options.tbtrace, file, folder / "again")
            except RuntimeError as error:
                report(False, f"{where}: {error}")
                continue
            once = inflated(file)
            after = strict_json(once)
            report(not changes_again, f"{where}: converting it again changes {changes_again}")
            report(once == inflated(again), f"{where}: converted again, it is another file")
            untimed = [row for row in after["traceEvents"] if row["ph"] in "XM" and row.get("ts") is None]
            report(not untimed, f"{where}: without a time: {untimed[:2]}")
            before = original(trace)
            if before is None:
                continue
            count, wrong = differences(before, after)
            if not report(wrong is None, f"{where}: {wrong}"):
                continue
            compared += len(before["traceEvents"])
            del count["uncounted"]
            for unseen in ("texts_repaired", "repeated_members_left_out"):  # json.loads() does the same
                changes.pop(unseen, None)
            report(count == changes, f"{where}: changes {dict(count)}, told {changes}")
            total.update(changes)
    report(compared > 0, "no rows compared")
    print(f"{compared} rows compared, changes {dict(total)}, {time.monotonic() - started:.1f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
