#!/usr/bin/env python3
"""How long do answers of the server for assistants take?

    speed.py TRACE [--rounds N]

Medians of N rounds (5), each with a server of its own, in this process: `open`, which is the first answer, then what an
assistant asks next. After `open` and before `sql` it waits a second, as an assistant does. Nothing besides the
package, and DuckDB.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import time

from tbtrace.assistants.files import Files
from tbtrace.assistants.tools import Tools


def follow_ups(trace: str, finding: str) -> list[tuple[str, dict[str, object]]]:
    tables = "steps gpu gaps kernels kernels_by_operator operators memory".split()
    return [
        ("summary", {"trace": trace}),
        ("finding", {"trace": trace, "id": finding}),
        *(("table", {"trace": trace, "what": what}) for what in tables),
        ("event", {"trace": trace, "id": "e:1000"}),
        ("timeline", {"trace": trace, "from_ns": 0, "to_ns": 10**8}),
        ("compare", {"base": trace, "new": trace}),
        ("compare", {"base": trace, "new": trace, "by": "operator"}),
        ("sql", {"trace": trace, "query": "select count(*) from kernels"}),
        ("sql", {"trace": trace, "query": "select sum(total_ns) from kernels"}),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    times: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        tools = Tools(Files([str(given.trace.parent)]))

        def ask(name: str, tool: str, arguments: dict[str, object]) -> dict[str, object]:
            start = time.perf_counter()
            text, is_answer = tools.call(tool, arguments)
            times.setdefault(name, []).append((time.perf_counter() - start) * 1e3)
            assert is_answer, text
            found: dict[str, object] = json.loads(text)
            return found

        opened = ask("open", "open", {"path": given.trace.name})
        time.sleep(1)
        trace = str(opened["trace"])
        findings = json.loads(tools.call("summary", {"trace": trace})[0])["findings"]
        for number, (tool, arguments) in enumerate(follow_ups(trace, findings[1][0])):
            time.sleep(1 if tool == "sql" else 0)
            ask(f"{tool} {arguments.get('what') or arguments.get('by') or ''} ({number})", tool, arguments)
    for name, each in times.items():
        print(f"{name:32}{statistics.median(each):8.1f} ms, {min(each):8.1f} at least")


if __name__ == "__main__":
    main()
