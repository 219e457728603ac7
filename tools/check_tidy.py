#!/usr/bin/env python3
"""Does clang-tidy 14 find anything that .clang-tidy lists in our own sources?

    check_tidy.py [BUILD]             BUILD: a built folder, build/ if none is named
                  [--only REGEX]      only sources whose path below the repository matches
                  [--changed]         only sources that this branch has changed, or a header that they include: since it left
                                      main, on main since the commit before; with what is not committed. All if .clang-tidy has changed
                  [--most N]          at most N files that were not checked before, the latest changed first
                  [--jobs N]          N at a time; by default as many as there are processors
                  [--built]           only sources that BUILD has compiled: what others depend on is not known, so they would
                                      be checked each time
                  [--shallow]         follows shorter paths through functions, in half the time

A file that was found clean is not checked again, in any clone, until it, a header that it includes, its command,
.clang-tidy or clang-tidy changes: a hash of all of them is kept in ~/.cache/tbtrace/tidy/ (or below $XDG_CACHE_HOME).
Tests are left out: the macros of GoogleTest are not ours. So are programs with LibTorch, whose headers take half a
minute a file.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from changed_files import ROOT, changed_files, git

TIDY = "clang-tidy-14"
SHALLOW = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=mode=shallow"]
MOST_STAMPS = 20_000


def fail(message):
    sys.exit(f"check_tidy: {message}")


def separate(entry):
    """An entry for each source: CMAKE_UNITY_BUILD compiles several with one command."""
    if not re.search(r"/Unity/unity_\d+_cxx\.cxx$", entry["file"]):
        return [entry]
    files = re.findall(r'^#include "(.+\.cc)"$', pathlib.Path(entry["file"]).read_text(), re.MULTILINE)
    return [{**entry, "file": file, "command": entry["command"].replace(entry["file"], file)} for file in files]


def sources(build, pattern):
    """Paths below the repository, with their entries in the build's database of commands."""
    database = build / "compile_commands.json"
    if not database.is_file():
        fail(f"there is no {database}; 'cmake --preset release' makes build/'s")
    entries = {}
    for entry in (one for each in json.loads(database.read_bytes()) for one in separate(each)):
        path = os.path.relpath(entry["file"], ROOT)
        if (re.match("(src|tools|python|examples)/", path) and not re.match("src/libtorch|examples/(infer|model|profile|train)_", path)
                and re.search(pattern, path)):
            # A precompiled header is another compiler's, and hides that a source does not include what it needs.
            command = re.sub(r" -Winvalid-pch| -include \S+/cmake_pch\.hxx", "", entry["command"])
            entries[path] = {**entry, "command": command, "output": re.search(r" -o (\S+)", command)[1]}
    if not entries:
        fail(f"{database} names no source of this project that matches '{pattern}'")
    return entries


def dependencies(build):
    """What each object was last compiled of, as ninja remembers it."""
    if not (build / ".ninja_deps").is_file():
        return {}
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found = {}
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if "(VALID)" in lines[0]:
            found[lines[0].split(":")[0]] = [line.strip() for line in lines[1:] if line.strip()]
    return found


@functools.cache
def hash_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def files_read(path, entry, build, files_of):
    """The source and all that it includes, as ninja remembers it; None where that is not known."""
    files = files_of.get(entry["output"])
    if files is None:
        return None
    # Of sources that are compiled together each depends on the headers of all, but not on the others.
    return [file for file in (os.path.join(build, file) for file in files)
            if os.path.realpath(file) == str(ROOT / path) or not file.endswith((".cc", ".cxx"))]


def keys(build, entries, files_of, options):
    """Of each source a hash of all that its answer depends on; nothing where that is not known."""
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    common = [version, hash_of(ROOT / ".clang-tidy"), *options]

    def everywhere(text):
        return text.replace(str(build), "BUILD").replace(str(ROOT), "ROOT")

    found = {}
    for path, entry in entries.items():
        files = files_read(path, entry, build, files_of)
        if files is None:
            continue
        parts = [*common, everywhere(re.sub(r" -(o|MF|MT) \S+", "", entry["command"]))]
        for file in files:
            parts += [everywhere(file), hash_of(file)]
        found[path] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return found


class Stamps:
    """Empty files, named by hashes. Where the folder cannot be made, nothing is remembered."""

    def __init__(self):
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.folder = pathlib.Path(cache) / "tbtrace" / "tidy"

    def has(self, key):
        file = self.folder / key
        if not file.exists():
            return False
        file.touch()  # in use
        return True

    def add(self, key):
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / key).touch()
        except OSError:
            pass

    def remove_oldest(self):
        if not self.folder.is_dir():
            return
        files = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[:max(len(files) - MOST_STAMPS, 0)]:
            file.unlink(missing_ok=True)


def latest_first(paths):
    """By their last commit; what is not committed comes first."""
    order = {}
    for path in git("diff", "HEAD", "--name-only") + git("log", "--format=", "--name-only"):
        order.setdefault(path, len(order))
    return sorted(paths, key=lambda path: (order.get(path, -1), path))


def check(path, database, options):
    run = subprocess.run([TIDY, "--quiet", "-p", database, *options, path], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return path, run.returncode, run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--most", type=int, metavar="N")
    parser.add_argument("--jobs", type=int, metavar="N", default=os.cpu_count())
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--shallow", action="store_true")
    arguments = parser.parse_args()
    if shutil.which(TIDY) is None:
        fail(f"there is no {TIDY}; tools/setup.sh --tests installs it")
    build = arguments.build.resolve()
    options = SHALLOW if arguments.shallow else []
    entries = sources(build, arguments.only)
    files_of = dependencies(build)
    key_of = keys(build, entries, files_of, options)
    not_built = entries.keys() - key_of.keys() if arguments.built else set()
    entries = {path: entry for path, entry in entries.items() if path not in not_built}
    if not entries:
        fail(f"{build} has compiled nothing that could be checked")
    changed = changed_files() if arguments.changed else None
    if changed is not None and ".clang-tidy" not in changed:
        changed = {str(ROOT / path) for path in changed}
        entries = {path: entry for path, entry in entries.items()
                   if not changed.isdisjoint(map(os.path.realpath, files_read(path, entry, build, files_of) or [ROOT / path]))}
    stamps = Stamps()
    new = latest_first(path for path in entries if path not in key_of or not stamps.has(key_of[path]))
    now = new[:arguments.most]

    found_any = False
    with (tempfile.TemporaryDirectory() as database,
          concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool):
        (pathlib.Path(database) / "compile_commands.json").write_text(json.dumps([entries[path] for path in now]))
        for path, code, report in pool.map(lambda path: check(path, database, options), now):
            if code == 0 and path in key_of:
                stamps.add(key_of[path])
            elif code != 0:
                found_any = True
                print(report, flush=True)
    stamps.remove_oldest()
    left = f", {len(new) - len(now)} left out" if len(now) < len(new) else ""
    left += f", {len(not_built)} not built" if not_built else ""
    print(f"check_tidy: {len(entries)} files, {len(entries) - len(new)} known to be clean, {len(now)} checked{left}")
    if found_any:
        fail("correct what is named above; a check that is wrong in principle goes off in .clang-tidy, with its reason")


if __name__ == "__main__":
    main()
