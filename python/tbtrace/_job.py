"""Many traces as one result: what the engines have in common.

An engine sends paths to workers. Each worker makes a row of a path with row_of() (_partials.py). Rows
are combined with combined_rows() (_sums.py), and the sum of the last ones is the Job. An engine is a
way to run these two functions somewhere.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tbtrace import _paths, _tbtrace
from tbtrace._partials import File, Path, not_read
from tbtrace._sql import answer

Paths = Path | Sequence[Path]
KernelGroup = Literal["name", "launch", "operator", "family", "label"]
OperatorGroup = Literal["name", "shape", "stack", "overload_name"]

_MOST_SHOWN = 20  # files in a notebook


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


def job_of(partial: _tbtrace.Partial | None, read: Sequence[File], not_found: Sequence[tuple[str, str]]) -> Job:
    """The result of sum_of(). Raises TraceError if no trace could be read."""
    files = [*read, *(not_read(path, message) for path, message in not_found)]
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
