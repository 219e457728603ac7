#!/usr/bin/env python3
"""The cases of public reports: inputs, made by hand, and what is expected of the answers.

    make_cases.py FOLDER [NAME...]     writes the inputs to FOLDER/NAME

Each case is a function with the name of its folder: it writes its inputs into a folder and gives its expectations.
Nothing is random. Python 3, nothing besides.
"""
import pathlib
import sys

import files_and_backends
import late_hosts
import memory_and_kernels
import ranks_and_collectives
import settings_and_waits
import waits_for_data_and_code
import waits_for_the_gpu

MODULES = (files_and_backends, late_hosts, memory_and_kernels, ranks_and_collectives, settings_and_waits,
           waits_for_data_and_code, waits_for_the_gpu)
CASES = {name: function for module in MODULES for name, function in vars(module).items()
         if getattr(function, "__module__", None) == module.__name__ and not name.startswith("_")}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or sorted(CASES):
        (folder / name).mkdir(parents=True, exist_ok=True)
        CASES[name](folder / name)


if __name__ == "__main__":
    main()
