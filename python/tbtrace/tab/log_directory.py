"""The log directory as the tab shows it: looked through in the background, again when somebody asks later."""

from __future__ import annotations

import dataclasses
import logging
import os
import threading
import time

from tbtrace.tab.runs import job_of, runs_json
from tbtrace.tab.scan import Listing, Pass, Problem, TraceFile

_FRESH_SECONDS = 2.0
_WAIT_FIRST_SECONDS = 5.0
_WAIT_SECONDS = 0.5

_log = logging.getLogger("tbtrace")


class LogDirectory:
    """For any number of threads. At most one of them looks through the folders."""

    def __init__(self, logdir: str, logdir_spec: str = "") -> None:
        self._name = logdir or logdir_spec
        self._problem = _not_local(logdir, logdir_spec)
        self._root = "" if self._problem else os.path.abspath(os.path.expanduser(logdir))
        self._condition = threading.Condition()
        self._is_scanning = False
        self._fresh_until = 0.0  # by the monotonic clock
        self._listing = Listing()
        self._growing: Listing | None = None
        self._answer: tuple[Listing, bytes] | None = None
        if self._problem:
            self._listing = Listing(is_complete=True, problems=[Problem(self._name, self._problem)])

    @property
    def root(self) -> str:
        """Without links."""
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
            if self._is_scanning or time.monotonic() < self._fresh_until:
                return
            threading.Thread(target=self._scan, name="tbtrace-scan", daemon=True).start()
            self._is_scanning = True

    def listing(self) -> Listing:
        """At most a few seconds old, if a pass does not take long."""
        self.refresh()
        with self._condition:
            seconds = _WAIT_SECONDS if self._listing.is_complete else _WAIT_FIRST_SECONDS
            self._condition.wait_for(lambda: not self._is_scanning, seconds)
            return self._listing if self._listing.is_complete else self._growing or self._listing

    def find(self, trace: str) -> TraceFile | None:
        """Only what a pass found, whatever `trace` is."""
        for listing in (self._listing, self._growing):  # does not wait: pages ask for what they know
            if listing is not None and trace in listing.traces:
                return listing.traces[trace]
        return self.listing().traces.get(trace)

    def job_of(self, file: TraceFile) -> list[TraceFile]:
        """The traces of all workers of its run: of each the window of the same number."""
        return job_of(list(self.listing().traces.values()), file)

    def runs_json(self) -> bytes:
        """The document `tbtrace.runs/1`, made once for each listing."""
        listing = self.listing()
        known = self._answer
        if known is None or known[0] is not listing or not listing.is_complete:
            known = self._answer = (listing, runs_json(self._name, listing))
        return known[1]

    def _scan(self) -> None:
        started = time.monotonic()
        found = self._listing
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
                if found != self._listing:
                    self._listing = found
                self._growing = None
                now = time.monotonic()
                self._fresh_until = now + fresh_seconds(now - started)
                self._is_scanning = False
                self._condition.notify_all()


def fresh_seconds(taken: float) -> float:
    """How long a pass that took so long counts as fresh: a slow disk is not kept busy."""
    return max(_FRESH_SECONDS, taken)


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
