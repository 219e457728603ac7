"""How far work is: a callback, or a bar on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

_WIDTH = 30
_PAUSE_S = 0.1  # between two looks of a bar


class Bar:
    """Shows how many of `total` are done."""

    def __init__(self, show: Callable[[int, int], object], total: int, end: Callable[[], None] | None = None) -> None:
        self._show = show
        self._end = end
        self._total = total

    @staticmethod
    def of(progress: Callable[[int, int], object] | bool | None, total: int) -> Bar:
        """Calls `progress`; True: a bar; None: a bar where people look; False: nothing."""
        if callable(progress):
            return Bar(progress, total)
        notebook = _notebook() if progress is not False else None
        if notebook is not None:
            return Bar(_in_notebook(notebook), total)
        if progress or (progress is None and _is_terminal()):
            return Bar(_on_terminal(), total, _clear_line)
        return Bar(lambda done, total: None, total)

    def show(self, done: int) -> None:
        self._show(done, self._total)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        if self._end is not None:
            self._end()


def _text(done: int, total: int) -> str:
    filled = _WIDTH * done // max(1, total)
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done} of {total} traces"


def _is_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def _on_terminal() -> Callable[[int, int], None]:
    last = float("-inf")

    def show(done: int, total: int) -> None:
        nonlocal last
        if done < total and time.monotonic() < last + _PAUSE_S:
            return
        last = time.monotonic()
        if sys.stderr is not None:
            sys.stderr.write(f"\r{_text(done, total)}")
            sys.stderr.flush()

    return show


def _clear_line() -> None:
    if sys.stderr is not None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _notebook() -> Any:
    """IPython.display, if this runs in a notebook. Whoever runs in one has loaded IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return sys.modules.get("IPython.display") if hasattr(shell, "kernel") else None


def _in_notebook(display: Any) -> Callable[[int, int], None]:
    shown: Any = None
    last = float("-inf")

    def show(done: int, total: int) -> None:
        nonlocal shown, last
        page = display.HTML(f'<progress value="{done}" max="{max(1, total)}"></progress> {done} of {total} traces')
        if shown is None:
            shown = display.display(page, display_id=True)
        elif done == total or time.monotonic() >= last + _PAUSE_S:
            shown.update(page)
            last = time.monotonic()

    return show
