#!/usr/bin/env python3
"""Which tests of `tools/test.sh --quick` a change can touch.

    touched_tests.py [FILE...]    FILE: what has changed, from the root; by default what this branch has changed

Prints a regular expression for names of tests. Tests of a folder are touched by what lies in it, by the folders of src/
whose headers they include, and by all that those use (the table of include_direction.py); those of whole programs by all
of src/ but libtorch/. What is in none of these folders, such as test data or a CMakeLists.txt, may touch everything. Rules
are always looked at.
Python's standard library only.
"""

import pathlib
import re
import sys

from changed_files import ROOT, changed_files

sys.path.append(str(ROOT / "tests/rules"))
from include_direction import INCLUDE, OWNER, Layers  # noqa: E402

EVERYTHING = "."
# What tests of --quick do not see, and what only rules do.
NOT_HERE = re.compile(r"(benchmarks|examples(?!/traces)|integrations|python|tests/(e2e|examples|gpu|integrations|libtorch"
                      r"|package|python|rules))/|[^/]+$|\.ci/|tools/\w+\.(sh|py)$")
OF_COMMAND_LINE = {"cli", "golden"}  # what it prints, whose schemas are in docs/
OF_PROGRAMS = OF_COMMAND_LINE | {"cases", "fuzz", "oracle", "recording", "reference"}


def folders_included(file, layers, seen):
    """The folders of src/ whose headers a file of tests/ includes, also by other files of tests/. What a public header
    declares may be defined anywhere in its room."""
    if file in seen:
        return set()
    seen.add(file)
    found = set()
    for _, path in INCLUDE.findall(file.read_text(encoding="utf-8")):
        if path.startswith("tbtrace/"):
            room = OWNER[path.removeprefix("tbtrace/")].split("/")[0]
            found |= {folder for folder in layers.order if folder.split("/")[0] == room}
        elif layers.folder_of(path):
            found.add(layers.folder_of(path))
        for other in (file.parent / path, ROOT / "tests" / path):
            if other.is_file():
                found |= folders_included(other, layers, seen)
    return found


def with_what_they_use(folders, layers):
    found, waiting = set(), list(folders)
    while waiting:
        folder = waiting.pop()
        if folder not in found:
            found.add(folder)
            waiting += layers.uses.get(folder, ())
    return found


def rooms(layers):
    """Of each folder of tests/ the folders of src/ that its tests run."""
    found = {}
    for room in (file.parent for file in (ROOT / "tests").glob("*/CMakeLists.txt")):
        if NOT_HERE.match(f"tests/{room.name}/"):
            continue
        used = {folder for folder in layers.order if folder.split("/")[0] == room.name}
        seen = set()
        for file in room.rglob("*"):
            if file.suffix in (".h", ".cc"):
                used |= folders_included(file, layers, seen)
        if room.name in OF_PROGRAMS:
            used = {folder for folder in layers.order if not folder.startswith("libtorch")}
        found[room.name] = with_what_they_use(used, layers)
    return found


def touched(files):
    layers = Layers(ROOT)
    src, tests = set(), set()
    for file in files:
        parts = file.split("/")
        if parts[0] == "src" and layers.folder_of(file.removeprefix("src/")) and file.endswith((".h", ".cc")):
            src.add(layers.folder_of(file.removeprefix("src/")))
        elif parts[0] == "include" and parts[-1] in OWNER:
            src.add(OWNER[parts[-1]])
        elif parts[:3] == ["python", "tbtrace", "_recording"]:
            tests.add("recording")  # the command line has them too
        elif parts[0] == "docs":
            tests |= OF_COMMAND_LINE
        elif parts[0] == "tools" and file.endswith((".h", ".cc")):
            tests |= OF_PROGRAMS | {"cupti"}  # whose part of --version --verbose is a test
        elif parts[0] == "tests" and len(parts) > 2 and parts[1] not in ("data", "fixtures", "support") \
                and parts[-1] != "CMakeLists.txt" and not NOT_HERE.match(file):
            tests.add(parts[1])
        elif not NOT_HERE.match(file) or parts[-1] in ("CMakeLists.txt", "CMakePresets.json"):
            return None
    return tests | {room for room, used in rooms(layers).items() if used & src}


def main():
    files = sys.argv[1:] or changed_files()
    found = None if files is None else touched(files)
    if found is None:
        print(EVERYTHING)
        return
    if "analyses" in found:
        found.add("compat")  # a program of its own
    print(f"^({'|'.join(sorted(found | {'rules'}))})([._]|$)")


if __name__ == "__main__":
    main()
