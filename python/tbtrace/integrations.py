"""Recording in training loops of others: one trace per rank, and a page about all of them.

    from tbtrace.integrations import LightningCallback, TrainerCallback, trace_handler

    torch.profiler.profile(on_trace_ready=trace_handler("traces"), ...)           # torch
    accelerate.ProfileKwargs(on_trace_ready=trace_handler("traces"), ...)         # Accelerate
    transformers.Trainer(..., callbacks=[TrainerCallback("traces")])              # Hugging Face Trainer
    lightning.Trainer(..., callbacks=[LightningCallback("traces")])               # Lightning

Each writes `traces/iteration_<step>/rank<rank>.json`. At the end rank 0 writes `report.html` beside the traces of the
last recording and prints its path. What goes wrong is logged as a warning (logger `tbtrace`) and never stops the
training. Frameworks are imported when they are used, and tbtrace needs none of them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tbtrace.__main__ import program
from tbtrace._paths import output
from tbtrace._recording.export import write_trace
from tbtrace._recording.processes import rank_and_size

__all__ = ["TraceHandler", "trace_handler"]  # the callbacks need packages that may not be there

_LOG = logging.getLogger("tbtrace")


def trace_handler(folder: str | os.PathLike[str], *, report: bool = True, wait: float = 60) -> TraceHandler:
    """For `torch.profiler.profile(on_trace_ready=...)` and `accelerate.ProfileKwargs(on_trace_ready=...)`.

    Writes each recording as `<folder>/iteration_<step>/rank<rank>.json`. When the process ends, or at `finish()`, rank 0
    waits at most `wait` seconds for the traces of the other ranks, and writes the page about the last recording. The
    folder has to be one that all ranks see. `report=False`: no page.
    """
    return TraceHandler(folder, report=report, wait=wait)


class TraceHandler:
    """What `trace_handler()` returns: a function of a profiler. One thread at a time."""

    def __init__(self, folder: str | os.PathLike[str], *, report: bool = True, wait: float = 60) -> None:
        self.folder = os.path.abspath(os.fsdecode(output(folder, "trace_handler()")))
        self._report = report
        self._wait = wait
        self._before = _rank_files(self.folder)  # of runs before this one
        self._last = ""  # the folder of the last recording that has no report
        self._ranks = 1
        self._is_registered = False

    def __call__(self, profiler: Any) -> None:
        with _warning("a recording was not written to %s", self.folder):
            rank, ranks = rank_and_size()
            place = os.path.join(self.folder, f"iteration_{profiler.step_num}")
            os.makedirs(place, exist_ok=True)
            write_trace(profiler, os.path.join(place, f"rank{rank}.json"))
            if rank == 0 and self._report:
                self._last, self._ranks = place, ranks
                self._register()

    def finish(self) -> str | None:
        """Writes the page about the last recording, unless it was written. Returns its path, on rank 0."""
        place, self._last = self._last, ""
        if not place:
            return None
        with _warning("there is no report about %s", place):
            return self._write_report(place)
        return None

    def _register(self) -> None:
        if self._is_registered:
            return
        import atexit

        self._is_registered = True
        atexit.register(self.finish)

    def _write_report(self, place: str) -> str:
        import subprocess

        traces = self._traces_of_ranks(place)
        path = os.path.join(place, "report.html")
        # In a process of its own: a page of many ranks must not cost the training its memory.
        words = [program(), "report", *traces, "-o", path, "--overwrite", "--progress", "off"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode not in (0, 4):  # 4: of the traces that could be read
            raise OSError(done.stderr.strip() or f"tbtrace report ended with {done.returncode}")
        sys.stderr.write(done.stderr)
        print(f"tbtrace: {path}: the report about {len(traces)} of {self._ranks} ranks", file=sys.stderr, flush=True)
        return path

    def _traces_of_ranks(self, place: str) -> list[str]:
        """Those of this run. A trace appears when it is complete."""
        import time

        end = time.monotonic() + self._wait
        while True:
            found = _rank_files(self.folder)
            paths = [os.path.join(place, f"rank{rank}.json") for rank in range(self._ranks)]
            traces = [path for path in paths if path in found and found[path] != self._before.get(path)]
            if len(traces) == self._ranks:
                return traces
            if time.monotonic() >= end:
                missing = [path for path in paths if path not in traces]
                _LOG.warning("%d of %d ranks have no trace, such as %s; can all ranks write to that folder?",
                             len(missing), self._ranks, missing[0])
                return traces
            time.sleep(0.1)


class _Recording:
    """A profiler that a callback drives. What goes wrong ends the recording, not the training."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        schedule: Callable[[int], Any] | None = None,
        report: bool = True,
        wait: float = 60,
        **options: Any,
    ) -> None:
        """`schedule`: as for torch.profiler.profile, which also has the `options`, such as `with_stack=True`. Without it
        five steps are recorded, after ten that are skipped and two that warm up. `report`, `wait`: see trace_handler()."""
        super().__init__()
        self._handler = trace_handler(folder, report=report, wait=wait)
        self._schedule = schedule
        self._options = {"record_shapes": True, **options}
        self._profiler: Any = None
        self._has_recorded = False

    def _start(self) -> None:
        import torch  # type: ignore[import-not-found, unused-ignore]

        self._has_recorded = False
        with self._guarded("cannot be started"):
            schedule = self._schedule or torch.profiler.schedule(skip_first=10, wait=0, warmup=2, active=5, repeat=1)
            profiler = torch.profiler.profile(schedule=schedule, on_trace_ready=self._ready, **self._options)
            profiler.start()
            self._profiler = profiler

    def _ready(self, profiler: Any) -> None:
        self._has_recorded = True
        self._handler(profiler)

    def _step(self) -> None:
        if self._profiler is not None:
            with self._guarded("has ended early"):
                self._profiler.step()

    def _stop(self) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        with self._guarded("cannot be stopped"):
            profiler.stop()
        if not self._has_recorded:
            _LOG.warning("nothing was recorded: training ended after %d steps; record earlier ones by schedule=",
                         profiler.step_num)
        self._handler.finish()

    @contextlib.contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as problem:
            self._profiler = None
            _LOG.warning("the recording %s: %s", what, problem)


class _TrainerEvents(_Recording):
    """For `transformers.Trainer(callbacks=[...])`: records steps of the optimizer."""

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._start()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self._step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self._stop()


class _LightningEvents(_Recording):
    """For `lightning.Trainer(callbacks=[...])`: records training batches."""

    def on_train_start(self, *_: Any) -> None:
        self._start()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        self._step()

    def on_train_end(self, *_: Any) -> None:
        self._stop()

    def on_exception(self, *_: Any) -> None:
        self._stop()


def __getattr__(name: str) -> Any:
    # Classes of frameworks that may not be there: made when they are asked for.
    events: type[_Recording]
    if name == "TrainerCallback":
        events, base = _TrainerEvents, _framework(name, "transformers").TrainerCallback
    elif name == "LightningCallback":
        events, base = _LightningEvents, _framework(name, "lightning.pytorch", "pytorch_lightning").Callback
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = type(name, (events, base), {"__module__": __name__, "__doc__": events.__doc__})
    globals()[name] = made  # one class, so that its objects can be pickled
    return made


def _framework(needs_it: str, *names: str) -> Any:
    """The first that the program has imported, else the first that is installed."""
    import importlib

    for name in sorted(names, key=lambda name: name not in sys.modules):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    package = names[0].split(".")[0]
    raise ModuleNotFoundError(f"{__name__}.{needs_it} needs {package}: pip install {package}", name=package)


def _rank_files(folder: str) -> dict[str, tuple[int, int]]:
    """By path, what tells a file from another of the same name."""
    import glob

    found = {}
    for path in glob.glob(os.path.join(glob.escape(folder), "iteration_*", "rank*.json")):
        with contextlib.suppress(OSError):
            facts = os.stat(path)
            found[path] = (facts.st_ino, facts.st_mtime_ns)
    return found


@contextlib.contextmanager
def _warning(what: str, place: str) -> Iterator[None]:
    """What goes wrong in the block becomes a warning."""
    try:
        yield
    except Exception as problem:
        _LOG.warning(what + ": %s", place, problem)
