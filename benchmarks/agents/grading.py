"""Whether the facts that a question needs are in answers. Rules decide, no model does."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from truth import Recording, Truth

TOLERANCE = 0.01
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(ns|us|ms|s\b|%)?")
_SCALES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, None: 1}


@dataclass(frozen=True)
class Fact:
    """A line of an answer that has `where` and, if given, a figure `key` that is true within TOLERANCE."""

    where: str
    key: str = ""
    truth: float | Truth = 0.0
    is_largest: bool = False  # and no figure of the line with such a key is larger
    is_absent: bool = False  # no line may have it
    other_words: str = ""  # what a line of other texts has to have instead of `where`

    def measured(self, recording: Callable[[], Recording]) -> Fact:
        """With a number as the truth."""
        return dataclasses.replace(self, truth=self.truth(recording())) if callable(self.truth) else self

    def is_in(self, lines: Iterable[str]) -> bool:
        return any(self._is_on(line) for line in lines) != self.is_absent

    def _is_on(self, line: str) -> bool:
        if not re.search(self.where, line, re.IGNORECASE):
            return False
        if not self.key:
            return True
        values = self._values(self.key, line)
        if self.is_largest and max(self._values(_any_of(self.key), line), default=0) > max(values, default=0):
            return False
        return any(self._is_true(value) for value in values)

    @staticmethod
    def _values(key: str, line: str) -> list[float]:
        return [float(value) for value in re.findall(rf"(?:^|[ .])(?:{key})=(-?[\d.]+(?:e[+-]?\d+)?)(?:;|$)", line)]

    def _is_true(self, value: float) -> bool:
        assert not callable(self.truth)
        return abs(value - self.truth) <= TOLERANCE * abs(self.truth)

    @property
    def is_of_others(self) -> bool:
        """Another text can have it, too: it is in no words of ours."""
        return bool(self.other_words) or not re.search(r"[=^]|: |f:", self.where)

    def may_be_in(self, lines: Iterable[str], with_figure: bool) -> bool:
        """As is_in(), for texts without our names: any number of the line counts, in any unit. Times of raw traces are
        in us."""
        for line in lines:
            if not re.search(self.other_words or self.where, line, re.IGNORECASE):
                continue
            numbers = [(float(text), unit or None) for text, unit in _NUMBER.findall(line)] if self.key else []
            scaled = [number * scale for number, unit in numbers for scale in {_SCALES[unit], 1, 1000}]
            if not self.key or not with_figure or any(map(self._is_true, scaled)):
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

    def measured(self, path_of: Callable[[str], pathlib.Path]) -> Question:
        """With numbers as the truth of its facts."""
        recording = functools.cache(lambda: Recording(path_of(self.trace)))
        return dataclasses.replace(self, facts=tuple(fact.measured(recording) for fact in self.facts))

    @property
    def is_for_others(self) -> bool:
        """Another text can have all that is asked for. What to do is left to who reads it."""
        return not self.is_trap and all(fact.is_of_others for fact in self.facts_of_others)

    @property
    def facts_of_others(self) -> list[Fact]:
        return [fact for fact in self.facts if not fact.where.startswith("remedy=") and not fact.is_absent]


def _any_of(key: str) -> str:
    """`causes.x_ns` and those beside it."""
    return re.sub(r"\w+_ns$", r"\\w+_ns", key)


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
