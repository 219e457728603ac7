#!/usr/bin/env python3
"""Records what torch-tb-profiler's last source version shows of random traces with modules.

    PYTHONHASHSEED=0 python3 -m e2e.plugin.record_modules TB_PLUGIN OUTPUT

TB_PLUGIN is the folder tb_plugin of github.com/pytorch/kineto at the parent of commit 94979607; this version was never
released. It runs with the packages of requirements.txt; a fixed hash seed keeps the plugin's order of rows the same.
OUTPUT is tests/data/plugin_modules.txt.gz: for each of 100 random traces a line of JSON, a line with the number of
rows, and the rows, their fields separated by tabs. Where the plugin fails, the number is 0.
"""
import gzip
import json
import sys

from e2e.plugin.module_traces import random_trace
from e2e.plugin.modules_answers import FIELDS, plugin_modules

TRACES = 100


def row_line(row):
    return "\t".join([str(row["depth"]), *(repr(row[field]) for field in FIELDS[1:]), row["name"]])


def main():
    if len(sys.argv) != 3:
        sys.exit("record_modules: takes the folder of the plugin's source and a file to write")
    sys.path.insert(0, sys.argv[1])
    lines = []
    for seed in range(TRACES):
        trace = random_trace(seed, "fwdbwd")
        text = json.dumps(trace, separators=(",", ":"))
        rows = plugin_modules(trace)
        rows = [] if isinstance(rows, str) else rows
        lines += [text, str(len(rows)), *map(row_line, rows)]
    with open(sys.argv[2], "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
