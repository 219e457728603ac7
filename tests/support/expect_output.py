#!/usr/bin/env python3
"""Runs a program, which has to end with 0 and to print what is expected.

    expect_output.py REGEX PROGRAM [ARGUMENT...]

REGEX is looked for in both streams; a dot is any character, line ends too. Python 3, nothing besides.
"""
import re
import subprocess
import sys


def main():
    expected, *command = sys.argv[1:]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            encoding="utf-8", errors="replace")
    print(result.stdout, end="", flush=True)
    if result.returncode != 0:
        sys.exit(f"expect_output: {command[0]} ended with {result.returncode}")
    if not re.search(expected, result.stdout, re.DOTALL):
        sys.exit(f"expect_output: {command[0]} printed nothing that /{expected}/ finds")


if __name__ == "__main__":
    main()
