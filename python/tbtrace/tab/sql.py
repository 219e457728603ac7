"""SQL over the tables of a trace. DuckDB answers in a process of its own, with bounds on time and memory."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import tbtrace
from tbtrace import _sql
from tbtrace.tab.refusal import Refusal

LONGEST_QUERY = 10_000
MOST_ROWS = 5_000
MOST_SECONDS = 10.0
MOST_BYTES = 512 << 20
MOST_TABLES = 16
_DATABASES = 4
_AT_ONCE = 2
_PROCESS = pathlib.Path(__file__).with_name("sql_process.py")


class _Database:
    """Tables of a trace in a file, made when a query names them."""

    def __init__(self, folder: str, number: int) -> None:
        self.path = pathlib.Path(folder) / f"{number}.duckdb"
        self.lock = threading.Lock()
        self.names: set[str] = set()
        self.problems: dict[str, str] = {}

    def make(self, trace: tbtrace.Trace, query: str) -> None:
        names = _sql.names_in(query, trace)
        if len(names) > MOST_TABLES:
            raise Refusal(400, f"The query names {len(names)} tables: at most {MOST_TABLES} can be in one.")
        new = [name for name in names if name not in self.names]
        if not new and self.path.exists():
            return
        import duckdb

        end = time.monotonic() + MOST_SECONDS
        config: Any = {"memory_limit": f"{2 * MOST_BYTES}B", "threads": "2"}
        with contextlib.closing(duckdb.connect(str(self.path), config=config)) as connection:
            for name in new:
                if time.monotonic() > end:
                    raise Refusal(400, "To make the tables of the query takes too long: name fewer, or ask again.")
                table, problem = _sql.table_named(name, trace)
                if problem:
                    self.problems[name] = problem
                if table is None:
                    continue
                connection.register("made_table", table)
                try:
                    connection.execute(f'create table "{name}" as select * from made_table')
                except duckdb.Error as failure:
                    raise Refusal(400, f"The table {name} cannot be queried: {failure}") from None
                connection.unregister("made_table")
                self.names.add(name)

    def remove(self) -> None:
        with self.lock:
            self.names.clear()  # whoever waits for it makes them again
            for path in self.path.parent.glob(self.path.name + "*"):
                path.unlink(missing_ok=True)


class Sql:
    """For any number of threads. `is_quick`: a process waits for the next query, with the memory that it takes."""

    def __init__(self, is_quick: bool = False) -> None:
        self._is_quick = is_quick
        self._waiting: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _end, self._waiting)
        self._lock = threading.Lock()
        self._running = threading.BoundedSemaphore(_AT_ONCE)
        self._databases: OrderedDict[Hashable, _Database] = OrderedDict()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def answer(self, key: Hashable, read: Callable[[], tbtrace.Trace], query: str) -> bytes:
        """`tbtrace.sql/1`. `key` is another one for another content."""
        if importlib.util.find_spec("duckdb") is None:
            raise Refusal(
                501, "SQL needs DuckDB: run `pip install duckdb` in this program's environment, then start it again."
            )
        if len(query) > LONGEST_QUERY:
            raise Refusal(400, f"The query is longer than {LONGEST_QUERY:,} characters.")
        with self._running, self._database(key) as database:
            database.make(read(), query)
            answer = self._answered(database.path, query)
            problems = "; ".join(database.problems.values())
        if "error" in answer:
            raise Refusal(400, _sentence(answer, problems))
        if not answer["columns"]:
            raise Refusal(400, "The query has no result: it takes a select.")
        return _document(answer)

    def prepare(self) -> None:
        """Before the first query, where it shall be quick."""
        if self._is_quick and not self._waiting and importlib.util.find_spec("duckdb") is not None:
            self._waiting.append(_started())

    def close(self) -> None:
        """Leaves nothing on the disk, whatever is being answered."""
        _end(self._waiting)
        if self._folder is not None:
            self._folder.cleanup()

    @contextlib.contextmanager
    def _database(self, key: Hashable) -> Iterator[_Database]:
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="tbtrace-sql-", ignore_cleanup_errors=True)
            database = self._databases.get(key)
            if database is None:
                self._count += 1
                database = self._databases[key] = _Database(self._folder.name, self._count)
            self._databases.move_to_end(key)
            oldest = self._databases.popitem(last=False)[1] if len(self._databases) > _DATABASES else None
        if oldest is not None:
            oldest.remove()
        with database.lock:
            yield database

    def _answered(self, database: pathlib.Path, query: str) -> dict[str, Any]:
        given = {
            "database": str(database),
            "query": query,
            "most_rows": MOST_ROWS,
            "most_bytes": MOST_BYTES,
            "most_seconds": MOST_SECONDS,
        }
        try:
            process = self._waiting.pop()
        except IndexError:
            process = _started()
        if process.poll() is not None:  # somebody ended it
            process.communicate()
            process = _started()
        with process:
            try:
                out, err = process.communicate(json.dumps(given).encode(), timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Refusal(400, f"The query took longer than {MOST_SECONDS:.0f} s and was stopped.") from None
        self.prepare()
        try:
            answer: dict[str, Any] = json.loads(out)
        except ValueError:
            if b"Memory" not in err and b"bad_alloc" not in err and process.returncode >= 0:
                raise RuntimeError(err.decode(errors="replace")[-2000:]) from None
            return {"error": "out of memory"}
        return answer


def tables() -> bytes:
    """`tbtrace.sql_tables/1`: the names that queries know, with their columns."""
    has_duckdb = importlib.util.find_spec("duckdb") is not None
    known = [{"name": name, "columns": columns} for name, columns in _sql.tables_of_traces()]
    return json.dumps({"schema": "tbtrace.sql_tables/1", "has_duckdb": has_duckdb, "tables": known}).encode()


def _started() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, str(_PROCESS)], stdin=pipe, stdout=pipe, stderr=pipe)


def _end(waiting: list[subprocess.Popen[bytes]]) -> None:
    for process in waiting:
        process.kill()
        process.communicate()


def _sentence(answer: dict[str, Any], problems: str) -> str:
    text = str(answer["error"])
    if "out of memory" in text.lower() or "failed to allocate" in text.lower():
        return f"The query needs more than {MOST_BYTES >> 20} MB: select fewer rows or columns."
    if "file system operations are disabled" in text or "disabled through configuration" in text:
        return "Queries read the tables of the trace, and nothing else: no files, no network, no extensions."
    if answer.get("is_catalog"):
        names = ", ".join(name for name, _ in _sql.tables_of_traces())
        return f"{text.splitlines()[0]} ({problems or f'the tables are {names}'})"
    return text[:1000]


def _document(answer: dict[str, Any]) -> bytes:
    columns = [{"unit": "", "meaning": "", **column} for column in answer["columns"]]
    seen: dict[str, int] = {}
    for column in columns:  # DuckDB allows two columns of one name
        count = seen[column["key"]] = seen.get(column["key"], 0) + 1
        column["key"] += f"_{count}" if count > 1 else ""
    more = f"Only the first {MOST_ROWS:,} rows are shown: filter or aggregate in the query, or give it a limit."
    table: dict[str, Any] = {
        "name": "sql",
        "title": "Result",
        "command": None,
        "rows": len(columns[0]["values"]),
        "left_out": 0,
        "names_cut": 0,
        "sort_by": None,
        "shown": [],
        "tree": None,
        "columns": columns,
        "totals": {},
        "totals_label": "",
        "notes": [more] if answer["has_more"] else [],
        "empty": "the query found no rows",
    }
    return json.dumps({"schema": "tbtrace.sql/1", "table": table}).encode()
