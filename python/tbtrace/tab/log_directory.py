"""The log directory as the tab shows it: looked through in the background, again when somebody asks later."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import os
import threading
import time
from typing import Any

import tbtrace
from tbtrace.tab.names import natural
from tbtrace.tab.scan import Listing, Pass, Problem, TraceFile, is_text
from tbtrace.tab.views import known_views

FRESH_SECONDS = 2.0
_WAIT_FIRST_SECONDS = 5.0
_WAIT_SECONDS = 0.5

_log = logging.getLogger("tbtrace")


class LogDirectory:
    """For any number of threads. At most one of them looks through the folders."""

    def __init__(self, logdir: str, logdir_spec: str = "") -> None:
        self.name = logdir or logdir_spec
        self.version = tbtrace.__version__
        self._problem = _not_local(logdir, logdir_spec)
        self._root = "" if self._problem else os.path.abspath(os.path.expanduser(logdir))
        self._condition = threading.Condition()
        self._is_scanning = False
        self._scanned_at = -FRESH_SECONDS  # by the monotonic clock, when the last pass began
        self._listing = Listing()
        self._growing: Listing | None = None
        self._answer: tuple[Listing, bytes] | None = None
        if self._problem:
            self._listing = Listing(is_complete=True, problems=[Problem(self.name, self._problem)])

    @property
    def root(self) -> str:
        return os.path.realpath(self._root)

    def has_traces(self) -> bool:
        """Answers at once, from what was found so far."""
        self.refresh()
        growing = self._growing
        return bool(self._listing.traces) or (growing is not None and bool(growing.traces))

    def refresh(self) -> None:
        """Starts a pass if the last one is old and none is under way; does not wait for it."""
        if self._problem:
            return
        with self._condition:
            if self._is_scanning or time.monotonic() - self._scanned_at < FRESH_SECONDS:
                return
            self._is_scanning = True
            self._scanned_at = time.monotonic()
        threading.Thread(target=self._scan, name="tbtrace-scan", daemon=True).start()

    def listing(self) -> Listing:
        """Not older than two seconds, if a pass does not take long."""
        self.refresh()
        with self._condition:
            seconds = _WAIT_SECONDS if self._listing.is_complete else _WAIT_FIRST_SECONDS
            self._condition.wait_for(lambda: not self._is_scanning, seconds)
            return self._listing if self._listing.is_complete else self._growing or self._listing

    def find(self, trace: str) -> TraceFile | None:
        """Only what a pass found, whatever `trace` is."""
        found = self._listing.traces.get(trace)  # does not wait: pages ask for what they know
        return found or self.listing().traces.get(trace)

    def runs(self) -> dict[str, Any]:
        """The document `tbtrace.runs/1`."""
        listing = self.listing()
        problems = [{"path": problem.path, "sentence": problem.sentence} for problem in list(listing.problems)]
        if listing.more_problems:
            problems.append({"path": ".", "sentence": f"There are {listing.more_problems:,} more such problems."})
        return {
            "schema": "tbtrace.runs/1",
            "version": self.version,
            "logdir": self.name if is_text(self.name) else self.name.encode(errors="replace").decode(),
            "is_complete": listing.is_complete,
            "views": [{"name": name, "title": title} for name, title in known_views()],
            "runs": _runs(list(listing.traces.values())),
            "problems": problems,
        }

    def runs_json(self) -> bytes:
        """The same as text, made once for each listing."""
        listing = self.listing()
        known = self._answer
        if known is None or known[0] is not listing or not listing.is_complete:
            known = (listing, json.dumps(self.runs(), separators=(",", ":")).encode())
            self._answer = known
        return known[1]

    def _scan(self) -> None:
        found: Listing | None = None
        try:
            current = Pass(self._root, self._listing)
            self._growing = current.listing
            found = current.run()
        except Exception:
            _log.exception("looking through %s failed", self._root)
            problem = Problem(".", "Looking through the log directory failed; TensorBoard's log says why.")
            found = dataclasses.replace(self._listing, is_complete=True, problems=[problem])
        finally:
            with self._condition:
                if found is not None:
                    self._listing = found if found != self._listing else self._listing
                self._growing = None
                self._is_scanning = False
                self._condition.notify_all()


def _not_local(logdir: str, logdir_spec: str) -> str:
    if logdir_spec and not logdir:
        return (
            "tbtrace reads one local directory and does not understand --logdir_spec. Start TensorBoard with --logdir "
            "and a directory that contains all runs."
        )
    if "://" in logdir:
        return "tbtrace reads only local directories. Copy the traces to one and start TensorBoard with it."
    if not logdir:
        return "TensorBoard was started without a log directory. Start it with --logdir and a directory of traces."
    return ""


def _runs(traces: list[TraceFile]) -> list[dict[str, Any]]:
    def run_of(trace: TraceFile) -> str:
        return os.path.dirname(trace.trace) or "."

    def order(trace: TraceFile) -> Any:
        parts = trace.parts
        start = (0, parts.start_ns) if parts.start_ns is not None else (1, 0)
        return natural(run_of(trace)), natural(parts.worker), parts.worker, start, natural(parts.window), trace.trace

    traces.sort(key=order)
    runs = []
    for run, in_run in itertools.groupby(traces, run_of):
        workers = [
            {"name": worker, "windows": _windows(list(of_worker))}
            for worker, of_worker in itertools.groupby(in_run, lambda trace: trace.parts.worker)
        ]
        runs.append({"name": run, "workers": workers})
    return runs


def _windows(traces: list[TraceFile]) -> list[dict[str, Any]]:
    """`x.7.pt.trace.json` and `x.7.pt.trace.json.gz` would have one name: they get those of their files."""
    windows = [trace.parts.window for trace in traces]
    return [
        {
            "trace": trace.trace,
            "name": window if windows.count(window) == 1 else os.path.basename(trace.trace),
            "start_ns": trace.parts.start_ns,
            "bytes": trace.size,
            "modified_ns": trace.modified_ns,
            "version": trace.version,
        }
        for trace, window in zip(traces, windows, strict=True)
    ]
