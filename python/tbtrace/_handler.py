"""Log files for TensorBoard from Python's own torch.profiler."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tbtrace import _tbtrace


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """For `torch.profiler.profile(on_trace_ready=...)`, with the arguments of torch's own handler.

    Writes each cycle as a trace for TensorBoard's profiler plugin,
    `<dir_name>/<worker_name>.<start in ns since 1970>.pt.trace.json[.gz]`, and as summaries for plain
    TensorBoard, a run `<dir_name>/<worker_name>`: `tensorboard --logdir <dir_name>` shows both.
    `worker_name` is `<host>_<process id>` if None.

    What goes wrong is logged as a warning (logger `tbtrace`) and never stops the training.
    """
    import logging
    import socket
    import tempfile

    log = logging.getLogger("tbtrace")
    directory = os.fspath(dir_name)
    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    if _tbtrace.pictures_problem():
        log.warning("the summaries will have no flame graphs: %s", _tbtrace.pictures_problem())

    def handler(profiler: Any) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="tbtrace-") as folder:
                path = os.path.join(folder, "trace.json")  # torch gives its events in a file only
                profiler.export_chrome_trace(path)
                trace = _tbtrace.read(path, arguments=_tbtrace.ARGUMENT_GROUPS)
            os.makedirs(directory, exist_ok=True)
            _tbtrace.write_cycle(trace, directory, worker, use_gzip)
        except Exception as problem:
            log.warning("the recorded cycle is not in %s: %s", directory, problem)

    return handler
