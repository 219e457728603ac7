"""Many traces on the processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from tbtrace import _tbtrace
from tbtrace._job import Children, Job, Options, Paths, combined_rows, job_of, row_of, without_repeats
from tbtrace._progress import Bar

__all__ = ["summarize"]


def summarize(
    inputs: Paths,
    *,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    group_by_stack_n: int = 5,
    stack_source: str = "auto",
    strict: bool = False,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Job:
    """The tables of all traces: operators, kernels, modules, lines and stacks over all, steps, GPU
    use and memory of each.

    `inputs`: files, directories that are searched for traces, glob patterns. `workers`: how many
    traces are read at a time, each in a process of its own; None for one per core. `cache`: a folder
    that keeps the partial of each file; a file that has not changed is not read again.
    `group_by_stack_n` and `stack_source` as for Trace.partial(). `strict`: a file with any problem
    fails. `progress`: called with how many files are done and how many there are, from the thread
    that called; True for a bar, None for one on a terminal or in a notebook only.

    A file that fails, or whose process is killed, costs itself only and is named in `failed`.
    Raises TraceError if no trace could be read. Ctrl-C, or an exception of `progress`, ends the
    processes at once.
    """
    if workers is not None and workers < 1:
        raise ValueError("workers takes a number from 1, or None")
    paths, not_found = _tbtrace.find(inputs)
    workers = workers or os.cpu_count() or 1
    options = Options(group_by_stack_n, stack_source, strict, cache, threads=max(1, workers // max(1, len(paths))))
    children = Children()
    pool = ThreadPoolExecutor(workers)
    with Bar.of(progress, len(paths)) as bar:
        try:
            reading = {pool.submit(row_of, path, options, children): path for path in paths}
            waiting = set(reading)
            bar.show(0)
            while waiting:
                waiting = wait(waiting, return_when=FIRST_COMPLETED).not_done
                bar.show(len(paths) - len(waiting))
        except BaseException:
            children.end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    rows = [(path, future.result()) for future, path in reading.items()]
    repeats = without_repeats((path, row.digests) for path, row in rows)
    return job_of(combined_rows(rows, repeats), not_found)
