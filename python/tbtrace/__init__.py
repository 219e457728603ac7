"""PyTorch profiler traces: tables for data frames, flame graphs, TensorBoard log directories.

    trace = tbtrace.read("worker0.pt.trace.json.gz")
    print(trace.key_averages().table(sort_by="self_cuda_time_total", row_limit=10))
    polars.DataFrame(trace.kernels())

Times are integers in ns, sizes in bytes. Objects are immutable, and any number of threads may use
them; other threads of Python run while one works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tbtrace import _paths, _tbtrace
from tbtrace._handler import tensorboard_trace_handler
from tbtrace._record import Recording, record
from tbtrace._signatures import with_signature as _with_signature
from tbtrace._signatures import with_signatures as _with_signatures
from tbtrace._tbtrace import (
    ARGUMENT_GROUPS,
    Column,
    Diff,
    FlameGraph,
    MemorySnapshot,
    Operators,
    Partial,
    RankRecord,
    Report,
    Summary,
    Table,
    Trace,
    TraceError,
    TraceFileNotFoundError,
    TraceSet,
    __version__,
)

if _TYPE_CHECKING:
    from tbtrace import local as local
    from tbtrace._job import Job as Job

anonymise = _with_signature(_tbtrace.anonymise)
compare_report = _with_signature(_tbtrace.compare_report)
comparison = _with_signature(_tbtrace.comparison)
convert = _with_signature(_tbtrace.convert, _paths.convert)
diff = _with_signature(_tbtrace.diff)
find = _with_signature(_tbtrace.find, _paths.find)
find_private_names = _with_signature(_tbtrace.find_private_names)
key_averages = _with_signature(_tbtrace.key_averages)
merge = _with_signature(_tbtrace.merge)
rank_record = _with_signature(_tbtrace.rank_record)
ranks = _with_signature(_tbtrace.ranks)
read = _with_signature(_tbtrace.read)
read_memory_snapshot = _with_signature(_tbtrace.read_memory_snapshot)
repair = _with_signature(_tbtrace.repair)
slice = _with_signature(_tbtrace.slice)
tables = _with_signature(_tbtrace.tables)
views = _with_signature(_tbtrace.views)
write_baseline = _with_signature(_tbtrace.write_baseline)
_with_signatures(
    Column,
    Diff,
    FlameGraph,
    MemorySnapshot,
    Operators,
    Partial,
    RankRecord,
    Report,
    Summary,
    Table,
    Trace,
    TraceSet,
)

__all__ = [
    "ARGUMENT_GROUPS",
    "Column",
    "Diff",
    "FlameGraph",
    "Job",
    "MemorySnapshot",
    "Operators",
    "Partial",
    "RankRecord",
    "Recording",
    "Report",
    "Summary",
    "Table",
    "Trace",
    "TraceError",
    "TraceFileNotFoundError",
    "TraceSet",
    "__version__",
    "anonymise",
    "compare_report",
    "comparison",
    "convert",
    "diff",
    "find",
    "find_private_names",
    "key_averages",
    "local",
    "merge",
    "rank_record",
    "ranks",
    "read",
    "read_memory_snapshot",
    "record",
    "repair",
    "slice",
    "tables",
    "tensorboard_trace_handler",
    "views",
    "write_baseline",
]


def __getattr__(name: str) -> _Any:
    import importlib

    # Those import multiprocessing, which takes longer than all else here, and Ray or Spark.
    if name == "local":
        return importlib.import_module("tbtrace.local")
    if name == "Job":
        return importlib.import_module("tbtrace._job").Job
    if name in ("ray", "spark"):
        try:
            return importlib.import_module("tbtrace." + name)
        except ModuleNotFoundError as missing:
            raise AttributeError(f"tbtrace.{name} needs {missing.name}: pip install {missing.name}") from missing
    raise AttributeError(f"module 'tbtrace' has no attribute '{name}'")


def load_ipython_extension(shell: _Any) -> None:
    """`%load_ext tbtrace` calls it: afterwards `%%tbtrace` records a notebook's cell."""
    from tbtrace._magic import load

    load(shell)


def __dir__() -> list[str]:
    return sorted([*__all__, "ray", "spark"])
