"""Rows of answers, with the ids of what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tbtrace.assistants import ids
from tbtrace.assistants.opened import Opened


def findings_of(opened: Opened) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    for one in opened.summary["findings"]:
        number = f"/{one['trace']}" if opened.is_job and one["trace"] is not None else ""
        name = f"f:{one['id']}"
        count = counts[name + number] = counts.get(name + number, 0) + 1
        name += f"-{count}" if count > 1 else ""
        part_of = one.get("part_of") and f"f:{one['part_of']}{number}"
        made.append({**one, "id": name + number, "part_of": part_of})
    return made


def with_id(row: Mapping[str, Any], opened: Opened, key: str) -> dict[str, Any]:
    made = {"id": None, **row}
    if key in ("kernels", "operators"):
        made["id"] = ids.made("k", row["name"]) if key == "kernels" else ids.made("op", row["key"])
    elif key == "slowest_step" and row.get("step") is not None:
        made["id"] = ids.made("step", row["step"]) + (f"/{row['trace']}" if opened.is_job else "")
    elif key == "checks":
        made["id"] = id_of_check(row, opened)
    return made


def id_of_check(row: Mapping[str, Any], opened: Opened) -> str:
    return f"f:{row['id']}" + (f"/{row['trace']}" if opened.is_job else "")


def id_in_table(what: str, row: Mapping[str, Any], opened: Opened) -> str | None:
    return _with_number(f"f:{row['id']}" if what == "checks" else ids.of_row(row), row, opened)


def number_of(row: Mapping[str, Any], opened: Opened) -> int | None:
    """That of the trace in a job that a row is of."""
    inputs = [run["input"] for run in opened.summary["run"]] if opened.is_job else []
    return inputs.index(row["input"]) if row.get("input") in inputs else None


def _with_number(made: str | None, row: Mapping[str, Any], opened: Opened) -> str | None:
    """Of what is in one of the traces of a job."""
    number = number_of(row, opened)
    return made if made is None or number is None else f"{made}/{number}"


def used(columns: list[str], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Those that have a value in one row at least."""
    seen = list(rows)
    return [column for column in columns if any(row.get(column) is not None for row in seen)]
