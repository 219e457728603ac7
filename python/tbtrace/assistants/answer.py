"""An answer: one JSON object with a line per member and per row, within a budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LEAST_TOKENS, TOKENS, MOST_TOKENS = 300, 2_000, 20_000
LONGEST_NAME = 120
_FOR_THE_END = 110  # tokens: `left` and `next`
_PIECE = re.compile(r"\d{1,3}|[A-Za-z]{1,5}|[!-/:-@\[-`{-~]{1,3}|\n|[^\x00-\x7f]")


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
    """What does not fit is left out, and `left` says how much that was."""

    def __init__(self, budget: int = TOKENS) -> None:
        self._most = budget
        self._room = budget - _FOR_THE_END
        self._members: list[str] = []
        self._left: dict[str, str] = {}
        self._next: list[str] = []

    def put(self, key: str, value: object, longest: int = LONGEST_NAME) -> None:
        """A fact."""
        if not self._take(f"{json_of(key)}:{json_of(shown(value, longest))}"):
            self._left[key] = "all"

    def put_known(self, **facts: object) -> None:
        """Those that are not None."""
        for key, value in facts.items():
            if value is not None:
                self.put(key, value)

    def rows(
        self,
        key: str,
        columns: Sequence[str],
        rows: Iterable[Mapping[str, Any]],
        total: int,
        after: int = 0,
        longest: int = LONGEST_NAME,
    ) -> int:
        """A table: the names of the columns, then a list per row. Returns how many rows there was room for."""
        lines = [f'"{key}":[{json_of(list(columns))}']
        room = self._room - tokens_of(lines[0]) - 3
        for row in rows:
            line = json_of([shown(row.get(column), longest) for column in columns])
            needed = tokens_of(line) + 2
            if needed > room:
                break
            room -= needed
            lines.append(line)
        count = len(lines) - 1
        if count:
            self._room = room
            self._members.append(",\n ".join(lines) + "]")
        if after + count < total:
            self._left[key] = f"{total - after - count} of {total} rows"
        return count

    def suggest(self, call: str) -> None:
        """What to ask next; without anything that a trace says."""
        self._next.append(call)

    def text(self) -> str:
        # What was left out is said as far as there is room: how much of what, of what, or of how many.
        for left in (self._left, [*self._left], len(self._left)):
            for count in range(len(self._next), -1, -1):
                text = self._text(left, self._next[:count])
                if tokens_of(text) <= self._most:
                    return text
        return text

    def _text(self, left: object, suggested: list[str]) -> str:
        members = [*self._members]
        if left:
            members.append(f'"left":{json_of(left)}')
        if suggested:
            members.append(f'"next":{json_of(suggested)}')
        return "{" + ",\n".join(members) + "}"

    def _take(self, member: str) -> bool:
        needed = tokens_of(member) + 2
        if needed > self._room:
            return False
        self._room -= needed
        self._members.append(member)
        return True


def refusal(sentence: str) -> str:
    """An answer that says what is wrong with a question."""
    return json_of({"error": shown(re.sub(r"\s+", " ", sentence), 500)})
