"""Many traces as one result: what the engines have in common.

An engine sends paths to workers. Each worker makes a row of a path with row_of(): a partial, or why
there is none. Rows are combined with combined_rows(), in any order and any tree, and the sum of the
last ones is the Job. An engine is a way to run these two functions somewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from tbtrace import _paths, _tbtrace
from tbtrace.__main__ import program
from tbtrace._sql import answer

Path = str | os.PathLike[str]
Paths = Path | Sequence[Path]
KernelGroup = Literal["name", "launch", "operator", "family", "label"]
OperatorGroup = Literal["name", "shape", "stack", "overload_name"]

TOGETHER = 32  # partials that one task of a cluster merges
_AT_ONCE = 8  # partials that are merged at a time: one of 110 kB takes 2.5 MB of memory

_TABLES = 2  # another number with each change of what partials have
_MOST_SHOWN = 20  # files in a notebook
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


@dataclass(frozen=True, repr=False)
class Job:
    """The tables of many traces, and which of them are missing.

    Tables are those of a Partial: exact figures, equal to those of one process over all files.
    """

    partial: _tbtrace.Partial
    failed: list[tuple[str, str]]
    """(path, message) of each file that is not in the tables."""
    reused: int
    """How many files were not read again, because the cache had their partials."""
    files: list[File] = field(default_factory=list)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} of {len(self.files)} files failed" if self.failed else ""
        traces = "1 trace" if len(self.partial) == 1 else f"{len(self.partial)} traces"
        return f"<tbtrace.Job: {traces}{failed}>"

    @property
    def sources(self) -> list[dict[str, Any]]:
        """All files, by path, with what became of each, also those that are not in the tables.

        `path`; `state`: 'whole'; 'damaged', of which a part is missing; 'unreadable'; 'empty', without
        a byte or without an event; 'doubled', which has the same content as another file, or the rank
        and the start of another one. `message`: what is wrong, None of what is whole. `in_tables`:
        whether its figures count. `rank`, `host`, `process`, `digest`; `events`: how many; `bytes`: size
        of the file; `issues`: how often, by id. None, or no issues, where that is not known.
        """
        return _sources_of(self)

    def sql(self, query: str) -> Any:
        """As Trace.sql(): the tables are those of this class.

            job.sql("select rank, avg(duration_ns) from steps group by rank")
        """
        return answer(self.partial, query)

    @property
    def missing_ranks(self) -> list[int]:
        """The ranks of which no trace is in the tables, up to the largest world size that a trace names."""
        return self.partial.missing_ranks

    def summary(self) -> _tbtrace.Summary:
        """A line per trace, and what is said of the job as a whole.

            print(job.summary())
        """
        return self.partial.summary()

    def operators(self, group_by: OperatorGroup | Sequence[OperatorGroup] | None = None) -> _tbtrace.Operators:
        """A row per operator, summed over all traces; also by 'shape', 'stack' or 'overload_name', or
        several of these. Those of each trace: tbtrace.local.rows(). Times are integers in ns.

            job.operators().to_pandas()
        """
        return self.partial.operators(_without_rank(group_by, "operators"))

    def kernels(self, group_by: KernelGroup | Sequence[KernelGroup] = "name") -> _tbtrace.Table:
        """Kernels, summed over all traces: by 'name', 'launch', 'operator', 'family' or 'label'. Those of each
        trace: tbtrace.local.rows(). Times are integers in ns.

            job.kernels("operator").to_pandas()
        """
        return self.partial.kernels(_without_rank(group_by, "kernels"))

    def modules(self, group_by: Literal["module", "type", "layer"] = "module", *, depth: int | None = None) -> _tbtrace.Table:
        """Modules of all traces: as a tree, by 'type' or by 'layer'. Times are integers in ns.

            job.modules("type").to_pandas()
        """
        return self.partial.modules(group_by, depth=depth)

    def lines(self, *, libraries: bool = False) -> _tbtrace.Table:
        """Lines and functions of the program's own code, summed over all traces. Times are integers in ns.

            job.lines(libraries=True).to_pandas()
        """
        return self.partial.lines(libraries=libraries)

    def steps(self) -> _tbtrace.Table:
        """The steps of each trace, by rank. Times are integers in ns.

            job.steps().to_pandas().groupby("rank")["duration_ns"].mean()
        """
        return self.partial.steps()

    def gpu(self, group_by: Literal["device", "stream"] = "device") -> _tbtrace.Table:
        """The use of each trace's GPUs, by rank. Times are integers in ns.

            job.gpu().to_pandas()
        """
        return self.partial.gpu(group_by)

    def memory(self, view: Literal["peak", "alive"] = "peak") -> _tbtrace.Table:
        """The memory of each trace's devices ('peak', 'alive'), by rank. Bytes, and times in ns.

            job.memory("alive").to_pandas()
        """
        return self.partial.memory(view)

    def threads(self) -> _tbtrace.Table:
        """How busy each thread of the host was, by rank. Times are integers in ns.

            job.threads().to_pandas()
        """
        return self.partial.threads()

    def flops(self) -> _tbtrace.Table:
        """What the operators of each trace computed, by rank: multiply-adds, FLOPs, bytes and rates. Times
        are integers in ns.

            job.flops().to_pandas()
        """
        return self.partial.flops()

    def checks(self) -> _tbtrace.Table:
        """What is missing or contradictory in the traces and among them, with cause and remedy.

            print(job.checks())
        """
        return self.partial.checks()

    def report(
        self,
        *,
        title: str | None = None,
        views: str | Sequence[str] | None = None,
        source_root: Path | None = None,
        limit: int = 2_000_000,
    ) -> _tbtrace.Report:
        """The page about all traces, with the arguments of Trace.report(). The traces are read again, one at
        a time. Of more ranks than fit into `limit` bytes the page has the view of all ranks and says
        so. Raises TraceError if a trace cannot be read any more, ValueError for a view that there is not.

            job.report().save("report.html")
        """
        return _tbtrace._report_of_job(self, title, views, source_root, limit)

    def flame_graph(
        self,
        weight: Literal[
            "self_cpu_time_total", "self_device_time_total", "self_cuda_time_total", "cpu_memory"
        ] = "self_cpu_time_total",
    ) -> _tbtrace.FlameGraph:
        """The stacks of all traces.

            job.flame_graph().save("flame.svg")
        """
        return self.partial.flame_graph(weight)

    def collectives(self) -> _tbtrace.Table:
        """The collectives of the job whose ranks the traces are: who waited for whom, how fast they were.
        Times are integers in ns.

            job.collectives().to_pandas()
        """
        return self.partial.collectives()

    def clocks(self) -> _tbtrace.Table:
        """How the clocks of the ranks differ. Offsets are in ns.

            job.clocks().to_pandas()
        """
        return self.partial.clocks()

    def stragglers(self) -> _tbtrace.Table:
        """The ranks that hold up the job; usually none. Times are integers in ns.

            job.stragglers().notes
        """
        return self.partial.stragglers()

    def _repr_html_(self) -> str:
        """How many traces the tables are of, what to know of the job, and each file that is not whole."""
        import html

        sources = self.sources
        wrong = [source for source in sources if source["state"] != "whole"]
        lines = [f"{sum(source['in_tables'] for source in sources)} of {len(sources)} files are in the tables.", *self.remarks,
                 *self.stragglers().notes, "summary() has a line per trace, checks() what is wrong with them."]
        shown = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)
        if not wrong:
            return shown
        names = ("path", "rank", "state", "message")
        texts = [["-" if source[name] is None else str(source[name]) for name in names] for source in wrong[:_MOST_SHOWN]]
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in row)}</tr>\n" for row in texts)
        head = "".join(f"<th>{name}</th>" for name in names)
        more = f"<p>{_MOST_SHOWN} of {len(wrong)} such files</p>\n" if len(wrong) > _MOST_SHOWN else ""
        return f"{shown}<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{more}"

    @property
    def remarks(self) -> list[str]:
        """What to know of the job before trusting a result: missing, repeated and damaged ranks, several jobs or versions."""
        damaged = [source["path"] for source in self.sources if source["state"] == "damaged"]
        remarks = self.partial.remarks()
        if damaged:
            more = f" and {len(damaged) - 5} more" if len(damaged) > 5 else ""
            remarks.append(f"Damaged, so that only a part of each is in the tables: {', '.join(damaged[:5])}{more}.")
        return remarks

    def write_parquet(self, directory: str | os.PathLike[str], *, run: str) -> None:
        """Writes all tables as a Parquet dataset, `<directory>/<table>/run=<run>/`, a file each. Those
        of single traces have the columns `input` and `rank`. Needs pyarrow. Raises FileExistsError if
        the run is there.

            job.write_parquet("tables", run="monday")
        """
        _write_parquet(self, os.fspath(directory), run)


def _without_rank(group_by: Any, table: str) -> Any:
    names = (group_by,) if isinstance(group_by, str) else group_by
    if names is not None and "rank" in names:
        message = f"a job has the {table} of all ranks added up; tbtrace.local.rows(inputs, {table!r}) has those of each rank"
        raise ValueError(message)
    return group_by


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


def combined_rows(rows: Iterable[tuple[str, Row]], repeats: Mapping[str, str]) -> Row:
    """The sum of (path, row), without the paths of without_repeats(), as a row."""
    partial, files = sum_of(rows, repeats)
    return Row(None if partial is None else partial.to_bytes(), files)


def sum_of(
    rows: Iterable[tuple[str, Row]], repeats: Mapping[str, str] = MappingProxyType({})
) -> tuple[_tbtrace.Partial | None, list[File]]:
    """The same as a partial, None without a trace, and its files. Rows are added as they come: a few
    partials are in memory at a time, however many there are."""
    total = _Sum()
    files: list[File] = []
    for path, row in rows:
        kept = _doubled(row, repeats[path]) if path in repeats else row
        files += kept.files
        if kept.data is not None:
            total.add(_tbtrace.Partial.from_bytes(kept.data))
    return total.whole(), files


def rows_without_repeats(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """What without_repeats() finds, of rows in the order of in_order() as they come."""
    first: dict[str, str] = {}
    for path, row in rows:
        same = next((first[digest] for digest in row.digests if first.setdefault(digest, path) != path), None)
        yield path, row if same is None else _doubled(row, _repeats(same))


class _Sum:
    """Merges partials in a tree, so that each takes part in few merges."""

    def __init__(self) -> None:
        self._levels: list[list[_tbtrace.Partial]] = []

    def add(self, partial: _tbtrace.Partial) -> None:
        for level in self._levels:
            level.append(partial)
            if len(level) < _AT_ONCE:
                return
            partial = _tbtrace.merge(level)
            level.clear()
        self._levels.append([partial])

    def whole(self) -> _tbtrace.Partial | None:
        left = [partial for level in self._levels for partial in level]
        self._levels.clear()
        return _tbtrace.merge(left) if len(left) > 1 else left[0] if left else None


def _doubled(row: Row, message: str) -> Row:
    return Row(None, [replace(file, problem=message, state="doubled", reused=False) for file in row.files])


def without_repeats(digests: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Of files with the same content only the first may count: the other paths, with a sentence.
    Takes (path, digests of its row)."""
    first: dict[str, str] = {}
    repeats: dict[str, str] = {}
    for path, of_path in sorted(digests, key=lambda each: in_order(each[0])):
        for digest in of_path:
            if first.setdefault(digest, path) != path:
                repeats[path] = _repeats(first[digest])
    return repeats


def in_order(path: str) -> bytes:
    """The order in which the first file with the same content counts."""
    return os.fsencode(path)


def _repeats(first: str) -> str:
    return f"has the same content as {first}, which counts"


def job_of(partial: _tbtrace.Partial | None, read: Sequence[File], not_found: Sequence[tuple[str, str]]) -> Job:
    """The result of sum_of(). Raises TraceError if no trace could be read."""
    files = [*read, *(_not_read(path, message) for path, message in not_found)]
    failed = sorted((file.path, file.problem) for file in files if file.problem is not None)
    if partial is None:
        reason = ": ".join(failed[0]) if failed else "there are no inputs"
        sentence = f"no trace could be read; the first of {len(failed)}: {reason}"
        if failed and _paths.all_missing(failed):
            others = [path for path, _ in failed[1:_MOST_SHOWN]]
            raise _paths.missing_file(failed[0][0], sentence + (f" (and {', '.join(others)})" if others else ""))
        raise _tbtrace.TraceError(sentence)
    reused = sum(file.reused for file in files)
    return Job(partial, failed, reused, sorted(files, key=lambda file: file.path))


def _sources_of(job: Job) -> list[dict[str, Any]]:
    of_digest = {source["digest"]: source for source in job.partial.sources}
    repeated = dict(job.partial.repeated())
    sources = []
    for file in job.files:
        source = of_digest.get(file.digest, {})
        state, message = file.state, file.problem
        if message is None:
            state, message = _state_of(source, repeated.get(file.path))
        known = {name: source.get(name) for name in ("rank", "host", "process")}
        known |= {"events": source.get("events"), "bytes": file.size, "issues": source.get("issues", {}), "digest": file.digest}
        sources.append({"path": file.path, "state": state, "message": message, "in_tables": file.problem is None} | known)
    return sources


def _state_of(source: Mapping[str, Any], other: str | None) -> tuple[str, str | None]:
    """Of a trace that is in the tables."""
    issues = ", ".join(f"{name} ({count})" for name, count in source["issues"].items())
    if source["damaged"]:
        return "damaged", f"a part of it is missing: {issues}"
    if other is not None:
        return "doubled", f"has the rank and the start of {other}; both count, keep the one that belongs to the job"
    if source["events"] == 0:
        return "empty", "is a trace without events"
    return "whole", None


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


def _not_read(path: str, message: str, here: str | None = None) -> File:
    size = _size_of(here or path)
    return File(path, size=size, problem=message.removeprefix(f"{path}: "), state="empty" if size == 0 else "unreadable")


def _failed(path: str, message: str, here: str | None = None) -> Row:
    return Row(None, [_not_read(path, message, here)])


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


def _write_parquet(job: Job, directory: str, run: str) -> None:
    import pyarrow
    import pyarrow.parquet

    directory = _paths.output(directory, "write_parquet()")
    if not run or "/" in run or run.startswith("."):
        raise ValueError("run takes a name without a slash that does not begin with a dot")
    tables = _tbtrace.tables()
    methods = {table["name"]: {"ops": "operators", "check": "checks"}.get(table["name"], table["name"]) for table in tables}
    kinds = {methods[table["name"]]: table["in_partials"] for table in tables if table["in_partials"]}
    places = {name: os.path.join(directory, name, f"run={run}") for name in kinds}
    for place in places.values():
        if os.path.exists(place):
            raise FileExistsError(f"{place}: exists already; name another run, or remove it")
    os.makedirs(directory, exist_ok=True)
    waiting = tempfile.mkdtemp(prefix=".tbtrace-", dir=directory)
    try:
        for name, kind in kinds.items():
            rows = pyarrow.table(getattr(job.partial, name)())
            if kind != "by_source" and "rank" in rows.column_names:
                rows = rows.drop_columns("rank")  # sums are of no rank
            if kind == "by_source" and "input" not in rows.column_names:  # a job of one trace; all runs have the same columns
                inputs = pyarrow.array([job.partial.sources[0]["name"]] * len(rows), pyarrow.large_string())
                rows = rows.add_column(0, "input", inputs.dictionary_encode())
            folder = os.path.join(waiting, name)
            os.makedirs(folder)
            pyarrow.parquet.write_table(rows, os.path.join(folder, "part-0.parquet"))
        for name, place in places.items():
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.rename(os.path.join(waiting, name), place)
    finally:
        shutil.rmtree(waiting, ignore_errors=True)
