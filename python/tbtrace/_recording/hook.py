"""Between `import torch` in a program that `tbtrace record` runs, and its recorder."""

from __future__ import annotations

import functools
import importlib.machinery
import os
from typing import Any

from . import processes
from .options import Options


def prepare(folder: str, spec: importlib.machinery.ModuleSpec) -> None:
    """The recorder begins as soon as torch has been imported by its `spec`."""
    with open(os.path.join(folder, "options"), "rb") as file:
        options = Options.of(os.fsdecode(file.read()))
    role = processes.role(options.children)
    if role in (processes.Role.LAUNCHER, processes.Role.OTHER):
        return
    loader = spec.loader
    assert loader is not None
    run = loader.exec_module

    def exec_module(module: Any) -> None:
        del loader.exec_module  # the class has its own
        run(module)
        _begin(folder, options, role)

    loader.exec_module = exec_module  # type: ignore[method-assign]


def _begin(folder: str, options: Options, role: processes.Role) -> None:
    say = functools.partial(_say, folder)
    try:
        import torch

        say("torch", torch.__version__)
        if options.idle:
            from .agent import Agent

            Agent(folder).start()
        else:
            from .schedule import Schedule

            Schedule(options, say, trains_only=role is processes.Role.CHILD).watch()
        if role is processes.Role.PROGRAM:
            processes.claim("imported")
    except Exception as problem:  # the program must not notice
        say("problem", f"cannot record this process: {problem!r}")


def _say(folder: str, kind: str, text: str) -> None:
    """A line for `tbtrace record`, in the process's own file."""
    if kind == "steps":
        processes.claim("recorded")
    try:
        with open(os.path.join(folder, f"{os.getpid()}.said"), "a", encoding="utf-8") as file:
            file.write(f"{kind} {' '.join(text.split())}\n")
    except OSError:
        pass  # `tbtrace record` has ended before this process
