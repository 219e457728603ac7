"""The document `tbtrace.runs/1`, of a listing."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import tbtrace
from tbtrace.tab.scan import Listing, TraceFile


def runs_json(logdir: str, listing: Listing) -> bytes:
    return json.dumps(_document(logdir, listing), separators=(",", ":")).encode()


def _document(logdir: str, listing: Listing) -> dict[str, Any]:
    problems = [{"path": problem.path, "sentence": problem.sentence} for problem in list(listing.problems)]
    if listing.more_problems:
        problems.append({"path": ".", "sentence": f"There are {listing.more_problems:,} more such problems."})
    return {
        "schema": "tbtrace.runs/1",
        "version": tbtrace.__version__,
        "logdir": logdir.encode(errors="replace").decode(),
        "is_complete": listing.is_complete,
        "views": [{"name": name, "title": title} for name, title in tbtrace.views()],
        "runs": _runs(list(listing.traces.values())),
        "problems": problems,
    }


def job_of(traces: list[TraceFile], file: TraceFile) -> list[TraceFile]:
    run = os.path.dirname(file.trace)
    in_run = sorted((trace for trace in traces if os.path.dirname(trace.trace) == run), key=lambda trace: trace.order)
    workers = [list(windows) for _, windows in itertools.groupby(in_run, lambda trace: trace.parts.worker)]
    number = next((names.index(file.trace) for names in _names(workers) if file.trace in names), 0)
    return [windows[number] for windows in workers if number < len(windows)]


def _names(workers: list[list[TraceFile]]) -> list[list[str]]:
    return [[window.trace for window in windows] for windows in workers]


def _runs(traces: list[TraceFile]) -> list[dict[str, Any]]:
    traces.sort(key=lambda trace: trace.order)
    return [
        {
            "name": run,
            "workers": [
                {"name": worker, "windows": _windows(list(of_worker))}
                for worker, of_worker in itertools.groupby(in_run, lambda trace: trace.parts.worker)
            ],
        }
        for run, in_run in itertools.groupby(traces, lambda trace: os.path.dirname(trace.trace) or ".")
    ]


def _windows(traces: list[TraceFile]) -> list[dict[str, Any]]:
    """`x.7.pt.trace.json` and `x.7.pt.trace.json.gz` would have one name: the second gets that of its file."""
    windows = []
    named: set[str] = set()
    for trace in traces:
        name = trace.parts.window
        if name in named:
            name = os.path.basename(trace.trace)
        named.add(name)
        windows.append(
            {
                "trace": trace.trace,
                "name": name,
                "start_ns": trace.parts.start_ns,
                "bytes": trace.size,
                "modified_ns": trace.modified_ns,
                "version": trace.version,
            }
        )
    return windows
