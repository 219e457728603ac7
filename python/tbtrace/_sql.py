"""SQL over the tables of a trace, a set of traces or a job, by DuckDB."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from tbtrace import _tbtrace


_PARTS_OF_DIFF = "part operator shape kernel module line".split()
_QUOTED_OR_UNREAD = re.compile(
    r"""("(?:[^"]|"")*")|--[^\n]*|/\*.*?\*/|e'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'""", re.DOTALL
)
_OPERATOR_KEYS = "name shape stack overload_name module line device stream thread rank step".split()


def answer(owner: Any, query: str) -> Any:
    """A relation of DuckDB. The tables that the query names are made for it, no others."""
    try:
        import duckdb
    except ModuleNotFoundError as missing:
        if missing.name != "duckdb":
            raise
        raise ModuleNotFoundError("sql() needs DuckDB: pip install duckdb", name="duckdb") from None
    connection = duckdb.connect()
    problems = []
    for name in words_of(query):
        # A word may also be a column: its table is made, and not used.
        table, problem = table_named(name, owner)
        if table is not None:
            connection.register(name, table)
        elif problem:
            problems.append(problem)
    try:
        return connection.sql(query)
    except duckdb.CatalogException as unknown:
        why = "; ".join(problems) or f"the tables are {_tables_of(owner)}"
        raise ValueError(f"{str(unknown).splitlines()[0]} ({why})") from None
    except duckdb.Error as failure:
        raise ValueError(str(failure)) from None


def words_of(query: str) -> list[str]:
    """What may be names of tables: words outside of comments and texts."""
    kept = _QUOTED_OR_UNREAD.sub(lambda match: match[1] or " ", query.lower())
    return sorted(set(re.findall(r"[a-z_]+", kept)))


def names_in(query: str, owner: Any) -> list[str]:
    """The tables of this owner that a query may name."""
    calls = {name: call_named(name, owner) for name in words_of(query)}
    return [name for name, call in calls.items() if call is not None and hasattr(owner, call[0])]


def table_named(name: str, owner: Any) -> tuple[Any, str]:
    """The table of this name, and why it cannot be made; neither if it is not the name of one."""
    call = call_named(name, owner)
    if call is None or not hasattr(owner, call[0]):
        return None, ""
    try:
        return _exact(owner, *call), ""
    except (ValueError, _tbtrace.TraceError) as problem:
        return None, str(problem)


def tables_of_traces() -> list[tuple[str, list[str]]]:
    """The names of a trace's tables, with their columns as far as they are known without the trace."""
    methods = {"ops": "operators", "check": "checks"}
    columns = {methods.get(table["name"], table["name"]): table["columns"] for table in _tbtrace.tables()}
    return [
        (name, [column["name"] for column in columns.get(name, [])])
        for name in names_of_tables()
        if hasattr(_tbtrace.Trace, name)
    ]


def command(words: Sequence[str]) -> int:
    """`tbtrace sql TRACE... "select ..."`; returns the exit code."""
    parser = argparse.ArgumentParser("tbtrace sql", description="Answers a query in SQL about traces, by DuckDB.")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="a trace, or a directory of ranks")
    parser.add_argument("query", help="such as 'select name, total_ns from kernels'; 'select * from steps'")
    given = parser.parse_args(words)
    try:
        traces = _tbtrace.TraceSet.open(given.traces)
        relation = answer(traces if len(traces) > 1 else traces[0], given.query)
        if relation is None:
            raise ValueError("the query has no result; it takes a select")
        sys.stdout.write(f"{relation}\n")
        for path, message in traces.unread:
            sys.stderr.write(f"tbtrace: {path}: {message}\n")
        return 4 if traces.unread else 0
    except ValueError as problem:
        sys.stderr.write(f"tbtrace: sql: {problem}\n")
        return 2
    except (_tbtrace.TraceError, OSError, ImportError) as problem:
        sys.stderr.write(f"tbtrace: sql: {problem}\n")
        return 3


def names_of_tables() -> list[str]:
    """Those of the methods: `operators`, not `ops`."""
    methods = {"ops": "operators", "check": "checks"}
    names = [methods.get(table["name"], table["name"]) for table in _tbtrace.tables()]
    return [*names, "events", "clocks", "stragglers"]


def _tables_of(owner: Any) -> str:
    if isinstance(owner, _tbtrace.Diff):
        return ", ".join([*_PARTS_OF_DIFF, "quantities"])
    names = ", ".join(name for name in names_of_tables() if hasattr(owner, name))
    return f"{names}; also kernels_by_operator, memory_curve and so on"


def call_named(name: str, owner: Any = None) -> tuple[str, dict[str, Any]] | None:
    """The method and the arguments of a table's name: `kernels`, `kernels_by_step_operator`, `memory_curve`, `operator`
    of a Diff; None if it is not the name of one."""
    if isinstance(owner, _tbtrace.Diff):
        return ("table", {"by": name}) if name in _PARTS_OF_DIFF else (name, {}) if name == "quantities" else None
    if name in names_of_tables():
        return name, {}
    options = [(table["name"], option) for table in _tbtrace.tables() for option in table["options"]]
    operators = {"name": "group_by", "choices": _OPERATOR_KEYS, "type": "Sequence"}
    for method, option in [("operators", operators), *options]:
        if option["name"] == "view" and name in [f"{method}_{view}" for view in option["choices"]]:
            return method, {"view": name.removeprefix(f"{method}_")}
        keys = "|".join(sorted(option["choices"], key=len, reverse=True))
        if option["name"] == "group_by" and re.fullmatch(rf"{method}_by(_({keys}))+", name):
            group_by = re.findall(rf"_({keys})", name.removeprefix(f"{method}_by"))
            if len(group_by) == 1 or "Sequence" in option["type"]:
                return method, {"group_by": group_by[0] if len(group_by) == 1 else group_by}
    return None


def _exact(owner: Any, method: str, arguments: dict[str, Any]) -> Any:
    if method == "operators":
        arguments = arguments | {"figures": "exact"}
    return getattr(owner, method)(**arguments)
