"""The traces below the folders that a server may read."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import types
from collections.abc import Callable, Iterator, Mapping

import tbtrace
from tbtrace.assistants.opened import Opened
from tbtrace.tab import scan
from tbtrace.tab.below import open_below
from tbtrace.tab.refusal import Refusal
from tbtrace.tab.source import Source
from tbtrace.tab.trace_memory import TraceMemory

MOST_RANKS = 64
_KEPT_IDS = 1_000
_CHANGED = "The file or folder has changed since it was opened: call open with its path again."


class Files:
    """Paths begin with the last name of a folder if there are several. For any number of threads."""

    def __init__(self, folders: list[str], memory: TraceMemory[Opened] | None = None) -> None:
        roots = [os.path.realpath(folder) for folder in folders]
        for root in roots:
            if not os.path.isdir(root):
                raise ValueError(f"{root} is not a folder; name those that have your traces")
        self._roots = {"" if len(roots) == 1 else os.path.basename(root): root for root in roots}
        if len(self._roots) < len(roots):
            raise ValueError("two folders have the same last name; rename one, or name the folder around both")
        self._memory: TraceMemory[Opened] = TraceMemory() if memory is None else memory
        self._paths: dict[str, str] = {}  # of ids
        self._ids: dict[str, str] = {}  # of paths, as they were opened last

    def listed(self) -> tuple[list[scan.TraceFile], int]:
        """All traces, and how many files and folders could not be looked at. Paths are those of open()."""
        found, problems = [], 0
        for name, root in self._roots.items():
            listing = scan.Pass(root).run()
            problems += len(listing.problems) + listing.more_problems
            for file in listing.traces.values():
                if file.trace == file.real:
                    found.append(dataclasses.replace(file, trace=f"{name}/{file.trace}" if name else file.trace))
        return sorted(found, key=lambda file: file.order), problems

    def open(self, path: str) -> Opened:
        """A trace or a folder of the ranks of a job. Refusal if there is none, or if it cannot be read."""
        opened = self._read(path)
        if len(self._ids) >= _KEPT_IDS:
            self._ids.pop(next(iter(self._ids)), None)
        self._ids[path] = opened.id
        return opened

    def _read(self, path: str) -> Opened:
        root, below = self._place(path)
        if self._is_folder(root, below):
            return self._open_job(path, root, below)
        with self._source(path, root, below) as source:
            return self._kept(path, source.digest(), source.read)

    def known(self, trace: str) -> Opened:
        """By the id that open() gave, or by its path."""
        if not trace.startswith("t:"):
            opened = self._read(trace)
            if self._ids.get(trace, opened.id) != opened.id:  # ids may be those of others now
                raise Refusal(404, _CHANGED)
            return opened
        path = self._paths.get(trace)
        if path is None:
            raise Refusal(404, "This id of a trace is not one that this server gave: call open with its path.")
        kept = self._memory.get(trace)
        if kept is None:
            kept = self._read(path)
            if kept.id != trace:
                raise Refusal(404, _CHANGED)
        return kept

    def _place(self, path: str) -> tuple[str, str]:
        """The root and the path below it."""
        parts = path.strip("/").split("/") if path != "." else []
        if path.startswith("/") or "\0" in path or not all(part not in ("", ".", "..") for part in parts):
            raise Refusal(400, "A path is relative, as open lists it: it neither begins with / nor has .. in it.")
        name = parts.pop(0) if "" not in self._roots and parts else ""
        if name not in self._roots:
            raise Refusal(404, f"Paths begin with one of {', '.join(sorted(self._roots))}: open lists all traces.")
        return self._roots[name], "/".join(parts)

    @staticmethod
    def _is_folder(root: str, below: str) -> bool:
        try:
            os.close(open_below(root, below, os.O_DIRECTORY))
        except OSError:
            return False
        return True

    @staticmethod
    @contextlib.contextmanager
    def _source(path: str, root: str, below: str) -> Iterator[Source]:
        try:
            source = Source(root, below, path)
        except Refusal as refusal:
            if refusal.status != 404:
                raise
            raise Refusal(
                404, f"There is no trace {path!r}: open without a path lists all. Links are not followed."
            ) from None
        with source:
            yield source

    def _open_job(self, path: str, root: str, below: str) -> Opened:
        inside = os.path.join(below, "") if below else ""
        files = [file for file in scan.Pass(root).run().traces.values() if file.real.startswith(inside)]
        files = [file for file in files if file.trace == file.real]
        if not files:
            raise Refusal(404, "There is no trace in this folder.")
        if len(files) > MOST_RANKS:
            raise Refusal(400, f"This folder has {len(files)} traces; open one of at most {MOST_RANKS}, or one trace.")
        if len(files) == 1:
            return self._read(os.path.join("" if path == "." else path, files[0].trace.removeprefix(inside)))
        sources: dict[str, Source] = {}
        left_out: dict[str, str] = {}
        with contextlib.ExitStack() as stack:
            for file in files:
                name = file.trace.removeprefix(inside)
                try:
                    sources[name] = stack.enter_context(self._source(name, root, file.real))
                except Refusal as refusal:
                    left_out[name] = refusal.sentence

            def read() -> tbtrace.TraceSet:
                traces = {}
                for name, source in sources.items():
                    try:
                        traces[name] = source.read()
                    except Refusal as refusal:
                        left_out[name] = refusal.sentence
                if not traces:
                    raise Refusal(422, next(iter(left_out.values())))
                return tbtrace.TraceSet.open(traces)

            key = " ".join(f"{name} {source.digest()}" for name, source in sources.items())
            return self._kept(path, f"{key} {sorted(left_out)}", read, left_out)

    def _kept(
        self,
        path: str,
        key: str,
        read: Callable[[], tbtrace.Trace | tbtrace.TraceSet],
        left_out: Mapping[str, str] = types.MappingProxyType({}),
    ) -> Opened:
        trace = f"t:{hashlib.sha256(key.encode()).hexdigest()[:12]}"
        opened = self._memory.get(trace)
        if opened is None:
            opened = Opened(trace, path, read(), left_out)
            self._memory.put(trace, opened)
        if len(self._paths) >= _KEPT_IDS:
            self._paths.pop(next(iter(self._paths)), None)
        self._paths[trace] = path
        return opened
