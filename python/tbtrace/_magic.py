"""`%%tbtrace`, which records a notebook's cell: after `%load_ext tbtrace`."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from tbtrace._record import record


def load(shell: Any) -> None:
    def tbtrace(line: str, cell: str) -> None:
        """Runs the cell, records it by torch's profiler, and shows the summary. `%%tbtrace --help` has the options."""
        options = _options(line)
        if options is None:
            return
        folder = options.pop("output")
        with record(folder, **options) as recording:
            result = shell.run_cell(cell)
        del result  # an error was shown
        _show(recording.traces)

    shell.register_magic_function(tbtrace, "cell", "tbtrace")


def _options(line: str) -> dict[str, Any] | None:
    parser = argparse.ArgumentParser(prog="%%tbtrace", description="Records the cell by torch's profiler.")
    parser.add_argument("-o", "--output", default="./logs", help="the folder for traces (default: ./logs)")
    for name in ("steps", "skip"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("profile-memory", "with-stack", "with-modules", "memory-snapshot"):
        parser.add_argument(f"--{name}", action="store_true")
    try:
        return vars(parser.parse_args(shlex.split(line)))
    except SystemExit:  # the help, or what is wrong, was shown
        return None


def _show(traces: list[str]) -> None:
    import tbtrace

    for path in traces:
        print(f"tbtrace: {path}")
        print(tbtrace.read(path).summary())
