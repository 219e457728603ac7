"""Graphs, streams, copies, a long run, memory: parts that judge.py judges."""
import collections
import json

from traces import Trace, bytes_by_name


def graphs(part):
    got = part.run("graphs", 50)
    replays = int(got["replays"])
    for name in ("before", "during"):
        nodes = int(got[f"{name}_kernels"])
        part.check(nodes > 0, f"the graph captured {name} has no kernels")
        others = []
        for window in range(2):
            trace = Trace(part.folder / f"graph_{name}_{window}.json")
            what = f"captured {name}, window {window}"
            rows = [row for row in trace.kernels if row["args"].get("graph id")]
            others.append(len(trace.kernels) - len(rows))
            part.check(len(rows) == replays * nodes, f"{what}: {len(rows)} kernels of {replays} x {nodes}, and "
                                                     f"{others[-1]} of no graph")
            launches = collections.Counter(row["args"]["correlation"] for row in rows)
            part.check(len(launches) == replays and set(launches.values()) <= {nodes},
                       f"{what}: {len(launches)} correlations, with {sorted(set(launches.values()))} kernels each")
            calls = {(trace.calls.get(number) or {}).get("name") for number in launches}
            part.check(calls == {"cudaGraphLaunch"}, f"{what}: launched by {calls}")
            ids = {row["args"]["graph id"] for row in rows}
            nodes_seen = {row["args"].get("graph node id") for row in rows}
            part.check(len(ids) == 1, f"{what}: graph ids {ids}")
            part.check(len(nodes_seen) == nodes and 0 not in nodes_seen and None not in nodes_seen,
                       f"{what}: {len(nodes_seen)} node ids for {nodes} nodes")
            part.check(not trace.problems(), f"{what}: the file says {trace.problems()}")
        part.figure(f"captured {name}: {replays} x {nodes} kernels, and {others} of no graph in its two windows")
    part.check(Trace(part.folder / "graph_capture.json").kernels, "nothing was recorded around the capture")


def streams(part):
    got = part.run("streams", 200)
    iterations, threads = int(got["iterations"]), int(got["threads"])
    trace = Trace(part.folder / "streams.json")
    by_stream = collections.defaultdict(list)
    wrong = 0
    for row in trace.kernels:
        by_stream[row["args"]["stream"]].append(row)
        operator, call = trace.operator(row), trace.call(row)
        wrong += not (operator and call and operator["tid"] == call["tid"]
                      and operator["ts"] <= call["ts"] <= operator["ts"] + operator["dur"])
    counts = {stream: len(rows) for stream, rows in by_stream.items()}
    part.check(len(counts) == threads and len(set(counts.values())) == 1, f"kernels by stream: {counts}")
    part.check(min(counts.values(), default=0) >= 3 * iterations, f"{counts} kernels by stream, of {iterations} rounds")
    part.check(wrong == 0, f"{wrong} of {len(trace.kernels)} kernels whose launch has no operator around it")
    owners = {stream: {trace.call(row)["tid"] for row in rows if trace.call(row)} for stream, rows in by_stream.items()}
    part.check(all(len(tids) == 1 for tids in owners.values()) and len(set.union(set(), *owners.values())) == threads,
               f"threads by stream: {owners}")
    part.check(not trace.problems(), f"the file says {trace.problems()}")
    ends = sorted(((row["ts"], row["ts"] + row["dur"]) for row in trace.kernels), key=lambda span: span[0])
    together = sum(1 for one, other in zip(ends, ends[1:]) if other[0] < one[1])
    part.figure(f"kernels by stream {counts}; {together} begin while another runs")


def copies(part):
    got = part.run("copies")
    times = int(got["times"])
    trace = Trace(part.folder / "copies.json")
    found = bytes_by_name(trace.copies + trace.sets)
    expected = {"Memcpy HtoD (Pinned -> Device)": [times, int(got["HtoD_bytes"])],
                "Memcpy DtoH (Device -> Pinned)": [times, int(got["DtoH_bytes"])],
                "Memcpy DtoD (Device -> Device)": [times, int(got["DtoD_bytes"])],
                "Memset (Device)": [times, int(got["set_bytes"])]}
    part.check(found == expected, f"found {found}, expected {expected}")
    unlinked = [row["name"] for row in trace.copies if trace.operator_name(row) != "aten::copy_"]
    part.check(not unlinked, f"copies that are not those of aten::copy_: {unlinked[:3]}")
    part.check(not trace.problems(), f"the file says {trace.problems()}")
    part.figure("; ".join(f"{name}: {count} of {size} bytes" for name, (count, size) in found.items()))
    rates = collections.defaultdict(list)
    for row in trace.copies + trace.sets:
        rates[row["name"]].append(row["args"].get("memory bandwidth (GB/s)", 0))
    part.note("; ".join(f"{name} up to {max(values):.0f} GB/s" for name, values in rates.items()))


def long_run(part):
    windows, launches = 20, 100_000
    got = part.run("long_run", windows, launches, timeout=240)
    kernels, resident, gpu = got["kernels"], got["resident_bytes"], got["gpu_bytes"]
    part.check(kernels == [launches] * windows, f"kernels by window: {kernels}")
    part.check(got["lost"] == 0, f"{got['lost']:.0f} records lost")
    part.check(got["untimed"] == 0, f"{got['untimed']:.0f} records without times")
    part.check(not got["problem"], f"a file says {got['problem']}")
    if len(resident) < 4:
        return
    growth = resident[-1] / resident[2] - 1
    part.check(abs(growth) <= 0.1, f"resident memory {100 * growth:+.1f} % from window 3 to the last")
    part.figure(f"{sum(kernels):.0f} kernels in {got['seconds']:.0f} s; resident {resident[2] / 2**20:.0f} MiB after "
                f"window 3, {resident[-1] / 2**20:.0f} MiB after the last")
    part.note(f"GPU memory in use: {got['gpu_bytes_before'] / 2**20:.0f} MiB before, {gpu[2] / 2**20:.0f} MiB after "
              f"window 3, {gpu[-1] / 2**20:.0f} MiB after the last")


def memory(part):
    part.run("memory")
    events = json.loads((part.folder / "memory.json").read_text())["traceEvents"]
    keys = ("Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")
    ours = [[row["args"][key] for key in keys] for row in sorted(events, key=lambda row: float(row.get("ts", 0)))
            if row.get("name") == "[memory]" and row["args"]["Device Type"] == 1]
    reports = json.loads((part.folder / "reports.json").read_text())
    part.check(len(reports) > 100, f"{len(reports)} reports of LibTorch")
    part.check(len(ours) == len(reports), f"{len(ours)} events, {len(reports)} reports of LibTorch")
    different = [pair for pair in zip(ours, reports) if pair[0] != pair[1]]
    part.check(not different, f"{len(different)} differ; the first: {different[:1]}")
    _, sizes = json.loads((part.folder / "timeline.json").read_text())
    peak = max((sum(row) for row in sizes), default=0)
    part.check(peak > 0, "the timeline of cuda:0 is empty")
    part.figure(f"{len(ours)} events, {len(different)} different; at most {peak / 2**20:.0f} MiB of tensors")
