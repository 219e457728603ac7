"""What file names say. The rules for traces are those of src/inputs/trace_names.cc; tests compare the two."""

from __future__ import annotations

import re
from typing import NamedTuple

_PACKED = r"(?:\.(?:gz|gzip|bzip2|zst|zstd|xz|bz2|lz4|br|lzma|sz|z|7z|rar|zip|tar|tgz|tzst|txz|tbz|tbz2))*"
_ANY_CASE = re.IGNORECASE | re.ASCII
_TRACE = re.compile(rf"\.json{_PACKED}\Z", _ANY_CASE)
_OF_HANDLER = re.compile(rf"\.pt\.trace\.json{_PACKED}\Z", _ANY_CASE)
_UNFINISHED = re.compile(
    r"\.(?:part|partial|crdownload|download|incomplete|unfinished|filepart|inprogress|temp)\Z", _ANY_CASE
)
_NUMBER = re.compile(r"\.[0-9]+\Z")
_TEMPORARY = re.compile(r"\.tmp(?:[0-9]*|[-_][^.]*)\Z", _ANY_CASE)
_STEM = re.compile(rf"(?:\.pt\.trace|\.trace)?\.json{_PACKED}\Z", _ANY_CASE)
_START = re.compile(r"\A(.+)\.([0-9]+)\.pt\.trace\.json", _ANY_CASE | re.DOTALL)
_DIGITS = re.compile(r"([0-9]+)")

# What digits in a name can be: ns, us or ms since 1970, of the years 2001 to 2286.
_TIME_UNITS = ((10**18, 10**19, 1), (10**15, 10**16, 10**3), (10**12, 10**13, 10**6))


def is_trace(name: str) -> bool:
    """`.json`, also compressed or packed."""
    return _TRACE.search(name) is not None


def is_of_handler(name: str) -> bool:
    """As the profiler's handlers call their files."""
    return _OF_HANDLER.search(name) is not None


def is_unfinished(name: str) -> bool:
    """A trace's name with an ending that programs use until a file is complete."""
    ending = _TEMPORARY.search(_NUMBER.sub("", name)) or _UNFINISHED.search(name)
    return ending is not None and is_trace(name[: ending.start()])


class Parts(NamedTuple):
    """What the name of a trace has in it."""

    worker: str
    window: str
    start_ns: int | None


def parts_of(name: str) -> Parts:
    """`<worker>.<digits>.pt.trace.json` as the profiler plugin reads it; of other names, the name without endings."""
    found = _START.match(name) if is_of_handler(name) else None
    if found is None:
        return Parts(_STEM.sub("", name) or name, name, None)
    worker, digits = found.groups()
    return Parts(worker, digits, _time_of(digits))


def _time_of(digits: str) -> int | None:
    if len(digits) > 25:
        return None
    number = int(digits)
    return next((number * unit for least, end, unit in _TIME_UNITS if least <= number < end), None)


Natural = tuple[tuple[int, int | str], ...]


def natural(text: str) -> Natural:
    """A key that sorts `rank10` after `rank9`."""
    parts = enumerate(_DIGITS.split(text))  # each second one is a number
    return tuple((0, int(part)) if number % 2 else (1, part) for number, part in parts if part)
