"""Looks through a log directory for traces: one pass, which takes over from the last one what has not changed."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass, field

from tbtrace.tab import look, names
from tbtrace.tab.below import open_below
from tbtrace.tab.look import Look
from tbtrace.tab.version import version_of

MOST_FOLDERS = 50_000
MOST_PROBLEMS = 200
_STAGING_ENDING = ".tbtrace-partial"  # folders in which our own files wait until they are complete
_REPLACED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # a folder that vanished or became a link meanwhile
_WRITING_SECONDS = 60.0  # how long a program may pause before its file counts as left behind

_LEADS_OUT = (
    "This link leads out of the log directory and was not followed. Start TensorBoard with a directory that also "
    "contains the link's target, or copy the target here."
)
_UNFINISHED = (
    "This file has the name of a trace that is not finished, and nothing was written to it for a minute. Delete it "
    "if the program that wrote it was stopped; if the trace is complete, rename it to end in `.json` or `.json.gz`."
)
_NOT_TEXT = "This name is not UTF-8 and was left out. Rename it."


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A trace below the log directory, as the scan saw it."""

    trace: str  # path below the log directory
    real: str  # the same without links
    parts: names.Parts
    size: int
    modified_ns: int
    version: str
    order: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    sentence: str


@dataclass
class Listing:
    """What a pass found."""

    is_complete: bool = False
    traces: dict[str, TraceFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    # Whether files that are named like JSON are traces, by path, with the state in which they were looked at.
    looks: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def add_problem(self, path: str, sentence: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(path.encode(errors="replace").decode(), sentence))
        else:
            self.more_problems += 1


class Pass:
    """Goes through the folders below `root`. `listing` grows while it runs."""

    def __init__(self, root: str, last: Listing | None = None) -> None:
        self.listing = Listing()
        self._last = last or Listing()
        self._root = os.path.realpath(root)
        self._inside = os.path.join(self._root, "")
        self._folders = 0
        self._links: list[str] = []

    def run(self) -> Listing:
        to_do = [""]
        while to_do:
            below = to_do.pop()
            self._folders += 1
            if self._folders > MOST_FOLDERS:
                self.listing.add_problem(
                    below,
                    f"The log directory has more than {MOST_FOLDERS:,} directories; this one and others were "
                    "not searched. Start TensorBoard with the directory that has the traces.",
                )
                break
            to_do.extend(self._search(below))
        for link in self._links:  # when the files are known by their own names
            self._follow(link)
        self.listing.is_complete = True
        return self.listing

    def _search(self, below: str) -> list[str]:
        """Takes the files of a folder; returns the folders in it."""
        folders: list[str] = []
        try:
            folder = open_below(self._root, below, os.O_DIRECTORY)
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        self._sort_in(f"{below}/{entry.name}" if below else entry.name, entry, folders)
            finally:
                os.close(folder)
        except OSError as problem:
            if not below:
                self.listing.add_problem(".", f"The log directory cannot be read: {problem.strerror}.")
            elif problem.errno not in _REPLACED:
                self.listing.add_problem(below, f"This directory cannot be read: {problem.strerror}.")
        return folders

    def _sort_in(self, path: str, entry: os.DirEntry[str], folders: list[str]) -> None:
        try:
            if entry.is_symlink():
                self._links.append(path)
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.endswith(_STAGING_ENDING):
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                self._take(path, entry)
        except FileNotFoundError:
            pass  # it vanished meanwhile
        except OSError as problem:
            self.listing.add_problem(path, f"This file cannot be read: {problem.strerror}.")

    def _take(self, trace: str, entry: os.DirEntry[str]) -> None:
        if names.is_trace(entry.name):
            self._add(trace, trace, entry.name, entry.stat(follow_symlinks=False))
        elif names.is_unfinished(entry.name):
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _WRITING_SECONDS:
                self.listing.add_problem(trace, _UNFINISHED)

    def _add(self, trace: str, real: str, name: str, state: os.stat_result) -> None:
        version = version_of(state)
        known = self._last.traces.get(trace)
        if known is not None and known.version == version and known.real == real:
            self.listing.traces[trace] = known
            return
        if not _is_text(trace):
            self.listing.add_problem(trace, _NOT_TEXT)
            return
        if self._is_trace(trace, real, name, version):
            parts = names.parts_of(name)
            self.listing.traces[trace] = TraceFile(
                trace, real, parts, state.st_size, state.st_mtime_ns, version, _order(trace, parts)
            )

    def _is_trace(self, trace: str, real: str, name: str, version: str) -> bool:
        """Other programs write JSON files into log directories too."""
        is_hidden = name.startswith(".")
        if names.is_of_handler(name) and not is_hidden:
            return True
        known = self._last.looks.get(trace)
        if known is None or known[0] != version:
            seen = look.look_at(self._root, real)
            known = (version, seen is Look.TRACE or (seen is Look.UNREADABLE and not is_hidden))
        self.listing.looks[trace] = known
        return known[1]

    def _follow(self, trace: str) -> None:
        """Links to folders and traces in the log directory add nothing: those have been found by their own names."""
        name = os.path.basename(trace)
        real = os.path.realpath(os.path.join(self._root, trace))
        try:
            state = os.stat(real, follow_symlinks=False)
        except OSError:
            return  # it leads nowhere, or in a circle
        is_file = stat.S_ISREG(state.st_mode) and names.is_trace(name)
        if not is_file and not stat.S_ISDIR(state.st_mode):
            return
        if not real.startswith(self._inside):
            if not self._inside.startswith(os.path.join(real, "")):  # else it leads to a folder around this one
                self.listing.add_problem(trace, _LEADS_OUT)
        elif is_file and not names.is_trace(os.path.basename(real)):
            self._add(trace, real.removeprefix(self._inside), name, state)


def _order(trace: str, parts: names.Parts) -> tuple[object, ...]:
    """Of runs, of workers in them, and of windows by their start."""
    run, worker = os.path.dirname(trace), parts.worker
    start = (1, 0) if parts.start_ns is None else (0, parts.start_ns)
    return names.natural(run), run, names.natural(worker), worker, start, names.natural(parts.window), trace


def _is_text(path: str) -> bool:
    """Whether it can be sent as UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
