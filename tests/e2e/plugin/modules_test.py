#!/usr/bin/env python3
"""Compares plugin_modules() with the Module and Lightning views of torch-tb-profiler: every field of every row.

    python3 -m e2e.plugin.modules_test --tbtrace PATH --program PRINT_PLUGIN_MODULES [--random-traces N] [TRACE...]

Random traces come from module_traces.py; each TRACE is compared as it is and as `tbtrace convert` writes it for the
plugin. Only as converted are those compared that are not valid JSON, or whose runtime calls have categories such as
`cuda_runtime`: the released plugin does not know them. It does not know flow events of category `fwdbwd` either; what
these do is in tests/data/plugin_modules.txt.gz. It fails on files with a step of length 0, whatever their modules.

Needs the packages of requirements.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

from e2e.consumers import Report
from e2e.plugin.module_traces import random_trace
from e2e.plugin.modules_answers import in_one_order, parents_are_rows_before, plugin_modules

STEP_OF_LENGTH_0 = "ZeroDivisionError"


def load(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def knows_launches(trace):
    return not any(str(row.get("cat")).endswith("_runtime") for row in trace["traceEvents"])


def rows_of(program, paths):
    done = subprocess.run([program], input="".join(f"{path}\n" for path in paths), capture_output=True, text=True,
                          timeout=600, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != len(paths):
        raise RuntimeError(f"{len(lines)} lines for {len(paths)} traces")
    return lines


def difference(want, got):
    if isinstance(got, str):
        return got
    if not parents_are_rows_before(got):
        return "parents are not the rows that contain them"
    if [row["name"] for row in want if not row["depth"]] != [row["name"] for row in got if not row["depth"]]:
        return "outermost modules in another order"
    want, got = in_one_order(want), in_one_order(got)
    if want != got:
        pairs = [pair for pair in zip(want, got) if pair[0] != pair[1]] or [(want, got)]
        return f"expected {pairs[0][0]}, found {pairs[0][1]}"
    return None


def compare(report, program, paths):
    """How many of the traces have modules in the plugin."""
    with_modules = 0
    for path, got in zip(paths, rows_of(program, paths)):
        try:
            trace = load(path)
        except ValueError:  # not JSON; tbtrace reads around the damage
            continue
        want = plugin_modules(trace)
        if want == STEP_OF_LENGTH_0 or not knows_launches(trace):
            continue
        want = [] if isinstance(want, str) else want
        with_modules += bool(want)
        wrong = difference(want, got)
        report(not wrong, f"{path.name}: {wrong}")
    return with_modules


def write_random_traces(folder, count):
    for seed in range(count):
        path = folder / f"random_{seed}.json"
        path.write_text(json.dumps(random_trace(seed, None)))
        yield path


def converted(program, trace, folder):
    subprocess.run([program, "convert", str(trace), "-o", str(folder)], check=True, capture_output=True, timeout=300)
    return sorted(folder.rglob("*.pt.trace.json*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--random-traces", type=int, default=300)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        count = compare(report, options.program, list(write_random_traces(folder, options.random_traces)))
        report(count > options.random_traces / 2, f"only {count} random traces have modules")
        if options.traces:
            count = compare(report, options.program, options.traces)
            written = [path for number, trace in enumerate(options.traces)
                       for path in converted(options.tbtrace, trace, folder / str(number))]
            count_written = compare(report, options.program, written)
            report(0 < count <= count_written, f"{count} traces have modules, {count_written} after convert")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
