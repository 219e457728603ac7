"""Ids of what answers show. They are the same in each answer, run and process, and the next question can name them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

_KINDS = {
    # of an id: the table that has it, the columns that it is made of
    "k": ("kernels", ("name",)),
    "op": ("operators", ("key",)),
    "m": ("modules", ("path",)),
    "l": ("lines", ("file", "line", "function")),
    "step": ("steps", ("step",)),
    "gap": ("gaps", ("device", "start_ns")),
}
_PLAIN = ("step", "gap")  # of numbers, which the id shows
_FORM = re.compile(r"(f|k|op|m|l|step|gap|e):([^/\s]{1,100})(?:/(\d{1,6}))?", re.ASCII)


def made(kind: str, *values: object) -> str:
    """Of one of these kinds."""
    text = "@".join(str(value) for value in values)
    if kind in _PLAIN:
        return f"{kind}:{text}"
    return f"{kind}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


def of_row(row: Mapping[str, Any]) -> str | None:
    """What a row is about, by the columns that it has; None if nothing has an id."""
    for kind, (_, columns) in _KINDS.items():
        if kind == "step" and "host_duration_ns" not in row:
            continue  # others have a column `step`, too
        if kind == "gap" and "why_ns" not in row:
            continue
        if kind == "k" and not {"short_name", "family"} & row.keys():
            continue
        values = [row.get(column) for column in columns]
        if None not in values:
            return made(kind, *values)
    return made("op", row["operator"]) if row.get("operator") else None


def parsed(text: str) -> tuple[str, str, int | None]:
    """Its kind, the rest, and the number of the trace in a folder of ranks. ValueError if it is not an id."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError("An id is one that an answer has, such as f:launch_bound, k:1a2b3c4d, step:5 or e:1000.")
    return match[1], match[2], None if match[3] is None else int(match[3])


def table_of(kind: str) -> tuple[str, tuple[str, ...]]:
    """Where a thing of this kind is a row."""
    return _KINDS[kind]
