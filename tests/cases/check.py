#!/usr/bin/env python3
"""Asks tbtrace what public reports asked, with inputs made by hand, and compares the answers with an engineer's.

    check.py --tbtrace PATH [--keep FOLDER] [NAME...]

A case is a folder with a README.md, which says what was reported, what an engineer would answer and with which commands
to ask. make_cases.py has a function with its name that writes the inputs and gives the expectations. Cases that are
answered wrongly today are in OPEN, with the reason; one of these that is answered rightly fails, so that the list stays
true. The last line is 'N passed, M failed, K open'. Python 3, nothing besides.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import make_cases
from expect import Answer, check
from open_cases import OPEN

HERE = pathlib.Path(__file__).resolve().parent


def ask(program, command, folder):
    words = shlex.split(command)
    check(words[0] == "tbtrace", "a command of tbtrace", command)
    done = subprocess.run([program, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return Answer(done.returncode, done.stdout, done.stderr)


def commands_of(name):
    text = (HERE / name / "README.md").read_text()
    line = re.search(r"^Commands?: (.*)$", text, re.M)
    check(line and "An engineer would say: " in text and "Source: " in text, "source, answer and commands", name)
    return set(re.findall(r"`([^`]*)`", line[1]))


def run_case(program, name, keep):
    """Why the case fails, a list; empty if it passes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary) / name
        folder.mkdir(parents=True, exist_ok=True)
        problems = []
        expectations = make_cases.CASES[name](folder)
        asked = {expectation.command for expectation in expectations}
        if asked != commands_of(name):
            problems.append(f"README.md has other commands: {sorted(asked ^ commands_of(name))}")
        for expectation in expectations:
            answer = ask(program, expectation.command, folder)
            for part in (lambda answer: check(answer.code in expectation.codes, f"exit code {expectation.codes}",
                                              f"{answer.code}: {answer.err[:500]}"), *expectation.checks):
                try:
                    part(answer)
                except (AssertionError, KeyError, TypeError, IndexError) as problem:
                    problems.append(f"{expectation.command}: {type(problem).__name__} {problem}")
        return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbtrace", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--keep", help="write the inputs here and leave them")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    folders = {folder.parent.name for folder in HERE.glob("*/README.md")}
    failed = 0
    for name in sorted(folders ^ set(make_cases.CASES)) + sorted(set(OPEN) - folders):
        print(f"{name}: folders, functions and OPEN do not agree")
        failed += 1
    names = arguments.names or sorted(folders & set(make_cases.CASES))
    passed = still_open = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: run_case(arguments.tbtrace, name, arguments.keep), names))
    for name, problems in zip(names, results):
        if name in OPEN and not problems:
            print(f"{name}: answered rightly; take it off OPEN")
            failed += 1
        elif name in OPEN:
            still_open += 1
            if arguments.names:
                print("\n".join([f"{name}: open ({OPEN[name]})", *("  " + line for line in problems)]))
        elif problems:
            print("\n".join([f"{name}:", *("  " + line for line in problems)]))
            failed += 1
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed, {still_open} open")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
