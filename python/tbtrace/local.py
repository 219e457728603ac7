"""Many traces on the processes of this machine."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tbtrace import _tbtrace
from tbtrace._job import Job, Options, Paths, combined_rows, job_of, row_of, without_repeats

__all__ = ["summarize"]


def summarize(
    inputs: Paths,
    *,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    group_by_stack_n: int = 5,
    stack_source: str = "auto",
    strict: bool = False,
) -> Job:
    """The tables of all traces: operators, kernels, modules, lines and stacks over all, steps, GPU
    use and memory of each.

    `inputs`: files, directories that are searched for traces, glob patterns. `workers`: how many
    traces are read at a time, each in a process of its own; None for one per core. `cache`: a folder
    that keeps the partial of each file; a file that has not changed is not read again.
    `group_by_stack_n` and `stack_source` as for Trace.partial(). `strict`: a file with any problem
    fails. A file that fails, or whose process is killed, costs itself only and is named in `failed`.
    Raises TraceError if no trace could be read.
    """
    if workers is not None and workers < 1:
        raise ValueError("workers takes a number from 1, or None")
    paths, not_found = _tbtrace.find(inputs)
    workers = workers or os.cpu_count() or 1
    options = Options(group_by_stack_n, stack_source, strict, cache, threads=max(1, workers // max(1, len(paths))))
    with ThreadPoolExecutor(workers) as pool:
        rows = list(zip(paths, pool.map(partial(row_of, options=options), paths)))
    repeats = without_repeats((path, row.digests) for path, row in rows)
    return job_of(combined_rows(rows, repeats), not_found)
