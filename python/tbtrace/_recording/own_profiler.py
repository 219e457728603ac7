"""The program's own profiler: torch allows one at a time, and the program's comes first."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator, List

import torch


class OwnProfiler:
    """Notices what the program starts and stops, between watch() and forget()."""

    def __init__(self, make_room: Callable[[], None]) -> None:
        """`make_room` is called before the program's profiler starts."""
        self.is_active = False
        self._make_room = make_room
        self._ours = threading.local()
        self._undo: List[Any] = []

    def watch(self) -> None:
        module = torch.autograd.profiler
        for name, starts in (("_prepare_profiler", True), ("_enable_profiler", True), ("_disable_profiler", False)):
            original = getattr(module, name)
            self._undo.append((module, name, original))
            setattr(module, name, self._watched(original, starts))

    def forget(self) -> None:
        while self._undo:
            setattr(*self._undo.pop())

    @contextlib.contextmanager
    def calls_are_ours(self) -> Iterator[None]:
        """Those of this thread within the block."""
        self._ours.depth = getattr(self._ours, "depth", 0) + 1
        try:
            yield
        finally:
            self._ours.depth -= 1

    def _watched(self, original: Callable[..., Any], starts: bool) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if not getattr(self._ours, "depth", 0):
                if starts and not self.is_active:
                    self._make_room()
                self.is_active = starts
            return original(*arguments, **options)

        return call
