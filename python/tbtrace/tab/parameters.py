"""The parameters of a request, checked."""

from __future__ import annotations

import difflib
import re

from werkzeug.wrappers import Request

import tbtrace
from tbtrace.tab.refusal import Refusal

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_MOST = 2**63 - 1


def text(request: Request, name: str) -> str:
    value: str | None = request.args.get(name)
    if value is None:
        raise Refusal(400, f"The parameter `{name}` is missing.")
    return value


def integer(request: Request, name: str, least: int = -(2**63), most: int = _MOST) -> int:
    value = text(request, name)
    if not _INTEGER.fullmatch(value) or not least <= int(value) <= most:
        raise Refusal(400, f"The parameter `{name}` takes a whole number from {least:,} to {most:,}.")
    return int(value)


def optional_integer(request: Request, name: str) -> int | None:
    """Without it, or if it is empty, None."""
    return integer(request, name) if request.args.get(name) else None


def view_name(request: Request) -> str:
    value = text(request, "view")
    known = [name for name, _ in tbtrace.views()]
    if value not in known:
        near = difflib.get_close_matches(value[:100], known, n=1)
        hint = f"Did you mean `{near[0]}`? " if near else ""
        raise Refusal(400, f"There is no view `{value[:100]}`. {hint}Views are {', '.join(known)}.")
    return value
