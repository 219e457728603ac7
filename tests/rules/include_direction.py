#!/usr/bin/env python3
"""Does every folder include only what its level may?

    include_direction.py [ROOT]

Checks `#include` lines of src/, include/, tools/, python/ and examples/ against the table here. A folder of src/ that the
table does not know is an error too, and so is a row of docs/architecture.md, or the USES of its CMakeLists.txt, that
says something else.
Python 3, nothing besides.
"""

import pathlib
import re
import sys

# Folder: the folders of src/ that it may include, itself apart.
BELOW_ANALYSES = {"base", "io", "wire", "trace", "report", "proto"}
MAY_INCLUDE = {
    "base": set(),
    "io": {"base"},
    "wire": {"base"},
    "proto": set(),
    "trace": {"wire", "base"},
    "report": {"base"},
    "readers": {"trace", "wire", "io", "base"},
    "analyses": {"trace", "report", "base"},
    "writers": {"trace", "report", "wire", "io", "base", "proto"},
    "partials": BELOW_ANALYSES | {"analyses"},
    "dialects": BELOW_ANALYSES | {"analyses", "writers"},
    "symbols": {"base"},
    "recorder": {"trace", "report", "symbols", "wire", "io", "base"},
    "converters": BELOW_ANALYSES | {"analyses", "writers", "readers", "dialects"},
    "cupti": {"recorder", "base"},
}
MAY_INCLUDE["api"] = BELOW_ANALYSES | {"analyses", "writers", "partials", "readers", "dialects", "converters", "recorder", "symbols", "cupti"}
MAY_INCLUDE["libtorch"] = MAY_INCLUDE["api"] | {"api"}

# Public header: the folder whose contract it is; to include it is to include that folder.
OWNER = {
    "status.h": "base", "version.h": "base", "device.h": "base", "export.h": "base",
    "trace.h": "trace", "arguments.h": "trace", "report.h": "report", "analyses.h": "analyses", "analysis_context.h": "analyses", "step_breakdown.h": "analyses",
    "step_range.h": "analyses", "analysis_report.h": "analyses", "gpu_use.h": "analyses", "findings.h": "analyses", "kernels.h": "analyses",
    "memory_use.h": "analyses", "operator_work.h": "analyses", "roofline.h": "report", "modules.h": "analyses", "compat.h": "analyses", "lines.h": "analyses", "trace_checks.h": "analyses", "memory_category.h": "report",
    "partial.h": "partials", "writers.h": "writers", "summary_writer.h": "writers",
    "convert.h": "dialects", "trace_set.h": "api", "cycle_log.h": "api", "schedule.h": "recorder", "profiler.h": "libtorch",
    "capabilities.h": "api", "trace_summary.h": "api", "summary_tensor.h": "libtorch",
}

# Headers of src/ that the Python module includes besides the public ones: it compiles these again, because
# libtbtrace.so hides them.
OF_PYTHON = {"base/utf8.h"}

# Library: the folders that may name it. Everything else outside the project is the system's or std's.
LIBRARIES = {
    "simdjson": {"base", "wire"},
    "zlib": {"io"}, "isa-l": {"io"},
    "fmt": {"base", "wire", "report", "writers", "dialects", "symbols", "recorder", "api"},
    "backtrace": {"symbols"},
    "cairo": {"writers"}, "png": {"writers"},
    "google": {"proto", "partials"},
    "torch": {"libtorch", "examples"}, "ATen": {"libtorch"}, "c10": {"libtorch"},
    "cupti": {"cupti"}, "cuda": {"cupti"},
    "cxxopts": {"tools"}, "re2": {"tools"}, "nanobind": {"python"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
problems = []


def library_of(path):
    first = path.split("/")[0]
    return re.sub(r"\.(h|hpp)$", "", first)


def check(root, file, folder, allowed, public_only):
    for mark, path in INCLUDE.findall(file.read_text(encoding="utf-8")):
        where = f"{file.relative_to(root)} includes {path}"
        if not path.endswith(".h") and mark == '"':
            problems.append(f"{where}, which is not a header")
        first = path.split("/")[0]
        if first == "tbtrace":
            owner = OWNER.get(path.split("/", 1)[1])
            if owner is None:
                problems.append(f"{where}, which no folder owns; add it to OWNER in this test")
            elif not public_only and owner != folder and owner not in allowed:
                problems.append(f"{where}, the contract of {owner}, which {folder} may not include")
        elif mark == '"' and public_only:
            if folder == "python" and path in OF_PYTHON:
                continue
            if "/" in path or not (file.parent / path).exists():
                problems.append(f"{where}; {folder} includes only <tbtrace/...> and its own headers")
        elif mark == '"':
            if first not in MAY_INCLUDE:
                problems.append(f"{where}; write it from src/, as \"{folder}/...\"")
            elif first != folder and first not in allowed:
                problems.append(f"{where}, which {folder} may not")
        elif library_of(path) in LIBRARIES and folder not in LIBRARIES[library_of(path)]:
            problems.append(f"{where}; only {', '.join(sorted(LIBRARIES[library_of(path)]))} may name that library")


def check_page(page):
    """The page lists the folders that there are, the table here those to come too."""
    rows = re.findall(r"^\| \d \| `(\w+)` \|.*\| ([a-z -]+) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    there = {folder for folder, _ in rows}
    for folder, listed in rows:
        allowed = MAY_INCLUDE.get(folder, set()) & there
        said = there - {folder} if listed == "all above" else set(listed.split()) - {"-"}
        if said != allowed:
            problems.append(f"{page.name} lets {folder} include {listed}, this test {' '.join(sorted(allowed)) or '-'}")
    if not rows:
        problems.append(f"{page.name} has no table of folders")


def check_build(root):
    """The target of a folder sees the same folders."""
    found = 0
    for file in sorted((root / "src").glob("*/CMakeLists.txt")):
        layer = re.search(r"^tbtrace_layer\((\w+)\n((?:  .*\n)*)\)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        if not layer:
            continue
        found += 1
        uses = re.search(r"^  USES (.*)$", layer[2], re.MULTILINE)
        uses = set(uses[1].split()) if uses else set()
        if layer[1] != file.parent.name or uses != MAY_INCLUDE[layer[1]]:
            problems.append(f"{file.relative_to(root)}: {layer[1]} uses {' '.join(sorted(uses)) or '-'}, "
                            f"this test lets it use {' '.join(sorted(MAY_INCLUDE[layer[1]])) or '-'}")
    if found == 0:
        problems.append("no folder of src/ has a tbtrace_layer()")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    count = 0
    for top in ("src", "include", "tools", "python", "examples"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            count += 1
            if top in ("tools", "python", "examples"):
                check(root, file, top, set(), True)
                continue
            folder = file.relative_to(root / top).parts[0] if top == "src" else OWNER.get(file.name)
            if folder not in MAY_INCLUDE:
                problems.append(f"{file.relative_to(root)} is in no folder of the table")
                continue
            check(root, file, folder, MAY_INCLUDE[folder], False)
    check_page(root / "docs/architecture.md")
    check_build(root)
    for problem in problems:
        print(f"include_direction: {problem}")
    print(f"include_direction: {count} files")
    sys.exit(bool(problems) or count == 0)


if __name__ == "__main__":
    main()
