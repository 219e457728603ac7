"""Traces that were read, until others need the room or nobody asked for a while."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

MOST_BYTES = min(2 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8)
KEPT_SECONDS = 600.0
# Of a trace and of each of its events, with what views find out about them: measured with traces of real programs.
_TRACE_BYTES = 100_000
_EVENT_BYTES = 500


Trace = TypeVar("Trace", bound=Sized)  # or what has one; its length is how many events it has


@dataclass
class _Kept(Generic[Trace]):
    trace: Trace
    size: int
    used_at: float


class TraceMemory(Generic[Trace]):
    """The trace that was used last stays, however large it is."""

    def __init__(self, most_bytes: int = MOST_BYTES, kept_seconds: float = KEPT_SECONDS) -> None:
        self._most_bytes = most_bytes
        self._kept_seconds = kept_seconds
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept[Trace]] = OrderedDict()
        self._has_timer = False

    def get(self, key: Hashable) -> Trace | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            kept.used_at = time.monotonic()
            self._kept.move_to_end(key)
            return kept.trace

    def put(self, key: Hashable, trace: Trace) -> None:
        with self._lock:
            self._kept[key] = _Kept(trace, _TRACE_BYTES + len(trace) * _EVENT_BYTES, time.monotonic())
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self._most_bytes:
                self._kept.popitem(last=False)
            self._start_timer()

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def _start_timer(self) -> None:
        if self._kept and not self._has_timer:
            self._has_timer = True
            timer = threading.Timer(self._kept_seconds / 10, self._drop_unused)
            timer.daemon = True
            timer.start()

    def _drop_unused(self) -> None:
        with self._lock:
            self._has_timer = False
            oldest = time.monotonic() - self._kept_seconds
            for key in [key for key, kept in self._kept.items() if kept.used_at < oldest]:
                del self._kept[key]
            self._start_timer()
