"""The program's end, however it comes, as far as it can be noticed."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from typing import Any, Callable, List

from . import processes

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Ends:
    """Between watch() and release(), calls `finish` before the process ends: at its normal end, which exceptions and
    sys.exit() lead to, and at signals that would kill it. It then ends as it would have."""

    def __init__(self, finish: Callable[[], object]) -> None:
        self._finish = finish
        self._is_watching = False

    def watch(self) -> None:
        self._is_watching = True
        atexit.register(self._at_end)
        if processes.is_child():  # ends without running what atexit knows
            from multiprocessing.util import Finalize

            Finalize(None, self._at_end, exitpriority=100)
        if threading.current_thread() is threading.main_thread():  # others may not
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._on_signal)

    def release(self) -> None:
        self._is_watching = False
        atexit.unregister(self._at_end)
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) == self._on_signal:
                    signal.signal(number, signal.SIG_DFL)

    def undisturbed(self, work: Callable[[], Any]) -> None:
        """Does work that no signal cuts short. What came meanwhile comes afterwards."""
        if threading.current_thread() is not threading.main_thread():
            work()
            return
        came: List[int] = []
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        usual = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
        try:
            for number in usual:
                signal.signal(number, lambda came_now, _: came.append(came_now))
            work()
        finally:
            for number, handler in usual.items():
                signal.signal(number, handler)
            for received in came:
                os.kill(os.getpid(), received)

    def _at_end(self) -> None:
        if self._is_watching:
            self._finish()

    def _on_signal(self, number: int, _: Any) -> None:
        self._at_end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
