#!/usr/bin/env python3
"""Does the program print of each trace in examples/traces/ what torch printed when it was recorded?

    torch_texts.py --tbtrace PROGRAM

The texts lie beside the traces; examples/record_traces.py wrote both. They are never rewritten by this test.
"""

import argparse
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/traces"
TABLE = ["--torch", "2.13", "--sort-by", "self_cpu_time_total", "--row-limit", "10"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True)
    program = parser.parse_args().tbtrace
    checked, different = 0, []
    for trace in sorted(FOLDER.glob("*.json.gz")):
        stem = trace.name.removesuffix(".json.gz")
        for text, command in ((f"{stem}.txt", ["ops", *TABLE]),
                              (f"{stem}.stacks.txt", ["flamegraph", "--compat", "torch"])):
            if text.endswith(".stacks.txt") and not (FOLDER / text).exists():
                continue
            checked += 1
            result = subprocess.run([program, *command, str(trace)], capture_output=True, check=True)
            if result.stdout != (FOLDER / text).read_bytes():
                different.append(text)
    print(f"torch_texts: {checked} texts")
    if different or checked < 4:
        sys.exit(f"torch_texts: not what torch printed: {', '.join(different)}")


if __name__ == "__main__":
    main()
