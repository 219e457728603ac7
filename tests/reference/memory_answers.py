#!/usr/bin/env python3
"""Compares `tbtrace memory` with what torch-tb-profiler's own backend answered, and with the records of the files.

    memory_answers.py --tbtrace PATH --traces DIR --timeline DIR

DIR holds traces, and in DIR/plugin_out under the same path with `.views.json.gz` appended what the plugin answered. With
`--compat plugin`, its memory events, statistics and curves must be ours, to the digits that it shows. The exact curve
must be the allocator's total after every record that has one. The timeline's folder holds trace.json.gz and, in
memory/timeline.json, what torch.profiler exported in the same process: at its peak, the estimated activations and
gradients must be those that it determined. The last line is 'N passed, N failed'.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys

SHOWN = 0.005 + 1e-9  # sizes and times are shown with two digits after the point


def rows_of(program, trace, *options):
    done = subprocess.run([program, "memory", str(trace), "--format", "json", *options], capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return json.loads(done.stdout)["rows"]


def by_device(rows):
    devices = {}
    for row in rows:
        devices.setdefault(row["device_name"], []).append(row)
    return devices


def near(want, got, tolerance=SHOWN):
    if want is None or got is None:
        return want is None and got is None
    return abs(want - got) <= tolerance + abs(want) * 1e-12


def events_difference(answer, rows):
    def shown(ns):
        return None if ns is None else ns / 1e6

    ours = by_device(rows)
    if set(ours) != set(answer):
        return f"devices {sorted(ours)}, expected {sorted(answer)}"
    for device, expected in answer.items():
        if len(expected) != len(ours[device]):
            return f"{device}: {len(ours[device])} events, expected {len(expected)}"
        for number, (want, got) in enumerate(zip(expected, ours[device])):
            name, size, allocated, freed, _ = want
            same = (name == got["operator"] and near(size, got["bytes"] / 1024)
                    and near(allocated, shown(got["allocated_at_ns"])) and near(freed, shown(got["freed_at_ns"])))
            if not same:
                return f"{device} event {number}: {got}, expected {want}"
    return None


def statistics_difference(answer, rows):
    ours = by_device(rows)
    if set(ours) != set(answer):
        return f"devices {sorted(ours)}, expected {sorted(answer)}"
    for device, expected in answer.items():
        if [row[0] for row in expected] != [row["operator"] for row in ours[device]]:
            return f"{device}: operators {[row['operator'] for row in ours[device]]}, expected {[row[0] for row in expected]}"
        for want, got in zip(expected, ours[device]):
            counts = (got["calls"], got["allocations"], got["self_allocations"])
            sizes = (got["size_increase_bytes"], got["self_size_increase_bytes"], got["allocated_bytes"],
                     got["self_allocated_bytes"])
            wanted = (want[2], want[3], want[6], want[7])
            if counts != (want[1], want[4], want[5]) or not all(near(a, b / 1024) for a, b in zip(wanted, sizes)):
                return f"{device}: {got}, expected {want}"
    return None


def curve_difference(answer, rows):
    """The plugin draws steps: before each point but the first, one with the time of it and the values before. Of long
    curves it shows some points only."""
    most_points = 10240
    ours = by_device(rows)
    if set(ours) != set(answer):
        return f"devices {sorted(ours)}, expected {sorted(answer)}"
    for device, expected in answer.items():
        points = [(row["at_ns"] / 1e6, row["allocated_bytes"] / 1024, row["reserved_bytes"] / 1024)
                  for row in ours[device]]
        steps = points[:1]
        for before, point in zip(points, points[1:]):
            steps += [(point[0], *before[1:]), point]
        if len(expected) < most_points and len(expected) != len(steps):
            return f"{device}: {len(steps)} points, expected {len(expected)}"
        at = 0
        for want in expected:
            while at < len(steps) and not all(near(a, b, 1e-6) for a, b in zip(want, steps[at])):
                at += 1
            if at == len(steps):
                return f"{device}: no point {want}"
    return None


def totals_difference(events, rows):
    def record(event):
        arguments = event.get("args", {})
        return (event["ts"], arguments.get("Ev Idx", 0), arguments.get("Device Type"), arguments.get("Device Id"),
                arguments.get("Total Allocated"))

    names = {0: "cpu", 1: "cuda"}
    wanted = {}
    for event in sorted((record(event) for event in events if event.get("name") == "[memory]"), key=lambda row: row[:2]):
        device = names[event[2]] + (f":{event[3]}" if event[3] >= 0 else "")
        wanted.setdefault(device, []).append(event)
    ours = by_device(rows)
    if set(ours) != set(wanted):
        return f"devices {sorted(ours)}, expected {sorted(wanted)}"
    for device, expected in wanted.items():
        if len(expected) != len(ours[device]):
            return f"{device}: {len(ours[device])} points, expected {len(expected)}"
        for want, got in zip(expected, ours[device]):
            if want[4] is not None and want[4] != got["allocated_bytes"]:
                return f"{device} at {got['at_ns']}: {got['allocated_bytes']}, expected {want[4]}"
    return None


def sum_difference(rows):
    for row in rows:
        held = sum(holder["bytes"] for holder in row["alive"])
        if held != (row["peak_bytes"] or 0):
            return f"{row['device_name']}: {held} bytes are alive at the peak of {row['peak_bytes']}"
    return None


def category_difference(program, folder):
    # torch's columns: 0, then PARAMETER, OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL, None
    activation, gradient = 5, 6
    sizes = max(json.loads((folder / "memory/timeline.json").read_text())[1], key=sum)
    ours = {}
    for row in rows_of(program, folder / "trace.json.gz", "--view", "alive"):
        ours[row["category"]] = ours.get(row["category"], 0) + row["bytes"]
    found = (ours.get("activation"), ours.get("gradient"))
    wanted = (sizes[activation], sizes[gradient])
    return None if found == wanted else f"activations and gradients {found}, expected {wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    parser.add_argument("--timeline", required=True, type=pathlib.Path)
    options = parser.parse_args()
    answers = options.traces / "plugin_out"
    difference = category_difference(options.tbtrace, options.timeline)
    passed, failed = int(difference is None), int(difference is not None)
    if difference is not None:
        print(f"{options.timeline}: {difference}")
    for answer in sorted(answers.rglob("*.views.json.gz")):
        path = str(answer.relative_to(answers)).removesuffix(".views.json.gz")
        expected = json.loads(gzip.decompress(answer.read_bytes()))
        if "memory" not in expected:
            continue
        trace = options.traces / path
        text = trace.read_bytes()
        events = json.loads(gzip.decompress(text) if path.endswith(".gz") else text, strict=False)["traceEvents"]

        def rows(view, *more):
            return rows_of(options.tbtrace, trace, "--view", view, *more)

        differences = {
            "events": events_difference(expected["memory_events"]["rows"], rows("allocations", "--compat", "plugin")),
            "statistics": statistics_difference({device: table for device, table in expected["memory"]["rows"].items()
                                                 if table}, rows("alive", "--compat", "plugin")),
            "curve": curve_difference(expected["memory_curve"]["rows"], rows("curve", "--compat", "plugin")),
            "totals": totals_difference(events, rows("curve")),
            "alive": sum_difference(rows("peak")),
        }
        for what, difference in differences.items():
            if difference is None:
                passed += 1
            else:
                failed += 1
                print(f"{path}: {what}: {difference}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
