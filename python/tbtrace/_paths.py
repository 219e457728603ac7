"""Paths as people write them: `~`, and what fsspec knows (`s3://`, `gs://`, `memory://`)."""

from __future__ import annotations

import os
import re
from typing import Any

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[^/]+)*://")


def is_remote(path: Any) -> bool:
    """Whether fsspec opens it."""
    return isinstance(path, str) and _SCHEME.match(path) is not None


def local(path: Any) -> Any:
    """A path with a user's home for `~`, unless there is a file of that name."""
    if isinstance(path, str) and path.startswith("~") and not os.path.lexists(path):
        return os.path.expanduser(path)
    return path


def opened(path: Any) -> Any:
    """A local path, or an open file, which is a context manager, with the bytes of a remote one."""
    if not is_remote(path):
        return local(path)
    return filesystem(path)[0].open(filesystem(path)[1], "rb", compression=None)


def filesystem(path: str) -> tuple[Any, str]:
    """fsspec's file system of a path, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError as missing:
        if missing.name != "fsspec":
            raise
        message = f"{path}: paths with :// need fsspec: pip install 'tbtrace[paths]'"
        raise ModuleNotFoundError(message, name="fsspec") from None
    return fsspec.core.url_to_fs(path)  # type: ignore[no-any-return]
