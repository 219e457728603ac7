"""Tables as objects of other packages, each of which is imported when it is asked for."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from tbtrace import _tbtrace
from tbtrace._paths import output

_AT_ONCE = 4096  # rows that exist as dictionaries while one iterates


def rows(table: _tbtrace.Table) -> Iterator[dict[str, Any]]:
    for first in range(0, len(table), _AT_ONCE):
        yield from table._dicts(first, _AT_ONCE)


def to_dicts(table: _tbtrace.Table) -> list[dict[str, Any]]:
    return list(rows(table))  # other threads run, and Ctrl-C comes through, between the parts


def to_pandas(table: _tbtrace.Table, datetimes: bool) -> Any:
    pandas = _package("pandas", "to_pandas")
    bases = _bases_of(table, datetimes)
    columns = {}
    for part in table._parts():
        columns[part[0]] = _pandas_array(pandas, part)
        if bases is not None and _is_instant(part[0], part[1]):
            columns[part[0]] = _pandas_instants(pandas, part, bases)
    return pandas.DataFrame(columns, copy=False)


def to_polars(table: _tbtrace.Table, datetimes: bool) -> Any:
    polars = _package("polars", "to_polars")
    bases = _bases_of(table, datetimes)
    frame = polars.DataFrame(table)
    if bases is None:
        return frame
    base = polars.concat([polars.repeat(time, rows, dtype=polars.Int64, eager=True) for rows, time in bases])
    instants = [name for name, kind in frame.schema.items() if _is_instant(name, "l") and kind == polars.Int64]
    return frame.with_columns((polars.col(name) + base).cast(polars.Datetime("ns", "UTC")) for name in instants)


def to_arrow(table: _tbtrace.Table, datetimes: bool) -> Any:
    pyarrow = _package("pyarrow", "to_arrow")
    bases = _bases_of(table, datetimes)
    made = pyarrow.table(table)
    if bases is None:
        return made
    compute = importlib.import_module("pyarrow.compute")
    parts = [pyarrow.repeat(pyarrow.scalar(time, pyarrow.int64()), rows) for rows, time in bases]
    base = pyarrow.chunked_array(parts, pyarrow.int64())
    for at, field in enumerate(made.schema):
        if _is_instant(field.name, "l") and field.type == pyarrow.int64():
            instants = compute.add(made[field.name], base).cast(pyarrow.timestamp("ns", "UTC"))
            made = made.set_column(at, field.name, instants)
    return made


def to_parquet(table: _tbtrace.Table, path: str | os.PathLike[str], overwrite: bool, datetimes: bool) -> None:
    _package("pyarrow", "to_parquet")
    parquet = importlib.import_module("pyarrow.parquet")
    made = to_arrow(table, datetimes)
    with _new_file(path, "to_parquet()", overwrite) as file:
        parquet.write_table(made, file)


def to_csv(
    table: _tbtrace.Table, path: str | os.PathLike[str] | None, sort_by: str | None, row_limit: int, overwrite: bool
) -> str | None:
    if path is None:
        return "".join(_csv_parts(table, sort_by, row_limit))
    with _new_file(path, "to_csv()", overwrite) as file:
        for part in _csv_parts(table, sort_by, row_limit):
            file.write(part.encode(errors="surrogateescape"))
    return None


def _csv_parts(table: _tbtrace.Table, sort_by: str | None, row_limit: int) -> Iterator[str]:
    """The text in pieces, so that not all rows have to be in memory as texts, and Ctrl-C comes through."""
    size = len(table) if row_limit < 0 else min(row_limit, len(table))
    if sort_by is not None or row_limit < -1 or size <= _AT_ONCE or isinstance(table, _tbtrace.Operators):
        yield table._csv(sort_by, row_limit)
        return
    for first in range(0, size, _AT_ONCE):
        text = table[first : min(first + _AT_ONCE, size)]._csv(None, -1)
        yield text if first == 0 else text[text.index("\n") + 1 :]  # the names of the columns are there


@contextlib.contextmanager
def _new_file(path: str | os.PathLike[str], who: str, overwrite: bool) -> Iterator[IO[bytes]]:
    """To write to; it appears under its name when it is complete."""
    place = os.fspath(output(path, who))
    if not overwrite and os.path.lexists(place):
        raise FileExistsError(f"{place}: exists already; overwrite=True replaces it")
    number, waiting = tempfile.mkstemp(prefix=".tbtrace-", dir=os.path.dirname(place) or ".")
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(waiting, 0o666 & ~mask)  # mkstemp() lets only the owner read it
        os.replace(waiting, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(waiting)
        raise


def to_numpy(table: _tbtrace.Table) -> Any:
    numpy = _package("numpy", "to_numpy")
    fields = {part[0]: _numpy_array(numpy, part) for part in table._parts()}
    made = numpy.empty(len(table), [(name, values.dtype) for name, values in fields.items()])
    for name, values in fields.items():
        made[name] = values
    return made


def column_array(column: _tbtrace.Column, dtype: Any, copy: bool | None) -> Any:
    numpy = importlib.import_module("numpy")
    if copy is False:
        raise ValueError("an array of a column is a copy of it")
    made = _numpy_array(numpy, column._parts())
    return made if dtype is None else made.astype(dtype)


def _package(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        raise ModuleNotFoundError(f"{method}() needs {name}: pip install {name}", name=name) from None


_YEAR_2001_NS = 1_000_000_000_000_000_000  # profilers are younger


def _bases_of(table: _tbtrace.Table, datetimes: bool) -> list[tuple[int, int]] | None:
    """So many rows that follow each other, and the Unix time that their times count from."""
    if not datetimes:
        return None
    bases = table._bases() if table.base_time_ns is None else [(len(table), table.base_time_ns)]
    if bases is None:
        raise ValueError(
            "datetimes are of the tables of traces, in exact figures: partials do not have the starts of their "
            "traces beside each row, and times of other tools count from another start"
        )
    if any(rows > 0 and base < _YEAR_2001_NS for rows, base in bases):
        raise ValueError(
            "the trace does not say when it was recorded: it has no `baseTimeNanoseconds`, which is the last member of "
            "some files and is missing where they are cut, and its times count from no date"
        )
    return bases


def _is_instant(name: str, kind: str) -> bool:
    """Whether the values of a column say when, not how long."""
    return kind == "l" and any(name == end or name.endswith("_" + end) for end in ("start_ns", "end_ns", "at_ns"))


# A part is (name, Arrow's format, bytes of values, a byte per row that is 1 where there is none, texts).
_Part = tuple[str, str, bytes | None, bytes | None, list[Any] | None]
_TYPES = {"l": "int64", "L": "uint64", "g": "float64", "b": "bool", "i": "int32"}


def _values(numpy: Any, part: _Part) -> tuple[Any, Any]:
    """Numbers, and where there is none."""
    values = numpy.frombuffer(part[2], _TYPES[part[1]]).copy()
    if part[3] is None:
        return values, numpy.zeros(len(values), bool)
    return values, numpy.frombuffer(part[3], bool).copy()


def _objects(numpy: Any, values: list[Any]) -> Any:
    made = numpy.empty(len(values), object)
    for at, value in enumerate(values):  # numpy would make lists of one length a second dimension
        made[at] = value
    return made


def _numpy_array(numpy: Any, part: _Part) -> Any:
    if part[2] is None:
        return _objects(numpy, part[4] or [])
    values, missing = _values(numpy, part)
    if part[1] == "i":
        texts = _objects(numpy, [*(part[4] or []), None])
        return texts[numpy.where(missing, -1, values)]
    if part[1] == "g":
        values[missing] = numpy.nan
    elif missing.any():
        values = values.astype(object)
        values[missing] = None
    return values


def _pandas_array(pandas: Any, part: _Part) -> Any:
    numpy = importlib.import_module("numpy")
    if part[2] is None:
        return pandas.Series(_objects(numpy, part[4] or []), dtype=object)
    values, missing = _values(numpy, part)
    if part[1] == "i":
        values[missing] = -1
        return pandas.Categorical.from_codes(values, categories=pandas.Index(part[4] or [], dtype=object))
    if part[1] == "g":
        return pandas.arrays.FloatingArray(values, missing)
    if part[1] == "b":
        return pandas.arrays.BooleanArray(values, missing)
    return pandas.arrays.IntegerArray(values, missing)


def _pandas_instants(pandas: Any, part: _Part, bases: list[tuple[int, int]]) -> Any:
    numpy = importlib.import_module("numpy")
    values, missing = _values(numpy, part)
    base = numpy.repeat([time for _, time in bases], [rows for rows, _ in bases]).astype("int64")
    instants = (values + base).view("datetime64[ns]")
    instants[missing] = numpy.datetime64("NaT")
    return pandas.DatetimeIndex(instants).tz_localize("UTC")
