#!/usr/bin/env python3
"""Is a trace of `tbtrace merge`, taken apart again, what it was made of?

    python3 -m e2e.merged.unmerge_test --tbtrace PATH TRACE...

Each trace becomes the ranks of a job: copies of it, and of the next trace, whose `distributedInfo` gets other ranks. Some are
compressed. The merged file is taken apart by unmerged.py, and each part is compared with Python's json of the file that went
in: every event with every member, and the members of the document. No flow, correlation, External id or process may be in
two parts. Rows that name processes may come later than they did. Numbers are compared as fractions, so no digit may be lost.

Without arguments for it: a job of several time bases, --keep, --steps and --ranks, a cut rank, an empty rank, a rank twice,
and output on a pipe, on made traces. Needs Python alone. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

from e2e.consumers import Report, run_name
from e2e.merged.unmerged import NO_ID, unmerged

RANKS = 3


class Constant(str):
    """NaN or Infinity, which are not JSON."""


def inflated(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def document_of(data):
    document = json.loads(inflated(data).decode("utf-8"), parse_float=Fraction, parse_constant=Constant)
    return {"traceEvents": document} if isinstance(document, list) else document


def of_rank(data, rank, world):
    """The trace with another rank; as text, so that its layout stays."""
    text = inflated(data)
    info = b'"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d}' % (rank, world)
    found = re.search(rb'"distributedInfo"\s*:\s*', text)
    if found:
        value = text[found.end():].decode("utf-8", "surrogateescape")
        _, end = json.JSONDecoder().raw_decode(value)
        return text[:found.start()] + info + value[end:].encode("utf-8", "surrogateescape")
    return text.replace(b"{", b"{" + info + b", ", 1) if text.lstrip().startswith(b"{") else text


def run(tbtrace, *arguments, **keywords):
    return subprocess.run([tbtrace, "merge", *map(str, arguments)], capture_output=True, timeout=300, **keywords)


def is_name(event):
    return event.get("ph") == "M" and event.get("name") == "process_name"


def comparable(value):
    """What Python's json read, with what tbtrace writes instead of what is not JSON."""
    if isinstance(value, str):
        text = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if isinstance(value, dict):
        return {comparable(key): comparable(each) for key, each in value.items()}
    return value


def in_order(events):
    """Rows that name processes apart: they may have moved."""
    rows = [comparable({"pid": 0, **event}) for event in events if not is_name(event)]
    names = [comparable({"pid": 0, **event}) for event in events if is_name(event)]
    return rows, sorted(names, key=str)


def shared_ids(events_by_part):
    """Ids that occur in two parts, by kind."""
    owners, shared = {}, {}
    for number, events in events_by_part.items():
        for event in events:
            ids = [("process", event.get("pid"))]
            if event.get("ph") in ("s", "t", "f"):
                ids.append(("flow", event.get("id")))
            args = event.get("args")
            for key, none in NO_ID.items():
                value = args.get(key) if isinstance(args, dict) else None
                if isinstance(value, (int, str)) and value not in none and value not in map(str, none):
                    ids.append((key.lower(), value))
            for each in ids:
                if owners.setdefault(each, number) != number:
                    shared[each[0]] = each[1]
    return shared


def by_part(merged):
    step = 10**merged["mergedRanks"]["digits"]
    digits = merged["mergedRanks"]["digits"]
    parts = {}
    for event in merged["traceEvents"]:
        pid = event["pid"]
        number = int(pid[-digits:]) if isinstance(pid, str) else abs(pid) % step
        parts.setdefault(number, []).append(event)
    return parts


def check_same(report, name, merged, originals):
    taken_apart = unmerged(merged)
    report(sorted(taken_apart) == sorted(originals), f"{name}: parts {sorted(taken_apart)} of {sorted(originals)}")
    for number, original in originals.items():
        events, members = taken_apart.get(number, ([], {}))
        rest = {key: value for key, value in original.items() if key != "traceEvents"}
        for kind, is_, was in zip(("events", "names"), in_order(events), in_order(original["traceEvents"])):
            different = next(((a, b) for a, b in zip(is_, was) if a != b), None)
            report(is_ == was, f"{name}: {len(is_)} {kind} of part {number}, {len(was)} before; the first that differ: {different}")
        report(comparable(members) == comparable(rest), f"{name}: members of part {number}: {members} were {rest}")
    report(not shared_ids(by_part(merged)), f"{name}: ids of two parts: {shared_ids(by_part(merged))}")


def check_trace(tbtrace, report, traces, at, folder):
    """A job of the trace and the one after it."""
    path = traces[at]
    name = run_name(path)
    originals = {}
    for rank in range(RANKS):
        data = of_rank((path if rank != 1 else traces[(at + 1) % len(traces)]).read_bytes(), rank, RANKS)
        try:
            originals[rank] = document_of(data)
        except ValueError:  # not JSON: only that the rest is right can be said
            originals[rank] = None
        target = folder / f"rank{rank}.json"
        if rank == 2:
            target, data = folder / "rank2.json.gz", gzip.compress(data, 1)
        target.write_bytes(data)
    out = folder / "out" / "job.json.gz"
    out.parent.mkdir()
    done = run(tbtrace, folder, "-o", out)
    if not report(done.returncode == 0, f"{name}: exit {done.returncode}: {done.stderr.decode()[-400:]}"):
        return
    merged = document_of(out.read_bytes())  # strict JSON: document_of() takes NaN, checked below
    json.loads(inflated(out.read_bytes()), parse_constant=lambda each: report(False, f"{name}: {each} in the merged file"))
    known = {rank: original for rank, original in originals.items() if original is not None}
    if len(known) == RANKS and not any(isinstance(each, Constant) for each in constants(known)):
        check_same(report, name, merged, known)
    else:
        report(not shared_ids(by_part(merged)), f"{name}: ids of two parts: {shared_ids(by_part(merged))}")


def constants(value):
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from constants(each)
    else:
        yield value


def made(rank, world=4, base=1_790_000_000_000_000_000, steps=3):
    """A rank with all kinds of ids, some of them long, as text, or 0."""
    long = 2**63 + rank
    events = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0.0, "args": {"name": "python"}},
              {"ph": "M", "name": "process_labels", "pid": 7, "tid": 0, "ts": 0.0, "args": {"labels": "CPU"}},
              {"ph": "M", "name": "process_sort_index", "pid": 7, "tid": 0, "ts": 0.0, "args": {"sort_index": 7}},
              {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0.0, "args": {"name": "python"}},
              {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0.0, "args": {"labels": "GPU 0"}},
              {"ph": "M", "name": "process_sort_index", "pid": 0, "tid": 0, "ts": 0.0, "args": {"sort_index": 16777216}},
              {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "ts": 0.0, "args": {"name": "thread 7 (python)"}}]
    for step in range(steps):
        at = 1000 * step
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 7, "ts": at + 0.125, "dur": 900.0,
             "args": {"External id": 10 + step, "Ev Idx": step}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::\"mm\" \\ \u00e9", "pid": 7, "tid": 7, "ts": at + 10, "dur": 20,
             "args": {"External id": 100 + step, "Sequence number": step, "Fwd thread id": 0, "Input Dims": [[2, 3], []]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": at + 12.5, "dur": 1.5,
             "args": {"External id": 100 + step, "correlation": 500 + step}},
            {"ph": "s", "id": 500 + step, "pid": 7, "tid": 7, "ts": at + 12.5, "cat": "ac2g", "name": "ac2g"},
            {"ph": "f", "id": 500 + step, "pid": 0, "tid": 3, "ts": at + 950.75, "cat": "ac2g", "name": "ac2g", "bp": "e"},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 3, "ts": at + 950.75, "dur": 100.001,
             "args": {"External id": 100 + step, "correlation": 500 + step, "device": 0, "stream": 3}},
            {"ph": "X", "cat": "python_function", "name": "f", "pid": 7, "tid": 7, "ts": at + 1, "dur": 2,
             "args": {"Python id": step, "Python parent id": None, "Python module id": step}},
        ]
    events += [
        {"ph": "X", "cat": "cuda_sync", "name": "wait", "pid": 0, "tid": 3, "ts": 5, "dur": 1,
         "args": {"correlation": long, "wait_on_cuda_event_record_corr_id": -1, "wait_on_cuda_event_id": 0}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamWaitEvent", "pid": 7, "tid": 7, "ts": 4, "dur": 1,
         "args": {"correlation": long, "External id": 0, "Comms Id": 12345, "Seq": 3}},
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 3100.5},
        {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 3100},
        {"ph": "b", "id": "0x1f", "cat": "async", "name": "a", "pid": 7, "tid": 7, "ts": 1},
        {"ph": "e", "id": "0x1f", "cat": "async", "name": "a", "pid": 7, "tid": 7, "ts": 2},
        {"ph": "s", "id": "12", "cat": "other", "name": "o", "pid": 7, "tid": 7, "ts": 1},
        {"ph": "C", "name": "counter", "pid": 7, "ts": 1, "args": {"bytes": 12.5}},
        {"ph": "i", "name": "without a process", "ts": 1},
    ]
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
            **({"baseTimeNanoseconds": base} if base else {}), "traceEvents": events, "traceName": f"/tmp/rank{rank}.json"}


def put(folder, rank, document, name=None):
    path = folder / (name or f"rank{rank}.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Fraction)


def merged_by(tbtrace, report, what, folder, *options, code=0):
    done = run(tbtrace, folder, "-o", "-", *options)
    report(done.returncode == code, f"{what}: exit {done.returncode} instead of {code}: {done.stderr.decode()[-500:]}")
    return (document_of(done.stdout) if done.stdout else None), done.stderr.decode()


def new_folder(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder


def check_made(tbtrace, report, parent):
    folder = new_folder(parent, "bases")
    bases = [1_790_000_000_000_000_000, 1_790_000_000_000_000_000 + 7_889_238_000_000_000, 0, 1_790_000_000_000_000_000]
    originals = {}
    for rank, base in enumerate(bases):
        document = made(rank, base=base)
        if base == 0:  # times since 1970, as until torch 2.3
            for event in document["traceEvents"]:
                if event["ph"] != "M":
                    event["ts"] += 1_790_000_000_000_000
        originals[rank] = put(folder, rank, document)
    merged, _ = merged_by(tbtrace, report, "bases", folder)
    check_same(report, "bases", merged, originals)
    starts = {number: min(event["ts"] for event in events if event["ph"] == "X") for number, events in by_part(merged).items()}
    report(starts[0] == starts[3] == 0 and starts[1] == 7_889_238_000_000 and starts[2] == 0, f"bases: starts {starts}")
    names = {event["pid"]: event["args"]["name"] for event in merged["traceEvents"] if is_name(event)}
    report(names.get(70) == "rank 0: python (pid 7)" and names.get(1) == "rank 1: python (GPU 0)", f"names {names}")
    sorts = [event["args"]["sort_index"] for event in merged["traceEvents"] if event.get("name") == "process_sort_index"]
    report(sorted(sorts, key=lambda each: each >> 32) == sorts, f"not in the order of the ranks: {sorts}")
    one, _ = merged_by(tbtrace, report, "one thread", folder, "-j", "1")
    report(one == merged, "one thread gives another trace")

    merged, _ = merged_by(tbtrace, report, "--ranks", folder, "--ranks", "0,2-3")
    report(sorted(by_part(merged)) == [0, 2, 3], f"--ranks: {sorted(by_part(merged))}")
    merged_by(tbtrace, report, "--ranks without any", folder, "--ranks", "9", code=2)
    merged_by(tbtrace, report, "--ranks that are none", folder, "--ranks", "3-1", code=2)

    merged, _ = merged_by(tbtrace, report, "--keep gpu", folder, "--keep", "gpu")
    kinds = {(event["ph"], event.get("cat")) for event in merged["traceEvents"] if event["ph"] != "M"}
    report(kinds == {("X", "kernel"), ("X", "cuda_sync")}, f"--keep gpu: {kinds}")
    merged, _ = merged_by(tbtrace, report, "--keep cpu", folder, "--keep", "cpu")
    kinds = {event.get("cat") for event in merged["traceEvents"]}
    report("cpu_op" in kinds and not kinds & {"kernel", "cuda_sync", "ac2g"}, f"--keep cpu: {kinds}")

    merged, _ = merged_by(tbtrace, report, "--steps", folder, "--steps", "1")
    for number, events in by_part(merged).items():
        work = [event for event in events if event.get("cat") in ("kernel", "ac2g")]
        report(len(work) == 3 and {event.get("id", event.get("args", {}).get("correlation")) for event in work} == {5010 + number},
               f"--steps: device work of part {number}: {work}")
        others = {event["name"] for event in events if event.get("cat") in ("user_annotation", "cuda_runtime", "cpu_op")}
        report("ProfilerStep#1" in others and "ProfilerStep#0" not in others and "ProfilerStep#2" not in others, f"--steps: {others}")
    _, errors = merged_by(tbtrace, report, "--steps without any", folder, "--steps", "8-9", code=2)
    report("the trace has steps 0 to 2" in errors, f"--steps: {errors}")

    folder = new_folder(parent, "damage")
    originals = {rank: put(folder, rank, made(rank)) for rank in (0, 1)}
    whole = (folder / "rank1.json").read_bytes()
    (folder / "rank1.json").write_bytes(whole[:len(whole) * 2 // 3])
    (folder / "rank2.json").write_bytes(b"")
    merged, errors = merged_by(tbtrace, report, "damage", folder, code=4)
    report("input_truncated, 1 x" in errors and "rank2.json: is empty" in errors and "ranks 2-3 have no trace" in errors, f"damage: {errors}")
    cut = [event for event in by_part(merged)[1] if event.get("args", {}).get("added_by") is None]
    report(0 < len(cut) < len(originals[1]["traceEvents"]), f"damage: {len(cut)} events of the cut rank")
    check_same(report, "beside damage", {**merged, "traceEvents": by_part(merged)[0],
                                         "mergedMetadata": {"0": merged["mergedMetadata"]["0"]}}, {0: originals[0]})
    output = parent / "strict.json"
    done = run(tbtrace, folder, "-o", output, "--strict")
    report(done.returncode == 1 and not output.exists(), f"--strict: exit {done.returncode}, {output.exists()}")

    folder = new_folder(parent, "twice")
    for rank in (0, 1):
        put(folder, rank, made(rank, 2))
    put(folder, 1, made(1, 2), "rank1 (copy).json")
    merged, errors = merged_by(tbtrace, report, "a copy", folder)
    report(sorted(by_part(merged)) == [0, 1] and "is a copy of" in errors, f"a copy: {sorted(by_part(merged))} {errors}")
    put(folder, 1, made(1, 2, steps=1), "rank1 (copy).json")
    for path in folder.iterdir():  # by the ranks in them alone
        path.rename(folder / f"trace {path.stat().st_ino}.json")
    merged, errors = merged_by(tbtrace, report, "a rank twice", folder, code=4)
    report(sorted(by_part(merged)) == [0, 1] and "rank 1 is there twice with the same start" in errors, f"a rank twice: {errors}")

    folder = new_folder(parent, "windows")
    for start in (0, 50_000):
        document = made(0, 1)
        for event in document["traceEvents"]:
            event["ts"] += start
        put(folder, 0, document, f"trace{start}.json")
    merged, _ = merged_by(tbtrace, report, "windows", folder)
    names = sorted(event["args"]["name"] for event in merged["traceEvents"] if is_name(event) and "python" in event["args"]["name"])
    report(names == ["rank 0, recording 1: python (GPU 0)", "rank 0, recording 1: python (pid 7)",
                     "rank 0, recording 2: python (GPU 0)", "rank 0, recording 2: python (pid 7)"], f"windows: {names}")
    report(not shared_ids(by_part(merged)), "windows: ids of two recordings")

    folder = new_folder(parent, "two jobs")
    put(new_folder(folder, "a"), 0, made(0, 1))
    put(new_folder(folder, "b"), 0, made(0, 1, base=1_780_000_000_000_000_000))
    merged, errors = merged_by(tbtrace, report, "two jobs", folder, code=2)
    report(merged is None and "of 2 jobs" in errors, f"two jobs: {errors}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        check_made(arguments.tbtrace, report, pathlib.Path(scratch))
    for at in range(len(arguments.traces)):
        with tempfile.TemporaryDirectory() as scratch:
            check_trace(arguments.tbtrace, report, arguments.traces, at, pathlib.Path(scratch))
    sys.exit(report.end())


if __name__ == "__main__":
    main()
