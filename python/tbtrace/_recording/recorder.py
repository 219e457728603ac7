"""The window that is open in this process, if one is."""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional

import torch

from .ends import Ends
from .options import Options
from .own_profiler import OwnProfiler
from .snapshots import Snapshots
from .window import Window

Say = Callable[[str, str], None]


class Recorder:
    """Any thread may call. What goes wrong is said, and never disturbs the program.

    `say(kind, text)` gets: `open` when a window begins, and at its end `trace` with a path, or `empty`; `snapshot` with
    a path; `problem`.
    """

    def __init__(self, options: Options, say: Say) -> None:
        self._options = options
        self._say = say
        self._lock = threading.RLock()
        self._window: Optional[Window] = None
        self._is_recording = False
        self._has_written = False
        self._own_profiler = OwnProfiler(self._make_room)
        self._ends = Ends(self.close)
        self._snapshots = Snapshots(options, say) if options.memory_snapshot else None

    def watch(self) -> None:
        self._own_profiler.watch()

    def forget(self) -> None:
        self._own_profiler.forget()

    @property
    def is_open(self) -> bool:
        return self._is_recording

    @property
    def has_window(self) -> bool:
        """Open, or prepared."""
        return self._window is not None

    def prepare(self, *, all_threads: bool = False) -> None:
        """What takes long before open()."""
        with self._lock:
            if self._window is None:
                self._ends.watch()
                self._undisturbed(lambda: self._make(all_threads))

    def open(self, step: Optional[int] = None, *, all_threads: bool = False) -> None:
        """`step`: the number of the step that begins."""
        with self._lock:
            self.prepare(all_threads=all_threads)
            if self._window is not None and not self._is_recording:
                self._undisturbed(lambda: self._start(step))

    def step(self, number: int) -> None:
        """Step `number` begins in the open window."""
        with self._lock:
            window = self._window
            if window is not None and self._is_recording:
                self._undisturbed(lambda: window.step(number))

    def close(self) -> bool:
        """Ends the window and writes it. Returns whether it has a trace: none is written of one without operators."""
        with self._lock:
            self._has_written = False
            self._undisturbed(self._close)
            return self._has_written

    def abandon(self) -> None:
        """In a process that was forked: the window is its parent's."""
        self._lock = threading.RLock()
        self._ends.release()
        window, self._window = self._window, None
        if window is not None:
            window.abandon()
        if self._is_recording and hasattr(torch.autograd, "_enable_record_function"):
            torch.autograd._enable_record_function(False)  # else it would record until it ends
        self._is_recording = False

    def _make(self, all_threads: bool) -> None:
        if self._own_profiler.is_active or torch.autograd._profiler_enabled():
            raise RuntimeError("the program uses a profiler of its own, and torch allows one at a time")
        window = Window(self._options, self._own_profiler, all_threads=all_threads)
        self._window = window
        window.prepare()
        if self._snapshots is not None:
            self._snapshots.start()

    def _start(self, step: Optional[int]) -> None:
        assert self._window is not None
        self._window.start(step)
        self._is_recording = True
        self._say("open", "")

    def _close(self) -> None:
        window, self._window = self._window, None
        is_recording, self._is_recording = self._is_recording, False
        if window is None:
            return
        if is_recording:
            self._tried(lambda: self._finish(window))
            if not self._has_written:
                self._say("empty", "")
        else:
            self._tried(window.cancel)

    def _finish(self, window: Window) -> None:
        window.stop()
        if self._snapshots is not None:
            self._snapshots.write("end")
        path = window.write()
        self._has_written = path is not None
        if path is not None:
            self._say("trace", path)

    def _make_room(self) -> None:
        if self._window is not None:
            self._say("problem", "a profiler of the program's own ended this recording, as torch allows one at a time")
            self.close()

    def _undisturbed(self, work: Callable[[], Any]) -> None:
        """A signal that ends the program comes before the work or after it, so that a window is open or not."""
        self._ends.undisturbed(lambda: self._tried(work))
        if self._window is None:
            self._ends.release()

    def _tried(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as problem:
            window, self._window = self._window, None
            self._is_recording = False
            if window is not None:
                window.abandon()
            self._say("problem", _text_of(problem))


def _text_of(problem: Exception) -> str:
    text = str(problem) or repr(problem)
    if "not running" in text:
        return "a thread cannot end the window that another one began; record fewer steps, so that it ends by itself"
    return text
