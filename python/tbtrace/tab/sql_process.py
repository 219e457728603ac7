"""Answers one query in a process of its own, which has a database file and nothing else of the machine.

The program that starts it writes {"database", "query", "most_rows", "most_bytes", "most_seconds"} to its input, and
reads {"columns": ...} or {"error": "a sentence"} from its output. It ends with that program, however that ends. Nothing
of tbtrace is imported here.
"""

from __future__ import annotations

import decimal
import json
import math
import os
import resource
import sys
import threading
import time
from typing import Any

sys.path[:] = sys.path[1:]  # of this file's folder, whose modules have names that others may have

_LONGEST_TEXT = 500
_EXACT = 2**53
_THREADS = 2


def main() -> None:
    asker = os.getppid()
    import duckdb  # before there is a question: a process that waits for one has done the slow part

    text = sys.stdin.read()
    if not text:
        return  # nobody asked
    threading.Thread(target=_end_with, args=(asker,), daemon=True).start()
    given = json.loads(text)
    # DuckDB counts what it holds, but not what a function such as repeat() makes in between.
    most = int(given["most_bytes"])
    resource.setrlimit(resource.RLIMIT_AS, (3 * most, 3 * most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = _THREADS * math.ceil(given["most_seconds"]) + 5  # of all threads, with the start
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    connection = duckdb.connect(
        given["database"],
        read_only=True,
        config={
            "enable_external_access": "false",
            "python_enable_replacements": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "memory_limit": f"{most}B",
            "max_temp_directory_size": "0B",
            "temp_directory": "",
            "threads": str(_THREADS),
        },
    )
    connection.execute("set lock_configuration=true")
    try:
        connection.execute(given["query"])
        rows = connection.fetchmany(given["most_rows"] + 1) if connection.description else []
        answer: dict[str, Any] = {
            "columns": [
                _column(name, [row[place] for row in rows[: given["most_rows"]]])
                for place, (name, *_) in enumerate(connection.description or [])
            ],
            "has_more": len(rows) > given["most_rows"],
        }
    except MemoryError:
        answer = {"error": "out of memory"}
    except duckdb.Error as problem:
        answer = {"error": str(problem), "is_catalog": isinstance(problem, duckdb.CatalogException)}
    json.dump(answer, sys.stdout)


def _end_with(asker: int) -> None:
    """DuckDB lets this thread run while it works."""
    while os.getppid() == asker:
        time.sleep(0.2)
    os._exit(1)


def _column(name: str, values: list[Any]) -> dict[str, Any]:
    """As pages have columns: docs/formats/views.md."""
    values = [float(value) if isinstance(value, decimal.Decimal) else value for value in values]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return {"key": name, "type": "flag", "values": values}
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        if all(abs(value) <= _EXACT for value in known):
            return {"key": name, "type": "number", "values": values}
        return {"key": name, "type": "integer", "values": [None if value is None else str(value) for value in values]}
    if known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        finite = [None if value is None or not math.isfinite(value) else value for value in values]
        return {"key": name, "type": "number", "values": finite}
    texts: dict[str, int] = {}
    places = [None if value is None else texts.setdefault(_text(value), len(texts)) for value in values]
    return {"key": name, "type": "text", "values": places, "texts": list(texts)}


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "\u2026"


if __name__ == "__main__":
    main()
