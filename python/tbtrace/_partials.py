"""One file as a partial: read in a process of its own, or found in a cache.

Workers make a Row of a path with row_of(): the partial, or why there is none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tbtrace import _paths, _tbtrace
from tbtrace.__main__ import program

Path = str | os.PathLike[str]

_TABLES = 2  # another number with each change of what partials have
_END = 65536  # bytes at each end of a file that its name in the cache depends on


@dataclass(frozen=True)
class Options:
    """How partials are made; workers get it."""

    group_by_stack_n: int = 5
    stack_source: str = "auto"
    strict: bool = False
    cache: Path | None = None  # a folder that all workers reach
    threads: int = 1  # that read a trace


@dataclass(frozen=True)
class File:
    """What became of a file."""

    path: str
    digest: str | None = None  # of its content, if it was read
    size: int | None = None
    problem: str | None = None  # why it is not in the tables
    state: str = "unreadable"  # with a problem: "unreadable", "empty" or "doubled"
    reused: bool = False  # its partial was in the cache


@dataclass(frozen=True)
class Row:
    """What became of one path, or of several: plain values, which engines send around."""

    data: bytes | None  # of the partial
    files: list[File]

    @property
    def facts(self) -> str:
        """All but the data, for engines whose rows have columns."""
        return json.dumps([asdict(file) for file in self.files])

    @staticmethod
    def of(data: bytes | None, facts: str) -> Row:
        """The row of its parts."""
        return Row(data or None, [File(**values) for values in json.loads(facts)])

    @property
    def digests(self) -> list[str]:
        """Of the contents that are in the partial."""
        return [file.digest for file in self.files if file.digest is not None and file.problem is None]


class Children:
    """The processes that read traces, for a caller who may have to end them. Any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, command: Sequence[str]) -> tuple[int, bytes]:
        """Runs a program to its end: its exit code, negative for a signal, and what it said."""
        with self._lock:
            if self._ended:
                return -signal.SIGINT, b""
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self._running.add(child)
        try:
            with child:
                _, said = child.communicate()
            return child.returncode, said
        finally:
            with self._lock:
                self._running.remove(child)

    def end(self) -> None:
        """Kills all of them. None starts any more."""
        with self._lock:
            self._ended = True
            for child in self._running:
                child.kill()

    @property
    def ended(self) -> bool:
        return self._ended


def row_of(path: str, options: Options, children: Children | None = None) -> Row:
    """Reads a trace and makes its partial, in a process of its own: whatever happens to that, only
    this path is lost. Runs on a worker."""
    children = children or Children()
    try:
        with contextlib.ExitStack() as needed:
            place, size = _place_in_cache(path, options)
            if place is None:
                place = os.path.join(needed.enter_context(tempfile.TemporaryDirectory(prefix="tbtrace-")), "trace.tbp")
            else:
                with contextlib.suppress(_tbtrace.TraceError):
                    return _finished(path, _tbtrace.Partial.read(place), size, reused=True)
                os.makedirs(os.path.dirname(place), exist_ok=True)
            here = needed.enter_context(_paths.fetched(path, lambda: not children.ended))
            return _made(path, here, place, options, children)
    except _tbtrace.TraceError as problem:
        return _failed(path, str(problem))
    except OSError as problem:
        return _failed(path, problem.strerror or str(problem))
    except ImportError as problem:  # of what a remote path needs
        return _failed(path, str(problem))


def _made(path: str, here: str, place: str, options: Options, children: Children) -> Row:
    """`here`: the file itself, or a copy of a remote one."""
    command = [program(), "save", here if here[:1] != "-" else f"./{here}", "-o", place, "--overwrite", "-q"]
    command += ["--group-by-stack-n", str(options.group_by_stack_n), "--stack-source", options.stack_source]
    command += ["-j", str(options.threads)] + (["--strict"] if options.strict else [])
    for _ in range(2):  # once more if it is killed: perhaps memory was short for a moment
        code, said = children.run(command)
        if code >= 0 or -code == signal.SIGINT or children.ended:
            break
    if -code == signal.SIGINT or children.ended:  # Ctrl-C goes to all processes of a terminal
        return _failed(path, "was interrupted", here)
    if code < 0:
        return _failed(path, f"its process was killed twice (signal {-code}); is there enough memory?", here)
    if code > 0:
        return _failed(path, os.fsdecode(said).strip().removeprefix("tbtrace: ").replace(here, path), here)
    return _finished(path, _tbtrace.Partial.read(place), _size_of(here), reused=False)


def _size_of(path: str) -> int | None:
    with contextlib.suppress(OSError):
        state = os.stat(path)
        return state.st_size if stat.S_ISREG(state.st_mode) else None
    return None  # of a file in an archive


def not_read(path: str, message: str, here: str | None = None) -> File:
    size = _size_of(here or path)
    return File(path, size=size, problem=message.removeprefix(f"{path}: "), state="empty" if size == 0 else "unreadable")


def _failed(path: str, message: str, here: str | None = None) -> Row:
    return Row(None, [not_read(path, message, here)])


def _finished(path: str, partial: _tbtrace.Partial, size: int | None, reused: bool) -> Row:
    (source,) = partial.sources
    if _paths.is_remote(path):
        partial = partial.renamed(path)  # it was made of a copy
    return Row(partial.to_bytes(), [File(path, digest=source["digest"], size=size, reused=reused)])


def cache_folder(path: Path | None) -> str | None:
    """The folder of a cache, which all workers reach by a local path."""
    return None if path is None else os.fspath(_paths.output(path, "the cache"))


def _place_in_cache(path: str, options: Options) -> tuple[str | None, int | None]:
    """Where the partial of a file is in the cache, None if it cannot be there; and the file's size."""
    if options.cache is None:
        return None, None
    facts = {name: value for name, value in asdict(options).items() if name not in ("cache", "threads")}
    facts |= {"version": _tbtrace.__version__, "tables": _TABLES}
    if _paths.is_remote(path):
        state = _paths.facts_of_change(path)
        if state is None:
            return None, None
        return os.path.join(options.cache, _cache_name(facts | state | {"path": path})), state["size"]
    facts |= _facts_of_file(path)
    return os.path.join(options.cache, _cache_name(facts)), facts["size"]


def _facts_of_file(path: str) -> dict[str, Any]:
    """Its path, size, time and ends."""
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        ends = hashlib.sha256(file.read(_END))
        file.seek(max(0, state.st_size - _END))
        ends.update(file.read(_END))
    facts = {"path": os.path.abspath(path), "size": state.st_size, "time": state.st_mtime_ns}
    return facts | {"ends": ends.hexdigest()}


def _cache_name(facts: Mapping[str, Any]) -> str:
    name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return os.path.join(name[:2], f"{name}.tbp")
