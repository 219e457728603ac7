"""Ranges of Python's garbage collector, which torch has only where stacks are recorded."""

from __future__ import annotations

import gc
from typing import Any, Dict

import torch

GARBAGE = "Python GC"  # as torch calls them


class GarbageRanges:
    def __init__(self) -> None:
        self._range: Any = None

    def start(self) -> None:
        gc.callbacks.append(self._on_collection)

    def stop(self) -> None:
        if self._on_collection in gc.callbacks:
            gc.callbacks.remove(self._on_collection)

    def _on_collection(self, phase: str, facts: Dict[str, int]) -> None:
        if phase == "start":
            make = getattr(torch._C._profiler, "_RecordFunctionFast", torch.autograd.profiler.record_function)
            self._range = make(GARBAGE)
            self._range.__enter__()
        elif self._range is not None:
            self._range.__exit__(None, None, None)
            self._range = None
