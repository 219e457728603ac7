"""Recording a block, a function or a notebook's cell by torch's own profiler."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from tbtrace._paths import output


def record(
    folder: str | os.PathLike[str] = "./logs",
    *,
    steps: int | None = None,
    skip: int | None = None,
    seconds: float | None = None,
    after: float | None = None,
    record_shapes: bool = True,
    profile_memory: bool = False,
    with_stack: bool = False,
    with_modules: bool = False,
    memory_snapshot: bool = False,
) -> Recording:
    """Records a block or a function, without calls of `step()`:

        with tbtrace.record("./logs") as recording:
            train()
        print(recording.traces)

        @tbtrace.record("./logs")
        def train(): ...

    All of it is recorded, unless `steps` of it are chosen, after `skip` of them (default: 3 and 5), or `seconds`, after
    `after` of them (2 and 10). A step ends with an optimizer's `step()`; where no optimizer is used, with the call of a
    module. The other options are those of `torch.profiler.profile`; `memory_snapshot` also writes one of GPU memory.

    Each window is a trace `<folder>/<worker>.<time in ns since 1970>.pt.trace.json`. What goes wrong is logged as a
    warning (logger `tbtrace`) and never stops the program. `tbtrace record -- COMMAND` does the same to a program that
    is not changed.
    """
    given = {"steps": steps, "skip": skip, "seconds": seconds, "after": after}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        if value < (1 if name == "steps" else 0):
            raise ValueError(f"record(): {name} is {value}; it takes {1 if name == 'steps' else 0} or more")
    if {"steps", "skip"} & chosen.keys() and {"seconds", "after"} & chosen.keys():
        raise ValueError("record(): steps and skip count steps; they do not go with seconds and after")
    options = {
        "logs": os.path.abspath(os.fsdecode(output(folder, "record()"))),
        "record_shapes": record_shapes,
        "profile_memory": profile_memory,
        "with_stack": with_stack,
        "with_modules": with_modules,
        "memory_snapshot": memory_snapshot,
    }
    return Recording({**options, **chosen}, at_once=not chosen)


class Recording(contextlib.ContextDecorator):
    """What `record()` returns. One block at a time; a function may be called any number of times."""

    def __init__(self, options: dict[str, Any], *, at_once: bool) -> None:
        self.traces: list[str] = []  # the paths of those that were written
        self._problems: list[str] = []
        self._options = options
        self._at_once = at_once
        self._schedule: Any = None

    def __enter__(self) -> Recording:
        from tbtrace._recording.options import Options
        from tbtrace._recording.schedule import Schedule

        self._schedule = Schedule(Options(**self._options), self._say, at_once=self._at_once)
        self._schedule.watch()
        return self

    def __exit__(self, *_: object) -> None:
        schedule, self._schedule = self._schedule, None
        schedule.finish()
        if not self.traces and not self._problems and not self._at_once:
            self._say("problem", "the block ended before a window began; choose other steps, or another time")

    def _say(self, kind: str, text: str) -> None:
        if kind == "trace":
            self.traces.append(text)
        elif kind == "problem":
            import logging

            self._problems.append(text)
            logging.getLogger("tbtrace").warning("the recording in %s: %s", self._options["logs"], text)
