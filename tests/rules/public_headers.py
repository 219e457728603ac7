#!/usr/bin/env python3
"""Does every public header stand alone, on the standard library and tbtrace's headers only?

    public_headers.py COMPILER

Each is compiled twice in one empty file, with warnings as errors. Under C++17 one sentence says what is needed, and
nothing else follows. All its namespaces are exported by libtbtrace.so.
Python 3, nothing besides.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^\s*#\s*include\s*(\S+)", re.MULTILINE)
NOT_EXPORTED = re.compile(r"^\s*(?:inline\s+)?namespace\s+(tbtrace\b[\w:]*)", re.MULTILINE)
ALLOWED = re.compile(r"<tbtrace/\w+\.h>|<[a-z_0-9]+>")  # what has a suffix is C's or the system's


def problem_of(header, compiler):
    text = header.read_text(encoding="utf-8")
    for included in INCLUDE.findall(text):
        if not ALLOWED.fullmatch(included):
            return f"includes {included}; a public header includes only the standard library and <tbtrace/...>"
    for name in NOT_EXPORTED.findall(text):
        return f"has a namespace {name} that libtbtrace.so does not export; write `namespace TBTRACE_EXPORT {name} {{`"
    line = f"#include <tbtrace/{header.name}>\n"
    # As programs see it that link libtbtrace.so: names have attributes there.
    command = [compiler, "-std=c++20", "-DTBTRACE_SHARED_LIBRARY", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
               "-I", str(ROOT / "include"), "-x", "c++", "-"]
    result = subprocess.run(command, input=line + line, capture_output=True, text=True)
    if result.returncode != 0:
        return "does not compile alone:\n" + result.stderr
    command[1] = "-std=c++17"
    older = subprocess.run(command, input=line + "this is not C++", capture_output=True, text=True).stderr
    errors = [line for line in older.splitlines() if "error:" in line]
    is_explained = len(errors) == 2 and "tbtrace needs C++20: compile with -std=c++20" in errors[0]
    return "" if is_explained else "does not say in one sentence under C++17 that it needs C++20:\n" + older


def main():
    headers = sorted((ROOT / "include/tbtrace").glob("*"))
    problems = [(header, problem_of(header, sys.argv[1])) for header in headers]
    for header, problem in problems:
        if problem:
            print(f"public_headers: {header.name} {problem}")
    print(f"public_headers: {len(headers)} headers")
    sys.exit(not headers or any(problem for _, problem in problems))


if __name__ == "__main__":
    main()
