"""Many traces on a Spark cluster. Needs PySpark, pandas and pyarrow (the extra `spark`), on the executors too."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow

from tbtrace import _paths
from tbtrace._job import Job, Paths, job_of
from tbtrace._partials import Options, Row, cache_folder, row_of
from tbtrace._rows import OnError, Question, Wanted, batches, found
from tbtrace._sums import TOGETHER, combined_rows, sum_of, without_repeats

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["rows", "summarize"]

_COLUMNS = "path string, data binary, facts string"
_SCHEMA = pyarrow.schema([("path", pyarrow.string()), ("data", pyarrow.binary()), ("facts", pyarrow.string())])


def summarize(
    session: SparkSession,
    inputs: Paths,
    *,
    cache: str | os.PathLike[str] | None = None,
    group_by_stack_n: int = 5,
    stack_source: str = "auto",
    strict: bool = False,
) -> Job:
    """What tbtrace.local.summarize() returns, with the work on the executors of `session`.

    Paths travel, not files: all executors must reach `inputs`, and `cache`. Spark repeats the tasks
    of executors that die.

        job = tbtrace.spark.summarize(session, "s3://bucket/ranks/")
    """
    from pyspark import StorageLevel

    options = Options(group_by_stack_n, stack_source, strict, cache_folder(cache))
    paths, not_found = _paths.find(inputs)
    if not paths:
        return job_of(None, [], not_found)

    def read(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for path in batch.column("path").to_pylist():
                yield _batch(path, row_of(path, options))

    rows = _frame_of(session, paths).mapInArrow(read, _COLUMNS).persist(StorageLevel.MEMORY_AND_DISK)
    facts = rows.select("path", "facts").collect()
    repeats = without_repeats((row.path, Row.of(None, row.facts).digests) for row in facts)

    def merge(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        yield _batch("", combined_rows((row for batch in batches for row in _rows(batch)), repeats))

    read_rows = rows
    count = len(paths)
    while True:
        count = math.ceil(count / TOGETHER)
        rows = rows.repartition(count).mapInArrow(merge, _COLUMNS)
        if count == 1:
            break
    merged = [row for batch in rows.toArrow().to_batches() for row in _rows(batch)]
    read_rows.unpersist()
    return job_of(*sum_of(merged), not_found)


def rows(
    session: SparkSession,
    inputs: Paths,
    table: Question = "kernels",
    *,
    cache: str | os.PathLike[str] | None = None,
    on_error: OnError = "raise",
    strict: bool = False,
    **arguments: Any,
) -> DataFrame:
    """What tbtrace.local.rows() returns, as a DataFrame, which is made when it is used; in any order.

    A partition has several traces, at most two partitions for each core, so that
    `write.parquet()` writes few files.

        tbtrace.spark.rows(session, "s3://bucket/ranks/", "steps").write.parquet("s3://bucket/steps/")
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    wanted = Wanted(table, arguments, on_error, Options(strict=strict, cache=cache_folder(cache)))
    paths, problems = found(inputs, wanted)
    schema = from_arrow_schema(wanted.schema)
    said = pyarrow.concat_tables([wanted.schema.empty_table(), *problems])
    if not paths:
        return session.createDataFrame(said, schema)

    def read(given: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in given:
            yield from batches(batch.column("path").to_pylist(), wanted)

    made = _frame_of(session, paths).mapInArrow(read, schema)
    return made.union(session.createDataFrame(said, schema)) if problems else made


def _frame_of(session: SparkSession, paths: list[str]) -> DataFrame:
    # A few for each core: one per path would start a worker for each, one per core would wait for the slowest.
    count = min(len(paths), 2 * session.sparkContext.defaultParallelism)
    return session.createDataFrame(session.sparkContext.parallelize([[path] for path in paths], count), "path string")


def _batch(path: str, row: Row) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([{"path": path, "data": row.data, "facts": row.facts}], _SCHEMA)


def _rows(batch: pyarrow.RecordBatch) -> Iterator[tuple[str, Row]]:
    for row in batch.to_pylist():
        yield row["path"], Row.of(row["data"], row["facts"])
