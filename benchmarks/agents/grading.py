"""Whether the facts that a question needs are in answers. Rules decide, no model does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(ns|us|ms|s\b|%)?")
_SCALES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, None: 1}


@dataclass(frozen=True)
class Fact:
    """A line of an answer that has `where` and, if given, a figure `key` from `low` to `high`."""

    where: str
    key: str = ""
    low: float = 0
    high: float = 0
    is_absent: bool = False  # no line may have it
    other_words: str = ""  # what a line of other texts has to have instead of `where`

    def is_in(self, lines: Iterable[str]) -> bool:
        return any(self._is_on(line) for line in lines) != self.is_absent

    def _is_on(self, line: str) -> bool:
        if not re.search(self.where, line, re.IGNORECASE):
            return False
        if not self.key:
            return True
        values = re.findall(rf"(?:^|[ .])(?:{self.key})=(-?[\d.]+(?:e[+-]?\d+)?)(?:;|$)", line)
        return any(self.low <= float(value) <= self.high for value in values)

    def may_be_in(self, lines: Iterable[str]) -> bool:
        """As is_in(), for texts without our names: any number of the line counts, in any unit. Times of raw traces are
        in us."""
        if self.is_absent:
            return True
        words = self.other_words or re.sub(r"^\^?[a-z]+(: |=)(\.\*)?", "", self.where)
        for line in lines:
            if not re.search(words, line, re.IGNORECASE):
                continue
            numbers = [(float(text), unit or None) for text, unit in _NUMBER.findall(line)] if self.key else []
            scaled = [number * scale for number, unit in numbers for scale in {_SCALES[unit], 1, 1000}]
            if not self.key or any(self.low <= number <= self.high for number in scaled):
                return True
        return False


@dataclass(frozen=True)
class Question:
    """`kind` is a row of the skill's table; `trace` and `base` are paths below the made folders."""

    kind: str
    text: str
    trace: str
    facts: tuple[Fact, ...]
    base: str = ""  # the other side of a comparison
    id: str = ""  # that the question names
    is_trap: bool = False
    words: dict[str, Any] = field(default_factory=dict)


def lines_of(answer: str) -> list[str]:
    """An answer of the tools, a line per fact and per row: `findings: id=f:x; share=0.4`."""
    lines = []
    for member, value in json.loads(answer).items():
        if _is_table(value):
            head, *rows = value
            lines += [f"{member}: " + _pairs(zip(head, row)) for row in rows]
        elif isinstance(value, dict):
            lines.append(f"{member}: " + _pairs(value.items()))
        elif isinstance(value, list):
            lines.append(f"{member}: " + "; ".join(map(str, value)))
        else:
            lines.append(f"{member}={_text(value)}")
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(row, list) for row in value)


def _pairs(pairs: Iterable[tuple[str, Any]]) -> str:
    flat = []
    for key, value in pairs:
        if isinstance(value, dict):
            flat += [f"{key}.{inner}={_text(one)}" for inner, one in value.items()]
        else:
            flat.append(f"{key}={_text(value)}")
    return "; ".join(flat)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
