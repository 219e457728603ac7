"""Work for the main thread, which runs the program."""

from __future__ import annotations

import ctypes
import threading
from typing import Callable, Optional


def run_in_main_thread(work: Callable[[], None], patience: Optional[float] = None) -> bool:
    """Waits until the main thread has done it, between two steps of its interpreter. Returns False if that thread has
    not come to it within `patience` seconds; it will not be done then."""
    done, turn = threading.Event(), threading.Lock()

    def do(_: object) -> int:
        if turn.acquire(blocking=False):
            work()
            done.set()
        return 0

    call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(do)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(call))  # the interpreter knows its address until it has called it
    while ctypes.pythonapi.Py_AddPendingCall(call, None) != 0:  # all places are taken
        threading.Event().wait(0.1)
    if not done.wait(patience) and turn.acquire(blocking=False):
        return False
    done.wait()
    return True
