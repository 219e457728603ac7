"""The page's script and style, which the build puts beside this file."""

from __future__ import annotations

import functools
import os
import zlib

from werkzeug.wrappers import Request, Response

from tbtrace.tab import answers
from tbtrace.tab.refusal import Refusal

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")


def static_file(name: str, kind: str, request: Request) -> Response:
    path = os.path.join(_FOLDER, name)
    try:
        changed = os.stat(path).st_mtime_ns
        content = _compressed_file(path, changed)
    except OSError:
        raise Refusal(404, f"{name} is missing from the installed package; install tbtrace again.") from None
    return answers.compressed(request, content, kind)


@functools.lru_cache(maxsize=4)
def _compressed_file(path: str, changed: int) -> bytes:
    with open(path, "rb") as file:
        compressor = zlib.compressobj(9, wbits=31)
        return compressor.compress(file.read()) + compressor.flush()
