"""What to record, and when."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Optional

_FROM_TEXT: Dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "bool": lambda text: text == "true",
    "Optional[str]": str,
    "Optional[float]": float,
}


@dataclasses.dataclass(frozen=True)
class Options:
    """`steps` after `skip` of them; if `seconds` or `after` is given, by time instead."""

    logs: str  # the folder for the traces, absolute
    temporary: Optional[str] = None  # a folder on the same file system for what is not finished; None: one in `logs`
    steps: int = 3
    skip: int = 5
    seconds: Optional[float] = None
    after: Optional[float] = None
    record_shapes: bool = True
    profile_memory: bool = False
    with_stack: bool = False
    with_modules: bool = False
    memory_snapshot: bool = False
    children: bool = False  # also of programs that a recorded one starts
    only_steps: bool = False  # not by time if no step is seen
    idle: bool = False  # only when another process asks, which brings its own options

    @classmethod
    def of(cls, text: str) -> Options:
        """Of `name=value` texts, with a NUL after each."""
        types = {field.name: _FROM_TEXT[str(field.type)] for field in dataclasses.fields(cls)}
        given = dict(part.split("=", 1) for part in text.split("\0")[:-1])
        return cls(**{name: types[name](value) for name, value in given.items()})

    @property
    def by_time(self) -> bool:
        return self.seconds is not None or self.after is not None
