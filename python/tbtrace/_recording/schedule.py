"""When the windows of a program begin and end that says nothing of steps."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref

import torch

from . import processes
from .main_thread import run_in_main_thread
from .options import Options
from .recorder import Recorder, Say
from .steps import ModuleCalls, OptimizerSteps
from .window import can_record_all_threads

_SECONDS = 2.0
_PATIENCE = 5.0  # seconds for the main thread, which may be waiting for something
_AFTER = 10.0  # seconds; as long does a program wait in which no step is seen, until it is recorded by time


class Schedule:
    """By the steps of optimizers; in a program that makes none, by calls of modules; where neither is seen, by time.

    `say` gets what Recorder's says, and `steps` with their number and what they were seen by: at the first and at the
    end.
    """

    def __init__(self, options: Options, say: Say, *, at_once: bool = False, trains_only: bool = False) -> None:
        """`at_once`: one window from watch() to finish(). `trains_only`: calls of modules count only if the process
        joins a process group, and it is not recorded by time."""
        self._options = options
        self._say = say
        self._trains_only = trains_only
        self._inherits = _has_group()
        self._recorder = Recorder(options, say)
        self._lock = threading.RLock()
        self._steps = 0
        self._by = ""
        self._at_once = at_once
        self._first = 0 if at_once else options.skip
        self._end = sys.maxsize if at_once else self._first + options.steps
        self._makes_optimizers = False
        self._optimizers = OptimizerSteps(lambda: self._on_step("optimizer"), self._on_optimizer)
        self._modules = ModuleCalls(lambda: self._on_step("module"), self._on_call)
        self._is_by_time = False  # the window that is open
        self._stopped = threading.Event()

    def watch(self) -> None:
        on_fork = weakref.WeakMethod(self._on_fork)
        os.register_at_fork(after_in_child=lambda: (on_fork() or bool)())
        atexit.register(self._say_steps)
        self._recorder.watch()
        self._optimizers.watch()
        self._modules.watch()
        if self._at_once:
            self._recorder.open(0)
        elif not self._trains_only and not self._options.only_steps:
            threading.Thread(target=self._record_by_time, name="tbtrace", daemon=True).start()

    def finish(self) -> None:
        with self._lock:
            self._forget()
            self._recorder.close()
            self._recorder.forget()
        self._say_steps()
        atexit.unregister(self._say_steps)

    @property
    def is_over(self) -> bool:
        """Whether no window will begin any more. The last one may be being written."""
        return self._stopped.is_set()

    def give_up(self) -> bool:
        """No window will begin any more. Returns False if one is open or prepared: the thread that did that ends it, as
        torch's profiler can crash otherwise; ask again then."""
        with self._lock:
            if self._recorder.has_window:
                return False
            self._forget()
            return True

    def _forget(self) -> None:
        self._stopped.set()
        self._optimizers.forget()
        self._modules.forget()

    def _on_optimizer(self) -> None:
        self._makes_optimizers = True
        if self._first > 0:  # else the first call begins the first step
            self._modules.forget()

    def _on_call(self) -> None:
        """Before the first call of a module. By then the program uses its device."""
        if self._first == 0 and not self._options.by_time and not self._trains_only:
            with self._lock:
                self._recorder.open(0)  # if it is not open
        if self._makes_optimizers:
            self._modules.forget()

    def _counts(self, by: str) -> bool:
        if by != "module":
            return True
        if self._makes_optimizers or self._optimizers.has_known and torch.is_grad_enabled():
            return False
        return not self._trains_only or _has_group() and not self._inherits

    def _on_step(self, by: str) -> None:
        if not self._counts(by):
            return
        with self._lock:
            if self._stopped.is_set():
                return
            if self._steps == 0 and processes.is_loader_worker():
                self._forget()
                return
            self._steps, self._by = self._steps + 1, by
            if self._steps == 1:
                self._say_steps()
                if not self._options.by_time:
                    self._close_by_time()
            if self._options.by_time:
                self._recorder.step(self._steps)
            else:
                self._advance()

    def _advance(self) -> None:
        if self._steps >= self._end:
            self._forget()
            self._recorder.close()
            self._recorder.forget()
        elif self._steps > self._first:
            self._recorder.step(self._steps)
        elif self._steps == self._first:
            self._recorder.open(self._steps)
        elif self._steps == self._first - 1:
            self._recorder.prepare()

    def _record_by_time(self) -> None:
        """Runs in a thread of its own, until a window has shown something."""
        after = _AFTER if self._options.after is None else self._options.after
        seconds = _SECONDS if self._options.seconds is None else self._options.seconds
        any_thread = can_record_all_threads()
        while not self._stopped.wait(after):
            # Kineto wants to be loaded there, and complains on standard error otherwise.
            if not run_in_main_thread(self._open_by_time, _PATIENCE if any_thread else None):
                self._open_by_time()
            if not self._is_by_time:
                return
            self._stopped.wait(seconds)
            if any_thread:
                self._close_by_time()
            else:
                run_in_main_thread(self._close_by_time)
            after *= 2

    def _open_by_time(self) -> None:
        with self._lock:
            if self._options.by_time or self._steps == 0 and not self._makes_optimizers:
                self._is_by_time = True
                self._recorder.open(self._steps or None, all_threads=can_record_all_threads())

    def _close_by_time(self) -> None:
        with self._lock:
            if not self._is_by_time:
                return
            self._is_by_time = False
            if self._recorder.close() and self._options.by_time:
                self._forget()

    def _say_steps(self) -> None:
        if self._by:
            self._say("steps", f"{self._steps} {self._by}")

    def _on_fork(self) -> None:
        """In the new process. It is recorded if it trains and its parent does not."""
        self._lock = threading.RLock()
        self._trains_only = True
        self._inherits = _has_group()
        if self._steps > 0 or self._recorder.is_open:
            self._forget()
        self._recorder.abandon()
        atexit.unregister(self._say_steps)


def _has_group() -> bool:
    distributed = torch.distributed
    return bool(distributed.is_available() and distributed.is_initialized())
