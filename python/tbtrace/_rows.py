"""The rows of each trace by itself, with its name and rank: for questions that sums do not answer.

A Job has operators, kernels, modules and lines added up over all traces. Those of each trace are
made of the same partials, one at a time, as Arrow that every engine takes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tbtrace import _paths, _tbtrace
from tbtrace._partials import Children, Options, row_of

if TYPE_CHECKING:
    import pyarrow

OnError = Literal["raise", "row"]

Question = str | Callable[..., Any]
"""A table that partials have, or a function that is called with each Trace and gives a table."""

_EMPTY = json.dumps({"traceEvents": []}).encode()
_PROBLEM = "problem"


class Wanted:
    """A table of each trace, and what becomes of traces that cannot be read. Workers get it.

    Checks the arguments: ValueError for a table that partials do not have for a single trace.
    """

    def __init__(self, table: Question, arguments: Mapping[str, Any], on_error: OnError, options: Options) -> None:
        if on_error not in ("raise", "row"):
            raise ValueError(f"on_error takes 'raise' or 'row', not {on_error!r}")
        names = tables()
        if not callable(table) and table not in names:
            there = ", ".join(names)
            raise ValueError(f"there are rows per trace of {there}, not of {table!r}; a function may give others")
        if callable(table) and options.cache is not None:
            raise ValueError("a cache keeps partials, and a function needs traces; leave out cache or name a table")
        self.table = table
        self.arguments = dict(arguments)
        self.on_error = on_error
        self.options = options
        self._schema: pyarrow.Schema | None = None
        if not callable(table):
            self._schema = self._made(_no_events(options), "").schema

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of all rows."""
        assert self._schema is not None, "found() comes first"
        return self._schema

    def learn(self, paths: Sequence[str]) -> None:
        """The columns of a function: those of a trace without events if it takes that, as methods of
        Trace do, else of the first one that can be read."""
        if self._schema is not None:
            return
        with contextlib.suppress(Exception):  # whatever it needs of a trace
            schema = self._answer(_EMPTY, "").schema
            if "null" not in map(str, schema.types):  # pandas does not say what an empty column is of
                self._schema = schema
                return
        problem: _tbtrace.TraceError | None = None
        for path in paths:
            try:
                self._schema = self._answer(path, path).schema
                return
            except _tbtrace.TraceError as reason:
                problem = problem or reason
        raise problem or _tbtrace.TraceError("no trace could be read")

    def of(self, path: str, children: Children | None = None) -> pyarrow.Table:
        """The rows of a trace. Raises TraceError if it cannot be read, unless that is a row."""
        if callable(self.table):
            try:
                return self._answer(path, path).cast(self.schema)
            except _tbtrace.TraceError as problem:
                return self.problem(path, str(problem).removeprefix(f"{path}: "))
        row = row_of(path, self.options, children)
        if row.data is None:
            return self.problem(path, str(row.files[0].problem))
        return self._made(_tbtrace.Partial.from_bytes(row.data), path).cast(self.schema)

    def problem(self, path: str, message: str) -> pyarrow.Table:
        import pyarrow

        if self.on_error == "raise":
            sentence = f"{path}: {message}"
            is_missing = _paths.all_missing([(path, message)])
            raise _paths.missing_file(path, sentence) if is_missing else _tbtrace.TraceError(sentence)
        return pyarrow.Table.from_pylist([{"input": path, _PROBLEM: message}], self.schema)

    def _answer(self, source: str | bytes, path: str) -> pyarrow.Table:
        import pyarrow

        assert callable(self.table)
        trace = _tbtrace.read(source, threads=self.options.threads, strict=self.options.strict)
        answer = self.table(trace, **self.arguments)
        if not hasattr(answer, "__arrow_c_stream__"):
            raise ValueError(f"the function has to give a table, such as trace.gaps(), not {type(answer).__name__}")
        return self._rows(pyarrow.table(answer), trace.identity["rank"], path)

    def _made(self, partial: _tbtrace.Partial, path: str) -> pyarrow.Table:
        import pyarrow

        rows = pyarrow.table(getattr(partial, str(self.table))(**self.arguments))
        return self._rows(rows, partial.sources[0]["rank"], path)

    def _rows(self, rows: pyarrow.Table, rank: int | None, path: str) -> pyarrow.Table:
        import pyarrow

        columns: dict[str, Any] = {"input": pyarrow.array([path] * len(rows), pyarrow.string())}
        columns["rank"] = pyarrow.array([rank] * len(rows), pyarrow.int64())
        for name in rows.column_names:
            if name not in ("input", "rank"):
                columns[name] = _plain(rows[name])
        if self.on_error == "row":
            columns[_PROBLEM] = pyarrow.array([None] * len(rows), pyarrow.string())
        return pyarrow.table(columns)


def tables() -> list[str]:
    """The tables that have rows per trace, by the names of methods."""
    methods = {"ops": "operators", "check": "checks"}
    kept = ("summed", "by_source")
    return [methods.get(table["name"], table["name"]) for table in _tbtrace.tables() if table["in_partials"] in kept]


def found(inputs: Any, wanted: Wanted) -> tuple[list[str], list[pyarrow.Table]]:
    """The paths to read, and what there is to say of inputs without traces. Raises TraceError if
    there are none at all."""
    paths, not_found = _paths.find(inputs)
    if not paths and not not_found:
        raise _tbtrace.TraceError("there are no inputs")
    wanted.learn(paths)
    return paths, [wanted.problem(path, message) for path, message in not_found]


def _no_events(options: Options) -> _tbtrace.Partial:
    trace = _tbtrace.read(_EMPTY)
    return trace.partial(group_by_stack_n=options.group_by_stack_n, stack_source=options.stack_source)


def _plain(column: Any) -> Any:
    """Without dictionaries and 64-bit offsets, which not all engines have. Batches of traces have
    different dictionaries."""
    import pyarrow

    def simple(kind: Any) -> Any:
        if pyarrow.types.is_dictionary(kind):
            return simple(kind.value_type)
        if pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind):
            return pyarrow.string()
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
            return pyarrow.list_(simple(kind.value_type))
        return pyarrow.int64() if pyarrow.types.is_unsigned_integer(kind) else kind

    return column.cast(simple(column.type))


def batches(paths: Sequence[str], wanted: Wanted) -> Iterator[pyarrow.RecordBatch]:
    """The rows of traces, one trace at a time."""
    for path in paths:
        yield from wanted.of(path).to_batches()
