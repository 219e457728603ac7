"""Work that several threads ask for at once is done once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Made = TypeVar("Made")


class SingleFlight(Generic[Made]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[Made]] = {}

    def do(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` returns or raises, also to those who ask for `key` meanwhile."""
        with self._lock:
            future = self._under_way.get(key)
            is_first = future is None
            if future is None:
                future = self._under_way[key] = Future()
        if is_first:
            try:
                future.set_result(make())
            except BaseException as problem:
                future.set_exception(problem)
            finally:
                with self._lock:
                    del self._under_way[key]
        return future.result()
