#!/usr/bin/env python3
"""Compares `tbtrace ops --compat plugin` with what torch-tb-profiler's own backend answered.

    plugin_tables.py --tbtrace PATH --traces DIR

DIR holds traces, and in DIR/plugin_out under the same path with `.views.json.gz` behind it what the plugin said: tables
of operators by name and by name and shapes, with times rounded to whole microseconds, and pies with the same times as
they are. Rows, their order, calls and times have to be equal. The last line is 'N passed, N failed'.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys

TIMES = {  # of the plugin's table -> of ours
    "device_self_duration": "self_device_time_total_ns",
    "device_total_duration": "device_time_total_ns",
    "host_self_duration": "self_cpu_time_total_ns",
    "host_total_duration": "cpu_time_total_ns",
}
PIES = {
    "device_self_time": "self_device_time_total_ns",
    "device_total_time": "device_time_total_ns",
    "host_self_time": "self_cpu_time_total_ns",
    "host_total_time": "cpu_time_total_ns",
}


def rounds_to(ns, us):
    """Whether a time that we round to `ns` may be one that the plugin rounds to `us`."""
    return us in {round((ns + part) / 1000) for part in (-0.5, 0, 0.5)}


def shapes(text):
    return json.loads(text.replace("(", "[").replace(")", "]")) if isinstance(text, str) else text


def table_difference(expected, rows, by_shape):
    if len(expected) != len(rows):
        return f"{len(rows)} rows, expected {len(expected)}"
    for number, (want, got) in enumerate(zip(expected, rows)):
        if (want["name"], want["calls"]) != (got["key"], got["count"]):
            return f"row {number}: {got['count']} of {got['key']}, expected {want['calls']} of {want['name']}"
        if by_shape and shapes(want["input_shape"]) != got["input_shapes"]:
            return f"row {number}: shapes {got['input_shapes']}, expected {want['input_shape']}"
        for theirs, ours in TIMES.items():
            if theirs in want and not rounds_to(got[ours], want[theirs]):
                return f"row {number} ({want['name']}): {theirs} {got[ours]} ns, expected {want[theirs]} us"
    return None


def pie_difference(pies, rows):
    ours = {row["key"]: row for row in rows}
    for pie, field in PIES.items():
        for name, us in (pies[pie] or {"rows": []})["rows"]:
            if name not in ours or abs(ours[name][field] - us * 1000) > 0.5 + abs(us) * 1e-9:
                return f"{pie} of {name}: {ours.get(name, {}).get(field)} ns, expected {us} us"
    return None


def rows_of(program, trace, *options):
    done = subprocess.run([program, "ops", str(trace), "--compat", "plugin", "--format", "json", *options],
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return json.loads(done.stdout)["rows"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    options = parser.parse_args()
    answers = options.traces / "plugin_out"
    passed, failed, compared = 0, 0, 0
    for answer in sorted(answers.rglob("*.views.json.gz")):
        path = str(answer.relative_to(answers)).removesuffix(".views.json.gz")
        expected = json.loads(gzip.decompress(answer.read_bytes()))
        for view, by_shape in (("op_table", False), ("op_table_input", True)):
            try:
                rows = rows_of(options.tbtrace, options.traces / path, *["--group-by-input-shape"] * by_shape)
                table = expected[view]["data"]
                wrong = table_difference(table, rows, by_shape)
                if not by_shape:
                    wrong = wrong or pie_difference(expected["op_pie"], rows)
                compared += len(table)
            except Exception as error:  # a test that cannot be made has failed
                wrong = f"{type(error).__name__}: {error}"
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAIL {path} {view}: {wrong}")
    print(f"{compared} rows compared")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
