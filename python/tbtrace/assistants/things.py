"""All about one thing that has an id: a finding, an event, a row of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tbtrace.assistants import ids
from tbtrace.assistants import timeline as slices
from tbtrace.assistants.answer import TOKENS, Answer
from tbtrace.assistants.opened import Opened
from tbtrace.assistants.rows import findings_of, id_of_check, number_of, used
from tbtrace.assistants.session import Session
from tbtrace.tab.refusal import Refusal

_WHOLE_TEXT = 4_000


def finding(session: Session, trace: str, id: str, budget: int = TOKENS) -> Answer:
    opened = session.files.known(trace)
    answer = Answer(budget)
    known = {one["id"]: one for one in findings_of(opened)}
    checks = {id_of_check(check, opened): check for check in opened.summary["checks"]}
    if id not in known and id not in checks:
        looked_for = ", ".join(opened.summary["run"][0].get("looked_for", ()))
        raise Refusal(
            404,
            f"There is no such finding; there are {', '.join([*known, *checks]) or 'none'}. Looked for: {looked_for}.",
        )
    one = known.get(id) or checks[id]
    answer.put("id", id)
    for key in (
        "title",
        "severity",
        "share",
        "share_of",
        "gain_ns",
        "gain_per",
        "gain_how",
        "remedy",
        "cause",
        "count",
        "example",
        "part_of",
    ):
        if one.get(key) is not None:
            answer.put(key, one[key], 600)
    answer.put_known(causes=[f"f:{cause}" for cause in one.get("causes") or ()] or None)
    evidence = []
    for row in one.get("evidence", ()):
        value = {f"value_{row['unit']}" if row["unit"] else "value": row["value"]}
        evidence.append({"what": row["what"], **value, **{key: row[key] for key in ("event", "start_ns", "end_ns")}})
    columns = list(dict.fromkeys(key for row in evidence for key in row))
    if evidence:
        answer.rows("evidence", used(columns, evidence), evidence, longest=240)
    number = one.get("trace") if opened.is_job else None
    for row in evidence:
        if row["start_ns"] is not None and row["end_ns"] is not None:
            rank = "" if number is None else f", rank_number={number}"
            answer.suggest(f'timeline(trace="{opened.id}", from_ns={row["start_ns"]}, to_ns={row["end_ns"]}{rank})')
            break
    return answer


def event(session: Session, trace: str, id: str, budget: int = TOKENS) -> Answer:
    opened = session.files.known(trace)
    kind, text, number = ids.parsed(id)
    if kind == "f":
        return finding(session, trace, id, budget)
    answer = Answer(budget)
    answer.put("id", id)
    if kind == "e":
        _put_event(answer, opened, text, number)
        return answer
    name, keys = ids.table_of(kind)
    rows = [row for row in opened.found(kind, f"{kind}:{text}") if number is None or number_of(row, opened) == number]
    if not rows:
        raise Refusal(404, _why_not_found(opened, name))
    gone = opened.unrecorded(list(rows[0]), rows)
    answer.put_known(not_recorded=gone or None)
    names = used([name for name in rows[0] if name not in gone], rows)
    if len(rows) == 1:
        for key in names:
            answer.put(key, rows[0][key], _WHOLE_TEXT if key in keys else 200)
    else:
        answer.rows("rows", names, rows)
    if kind in ("k", "op") and opened.recorded["device_activities"] != "not_recorded":
        _put_other_side(answer, opened, kind, rows[0])
    if kind in ("step", "gap"):
        start = rows[0]["start_ns"]
        rank = "" if number is None else f", rank_number={number}"
        end = start + rows[0]["duration_ns"]
        answer.suggest(f'timeline(trace="{opened.id}", from_ns={start}, to_ns={end}{rank})')
    return answer


def _why_not_found(opened: Opened, name: str) -> str:
    """A row of a table."""
    table = opened.table(name)
    sentence = f"The table {name} has no row with this id"
    if not len(table):
        state = "not_recorded" if opened.state_of(name) == "not_recorded" else "empty"
        return f"{sentence}: it is {state}; {'; '.join(table.notes)}"
    if name == "steps":
        steps = [step for step in table["step"].to_list() if step is not None]
        if not steps:
            return f"{sentence}: the recording has no marks of steps, so all of it is one row."
        return f"{sentence}: the steps are {min(steps)} to {max(steps)}."
    return f"{sentence}."


def _put_other_side(answer: Answer, opened: Opened, kind: str, row: Mapping[str, Any]) -> None:
    """The kernels of an operator, or the operators of a kernel."""
    mine, other = ("name", "operator") if kind == "k" else ("operator", "name")
    text = row["name" if kind == "k" else "key"]
    rows = [one for one in opened.rows("kernels_by_operator_name") if one[mine] == text]
    rows = [{**one, "id": one[other] and ids.made("op" if kind == "k" else "k", one[other])} for one in rows]
    name = "operator" if kind == "k" else "short_name"
    if rows:
        columns = ["id", name, *(["rank"] if opened.is_job else []), "count", "total_ns", "mean_ns"]
        answer.rows(f"by_{name}", used(columns, rows), rows)
    else:
        answer.put(f"by_{name}", "none")


def _put_event(answer: Answer, opened: Opened, text: str, number: int | None) -> None:
    events = opened.events(number).everything
    if not re.fullmatch(r"\d{1,12}", text, re.ASCII) or int(text) >= len(events):
        raise Refusal(404, f"The trace has {len(events)} events: e:0 and so on.")
    suffix = "" if number is None else f"/{number}"
    row = events[int(text)]
    links = {key: row.pop(key) for key in ("parent", "operator", "launch")}
    answer.put_known(what_it_is=slices.name_id(row))
    for key, value in row.items():
        if value is not None and key != "event":
            answer.put(key, value, _WHOLE_TEXT if key == "name" else 300)
    for key, value in links.items():
        if value is not None and value != int(text):
            answer.put(key, f"e:{value}{suffix}")
    parents: list[dict[str, Any]] = []
    at = links["parent"]
    while at is not None and len(parents) < 30:
        parent = events[at]
        parents.append({"id": f"e:{at}{suffix}", "name": parent["name"], "duration_ns": parent["duration_ns"]})
        at = parent["parent"]
    if parents:
        answer.rows("inside_of", ("id", "name", "duration_ns"), parents)
