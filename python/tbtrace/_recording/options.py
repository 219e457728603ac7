"""What to record, and when."""

from __future__ import annotations

import dataclasses
from typing import Optional


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

    @property
    def by_time(self) -> bool:
        return self.seconds is not None or self.after is not None
