"""Versions of traces: browsers keep what they got for a version for ever."""

from __future__ import annotations

import functools
import hashlib
import os

import tbtrace
from tbtrace import _tbtrace


def version_of(state: os.stat_result) -> str:
    """Changes whenever somebody writes to the file or replaces it, and with what tbtrace makes of it."""
    file = f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {program()}"
    return hashlib.blake2b(file.encode(), digest_size=9).hexdigest()


@functools.cache
def program() -> str:
    """Which tbtrace this is: its version, and its build."""
    state = os.stat(_tbtrace.__file__)
    return f"{tbtrace.__version__} {state.st_size} {state.st_mtime_ns}"
