"""An open trace: always the one that the scan found, and always the same content."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from types import TracebackType

import tbtrace
from tbtrace.tab.below import open_below
from tbtrace.tab.refusal import Refusal
from tbtrace.tab.version import version_of

_DIGESTED = 64 << 10  # of each end
_WHOLE_UP_TO = 256 << 20
_READ_AT_ONCE = 1 << 20
_MAY_BE_WRITTEN_SECONDS = 60.0


class Source:
    """A context manager. Read by its descriptor, so that a file of the same name that comes meanwhile is not taken
    for it, nor a link that leads out of the log directory."""

    def __init__(self, root: str, real: str, trace: str) -> None:
        """`real`: below `root`, without links; `trace`: what people call it."""
        self.trace = trace
        try:
            self._file = open_below(root, real)
        except OSError as problem:
            if isinstance(problem, PermissionError):
                raise Refusal(422, f"{self.trace} cannot be read: {problem.strerror}. Check its permissions.") from None
            raise Refusal(404, f"{self.trace} is no longer there.") from None
        try:
            self._state = os.fstat(self._file)
            if not stat.S_ISREG(self._state.st_mode):
                raise Refusal(404, f"{self.trace} is no longer there.")
        except BaseException:
            os.close(self._file)
            raise
        self.version = version_of(self._state)

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        os.close(self._file)

    @property
    def _path(self) -> str:
        return f"/proc/self/fd/{self._file}"

    @property
    def size(self) -> int:
        return self._state.st_size

    def is_unchanged(self) -> bool:
        return version_of(os.fstat(self._file)) == self.version

    def content_key(self) -> str:
        """Of the content, wherever the file is."""
        digest = hashlib.sha256(os.pread(self._file, _DIGESTED, 0))
        digest.update(os.pread(self._file, _DIGESTED, max(0, self.size - _DIGESTED)))
        return f"{self.size}-{self._state.st_mtime_ns}-{digest.hexdigest()}"

    def digest(self) -> str:
        """As content_key(), but the same for each copy of a file unless that is large."""
        if self.size > _WHOLE_UP_TO:
            return self.content_key()
        digest = hashlib.sha256()
        for start in range(0, self.size, _READ_AT_ONCE):
            digest.update(os.pread(self._file, _READ_AT_ONCE, start))
        return digest.hexdigest()

    def read(self) -> tbtrace.Trace:
        try:
            return tbtrace.read(self._path, name=self.trace, arguments=tbtrace.ARGUMENT_GROUPS)
        except tbtrace.TraceError as problem:
            raise Refusal(422, self.sentence_of(problem)) from None

    def sentence_of(self, problem: Exception) -> str:
        sentence = str(problem).replace(self._path, self.trace)
        if time.time() - os.fstat(self._file).st_mtime < _MAY_BE_WRITTEN_SECONDS:
            sentence = sentence.rstrip(".") + ". The file changed less than a minute ago: it may still be written."
        return sentence
