"""Opens what is in the log directory, even while somebody replaces its folders by links to others."""

from __future__ import annotations

import os

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def open_below(root: str, path: str, flags: int = 0) -> int:
    """A descriptor to read from. `path` is below `root`; if a part of it is a link, OSError."""
    at = os.open(root, _FOLDER)
    try:
        *folders, name = path.split("/")
        for folder in folders:
            inner = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        # O_NONBLOCK: a pipe does not stop us.
        return os.open(name or ".", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=at)
    finally:
        os.close(at)
