"""Snapshots of the allocator's memory on the GPU."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

import torch

from . import processes
from .options import Options

_ENTRIES = 100000  # of the history; older ones are lost


class Snapshots:
    """One when the window ends, and one at each error that memory is out. Files for torch's viewer and others."""

    def __init__(self, options: Options, say: Callable[[str, str], None]) -> None:
        self._options = options
        self._say = say
        self._is_recording = False
        if torch.cuda.is_available():
            torch.cuda._lazy_call(self.start)  # as soon as the program uses a GPU
        else:
            say("problem", "no memory snapshot: torch finds no GPU here, and it has snapshots of GPU memory only")

    def start(self) -> None:
        if self._is_recording or not torch.cuda.is_initialized():
            return
        self._is_recording = True
        torch.cuda.memory._record_memory_history(max_entries=_ENTRIES)
        torch._C._cuda_attach_out_of_memory_observer(self._on_out_of_memory)

    def write(self, why: str) -> None:
        if not self._is_recording:
            return
        path = os.path.join(self._options.logs, f"{processes.worker_name()}.{why}.{time.time_ns()}.pickle")
        os.makedirs(self._options.logs, exist_ok=True)
        unfinished = path + ".tbtrace-partial"
        try:
            torch.cuda.memory._dump_snapshot(unfinished)
            os.replace(unfinished, path)
        except BaseException:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
            raise
        self._say("snapshot", path)

    def _on_out_of_memory(self, *_: Any) -> None:
        try:
            self.write("out_of_memory")
        except Exception as problem:
            self._say("problem", f"no memory snapshot: {problem}")
