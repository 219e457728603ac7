#!/usr/bin/env python3
"""Does every folder include only what it says it uses, and only folders before it?

    include_direction.py [ROOT]

A room is a folder of src/; a wing is a folder inside a room. Each has a CMakeLists.txt whose tbtrace_layer() names, after
USES, the folders whose headers it includes. src/CMakeLists.txt has them in order, and none uses a later one, so there are no
circles. This test compares the `#include` lines of src/, include/, tools/, python/ and examples/ with them: nothing may be
missing, and nothing listed may be unused. docs/architecture.md has the same lists for people. A room or wing has at most 25
sources, counted with their headers.
Python 3, nothing besides.
"""

import pathlib
import re
import sys

# Public header: the folder whose contract it is; to include it is to include that folder.
OWNER = {
    "status.h": "base", "version.h": "base", "device.h": "base", "export.h": "base",
    "trace.h": "trace", "arguments.h": "trace",
    "report.h": "report", "group_keys.h": "report", "memory_category.h": "report", "tables.h": "report",
    "views.h": "pages",
    "analysis_context.h": "analyses/attribution", "recovered.h": "analyses/recording", "steps.h": "analyses/steps", "serving.h": "analyses/serving", "kernels.h": "analyses/kernels", "collective_kind.h": "analyses/kernels",
    "operators.h": "analyses/operators", "flame_graph.h": "analyses/stacks",
    "flame_difference.h": "analyses/stacks", "compare_page.h": "pages/compare", "ranks_view.h": "pages/ranks",
    "gpu.h": "analyses/gpu", "memory.h": "analyses/memory",
    "flops.h": "analyses/flops", "modules.h": "analyses/modules", "replay_labels.h": "analyses/modules",
    "model.h": "analyses/model", "lines.h": "analyses/modules",
    "checks.h": "analyses/checks", "diff.h": "analyses/changes", "findings.h": "analyses/findings", "summary.h": "analyses/summary",
    "compat.h": "analyses/compat", "summary_writer.h": "writers/events",
    "partial.h": "partials", "memory_snapshot.h": "snapshots", "convert.h": "chrome/rows", "trace_export.h": "writers/exports", "slice.h": "chrome/rows", "repair.h": "chrome/repair", "replay_program.h": "writers/replay", "anonymise.h": "chrome/anonymise", "schedule.h": "recorder/schedule", "trace_set.h": "jobs/sets",
    "jobs.h": "jobs/sets", "merge.h": "jobs/merge", "collectives.h": "jobs/collectives", "clocks.h": "jobs/clocks",
    "job_analysis.h": "jobs/waits", "job_paths.h": "jobs/path", "stragglers.h": "analyses/findings",
    "capabilities.h": "live", "recover.h": "live", "profiler.h": "libtorch/record", "ranges.h": "libtorch/record", "training_loop.h": "libtorch/record", "summary_tensor.h": "libtorch/record",
    "model_summary.h": "libtorch/toolbox/layers", "benchmark.h": "libtorch/toolbox/speed", "memory_reporter.h": "libtorch/toolbox/memory",
}

# Who may use the figures of other tools: the list of who offers which.
COMPATIBILITY = {"analyses/compat/plugin": {"analyses/compat"}}

# Headers of src/ that the Python module includes besides the public ones.
OF_PYTHON = {"base/utf8.h", "live/cycle_log.h", "partials/content.h", "trace/issues.h"}

# Headers that the build makes for the command line.
OF_TOOLS = {"recording_files.h", "start_kineto.h"}

# Library: the rooms that may name it. Everything else outside the project is the system's or std's.
LIBRARIES = {
    "simdjson": {"base", "wire"},
    "zlib": {"io"}, "isa-l": {"io"}, "zstd": {"io"}, "zstd_errors": {"io"},
    "fmt": {"base", "wire", "report", "analyses", "writers", "inputs", "logdir", "symbols", "recorder", "live"},
    "backtrace": {"symbols"},
    "boost": {"statistics"},
    "cairo": {"writers"}, "png": {"writers"},
    "google": {"proto", "partials"},
    "torch": {"libtorch", "examples"}, "ATen": {"libtorch"}, "c10": {"libtorch"},
    "cupti": {"cupti"}, "cuda": {"cupti"},
    "cxxopts": {"tools"}, "re2": {"tools"}, "nanobind": {"python"},
}

MOST_SOURCES = 25

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
problems = []


class Layers:
    """The folders in their order, and what each says it uses."""

    def __init__(self, root):
        self.order = []
        for file in ("src/CMakeLists.txt", "src/libtorch/CMakeLists.txt"):
            text = (root / file).read_text(encoding="utf-8")
            self.order += re.search(r"^set\((?:torch_)?layers([^)]*)\)$", text, re.MULTILINE)[1].split()
        self.uses = {"proto": set()}
        for folder in self.order:
            file = root / "src" / folder / "CMakeLists.txt"
            if folder == "proto":
                continue
            if not file.exists():
                problems.append(f"src/CMakeLists.txt names {folder}, which has no CMakeLists.txt")
                continue
            text = file.read_text(encoding="utf-8")
            layer = re.search(r"^tbtrace_(?:torch_)?layer\((\S+)\n((?:  .*\n)*)\)$", text, re.MULTILINE)
            if not layer or layer[1] != folder:
                problems.append(f"{file.relative_to(root)} has no tbtrace_layer({folder}")
                continue
            listed = re.search(r"^  USES (.*)$", layer[2], re.MULTILINE)
            self.uses[folder] = set(listed[1].split()) if listed else set()
            for used in self.uses[folder]:
                if used not in self.order or self.order.index(used) >= self.order.index(folder):
                    problems.append(f"{folder} uses {used}, which is not before it in src/CMakeLists.txt")
                if folder not in COMPATIBILITY.get(used, {folder}):
                    problems.append(f"{folder} uses {used}, which only {', '.join(COMPATIBILITY[used])} may")

    def folder_of(self, path):
        """The wing or room of a path below src/; None if there is none."""
        parts = path.split("/")[:-1]
        while parts:
            if "/".join(parts) in self.order:
                return "/".join(parts)
            parts.pop()
        return None


def library_of(path):
    first = path.split("/")[0]
    return re.sub(r"\.(h|hpp)$", "", first)


def check(root, file, folder, layers, used):
    """`used`: what the folder includes, to be added to. Programs outside src/ have no layers."""
    allowed = layers.uses.get(folder, set()) if layers else set()
    room = folder.split("/")[0]
    for mark, path in INCLUDE.findall(file.read_text(encoding="utf-8")):
        where = f"{file.relative_to(root)} includes {path}"
        if not path.endswith(".h") and mark == '"':
            problems.append(f"{where}, which is not a header")
        if path.startswith("tbtrace/"):
            owner = OWNER.get(path.split("/", 1)[1])
            if owner is None:
                problems.append(f"{where}, which no folder owns; add it to OWNER in this test")
            elif layers and owner != folder:
                used.add(owner)
                if owner not in allowed:
                    problems.append(f"{where}, the contract of {owner}, which {folder} does not use")
        elif mark == '"' and not layers:
            if path in {"python": OF_PYTHON, "tools": OF_TOOLS}.get(folder, ()):
                continue
            if "/" in path or not (file.parent / path).exists():
                problems.append(f"{where}; {folder} includes only <tbtrace/...> and its own headers")
        elif mark == '"' or path.startswith("proto/"):
            other = "proto" if path.startswith("proto/") else layers.folder_of(path)
            if other is None:
                problems.append(f"{where}; write it from src/, as \"{folder}/...\"")
            elif other != folder:
                used.add(other)
                if other not in allowed:
                    problems.append(f"{where}, which {folder} does not use")
        elif library_of(path) in LIBRARIES and room not in LIBRARIES[library_of(path)]:
            problems.append(f"{where}; only {', '.join(sorted(LIBRARIES[library_of(path)]))} may name that library")


def check_size(folder, files):
    stems = {file.with_suffix("") for file in files}
    if len(stems) > MOST_SOURCES:
        problems.append(f"src/{folder} has {len(stems)} sources: divide it")


def check_page(page, layers):
    rows = re.findall(r"^\| `([\w/]+)` \|.*\| ([a-z_/ -]+) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    if [folder for folder, _ in rows] != layers.order:
        problems.append(f"{page.name} has not the folders of src/CMakeLists.txt in their order")
    for folder, listed in rows:
        said = set(listed.split()) - {"-"}
        if said != layers.uses.get(folder, set()):
            problems.append(f"{page.name} lets {folder} use {listed}, its CMakeLists.txt "
                            f"{' '.join(sorted(layers.uses.get(folder, set()), key=layers.order.index)) or '-'}")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    layers = Layers(root)
    used = {folder: set() for folder in layers.order}
    files_of = {folder: [] for folder in layers.order}
    count = 0
    for top in ("src", "include", "tools", "python", "examples"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            count += 1
            if top in ("tools", "python", "examples"):
                check(root, file, top, None, set())
                continue
            folder = layers.folder_of(str(file.relative_to(root / top))) if top == "src" else OWNER.get(file.name)
            if folder not in layers.order:
                problems.append(f"{file.relative_to(root)} is in no folder of src/CMakeLists.txt")
                continue
            if top == "src":
                files_of[folder].append(file)
            check(root, file, folder, layers, used[folder])
    for folder in layers.order:
        if folder == "proto":
            continue
        check_size(folder, files_of[folder])
        for unused in layers.uses.get(folder, set()) - used[folder]:
            problems.append(f"src/{folder}/CMakeLists.txt lists {unused}, which {folder} does not include")
    check_page(root / "docs/architecture.md", layers)
    for problem in problems:
        print(f"include_direction: {problem}")
    print(f"include_direction: {count} files in {len(layers.order)} folders")
    sys.exit(bool(problems) or count == 0)


if __name__ == "__main__":
    main()
