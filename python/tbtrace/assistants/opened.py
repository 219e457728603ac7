"""An open trace, or those of a job: its tables, kept, with what was not recorded apart from what is not there."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tbtrace
from tbtrace import _sql, _tbtrace
from tbtrace.assistants import ids
from tbtrace.tab.refusal import Refusal

_MOST_TABLES = 24
_WARM = "gaps steps gpu kernels operators kernels_by_operator_name kernels_by_operator memory model occupancy".split()
_DEVICE = "device_activities"
# What the columns and the tables of these names are made of.
_COLUMNS = (
    (r"(self_|backward_)?device_(time|memory)|(kernel|runtime|memcpy|memset)_ns|gpu_|launched|idle_", _DEVICE),
    (r".*memory_(usage_)?bytes", "profile_memory"),
    (r".*(flops|macs|shapes|parameters)", "record_shapes"),
    (r"module.*", "with_modules"),
    (r"(source_)?line|stack", "with_stack"),
)
_TABLES = {
    **dict.fromkeys(("kernels", "gpu", "gaps", "occupancy", "communication"), _DEVICE),
    "memory": "profile_memory",
    "flops": "record_shapes",
    "lines": "with_stack",
    "modules": "with_modules",
}


class Events(NamedTuple):
    """Those of a trace, by the number in their ids."""

    everything: tbtrace.Table
    places: tbtrace.Table
    starts: array[int]
    durations: array[int]
    longest: array[int]  # their numbers, by duration


class Opened:
    """For any number of threads."""

    def __init__(
        self, trace_id: str, path: str, owner: tbtrace.Trace | tbtrace.TraceSet, left_out: Mapping[str, str]
    ) -> None:
        """`left_out`: files of a job that cannot be read, and why."""
        self.id = trace_id
        self.path = path
        self.owner = owner
        self.left_out = left_out
        self.traces: list[tbtrace.Trace] = [owner] if isinstance(owner, tbtrace.Trace) else list(owner)
        self._lock = threading.Lock()
        self._tables: OrderedDict[str, Any] = OrderedDict()
        self._events: dict[int, Events] = {}

    def __len__(self) -> int:
        """How many events: what the memory goes by."""
        return sum(len(trace) for trace in self.traces)

    @property
    def is_job(self) -> bool:
        return len(self.traces) > 1

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        with self._lock:
            return self.owner.summary().to_dict()

    @functools.cached_property
    def recorded(self) -> dict[str, str]:
        """What tables need: whether it is `recorded`, `not_recorded`, or in the traces of some ranks only."""
        runs = self.summary["run"]
        has: dict[str, list[bool]] = {_DEVICE: [run["device_activities"] > 0 for run in runs]}
        for option in runs[0]["recorded"]:
            has[option["option"]] = [
                any(one["has_data"] for one in run["recorded"] if one["option"] == option["option"]) for run in runs
            ]
        if any(has.get("with_stack", ())):  # with frames of Python there would be those of modules; old torch has none
            has["with_modules"] = [
                one or (other and "python_function" in set(trace.events(("kind",))["kind"].to_list()))
                for one, other, trace in zip(has["with_modules"], has["with_stack"], self.traces)
            ]
        return {
            what: "recorded" if all(flags) else "in_some_ranks" if any(flags) else "not_recorded"
            for what, flags in has.items()
        }

    def warm_up(self) -> None:
        """What the next questions are about, unless the program ends."""
        makers: list[Callable[[], object]] = [functools.partial(self.table, name) for name in _WARM]
        if not self.is_job:
            makers.insert(1, functools.partial(self.events, None))
        for make in makers:
            if threading.main_thread().is_alive():
                with contextlib.suppress(Refusal):  # who asks for it gets the sentence
                    make()

    def table(self, name: str) -> Any:
        """By its name in SQL, such as `kernels_by_operator`. Refusal if there is none."""
        with self._lock:
            table = self._tables.get(name)
            if table is None:
                call = _sql.call_named(name, self.owner)
                if call is None or call[0] == "events" or not hasattr(self.owner, call[0]):
                    raise Refusal(400, f"There is no such table; there are {', '.join(self.tables())}.")
                table, problem = _sql.table_named(name, self.owner)
                if table is None:
                    raise Refusal(400, problem)
                self._tables[name] = table
            self._tables.move_to_end(name)
            if len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
            return table

    def tables(self) -> list[str]:
        names = [name for name in _sql.names_of_tables() if name != "events" and hasattr(self.owner, name)]
        return [*names, "kernels_by_operator", "memory_alive"]

    def rows(self, name: str, sort_by: str | None = None, most: int = -1) -> list[dict[str, Any]]:
        """Of a table, in the order of the command line."""
        table = self.table(name)
        if sort_by is None and name.startswith("operators"):
            sort_by = f"self_{'cpu' if self.recorded[_DEVICE] == 'not_recorded' else 'device'}_time_total_ns"
        try:
            rows: list[dict[str, Any]] = json.loads(table.to_json(sort_by=sort_by, row_limit=most))["rows"]
        except ValueError as problem:
            raise Refusal(400, str(problem)) from None
        return rows

    def found(self, kind: str, made: str) -> list[dict[str, Any]]:
        """The rows of a thing with this id, of all traces."""
        name, columns = ids.table_of(kind)
        table = self.table(name)
        values = zip(*(table[column].to_list() for column in columns))
        return [table[number] for number, row in enumerate(values) if None not in row and ids.made(kind, *row) == made]

    def state_of(self, name: str) -> str:
        """Of a table without rows: `none`, or `not_recorded`."""
        call = _sql.call_named(name, self.owner)
        return "not_recorded" if self.lacks(_TABLES.get(call[0] if call else name)) else "none"

    def lacks(self, need: str | None) -> bool:
        """What was not recorded in any of the traces."""
        return need is not None and self.recorded.get(need) == "not_recorded"

    def unrecorded(self, columns: list[str], rows: list[dict[str, Any]]) -> list[str]:
        """Those of the columns that are empty, or 0, because what they need was not recorded."""
        return [
            column
            for column in columns
            if any(self.lacks(need) and re.fullmatch(f"({pattern}).*", column) for pattern, need in _COLUMNS)
            and not any(row.get(column) for row in rows)
        ]

    def unrecorded_in(self, query: str) -> list[str]:
        """Of the tables and columns that a query names: those that are empty for that reason."""
        words = set(_sql.words_of(query))
        has_all = "*" in re.sub(r"count\s*\(\s*\*\s*\)", "", query, flags=re.IGNORECASE)
        found: list[str] = []
        for name in _sql.names_in(query, self.owner):
            if name == "events":
                found += [need for need, state in self.recorded.items() if state == "not_recorded"]
                continue
            try:
                table = self.table(name)
            except Refusal:
                continue  # the word was that of a column
            if not len(table):
                found += [name] if self.state_of(name) == "not_recorded" else []
            elif columns := [column for column in table.columns if has_all or column in words]:
                found += self.unrecorded(columns, self.rows(name))
        return list(dict.fromkeys(found))

    def part(self, number: int | None) -> tbtrace.Trace:
        """A trace of a job by its number. Refusal if there is none."""
        if number is None and self.is_job:
            raise Refusal(400, "This is a job: say which of its traces, by `rank_number` or by /NUMBER after an id.")
        try:
            return self.traces[number or 0]
        except IndexError:
            raise Refusal(404, f"The job has {len(self.traces)} traces: numbers are from 0.") from None

    def events(self, number: int | None) -> Events:
        """Of a trace."""
        trace = self.part(number)
        with self._lock:
            kept = self._events.get(number or 0)
            if kept is None:
                everything = trace.events(None, arguments=_ARGUMENTS)
                places = trace.events(("name", "process", "thread", "thread_name", "parent"))
                starts, durations = array("q", everything["start_ns"]), array("q", everything["duration_ns"])
                longest = array("q", sorted(range(len(durations)), key=durations.__getitem__, reverse=True))
                kept = Events(everything, places, starts, durations, longest)
                self._events = {number or 0: kept}  # of one: they are large
            return kept


def _arguments() -> list[str]:
    """All that events can have, by what the signature says."""
    return sorted(set(re.findall(r"'([a-z_]+)'", str(_tbtrace.Trace.events.__annotations__["arguments"]))))


_ARGUMENTS: Any = _arguments()
