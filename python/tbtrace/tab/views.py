"""What pages show of a trace, compressed: from the disk if it was made before, else from the trace."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import threading
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import tbtrace
from tbtrace.tab.disk_cache import DiskCache
from tbtrace.tab.refusal import Refusal
from tbtrace.tab.scan import TraceFile
from tbtrace.tab.single_flight import SingleFlight
from tbtrace.tab.source import Source
from tbtrace.tab.sql import Sql
from tbtrace.tab.trace_memory import TraceMemory
from tbtrace.tab.version import program

_READ_AT_ONCE = 2  # each takes all cores
_MOST_EVENTS = 2_000_000  # of which all views are made to see which of them are empty
_TRIES = 2  # at a file that changes while it is read


class View(NamedTuple):
    content: bytes  # gzip
    version: str  # of the file that it was made from; empty if the file changed meanwhile


class _Read(NamedTuple):
    trace: tbtrace.Trace
    is_unchanged: bool


class Views:
    """For any number of threads: what several ask for at once is made once."""

    def __init__(self, cache: DiskCache | None = None, memory: TraceMemory[tbtrace.Trace] | None = None) -> None:
        self._cache = DiskCache() if cache is None else cache
        self._memory: TraceMemory[tbtrace.Trace] = TraceMemory() if memory is None else memory
        self._views: SingleFlight[View] = SingleFlight()
        self._reads: SingleFlight[_Read] = SingleFlight()
        self._reading = threading.BoundedSemaphore(_READ_AT_ONCE)
        self._sql = Sql()

    def view(self, file: TraceFile, root: str, name: str) -> View:
        known: Any = name  # view() raises ValueError for others
        return self._from(file, root, ("view", name), lambda trace: trace.view(known), is_kept=True)

    def timeline(self, file: TraceFile, root: str, from_ns: int | None, to_ns: int | None) -> View:
        def make(trace: tbtrace.Trace) -> bytes:
            try:
                return trace.timeline(from_ns, to_ns)
            except ValueError as problem:
                raise Refusal(400, str(problem)) from None

        return self._from(file, root, ("timeline", from_ns, to_ns), make)

    def range(
        self, file: TraceFile, root: str, track: int, start_ns: int, duration_ns: int, name: str, nth: int
    ) -> View:
        def make(trace: tbtrace.Trace) -> bytes:
            try:
                return trace.range(track, start_ns, duration_ns, name, nth)
            except KeyError:
                raise Refusal(404, f"{file.trace} does not have this range.") from None

        return self._from(file, root, ("range", track, start_ns, duration_ns, name, nth), make)

    def empty(self, file: TraceFile, root: str) -> View:
        """`tbtrace.empty/1`: the views without data."""
        return self._from(file, root, ("empty",), _empty_views, is_kept=True)

    def sql(self, file: TraceFile, root: str, query: str) -> View:
        with Source(root, file.real, file.trace) as source:
            key = (source.trace, source.version)
            content = self._sql.answer(key, lambda: self._trace(source).trace, query)
        return View(_compressed(content), "")

    def comparison(self, base: TraceFile, new: TraceFile, root: str) -> View:
        for rest in reversed(range(_TRIES)):
            with Source(root, base.real, base.trace) as before, Source(root, new.real, new.trace) as after:
                made = self._views.do(
                    ("comparison", base.trace, before.version, new.trace, after.version),
                    functools.partial(self._compared, before, after),
                )
            if made.version or not rest:
                break
        return made

    def _compared(self, before: Source, after: Source) -> View:
        names = (before.trace, after.trace)
        version = comparison_version(before.version, after.version)
        key = f"{program()} comparison {names} {before.content_key()} {after.content_key()}"
        kept = self._cache.get(key)
        if kept is not None:
            return View(kept, version)
        base, new = self._trace(before), self._trace(after)
        try:
            document = tbtrace.comparison(base.trace, new.trace, base_name=names[0], new_name=names[1])
        except tbtrace.TraceError as problem:
            raise Refusal(422, str(problem)) from None
        content = _compressed(document)
        is_unchanged = base.is_unchanged and new.is_unchanged
        if is_unchanged:
            self._cache.put(key, content)
        return View(content, version if is_unchanged else "")

    def ranks(self, job: list[TraceFile], root: str) -> View:
        for rest in reversed(range(_TRIES)):
            with contextlib.ExitStack() as stack:
                sources = [stack.enter_context(Source(root, file.real, file.trace)) for file in job]
                versions = tuple(source.version for source in sources)
                made = self._views.do(("ranks", job[0].trace, versions), functools.partial(self._of_job, sources))
            if made.version or not rest:
                break
        return made

    def _of_job(self, sources: list[Source]) -> View:
        version = ranks_version([source.version for source in sources])
        key = f"{program()} ranks {[(source.trace, source.content_key()) for source in sources]}"
        kept = self._cache.get(key)
        if kept is not None:
            return View(kept, version)
        records: list[tbtrace.RankRecord] = []
        remarks: list[str] = []
        is_unchanged = True
        for source in sources:
            try:
                read = self._trace(source)
            except Refusal as refusal:  # what can be read is shown
                remarks.append(refusal.sentence)
                continue
            records.append(tbtrace.rank_record(read.trace, name=source.trace))
            is_unchanged = is_unchanged and read.is_unchanged
        if len(records) < 2:
            raise Refusal(422, " ".join(remarks))
        content = _compressed(tbtrace.ranks(records, remarks=remarks))
        if is_unchanged:
            self._cache.put(key, content)
        return View(content, version if is_unchanged else "")

    def _from(
        self,
        file: TraceFile,
        root: str,
        what: tuple[object, ...],
        make: Callable[[tbtrace.Trace], bytes],
        is_kept: bool = False,
    ) -> View:
        for rest in reversed(range(_TRIES)):
            with Source(root, file.real, file.trace) as source:
                made = self._views.do(
                    (file.trace, source.version, what), functools.partial(self._made, source, what, make, is_kept)
                )
            if made.version or not rest:
                break
        return made

    def _made(
        self, source: Source, what: tuple[object, ...], make: Callable[[tbtrace.Trace], bytes], is_kept: bool
    ) -> View:
        key = f"{program()} {what} {source.content_key()}" if is_kept else ""
        kept = self._cache.get(key) if is_kept else None
        if kept is not None:
            return View(kept, source.version)
        read = self._trace(source)
        try:
            content = _compressed(make(read.trace))
        except tbtrace.TraceError as problem:
            raise Refusal(422, source.sentence_of(problem)) from None
        if is_kept and read.is_unchanged:
            self._cache.put(key, content)
        return View(content, source.version if read.is_unchanged else "")

    def _trace(self, source: Source) -> _Read:
        key = (source.trace, source.version)

        def read() -> _Read:
            trace = self._memory.get(key)
            if trace is not None:
                return _Read(trace, True)
            with self._reading:
                trace = source.read()
            is_unchanged = source.is_unchanged()
            if is_unchanged:
                self._memory.put(key, trace)
            return _Read(trace, is_unchanged)

        return self._reads.do(key, read)


def _empty_views(trace: tbtrace.Trace) -> bytes:
    """As the page of `report` decides; of a large trace it is not worth the time."""
    found: dict[str, str] = {}
    for name, _ in tbtrace.views() if len(trace) <= _MOST_EVENTS else ():
        if name in ("timeline", "checks"):
            continue
        known: Any = name  # one of views()
        view = json.loads(trace.view(known))
        if any(table["rows"] for table in view["tables"]) or any(stacks["total"] for stacks in view["stacks"]):
            continue
        why = [part["empty"] for part in [*view["tables"], *view["stacks"]] if part["empty"]]
        if why:
            found[name] = why[0]
    return json.dumps({"schema": "tbtrace.empty/1", "views": found}).encode()


def comparison_version(base: str, new: str) -> str:
    """Of what two files give together."""
    return f"{base},{new}"


def ranks_version(versions: list[str]) -> str:
    """Of what the files of a job give together."""
    return hashlib.blake2b(",".join(versions).encode(), digest_size=9).hexdigest()


def _compressed(content: bytes) -> bytes:
    compressor = zlib.compressobj(6, wbits=31)
    return compressor.compress(content) + compressor.flush()
