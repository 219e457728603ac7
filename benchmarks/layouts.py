#!/usr/bin/env python3
"""How fast the same trace is read in other valid texts than Kineto's own.

    layouts.py [--build FOLDER]... [--rounds N] [--check] [TRACE]

Writes the trace (a made one of 60 MB if none is named) again in a temporary folder: with Python's spaces, sorted keys,
compact, and indented, the first three on one line, and once with an odd event in the middle, 3 MB with an escaped quote
every fourth byte. Times reading and operator table (tbtrace_operator_table) on one thread and on two; texts and builds
take turns, figures are medians. Several builds are compared with the first one.

--check exits with 1 where a text without Kineto's lines is read at less than 0.7 of the speed (MB/s) of Kineto's own;
the odd event has no limit.
"""

import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

LEAST_SHARE = 0.7
ODD = "spaces, 3 MB event"


def write_layouts(original, folder):
    """The texts by name, Kineto's own first."""
    text = gzip.decompress(original) if original[:2] == b"\x1f\x8b" else original
    document = json.loads(text.decode("utf-8", "replace"), strict=False)
    texts = {
        "kineto": text,
        "spaces": json.dumps(document).encode(),
        "sorted": json.dumps(document, sort_keys=True).encode(),
        "compact": json.dumps(document, separators=(",", ":")).encode(),
        "indented": json.dumps(document, indent=2).encode(),
    }
    events = document["traceEvents"]
    middle = len(events) // 2
    events.insert(middle, {"ph": "X", "cat": "cpu_op", "name": "odd", "pid": 1, "tid": 1, "ts": events[middle]["ts"],
                           "dur": 1, "args": {"note": 'y, {"ph": "X", ' * 160_000}})
    texts[ODD] = json.dumps(document).encode()
    paths = {}
    for number, (name, content) in enumerate(texts.items()):
        paths[name] = folder / f"{number}.json"
        paths[name].write_bytes(content)
    return paths


def seconds(build, threads, path):
    program = build / "benchmarks" / "tbtrace_operator_table"
    done = subprocess.run([program, str(threads), path], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", action="append", type=pathlib.Path)
    options.add_argument("--rounds", default=15, type=int)
    options.add_argument("--check", action="store_true")
    options.add_argument("trace", nargs="?", type=pathlib.Path)
    options = options.parse_args()
    builds = options.build or [pathlib.Path("build")]
    missed = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        trace = options.trace
        if trace is None:
            trace = folder / "made.json"
            subprocess.run([builds[0] / "benchmarks" / "tbtrace_make_trace", "--size", "60MB", trace], check=True)
        paths = write_layouts(trace.read_bytes(), folder)
        print("| threads | text | MB |" + " ms | MB/s | of Kineto's |" * len(builds) + " of the first |" * (len(builds) - 1))
        print("| ---: | --- | ---: |" + " ---: | ---: | ---: |" * len(builds) + " ---: |" * (len(builds) - 1))
        for threads in (1, 2):
            times = {(name, build): [] for name in paths for build in builds}
            for _ in range(options.rounds):
                for name, build in times:
                    times[name, build].append(seconds(build, threads, paths[name]))
            medians = {key: statistics.median(values) for key, values in times.items()}
            speeds = {(name, build): paths[name].stat().st_size / 1e6 / medians[name, build] for name, build in times}
            for name, path in paths.items():
                line = f"| {threads} | {name} | {path.stat().st_size / 1e6:.0f} |"
                for build in builds:
                    share = speeds[name, build] / speeds["kineto", build]
                    line += f" {1000 * medians[name, build]:.1f} | {speeds[name, build]:.0f} | {share:.2f} |"
                    if share < LEAST_SHARE and name != ODD:
                        missed.append(f"{build}: {name} on {threads} threads: {share:.2f} of the speed of Kineto's text")
                for build in builds[1:]:
                    line += f" {medians[name, build] / medians[name, builds[0]]:.2f} |"
                print(line, flush=True)
    print("\n".join(missed), file=sys.stderr, end="\n" if missed else "")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
