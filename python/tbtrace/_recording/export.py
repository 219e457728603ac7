"""Traces as files that appear when they are complete."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional


def write_trace(profiler: Any, path: str, temporary: Optional[str] = None) -> None:
    """`temporary`: a folder of the same file system."""
    folder, name = os.path.split(path)
    with tempfile.TemporaryDirectory(dir=temporary or folder, prefix=".", suffix=".tbtrace-partial") as place:
        unfinished = os.path.join(place, name)
        profiler.export_chrome_trace(unfinished)
        if not _is_whole(unfinished):  # Kineto does not raise, but prints to standard error
            raise OSError("torch could not write its trace there; check the free space")
        os.replace(unfinished, path)


def _is_whole(path: str) -> bool:
    """Whether the document that Kineto wrote has its end."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 64))
            return file.read().rstrip().endswith(b"}")
    except FileNotFoundError:
        return False
