"""A first impression of a JSON file, by its start: the rules of src/inputs/look.cc."""

from __future__ import annotations

import bz2
import contextlib
import enum
import lzma
import os
import zlib
from typing import Protocol

from tbtrace.tab.below import open_below

_LOOKED_AT = 64 << 10
_SIGNS = (b'"traceEvents"', b'"ph"', b'"distributedInfo"')
_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"


class _Inflater(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Look(enum.Enum):
    TRACE = enum.auto()
    OTHER_JSON = enum.auto()
    UNREADABLE = enum.auto()  # empty, damaged, not JSON, or of a compression that Python does not have


def look_at(root: str, path: str) -> Look:
    """At a file below `root`."""
    try:
        file = open_below(root, path)
    except OSError:
        return Look.UNREADABLE
    try:
        start = os.read(file, _LOOKED_AT)
    except OSError:
        return Look.UNREADABLE
    finally:
        os.close(file)
    return look_of(_inflated(start))


def look_of(text: bytes) -> Look:
    text = text.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if text[:1] in (b"{", b"["):
        return Look.TRACE if any(sign in text for sign in _SIGNS) else Look.OTHER_JSON
    is_scalar = text[:1] in (b'"', b"-") or text[:1].isdigit() or text.startswith((b"true", b"false", b"null"))
    return Look.OTHER_JSON if is_scalar else Look.UNREADABLE


def _inflated(start: bytes) -> bytes:
    inflater: _Inflater
    if start.startswith(_GZIP):
        inflater = zlib.decompressobj(wbits=31)
    elif start.startswith(_BZIP2):
        inflater = bz2.BZ2Decompressor()
    elif start.startswith(_XZ):
        inflater = lzma.LZMADecompressor()
    else:
        return start
    with contextlib.suppress(zlib.error, OSError, EOFError, lzma.LZMAError, ValueError):
        return inflater.decompress(start, _LOOKED_AT)
    return b""
