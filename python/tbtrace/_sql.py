"""SQL over the tables of a trace, a set of traces or a job, by DuckDB."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from tbtrace import _tbtrace


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
    for name in names_of_tables():
        # A word may also be a column or a text: its table is made, and not used.
        if not hasattr(owner, name) or not re.search(rf"\b{name}\b", query, re.IGNORECASE):
            continue
        try:
            connection.register(name, _exact(owner, name))
        except (ValueError, _tbtrace.TraceError) as problem:
            problems.append(str(problem))
    try:
        return connection.sql(query)
    except duckdb.CatalogException as problem:
        there = ", ".join(name for name in names_of_tables() if hasattr(owner, name))
        why = "; ".join(problems) if problems else f"the tables are {there}"
        raise ValueError(f"{str(problem).splitlines()[0]} ({why})") from None
    except duckdb.Error as problem:
        raise ValueError(str(problem)) from None


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


def _exact(owner: Any, name: str) -> Any:
    return owner.operators(figures="exact") if name == "operators" else getattr(owner, name)()
