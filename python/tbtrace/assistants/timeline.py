"""A part of a trace as rows: what ran when, with neighbours of one name in one row."""

from __future__ import annotations

from typing import Any

from tbtrace.assistants import ids
from tbtrace.assistants.opened import Events

COLUMNS = ("track", "depth", "start_ns", "end_ns", "calls", "name", "id")
_MOST_LOOKED_AT = 2_000


def rows(
    events: Events, from_ns: int, to_ns: int, number: int | None
) -> tuple[list[dict[str, Any]], dict[str, int] | None]:
    """The longest first, and what is left out because there are too many events: how many, and how long at most.
    `id` is that of the first call."""
    table, starts, durations = events.places, events.starts, events.durations
    inside = [
        row
        for row in events.longest
        if starts[row] < to_ns and (starts[row] + durations[row] > from_ns or starts[row] >= from_ns)
    ]
    left = None
    if len(inside) > _MOST_LOOKED_AT:
        left = {"events": len(inside) - _MOST_LOOKED_AT, "longest_ns": durations[inside[_MOST_LOOKED_AT]]}
        del inside[_MOST_LOOKED_AT:]
    suffix = "" if number is None else f"/{number}"
    depths: dict[int, int] = {}
    last: dict[tuple[str, int], dict[str, Any]] = {}
    made = []
    for number_of_event in sorted(inside, key=lambda row: (starts[row], -durations[row], row)):
        event = table[number_of_event]
        start = starts[number_of_event]
        depth = depths[number_of_event] = depths.get(event["parent"], -1) + 1
        track = event["thread_name"] or f"{event['process']} {event['thread']}"
        row = last.get((track, depth))
        if row is not None and row["name"] == event["name"] and row["depth"] == depth:
            row["calls"] += 1
            row["end_ns"] = max(row["end_ns"], start + durations[number_of_event])
            row["busy_ns"] += durations[number_of_event]
            continue
        row = {
            "track": track,
            "depth": depth,
            "start_ns": start,
            "end_ns": start + durations[number_of_event],
            "calls": 1,
            "name": event["name"],
            "id": f"e:{number_of_event}{suffix}",
            "busy_ns": durations[number_of_event],
        }
        last[track, depth] = row
        for key in [key for key in last if key[0] == track and key[1] > depth]:
            del last[key]  # those inside of what ran before
        made.append(row)
    return sorted(made, key=lambda row: -row["busy_ns"]), left


def name_id(event: dict[str, Any]) -> str | None:
    """Of what runs in an event: its kernel or operator."""
    if event["kind"] == "kernel":
        return ids.made("k", event["name"])
    return ids.made("op", event["name"]) if event["kind"] == "cpu_op" else None
