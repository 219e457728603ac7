"""Rows of files added up, in any order and any tree; of files with the same content one counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from tbtrace import _tbtrace
from tbtrace._partials import File, Row

TOGETHER = 32  # partials that one task of a cluster merges
_AT_ONCE = 8  # partials that are merged at a time: one of 110 kB takes 2.5 MB of memory


def combined_rows(rows: Iterable[tuple[str, Row]], repeats: Mapping[str, str]) -> Row:
    """The sum of (path, row), without the paths of without_repeats(), as a row."""
    partial, files = sum_of(rows, repeats)
    return Row(None if partial is None else partial.to_bytes(), files)


def sum_of(
    rows: Iterable[tuple[str, Row]], repeats: Mapping[str, str] = MappingProxyType({})
) -> tuple[_tbtrace.Partial | None, list[File]]:
    """The same as a partial, None without a trace, and its files. Rows are added as they come: a few
    partials are in memory at a time, however many there are."""
    total = _Sum()
    files: list[File] = []
    for path, row in rows:
        kept = _doubled(row, repeats[path]) if path in repeats else row
        files += kept.files
        if kept.data is not None:
            total.add(_tbtrace.Partial.from_bytes(kept.data))
    return total.whole(), files


def rows_without_repeats(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """What without_repeats() finds, of rows in the order of in_order() as they come."""
    first: dict[str, str] = {}
    for path, row in rows:
        same = next((first[digest] for digest in row.digests if first.setdefault(digest, path) != path), None)
        yield path, row if same is None else _doubled(row, _repeats(same))


class _Sum:
    """Merges partials in a tree, so that each takes part in few merges."""

    def __init__(self) -> None:
        self._levels: list[list[_tbtrace.Partial]] = []

    def add(self, partial: _tbtrace.Partial) -> None:
        for level in self._levels:
            level.append(partial)
            if len(level) < _AT_ONCE:
                return
            partial = _tbtrace.merge(level)
            level.clear()
        self._levels.append([partial])

    def whole(self) -> _tbtrace.Partial | None:
        left = [partial for level in self._levels for partial in level]
        self._levels.clear()
        return _tbtrace.merge(left) if len(left) > 1 else left[0] if left else None


def _doubled(row: Row, message: str) -> Row:
    return Row(None, [replace(file, problem=message, state="doubled", reused=False) for file in row.files])


def without_repeats(digests: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Of files with the same content only the first may count: the other paths, with a sentence.
    Takes (path, digests of its row)."""
    first: dict[str, str] = {}
    repeats: dict[str, str] = {}
    for path, of_path in sorted(digests, key=lambda each: in_order(each[0])):
        for digest in of_path:
            if first.setdefault(digest, path) != path:
                repeats[path] = _repeats(first[digest])
    return repeats


def in_order(path: str) -> bytes:
    """The order in which the first file with the same content counts."""
    return os.fsencode(path)


def _repeats(first: str) -> str:
    return f"has the same content as {first}, which counts"
