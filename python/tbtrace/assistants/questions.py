"""What each tool answers. All figures are the package's own: here they are chosen and put into answers."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from tbtrace.assistants import ids
from tbtrace.assistants import timeline as slices
from tbtrace.assistants.answer import TOKENS, Answer, Sentence
from tbtrace.assistants.opened import Opened
from tbtrace.assistants.rows import findings_of, id_in_table, used, with_id
from tbtrace.assistants.session import Session
from tbtrace.tab.refusal import Refusal

_FEWEST_TOKENS_OF_A_ROW = 4
# Columns of tables that are shown if nobody names any.
_BRIEF = {
    "operators": "key count self_cpu_time_total_ns self_device_time_total_ns cpu_time_total_ns device_time_total_ns",
    "kernels": "short_name family count total_ns share_percent mean_ns launch_delay_mean_ns tensor_cores_used",
    "steps": "duration_ns kernel_ns communication_ns memcpy_ns data_loader_ns cpu_op_ns gpu_utilization outlier",
    "gpu": "device busy_share computation_ns communication_ns exposed_communication_ns memory_ns idle_ns idle_causes",
    "gaps": "device duration_ns why why_ns host operator before step",
    "memory": "device_name peak_bytes peak_at_ns peak_reserved_bytes growth_per_step_bytes largest_operator alive",
    "modules": "name path depth calls device_time_total_ns backward_device_time_ns cpu_time_total_ns parameters",
    "lines": "file line function calls self_device_time_ns self_cpu_time_ns cpu_time_total_ns device_memory_bytes",
    "flops": "name precision count flops flops_per_s peak_share bound device_time_total_ns",
    "model": "figure value how note",
    "collectives": "name group sequence ranks duration_ns wait_max_ns transfer_ns exposed_ns last_rank",
    "occupancy": "short_name count total_ns limit theoretical_percent occupancy_percent waves",
    "serving": "kind requests steps duration_ns tokens_per_s gpu_utilization host_median_ns launches_per_step",
}
_NEEDS = {  # of what a comparison is by
    "kernel": "device_activities",
    "module": "with_modules",
    "line": "with_stack",
    "shape": "record_shapes",
}
_TABLES_OF_CHANGES = {"kernel": ("kernels", "name"), "operator": ("operators", "key"), "line": ("lines", "source_line")}
_TABLES_OF_PARTS = {  # of a summary: the table that has more of it
    "slowest_step": "steps",
    "communication": "kernels",
    **{name: name for name in ("steps", "gpu", "kernels", "operators", "memory", "serving", "checks")},
}
_KEYS = "operator shape stack module line device stream thread family launch label".split()  # of groups


def open_trace(session: Session, path: str = "", after: int = 0, budget: int = TOKENS) -> Answer:
    answer = Answer(budget)
    if not path:
        files, problems = session.files.listed()
        answer.put_known(files_and_folders_that_cannot_be_read=problems or None)
        rows = [{"path": file.trace, "size_bytes": file.size} for file in files]
        answer.page("traces", ("path", "size_bytes"), rows[after:], len(rows), after)
        answer.suggest("open(path) of a trace, or of a folder with the ranks of a job")
        return answer
    opened = session.files.open(path)
    if after and not opened.is_job:
        raise Refusal(400, "after skips rows of a list: of all traces, without a path, or of those of a job.")
    known = opened.summary
    session.sql.prepare()
    threading.Thread(target=opened.warm_up).start()  # no daemon: the interpreter cannot end while the library works
    answer.put("trace", opened.id)
    _put_left_out(answer, opened)
    answer.put("recorded", opened.recorded)
    run = known["run"][0]
    if not opened.is_job:
        answer.put_known(**{key: run[key] for key in ("rank", "world_size", "host", "window_ns")})
    answer.put("devices", [device["name"] for device in run["devices"]])
    answer.put("events", len(opened))
    answer.put("steps", sum(steps["steps"] for steps in known["steps"]))
    answer.put("findings", len(known["findings"]))
    answer.put_known(issues=known["issues"] or None)
    if known["checks"]:
        answer.put("problems_of_the_recording", sorted({check["id"] for check in known["checks"]}))
    if opened.is_job:
        columns = ("number", "path", "rank", "host", "window_ns")
        rows = [{**one, "number": number, "path": one["input"]} for number, one in enumerate(known["run"])]
        answer.page("traces", columns, rows[after:], len(rows), after)
    answer.suggest(f'summary(trace="{opened.id}")')
    return answer


def summary(session: Session, trace: str, budget: int = TOKENS) -> Answer:
    opened = session.files.known(trace)
    known = opened.summary
    answer = Answer(budget)
    answer.put("trace", opened.id)
    _put_left_out(answer, opened)
    answer.put_known(issues=known["issues"] or None)
    findings = findings_of(opened)
    if findings:
        columns = ["id", "title", "severity", "share", "share_of", "gain_ns", "gain_per", "part_of"]
        answer.rows("findings", used(columns, findings), findings)
    else:
        answer.put("findings", "none")
        answer.put("looked_for", known["run"][0].get("looked_for"))
    parts: list[tuple[str, list[str], list[dict[str, Any]]]] = []
    lacking: dict[str, list[str]] = {"none": [], "not_recorded": []}
    for key in ("steps", "slowest_step", "gpu", "communication", "kernels", "operators", "memory", "serving", "checks"):
        rows = [with_id(row, opened, key) for row in known[key]]
        if not rows or (key == "steps" and not any(row["steps"] for row in rows)):
            lacking[opened.state_of(key)].append(key)
            continue
        gone = {*opened.unrecorded(list(rows[0]), rows), "name", "origin_count", "origin_ns", "dropped_steps"}
        gone |= {"cause", "remedy", "example"} if key == "checks" else set()
        gone |= set() if opened.is_job else {"trace", "rank"}
        columns = [column for column in rows[0] if column not in gone]
        parts.append((key, used(columns, rows), rows))
    missing = [what for what, state in opened.recorded.items() if state == "not_recorded"]
    answer.put("not_recorded", [*missing, *lacking["not_recorded"]] or "all was")
    answer.put("none", lacking["none"])
    for key, columns, rows in parts:
        answer.rows(key, columns, rows)
    if findings:
        answer.suggest(f'finding(trace="{opened.id}", id="{findings[0]["id"]}")')
    for key in [key for key in answer.left if key in _TABLES_OF_PARTS][:1]:
        answer.suggest(f'table(trace="{opened.id}", what="{_TABLES_OF_PARTS[key]}")')
    return answer


def table(
    session: Session,
    trace: str,
    what: str,
    columns: str = "",
    filter: str = "",
    sort_by: str | None = None,
    after: int = 0,
    budget: int = TOKENS,
) -> Answer:
    opened = session.files.known(trace)
    made = opened.table(what)
    answer = Answer(budget)
    answer.put("table", what)
    answer.put_known(traces_that_cannot_be_read=len(opened.left_out) or None)
    if not len(made):
        answer.put("rows", opened.state_of(what))
        _notes(answer, made)
        return answer
    # The first rows suffice if none is left out and there is room for no more of them.
    rows = opened.rows(what, sort_by, -1 if filter else after + budget // _FEWEST_TOKENS_OF_A_ROW)
    said = {"checks": ("cause", "remedy"), "model": ("how", "note")}.get(what, ())
    rows = [
        {**row, **{key: Sentence(row[key]) for key in said if row[key]}, "id": id_in_table(what, row, opened)}
        for row in rows
    ]
    total = len(made)
    if filter:
        rows = [row for row in rows if _has(row, filter)]
        total = len(rows)
        answer.put("of_rows", len(made))
        if not rows:
            answer.put("rows", "none")
            return answer
    names = _columns(what, columns, rows, opened)
    gone = opened.unrecorded(names, rows)
    answer.put_known(not_recorded=gone or None)
    names = [name for name in names if name not in gone]
    if not columns:
        names = used(names, rows)
    _notes(answer, made)
    if not filter and not after and made.totals:
        missing = opened.unrecorded(list(made.totals), [dict(made.totals)])
        answer.put("totals", {key: value for key, value in made.totals.items() if key not in missing and value})
    answer.page("rows", names, rows[after:], total, after)
    return answer


def timeline(
    session: Session,
    trace: str,
    from_ns: int,
    to_ns: int,
    rank_number: int | None = None,
    after: int = 0,
    budget: int = TOKENS,
) -> Answer:
    opened = session.files.known(trace)
    if to_ns <= from_ns:
        raise Refusal(400, "to_ns is after from_ns.")
    window = opened.part(rank_number).window_ns
    answer = Answer(budget)
    rows, left = slices.rows(opened.events(rank_number), from_ns, to_ns, rank_number if opened.is_job else None)
    if not rows:
        answer.put("rows", "none")
        answer.put("window_ns", window)
        return answer
    answer.put_known(without_the_shortest=left)
    answer.page("rows", (*slices.COLUMNS, "busy_ns"), rows[after:], len(rows), after)
    return answer


def compare(session: Session, base: str, new: str, by: str = "part", after: int = 0, budget: int = TOKENS) -> Answer:
    before, later = session.files.known(base), session.files.known(new)
    diff = session.diff(before, later)
    known = diff.to_dict()
    answer = Answer(budget)
    answer.put_known(traces_that_cannot_be_read=len(before.left_out) + len(later.left_out) or None)
    for key in ("verdict", "comparable", "reasons", "why", "sentence", "same_recording"):
        if known.get(key) not in (None, "", []):
            answer.put(key, known[key], 800)
    step = {key: value for key, value in known["step"].items() if value is not None}
    change = step.pop("change", None)
    if step.get("base_ns") and step.get("new_ns"):  # else there is no step on one of the sides
        step["change_share"] = change
    answer.put("step", step)
    if known["comparable"] == "no":
        return answer
    rows = json.loads(diff.table(by).to_json())["rows"]
    rows = [row for row in rows if row["change_ns"]]
    made = _ids_of_changes(by, (before, later))
    rows = [{**row, "id": made.get(row["key"])} for row in rows]
    columns = "id key base_ns new_ns change_ns low_ns high_ns share verdict base_count new_count".split()
    answer.put_known(unattributed_ns=known.get("unattributed_ns"))
    quantities = [row for row in diff.quantities().to_dicts() if row["base"] != row["new"]]
    if quantities:
        shown = used(["name", "base", "new", "low", "high"], quantities)
        answer.rows("other_quantities", shown, quantities)
    sides = [side for side, one in (("base", before), ("new", later)) if one.lacks(_NEEDS.get(by))]
    answer.put_known(not_recorded={side: _NEEDS[by] for side in sides} or None)
    if sides and not rows:
        answer.put(f"changes_by_{by}", "not_recorded")
        return answer
    answer.page(f"changes_by_{by}", used(columns, rows), rows[after:], len(rows), after)
    return answer


def sql(session: Session, trace: str, query: str, after: int = 0, budget: int = TOKENS) -> Answer:
    opened = session.files.known(trace)
    owner: Any = opened.owner
    made = json.loads(session.sql.answer(opened.id, lambda: owner, query))["table"]
    columns = [
        [column["texts"][value] if "texts" in column and value is not None else value for value in column["values"]]
        for column in made["columns"]
    ]
    keys = [column["key"] for column in made["columns"]]
    rows = [dict(zip(keys, values)) for values in zip(*columns)]
    answer = Answer(budget)
    answer.put_known(traces_that_cannot_be_read=len(opened.left_out) or None)
    answer.put_known(notes=made["notes"] or None, not_recorded=opened.unrecorded_in(query) or None)
    answer.page("rows", keys, rows[after:], len(rows), after)
    return answer


def _put_left_out(answer: Answer, opened: Opened) -> None:
    """The ranks of a job that no answer about it has."""
    rows = [{"path": path, "why": Sentence(why)} for path, why in sorted(opened.left_out.items())]
    if rows:
        answer.rows("traces_that_cannot_be_read", ("path", "why"), rows)


def _ids_of_changes(by: str, sides: Iterable[Opened]) -> dict[str, str | None]:
    """By the keys of a comparison. Modules have none: it adds up those that differ in their number."""
    name, column = _TABLES_OF_CHANGES.get(by, ("", ""))
    made: dict[str, str | None] = {}
    for opened in sides if name else ():
        with contextlib.suppress(Refusal):  # a job has no such table
            made.update({row[column]: ids.of_row(row) for row in opened.table(name).to_dicts()})
    return made


def _columns(what: str, asked_for: str, rows: list[dict[str, Any]], opened: Opened) -> list[str]:
    there = list(rows[0])
    if asked_for == "*":
        return ["id", *(name for name in there if name != "id")]
    if asked_for:
        names = [name.strip() for name in asked_for.split(",")]
        unknown = [name for name in names if name not in there]
        if unknown:
            raise Refusal(400, f"There is no column {unknown[0][:60]!r}; there are {', '.join(there)}.")
        return names
    brief = _BRIEF.get(re.split(r"_by_|_(?=alive|curve|allocations|peak)", what)[0], "").split()
    chosen = [name for name in (*_KEYS, *brief) if name in there]
    if len(chosen) < 3:
        chosen = there
    if "name" in there and not all(row["id"] for row in rows):
        chosen = ["name", *chosen]  # of rows without an id
    ranks = ["rank"] if opened.is_job and "rank" in there else []
    return ["id", *ranks, *(name for name in dict.fromkeys(chosen) if name not in ("id", "rank", "input"))]


def _has(row: Mapping[str, Any], text: str) -> bool:
    if row["id"] == text or (row["id"] or "").split("/")[0] == text:
        return True
    return any(isinstance(value, str) and text.lower() in value.lower() for value in row.values())


def _notes(answer: Answer, table: Any) -> None:
    if table.notes:
        answer.put("notes", list(table.notes), 300)
