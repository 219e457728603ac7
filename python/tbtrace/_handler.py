"""Log files for TensorBoard from Python's own torch.profiler."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from tbtrace import _tbtrace
from tbtrace._paths import output


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str],
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """For `torch.profiler.profile(on_trace_ready=...)`, with the arguments of torch's own handler.

    Writes each cycle as a trace for TensorBoard's profiler plugin,
    `<dir_name>/<worker_name>.<start in ns since 1970>.pt.trace.json[.gz]`, and as summaries for plain
    TensorBoard, a run `<dir_name>/<worker_name>`: `tensorboard --logdir <dir_name>` shows both.
    `worker_name` is `<host>_<process id>` if None. Characters that a file name cannot have are replaced.
    `use_python_export` is for a torch whose `export_chrome_trace()` has this argument.

    What goes wrong is logged as a warning (logger `tbtrace`) and never stops the training. While a cycle
    is written, `dir_name` needs room for torch's trace as well.
    """
    import logging
    import socket
    import tempfile

    log = logging.getLogger("tbtrace")
    directory = os.fsdecode(output(dir_name, "tensorboard_trace_handler()"))
    export_options = {"use_python_export": True} if use_python_export else {}

    if _tbtrace.pictures_problem():
        log.warning("the summaries will have no flame graphs: %s", _tbtrace.pictures_problem())

    def handler(profiler: Any) -> None:
        try:
            # Named here, because a program may fork after it has made the handler.
            worker = str(worker_name or f"{socket.gethostname()}_{os.getpid()}")
            worker = worker.encode(errors="replace").decode()
            os.makedirs(directory, exist_ok=True)
            # torch gives its events in a file only. It is written here, because the default place for
            # temporary files is often too small. Conversions ignore folders with this ending.
            with tempfile.TemporaryDirectory(
                dir=directory, prefix=".", suffix=".tbtrace-partial", ignore_cleanup_errors=True
            ) as folder:
                path = os.path.join(folder, "cycle.json")
                profiler.export_chrome_trace(path, **export_options)
                if not os.path.exists(path):  # Kineto does not raise, but prints to standard error
                    raise OSError("torch could not write its trace there; check the free space")
                _log_of(os.path.abspath(directory), worker, use_gzip).add(path)
        except Exception as problem:
            log.warning("a recorded cycle was not written to %s: %s", directory, problem)

    return handler


@functools.cache  # one for all handlers of a process: profilers that follow each other write one run
def _log_of(directory: str, worker: str, use_gzip: bool) -> _Log:
    return _Log(directory, worker, use_gzip)


class _Log:
    """The files of a worker: for any thread, and until the process ends."""

    def __init__(self, directory: str, worker: str, use_gzip: bool) -> None:
        import atexit
        import threading

        self._directory = directory
        self._log = _tbtrace.CycleLog(directory, worker, use_gzip)
        self._one_at_a_time = threading.Lock()
        atexit.register(self._finish)

    def add(self, path: str) -> None:
        with self._one_at_a_time:
            self._log.add(path)

    def _finish(self) -> None:
        import logging

        try:
            self._log.finish()
        except Exception as problem:
            message = "the tables of the last cycle were not written to %s: %s"
            logging.getLogger("tbtrace").warning(message, self._directory, problem)
