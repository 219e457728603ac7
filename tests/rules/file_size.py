#!/usr/bin/env python3
"""Is there a source file, script or page of more than 800 lines? A file that long does more than one job. Has README.md
more than 900 words? What it says beyond that has its place in docs/.

    file_size.py [ROOT]

Expected outputs of tests, recorded data and the command reference, which the program writes, are not written by hand
and do not count. Python 3, nothing besides.
"""

import os
import pathlib
import sys

LIMIT = 800
README_LIMIT = 900  # words, with those of samples
SUFFIXES = {".h", ".cc", ".py", ".sh", ".cmake", ".js", ".css", ".proto", ".md", ".txt"}
NOT_OURS = ("build", ".")
NOT_WRITTEN = ("expected", "traces", "demo-output", "install")
MADE = {"docs/commands.md"}


def sources(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(NOT_OURS) and name not in NOT_WRITTEN)
        yield from (pathlib.Path(folder) / name for name in sorted(names) if pathlib.Path(name).suffix in SUFFIXES)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    count, long = 0, 0
    for file in sources(root):
        if str(file.relative_to(root)) in MADE:
            continue
        count += 1
        lines = file.read_bytes().count(b"\n")
        if lines > LIMIT:
            long += 1
            print(f"file_size: {file.relative_to(root)} has {lines} lines, more than {LIMIT}; divide it")
    readme = root / "README.md"
    words = len(readme.read_text(encoding="utf-8").split()) if readme.exists() else 0
    if words > README_LIMIT:
        long += 1
        print(f"file_size: README.md has {words} words, more than {README_LIMIT}; move some of it to docs/")
    print(f"file_size: {count} files")
    sys.exit(long > 0 or count == 0)


if __name__ == "__main__":
    main()
