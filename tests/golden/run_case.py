#!/usr/bin/env python3
"""Runs one case of tests/golden/ and compares all that it prints and writes with what is expected.

    run_case.py --tbtrace PROGRAM --version VERSION [--no-pictures] CASE-FOLDER

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

The command runs in an empty folder with `data` (tests/data) and `traces` (examples/traces). The version of the
program stands as VERSION; a picture's style and script, the same in every one, as STYLE and SCRIPT; the size of an
event file, which depends on how its pictures were compressed, as SIZE if it is right. With --no-pictures, for a
program that was built without cairo, expected pictures in event files are left out. With TBTRACE_BLESS=1 the expected
files are written anew.
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

from event_text import text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
PICTURE = re.compile(rb"^  \S.* \[images\]: PNG, .*\n", re.MULTILINE)
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")


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
        sys.exit(f"{path} is not an event file as TensorBoard reads them: {error!r}")


def run(case, program, version):
    """What the case's command gives, by the names of expected files."""
    *first_calls, words = map(shlex.split, (case / "command").read_text(encoding="utf-8").splitlines())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "data").symlink_to(ROOT / "tests/data")
        (folder / "traces").symlink_to(ROOT / "examples/traces")
        if (case / "input").exists():
            shutil.copytree(case / "input", folder, dirs_exist_ok=True)
        before = files_in(folder)
        source = subprocess.DEVNULL
        if "<" in words:
            source = open(folder / words[words.index("<") + 1], "rb")  # closed at exit
            words = words[:words.index("<")]
        environment = ENVIRONMENT | {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        if (case / "environment").exists():
            lines = (case / "environment").read_text(encoding="utf-8").splitlines()
            environment |= dict(line.split("=", 1) for line in lines)
        for call in first_calls:
            subprocess.run([program, *call], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           env=environment, timeout=60, check=True)
        result = subprocess.run([program, *words], cwd=folder, stdin=source, capture_output=True, env=environment,
                                timeout=60)
        after = files_in(folder)
    got = {"stdout": sizes_masked(masked(result.stdout, version), after), "stderr": result.stderr,
           "exit_code": f"{result.returncode}\n".encode()}
    got.update(written_file(path, data, version) for path, data in after.items() if before.get(path) != data)
    got.update({f"files/{path}": b"(removed)\n" for path in before if path not in after})
    return got


def without_pictures(files):
    return {path: PICTURE.sub(b"", data) if is_event_file(path) else data for path, data in files.items()}


def bless(expected, got):
    shutil.rmtree(expected, ignore_errors=True)
    for name, data in got.items():
        path = expected / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def difference(name, expected, got):
    if expected is None:
        return f"there is no expected/{name}; the command gave:\n{got.decode(errors='replace')[:2000]}"
    if got is None:
        return f"expected/{name} was not written"
    lines = [data.decode(errors="backslashreplace").splitlines() for data in (expected, got)]
    diff = list(difflib.unified_diff(*lines, "expected", "printed", lineterm=""))[:60]
    return f"{name} differs{'' if diff else ' in the ends of its lines'}:\n" + "\n".join(diff)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("case", type=pathlib.Path)
    options = parser.parse_args()
    got = run(options.case, pathlib.Path(options.tbtrace).resolve(), options.version)
    if os.environ.get("TBTRACE_BLESS") == "1":
        if options.no_pictures and any(map(is_event_file, got)):
            sys.exit("a program built without cairo cannot say which pictures are expected; build with it")
        bless(options.case / "expected", got)
        return
    expected = files_in(options.case / "expected")
    if options.no_pictures:
        expected = without_pictures(expected)
    names = {"stdout", "stderr", "exit_code"} | expected.keys() | got.keys()
    problems = [difference(name, expected.get(name), got.get(name))
                for name in sorted(names) if name not in expected or expected[name] != got.get(name)]
    if problems:
        sys.exit("\n\n".join(problems) + "\n\nIf that is right: TBTRACE_BLESS=1 tools/test.sh --only "
                 f"golden.{options.case.name}, and read the diff")


if __name__ == "__main__":
    main()
