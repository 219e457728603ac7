"""Many traces on the processes of this machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from tbtrace import _paths
from tbtrace._job import Job, Paths, job_of
from tbtrace._partials import Children, Options, cache_folder, row_of
from tbtrace._progress import Bar
from tbtrace._rows import OnError, Question, Wanted, found
from tbtrace._sums import in_order, rows_without_repeats, sum_of

if TYPE_CHECKING:
    import pyarrow

__all__ = ["rows", "summarize"]

Made = TypeVar("Made")
Progress = Callable[[int, int], object] | bool | None


def summarize(
    inputs: Paths,
    *,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    group_by_stack_n: int = 5,
    stack_source: str = "auto",
    strict: bool = False,
    progress: Progress = None,
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

        job = tbtrace.local.summarize("ranks/")
    """
    workers = _number_of(workers)
    cache = cache_folder(cache)
    paths, not_found = _paths.find(inputs)
    paths.sort(key=in_order)
    options = Options(group_by_stack_n, stack_source, strict, cache, threads=max(1, workers // max(1, len(paths))))
    made = _each(paths, lambda path, children: row_of(path, options, children), workers, progress)
    return job_of(*sum_of(rows_without_repeats(zip(paths, made))), not_found)


def rows(
    inputs: Paths,
    table: Question = "kernels",
    *,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    on_error: OnError = "raise",
    strict: bool = False,
    progress: Progress = None,
    **arguments: Any,
) -> pyarrow.Table:
    """The rows of each trace by itself, with its path and rank (`input`, `rank`), as a pyarrow.Table.

    `table` and `arguments`: a method of Partial with its arguments: `rows(inputs, "kernels",
    group_by="operator")`. Units and columns are those of that table; `[unattributed]` and the other
    rows of a trace add up to its total. A trace that is there twice has its rows twice.

    `table` may also be a function, for all that a Trace has: it is called with each Trace and the
    `arguments`, and gives a table: that of a method, or a data frame. Its columns have to be the
    same for all traces. Here it runs in threads of this process, on a cluster in the workers;
    what it raises ends the call.

    `on_error`: with 'raise' the first input that cannot be read raises TraceError; with 'row' it is
    a row that has only `input` and, in a last column, `problem`. Other arguments, and what is raised
    besides, are those of summarize(); ValueError for a wrong table or argument. Needs pyarrow.

        tbtrace.local.rows("ranks/", "kernels", group_by="operator").to_pandas()
        tbtrace.local.rows("ranks/", lambda trace: trace.gaps()).to_pandas()
    """
    import pyarrow

    workers = _number_of(workers)
    wanted = Wanted(table, arguments, on_error, Options(strict=strict, cache=cache_folder(cache)))
    paths, problems = found(inputs, wanted)
    return pyarrow.concat_tables([wanted.schema.empty_table(), *_each(paths, wanted.of, workers, progress), *problems])


def _number_of(workers: int | None) -> int:
    if workers is not None and workers < 1:
        raise ValueError("workers takes a number from 1, or None")
    return workers or os.cpu_count() or 1


def _each(paths: list[str], make: Callable[[str, Children], Made], workers: int, progress: Progress) -> Iterator[Made]:
    """What `make` makes of each path, in their order, as soon as it is made. What it raises ends all."""
    children = Children()
    pool = ThreadPoolExecutor(workers)
    with Bar.of(progress, len(paths)) as bar:
        try:
            reading: deque[Future[Made]] = deque(pool.submit(make, path, children) for path in paths)
            waiting = set(reading)
            bar.show(0)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()
                bar.show(len(paths) - len(waiting))
                while reading and reading[0].done():
                    yield reading.popleft().result()
        except BaseException:
            children.end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
