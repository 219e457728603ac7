#!/usr/bin/env python3
"""Runs cases and compares all that they print and write with what is expected.

    run_cases.py --tbtrace PROGRAM --version VERSION [--without PART]... [--report XML] CASE...
    run_cases.py ... --group WORD FOLDER    the cases of a folder whose names begin with this word

A case is a folder with

    command             what follows `tbtrace`, quoted as in a shell; `< FILE` at its end is standard input. Lines
                        before the last one are calls that must succeed first; what they print is not compared
    input/              files that lie in the working folder before the command runs, if any
    expected/stdout, stderr, exit_code
    without             a part of the build (PROTOBUF, CAIRO): the case is for builds that leave it out, if this exists
    with                a part of the build: the case is for builds that have it, if this exists
    environment         further environment variables of the command, one NAME=VALUE per line, if this exists
    expected/files/     what must have been written, if anything: these files and no others; an event file X as the
                        text that event_text.py makes of it, in X.txt

or a text with many calls that fail before they print or write anything (refusals.txt).

A command runs in an empty folder with `data` (tests/data) and `traces` (examples/traces). The version of the program
stands as VERSION; a picture's style and script, the same in every one, as STYLE and SCRIPT; the size of an event file,
which depends on how its pictures were compressed, as SIZE if it is right. --without names a part that the program was
built without; without cairo, expected pictures in event files are left out. The report says for tools/count_tests.py
what each case did. With TBTRACE_BLESS=1 what is expected is written anew where it differs.
Python 3's standard library only: it quotes and compares bytes more safely than a shell, and runs wherever the
build does.
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from event_text import text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
PICTURE = re.compile(rb"^  \S.* \[images\]: PNG, .*\n", re.MULTILINE)
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")
BLESSES = os.environ.get("TBTRACE_BLESS") == "1"


class Unreadable(Exception):
    """A file that was written is not what its name says."""


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def masked(data, version):
    if data.startswith(b"<?xml"):
        data = re.sub(rb"(<(style|script)\b[^>]*>).*?(</\2>)",
                      lambda found: found[1] + found[2].upper() + found[3], data, flags=re.DOTALL)
    return data.replace(version.encode(), b"VERSION")


def is_event_file(path):
    return "tfevents" in pathlib.PurePath(path).name


def size_text(size):
    return f"{size} B" if size < 10_000 else f"{size // 1000} kB"


def sizes_masked(printed, files):
    for path, data in files.items():
        if is_event_file(path):
            name = re.escape(path.encode())
            text, number = (re.escape(size.encode()) for size in (size_text(len(data)), str(len(data))))
            printed = re.sub(rb"(-> " + name + rb" \()" + text + rb"\)", rb"\1SIZE)", printed)
            written = rb'("path": "' + name + rb'", "worker": "[^"]*", "span_ns": \d+, "written": true, "size_bytes": )'
            printed = re.sub(written + number + rb",", rb"\1SIZE,", printed)
    return printed


def written_file(path, data, version):
    """The name in expected/ and the content of a file that was written."""
    if not is_event_file(path):
        return f"files/{path}", masked(data, version)
    try:
        return f"files/{path}.txt", text_of(data).encode()
    except (KeyError, ValueError) as error:
        raise Unreadable(f"{path} is not an event file as TensorBoard reads them: {error!r}") from error


def run(commands, program, version, input_folder=None, further_environment=()):
    """What the last of these commands gives, by the names of expected files."""
    *first_calls, words = map(shlex.split, commands)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "data").symlink_to(ROOT / "tests/data")
        (folder / "traces").symlink_to(ROOT / "examples/traces")
        if input_folder:
            shutil.copytree(input_folder, folder, dirs_exist_ok=True)
        before = files_in(folder)
        environment = ENVIRONMENT | {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        environment |= dict(line.split("=", 1) for line in further_environment)
        for call in first_calls:
            subprocess.run([program, *call], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           env=environment, timeout=60, check=True)
        source = os.devnull
        if "<" in words:
            source = folder / words[words.index("<") + 1]
            words = words[:words.index("<")]
        with open(source, "rb") as stdin:
            result = subprocess.run([program, *words], cwd=folder, stdin=stdin, capture_output=True, env=environment,
                                    timeout=60)
        after = files_in(folder)
    got = {"stdout": sizes_masked(masked(result.stdout, version), after), "stderr": result.stderr,
           "exit_code": f"{result.returncode}\n".encode()}
    got.update(written_file(path, data, version) for path, data in after.items() if before.get(path) != data)
    got.update({f"files/{path}": b"(removed)\n" for path in before if path not in after})
    return got


def without_pictures(files):
    return {path: PICTURE.sub(b"", data) if is_event_file(path) else data for path, data in files.items()}


def difference(name, expected, got):
    if expected is None:
        return f"there is no expected/{name}; the command gave:\n{got.decode(errors='replace')[:2000]}"
    if got is None:
        return f"expected/{name} was not written"
    lines = [data.decode(errors="backslashreplace").splitlines() for data in (expected, got)]
    diff = list(difflib.unified_diff(*lines, "expected", "printed", lineterm=""))[:60]
    return f"{name} differs{'' if diff else ' in the ends of its lines'}:\n" + "\n".join(diff)


def differences(expected, got):
    names = sorted({"stdout", "stderr", "exit_code"} | expected.keys() | got.keys())
    return [difference(name, expected.get(name), got.get(name))
            for name in names if name not in expected or expected[name] != got.get(name)]


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


class Folder:
    """A case that is a folder."""

    def __init__(self, path, options):
        self.path, self.options, self.name = path, options, path.name

    def is_for_this_build(self):
        left_out = self.options.without
        if set(lines_of(self.path / "with")) & left_out:
            return False
        only_without = set(lines_of(self.path / "without"))
        if only_without:
            return only_without <= left_out
        return not ("PROTOBUF" in left_out and self.needs_protobuf())

    def needs_protobuf(self):
        return (needs_protobuf("\n".join(lines_of(self.path / "command")))
                or any(map(is_event_file, (self.path / "expected").rglob("*.txt"))))

    def problems(self):
        """What differs from what is expected, unless that is written anew."""
        given = self.path / "input"
        got = run(lines_of(self.path / "command"), self.options.tbtrace, self.options.version,
                  given if given.exists() else None, lines_of(self.path / "environment"))
        expected = files_in(self.path / "expected")
        if "CAIRO" in self.options.without:
            expected = without_pictures(expected)
        found = differences(expected, got)
        if not found or not BLESSES:
            return found
        if "CAIRO" in self.options.without and any(map(is_event_file, got)):
            return ["a program built without cairo cannot say which pictures are expected; build with it"]
        shutil.rmtree(self.path / "expected", ignore_errors=True)
        for name, data in got.items():
            path = self.path / "expected" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return []


class Call:
    """A case that is one call in a text of many."""

    def __init__(self, block, options):
        self.block, self.options, self.name = block, options, block[0].removeprefix("$ ")
        self.command = block[0].removeprefix("$ tbtrace").strip()

    def is_for_this_build(self):
        return not ("PROTOBUF" in self.options.without and needs_protobuf(self.command))

    def problems(self):
        *printed, code = self.block[1:]
        got = run([self.command], self.options.tbtrace, self.options.version)
        expected = {"stdout": b"", "stderr": "".join(f"{line}\n" for line in printed).encode(),
                    "exit_code": f"{code.removeprefix('exit code ')}\n".encode()}
        found = differences(expected, got)
        if not found or not BLESSES:
            return found
        if got.keys() != expected.keys() or got["stdout"]:
            return [*found, "a call that prints or writes something is a case with a folder"]
        self.block[1:] = [*got["stderr"].decode().splitlines(), f"exit code {got['exit_code'].decode().strip()}"]
        return []


def needs_protobuf(command):
    return re.search(r"--to tensorboard|[.]tbp", command) is not None


def run_all(cases):
    """The cases that failed, and what each one did for the report."""
    suite = ElementTree.Element("testsuite")
    failed = []
    for case in cases:
        started = time.monotonic()
        try:
            problems = case.problems()
        except (Unreadable, OSError, subprocess.SubprocessError) as error:
            problems = [str(error)]
        entry = ElementTree.SubElement(suite, "testcase", classname="golden", name=case.name, status="run",
                                       result="completed", time=f"{time.monotonic() - started:.3f}")
        if problems:
            ElementTree.SubElement(entry, "failure")
            failed.append(case)
            print(f"FAILED {case.name}", *problems, sep="\n\n", end="\n\n")
    return failed, suite


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--without", action="append", default=[], metavar="PART")
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--group")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.tbtrace = options.tbtrace.resolve()
    options.without = set(options.without)
    paths = options.cases
    if options.group:
        paths = sorted(path.parent for path in paths[0].glob("*/command")
                       if path.parent.name.split("_")[0] == options.group)
    cases, texts = [], {}
    for path in paths:
        if path.is_dir():
            cases.append(Folder(path, options))
            continue
        # Blocks of lines with an empty one between them: a call, or what is said about calls.
        texts[path] = [block.split("\n") for block in path.read_text(encoding="utf-8").rstrip("\n").split("\n\n")]
        cases += [Call(block, options) for block in texts[path] if block[0].startswith("$ tbtrace")]
    cases = [case for case in cases if case.is_for_this_build()]
    failed, suite = run_all(cases)
    if BLESSES:
        for path, blocks in texts.items():
            path.write_text("\n\n".join("\n".join(block) for block in blocks) + "\n", encoding="utf-8")
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(suite).write(options.report)
    print(f"{len(cases)} cases, {len(failed)} failed")
    if failed:
        sys.exit("If what they give is right: TBTRACE_BLESS=1 tools/test.sh --only golden, and read the diff")
    if not cases:
        sys.exit("there are no such cases")


if __name__ == "__main__":
    main()
