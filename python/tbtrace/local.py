"""Many traces on the processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from tbtrace._job import Job, Options, Paths, Row, combined_rows, found_paths, job_of, row_of, without_repeats

__all__ = ["summarize"]

_KILLED = "the process that read it was killed twice; is there enough memory?"
_TASKS_PER_WORKER = 2  # waiting in the pool, so that few are lost with it


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

    `inputs`: files, directories that are searched for traces, glob patterns. `workers`: processes,
    None for one per core; each holds one trace at a time. `cache`: a folder that keeps the partial
    of each file; a file that has not changed is not read again. `strict`: a file with any problem
    fails. A file that fails costs itself only, and is named in `failed`, also if its process was
    killed. Raises TraceError if no trace could be read.

    Processes are spawned: a script that calls this needs `if __name__ == "__main__":`.
    """
    if workers is not None and workers < 1:
        raise ValueError("workers takes a number from 1, or None")
    paths, not_found = found_paths(inputs)
    options = Options(group_by_stack_n, stack_source, strict, os.fspath(cache) if cache is not None else None)
    rows = dict(_rows(paths, options, workers or os.cpu_count() or 1))
    repeats = without_repeats((path, row.digests) for path, row in rows.items())
    return job_of(combined_rows(((path, rows[path]) for path in paths), repeats), not_found)


def _rows(paths: list[str], options: Options, workers: int) -> Iterator[tuple[str, Row]]:
    """Reads all paths. What was under way when a process died is read again, each by itself, so that
    it is clear which file does it."""
    lost = yield from _pooled(paths, options, min(workers, max(1, len(paths))))
    for path in lost:
        if (yield from _pooled([path], options, 1)):
            yield path, Row(data=None, digests=[], failed=[(path, _KILLED)])


def _pooled(paths: list[str], options: Options, workers: int) -> Iterator[tuple[str, Row]]:
    """Reads paths in one pool, and goes on in another one if a process dies. Returns those that were
    under way then."""
    lost: list[str] = []
    waiting = list(reversed(paths))
    while waiting:
        under_way: dict[Future[Row], str] = {}
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            try:
                while waiting or under_way:
                    while waiting and len(under_way) < workers * _TASKS_PER_WORKER:
                        under_way[pool.submit(row_of, waiting[-1], options)] = waiting[-1]
                        waiting.pop()
                    for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                        yield under_way[done], done.result()
                        del under_way[done]
            except BrokenProcessPool:
                for future, path in under_way.items():
                    if future.done() and future.exception() is None:
                        yield path, future.result()
                    else:
                        lost.append(path)
    return lost
