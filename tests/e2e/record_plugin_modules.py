#!/usr/bin/env python3
"""Records what torch-tb-profiler's last source version shows of random traces with modules.

    record_plugin_modules.py TB_PLUGIN OUTPUT

TB_PLUGIN is the folder tb_plugin of github.com/pytorch/kineto at the parent of commit 94979607; this version was never
released. It runs with the packages of requirements.txt. The first 100 traces go to tests/data/plugin_modules.txt.gz: a
line of JSON each, then a line with the number of rows, then the rows, their fields separated by tabs.
"""
import gzip
import json
import sys

from module_traces import random_trace
from plugin_modules_answers import FIELDS, plugin_modules

TRACES = 100


def row_line(row):
    return "\t".join([str(row["depth"]), *(repr(row[field]) for field in FIELDS[1:]), row["name"]])


def main():
    if len(sys.argv) != 3:
        sys.exit("record_plugin_modules: takes the folder of the plugin's source and a file to write")
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
