"""An answer: one JSON object with a line per member and per row, within a budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LEAST_TOKENS, TOKENS, MOST_TOKENS = 300, 2_000, 20_000
LONGEST_NAME, LONGEST_SENTENCE = 120, 600
_FOR_THE_END = 110  # tokens: `left` and `next`
_STEP = 100  # of budgets that are suggested
_PIECE = re.compile(r"\d{1,3}|[A-Za-z]{1,5}|[!-/:-@\[-`{-~]{1,3}|\n|[^\x00-\x7f]")


class Sentence(str):
    """A text of ours, which is not cut as names are."""


def tokens_of(text: str) -> int:
    """An estimate: the pieces that a tokenizer would hardly divide. docs/agents.md compares it with two."""
    beyond_ascii = 0 if text.isascii() else sum(letter > "\x7f" for letter in text)
    return len(_PIECE.findall(text)) + 2 * beyond_ascii


def json_of(value: object) -> str:
    """On one line. Texts have no character that a reader cannot see: others are escaped, such as those that turn the
    direction of writing."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def shown(value: Any, longest: int = LONGEST_NAME) -> Any:
    """Names cut, shares and means to four digits; integers and all else stay."""
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):
            return None
        return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")
    if isinstance(value, Sentence):
        longest = max(longest, LONGEST_SENTENCE)
    if isinstance(value, str) and len(value) > longest:
        half = longest // 2 - 1
        return f"{value[:half]}\u2026{value[-half:]}"
    if isinstance(value, Mapping):
        return {str(key)[:LONGEST_NAME]: shown(inner, longest) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(part, dict) and {"cause", "ns"} <= part.keys() for part in value):
            return {f"{part['cause']}_ns": part["ns"] for part in value}
        return [shown(part, longest) for part in value]
    return value


class Answer:
    """What does not fit is left out: `left` says how much that was, and `next` begins with how to get it."""

    def __init__(self, budget: int = TOKENS) -> None:
        self._most = budget
        self._room = budget - _FOR_THE_END
        self._members: list[str] = []
        self._left: dict[str, str] = {}
        self._lacking = 0  # tokens of what was left out and is on no further page
        self._after = 0  # where the next page begins
        self._is_wide = False  # whether a single row had no room
        self._next: list[str] = []

    def put(self, key: str, value: object, longest: int = LONGEST_NAME) -> None:
        """A fact."""
        member = f"{json_of(key)}:{json_of(shown(value, longest))}"
        needed = tokens_of(member) + 2
        if needed > self._room:
            self._left[key] = "all"
            self._lacking += needed
            return
        self._room -= needed
        self._members.append(member)

    def put_known(self, **facts: object) -> None:
        """Those that are not None."""
        for key, value in facts.items():
            if value is not None:
                self.put(key, value)

    def rows(
        self, key: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], longest: int = LONGEST_NAME
    ) -> None:
        """A table: the names of the columns, then a list per row."""
        count = self._put_rows(key, columns, rows, longest)
        if count < len(rows):
            self._left[key] = f"{len(rows) - count} of {len(rows)} rows"
            self._lacking += self._tokens_of_rows(key if not count else "", columns, rows[count:], longest)

    def page(self, key: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], total: int, after: int) -> None:
        """As rows(), of a question that has `after`: `rows` are those after so many of `total`, as far as they may
        fit."""
        if not rows:
            self.put(key, "none")
            self.put_known(all_rows=total or None)
            return
        count = self._put_rows(key, columns, rows, LONGEST_NAME)
        if after + count < total:
            self._left[key] = f"{total - after - count} of {total} rows"
            self._after = after + count if count else 0
            if not count:
                self._is_wide = True
                self._lacking += self._tokens_of_rows(key, columns, rows[:1], LONGEST_NAME)

    @property
    def left(self) -> list[str]:
        """The members that are not there, or not whole."""
        return [*self._left]

    def suggest(self, call: str) -> None:
        """What to ask next; without anything that a trace says."""
        self._next.append(call)

    def text(self) -> str:
        suggested = [*self._going_on(), *self._next]
        # What was left out is said as far as there is room: how much of what, of what, or of how many.
        for left in (self._left, [*self._left], len(self._left)):
            for count in range(len(suggested), min(len(suggested), 1) - 1, -1):
                text = self._text(left, suggested[:count])
                if tokens_of(text) <= self._most:
                    return text
        return text

    def _going_on(self) -> list[str]:
        """How to get what was left out."""
        calls = [f"the same with after={self._after}"] if self._after else []
        if self._lacking:
            budget = min(-(-(self._most + self._lacking) // _STEP) * _STEP, MOST_TOKENS)
            if budget > self._most:
                calls.append(f"the same with budget={budget}")
            elif self._is_wide:
                calls.append("the same for fewer columns")
        return calls

    def _put_rows(self, key: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], longest: int) -> int:
        """As many as there is room for; returns how many."""
        lines = [f'"{key}":[{json_of(list(columns))}']
        room = self._room - tokens_of(lines[0]) - 3
        for row in rows:
            line = _line(columns, row, longest)
            needed = tokens_of(line) + 2
            if needed > room:
                break
            room -= needed
            lines.append(line)
        if len(lines) > 1:
            self._room = room
            self._members.append(",\n ".join(lines) + "]")
        return len(lines) - 1

    @staticmethod
    def _tokens_of_rows(key: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], longest: int) -> int:
        """Of a table, or without a key of more of its rows."""
        tokens = tokens_of(f'"{key}":[{json_of(list(columns))}') + 3 if key else 0
        for row in rows:
            tokens += tokens_of(_line(columns, row, longest)) + 2
            if tokens > MOST_TOKENS:
                break
        return tokens

    def _text(self, left: object, suggested: list[str]) -> str:
        members = [*self._members]
        if left:
            members.append(f'"left":{json_of(left)}')
        if suggested:
            members.append(f'"next":{json_of(suggested)}')
        return "{" + ",\n".join(members) + "}"


def _line(columns: Sequence[str], row: Mapping[str, Any], longest: int) -> str:
    return json_of([shown(row.get(column), longest) for column in columns])


def refusal(sentence: str) -> str:
    """An answer that says what is wrong with a question, within the least budget."""
    sentence = re.sub(r"\s+", " ", sentence)
    for longest in (500, 240, 120, 60, 30):
        text = json_of({"error": shown(sentence, longest)})
        if tokens_of(text) < LEAST_TOKENS:
            break
    return text
