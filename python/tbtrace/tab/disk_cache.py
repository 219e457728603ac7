"""Finished views on disk, for all TensorBoards of a user: gzip below $XDG_CACHE_HOME/tbtrace/tab."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import re
import threading
import time

MOST_BYTES = 1_000_000_000
_MARK = b"TBTAB1\n\0"
_DIGEST_BYTES = 16
_LEFT_BEHIND_SECONDS = 3600.0
_NAME = re.compile(r"[0-9a-f]{64}\.view(\.[0-9]+-[0-9]+\.tmp)?")  # other files in the folder are not ours

_log = logging.getLogger("tbtrace")


def default_folder() -> str:
    named = os.environ.get("TBTRACE_TAB_CACHE")
    if named:
        return os.path.abspath(named)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):
        caches = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "tbtrace", "tab")


class DiskCache:
    """Any number of threads and processes may share a folder. What goes wrong only means that nothing is kept."""

    def __init__(self, folder: str | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder or default_folder()
        self._most_bytes = most_bytes
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._added: int | None = None  # bytes since this process last looked at the whole folder
        self._was_said = False

    def get(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                kept = file.read()
        except OSError:
            return None
        start = len(_MARK) + _DIGEST_BYTES
        content = kept[start:]
        if not kept.startswith(_MARK) or kept[len(_MARK) : start] != _digest(content):
            with contextlib.suppress(OSError):
                os.unlink(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what was used least recently goes first
        return content

    def put(self, key: str, content: bytes) -> None:
        size = len(content) + len(_MARK) + _DIGEST_BYTES
        if size > self._most_bytes:
            return
        temporary = f"{self._path(key)}.{os.getpid()}-{next(self._numbers)}.tmp"
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            try:
                file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with open(file, "wb") as out:
                    out.write(_MARK + _digest(content) + content)
                os.rename(temporary, self._path(key))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as problem:
            if not self._was_said:
                self._was_said = True
                _log.warning("views are not kept in %s: %s", self._folder, problem.strerror)
            return
        with self._lock:
            if self._added is not None:
                self._added += size
                if self._added < self._most_bytes // 50:
                    return
            self._added = 0
            self._shrink()

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, hashlib.sha256(key.encode()).hexdigest() + ".view")

    def _shrink(self) -> None:
        kept: list[tuple[int, int, str]] = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = _NAME.fullmatch(entry.name)
                    if name is None:
                        continue
                    with contextlib.suppress(OSError):
                        state = entry.stat(follow_symlinks=False)
                        if not name[1]:
                            kept.append((state.st_mtime_ns, state.st_size, entry.path))
                        elif time.time() - state.st_mtime > _LEFT_BEHIND_SECONDS:
                            os.unlink(entry.path)
        except OSError:
            return
        total = sum(size for _, size, _ in kept)
        target = self._most_bytes - self._most_bytes // 20  # other processes add meanwhile
        if total <= target:
            return
        for _, size, path in sorted(kept):
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
            if total <= target:
                return


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
