"""What happened on the simulated machines of tests/cases, from the events that they wrote. tbtrace is not asked.

A share is one of the GPU's time, from the start of its first activity to the end of its last.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Iterable

LAUNCH_US = 3.0  # from a call of tests/cases/machine.py to its kernel, if nothing else is before it
_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


class Recording:
    def __init__(self, path: pathlib.Path) -> None:
        events = [event for event in json.loads(path.read_text(encoding="utf-8"))["traceEvents"] if event["ph"] == "X"]
        spans = [(event["name"], event["ts"], event["ts"] + event["dur"], event.get("cat")) for event in events]
        self.device = sorted([span for span in spans if span[3] in _ON_DEVICE], key=lambda span: span[1])
        self.host = [span for span in spans if span[3] not in _ON_DEVICE]
        self.window_us = max((span[2] for span in self.device), default=0.0) - (self.device[0][1] if self.device else 0)

    def gaps(self) -> list[tuple[float, float, str]]:
        """When nothing runs on the device, and what ran before."""
        found = []
        name, end = "", float("inf")
        for activity, start, stop, _ in self.device:
            if start > end:
                found.append((end, start, name))
            if stop >= end or not name:
                name, end = activity, stop
        return found

    def ranges(self, pattern: str) -> list[tuple[float, float]]:
        return _united((start, end) for name, start, end, _ in self.host if re.search(pattern, name))


Truth = Callable[[Recording], float]


def busy(recording: Recording) -> float:
    """The share of the time in which the device works."""
    return 1 - sum(end - start for start, end, _ in recording.gaps()) / recording.window_us


def idle_ns(recording: Recording) -> float:
    return 1000 * sum(end - start for start, end, _ in recording.gaps())


def during_ns(pattern: str, within: str = "") -> Truth:
    """Idle time while such a range of the host is open, inside of another one if that is given."""

    def of(recording: Recording) -> float:
        ranges = recording.ranges(pattern)
        if within:
            ranges = list(_common(ranges, recording.ranges(within)))
        gaps = [(start, end) for start, end, _ in recording.gaps()]
        return 1000 * sum(end - start for start, end in _common(gaps, ranges))

    return of


def after_ns(pattern: str) -> Truth:
    """Idle time from the end of such an activity, for which the host waits, to the next one."""

    def of(recording: Recording) -> float:
        return 1000 * sum(end - start for start, end, name in recording.gaps() if re.search(pattern, name))

    return of


def late_launches_ns(recording: Recording) -> float:
    """Idle time but for what a launch takes on an idle device."""
    return idle_ns(recording) - 1000 * LAUNCH_US * len(recording.gaps())


def alone_ns(pattern: str) -> Truth:
    """Time in which such activities run, and no others."""

    def of(recording: Recording) -> float:
        mine = _united(span[1:3] for span in recording.device if re.search(pattern, span[0]))
        others = _united(span[1:3] for span in recording.device if not re.search(pattern, span[0]))
        return 1000 * sum(end - start for start, end in mine) - 1000 * sum(
            end - start for start, end in _common(mine, others)
        )

    return of


def share(time_ns: Truth) -> Truth:
    return lambda recording: time_ns(recording) / (1000 * recording.window_us)


def _united(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    made: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if made and start <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((start, end))
    return made


def _common(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    for start, end in first:
        for other_start, other_end in second:
            if max(start, other_start) < min(end, other_end):
                yield max(start, other_start), min(end, other_end)
