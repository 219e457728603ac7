"""Many traces on a Ray cluster. Needs Ray, pandas and pyarrow (the extra `ray`), on the workers too."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ray

from tbtrace import _paths
from tbtrace._job import Job, Paths, job_of
from tbtrace._partials import Options, Row, cache_folder, row_of
from tbtrace._rows import OnError, Question, Wanted, batches, found
from tbtrace._sums import TOGETHER, combined_rows, sum_of, without_repeats

if TYPE_CHECKING:
    import pyarrow

__all__ = ["rows", "summarize"]


def summarize(
    inputs: Paths,
    *,
    cache: str | os.PathLike[str] | None = None,
    group_by_stack_n: int = 5,
    stack_source: str = "auto",
    strict: bool = False,
    memory_per_task: float | None = None,
) -> Job:
    """What tbtrace.local.summarize() returns, with the work on the cluster that `ray` is connected to.

    Paths travel, not files: all workers must reach `inputs`, and `cache`. `memory_per_task`: bytes
    that Ray reserves for reading one trace. Ray repeats the tasks of workers that die.

        job = tbtrace.ray.summarize("s3://bucket/ranks/")
    """
    options = Options(group_by_stack_n, stack_source, strict, cache_folder(cache))
    paths, not_found = _paths.find(inputs)
    if not paths:
        return job_of(None, [], not_found)
    resources: Any = {} if memory_per_task is None else {"memory": memory_per_task}

    rows = ray.data.from_items([{"path": path} for path in paths], override_num_blocks=len(paths))
    read: Any = _read  # Ray's hints do not know functions with more arguments
    rows = rows.map_batches(read, batch_size=1, fn_kwargs={"options": options}, **resources).materialize()
    facts = rows.select_columns(["path", "facts"]).take_all()
    repeats = without_repeats((row["path"], Row.of(None, row["facts"]).digests) for row in facts)
    count = len(paths)
    while True:
        count = math.ceil(count / TOGETHER)
        rows = rows.repartition(count).map_batches(_merge, batch_size=None, fn_kwargs={"repeats": repeats}).materialize()
        if count == 1:
            return job_of(*sum_of(_parts(row) for row in rows.take_all()), not_found)


def rows(
    inputs: Paths,
    table: Question = "kernels",
    *,
    cache: str | os.PathLike[str] | None = None,
    on_error: OnError = "raise",
    strict: bool = False,
    memory_per_task: float | None = None,
    **arguments: Any,
) -> ray.data.Dataset:
    """What tbtrace.local.rows() returns, as a Dataset, which is made when it is used; in any order.

    A task reads several traces, one at a time, and makes one block of all: at most two for each CPU
    of the cluster, so that `write_parquet()` writes few files.

        tbtrace.ray.rows("s3://bucket/ranks/", "steps").write_parquet("s3://bucket/steps/")
    """
    wanted = Wanted(table, arguments, on_error, Options(strict=strict, cache=cache_folder(cache)))
    paths, problems = found(inputs, wanted)
    resources: Any = {} if memory_per_task is None else {"memory": memory_per_task}
    none = ray.data.from_arrow([wanted.schema.empty_table(), *problems])
    if not paths:
        return none
    count = min(len(paths), 2 * _cores())
    items = ray.data.from_items([{"path": path} for path in paths], override_num_blocks=count)
    read: Any = _read_rows
    made = items.map_batches(read, batch_size=None, fn_kwargs={"wanted": wanted}, **resources)
    return made.union(none) if problems else made


def _cores() -> int:
    there: Any = ray.cluster_resources  # without hints
    return max(1, int(there().get("CPU", 1)))


def _read_rows(batch: Any, wanted: Wanted) -> Iterator[pyarrow.Table]:
    import pyarrow

    yield pyarrow.Table.from_batches(batches([str(path) for path in batch["path"]], wanted), wanted.schema)


def _read(batch: Any, options: Options) -> Any:
    return _batch([(path, row_of(path, options)) for path in batch["path"]])


def _merge(batch: Any, repeats: dict[str, str]) -> Any:
    rows = (dict(zip(batch, values)) for values in zip(*batch.values()))
    return _batch([("", combined_rows((_parts(row) for row in rows), repeats))])


def _batch(rows: list[tuple[str, Row]]) -> dict[str, Any]:
    return {
        "path": [path for path, _ in rows],
        "data": [row.data or b"" for _, row in rows],
        "facts": [row.facts for _, row in rows],
    }


def _parts(row: dict[str, Any]) -> tuple[str, Row]:
    return str(row["path"]), Row.of(bytes(row["data"]), str(row["facts"]))
