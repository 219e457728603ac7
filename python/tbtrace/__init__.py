"""PyTorch profiler traces: tables for data frames, flame graphs, TensorBoard log directories.

    trace = tbtrace.read("worker0.pt.trace.json.gz")
    print(trace.key_averages().table(sort_by="self_cuda_time_total", row_limit=10))
    polars.DataFrame(trace.kernels())

Times are integers in ns, sizes in bytes. Objects are immutable, and any number of threads may use
them; other threads of Python run while one works.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tbtrace._handler import tensorboard_trace_handler
from tbtrace._tbtrace import (
    ARGUMENT_GROUPS,
    Diff,
    FlameGraph,
    Operators,
    Partial,
    RankRecord,
    Report,
    Summary,
    Table,
    Trace,
    TraceError,
    TraceSet,
    __version__,
    compare_report,
    comparison,
    convert,
    diff,
    find,
    key_averages,
    merge,
    rank_record,
    ranks,
    read,
    tables,
    views,
    write_baseline,
)

if TYPE_CHECKING:
    from tbtrace import local as local
    from tbtrace._job import Job as Job

__all__ = [
    "ARGUMENT_GROUPS",
    "Diff",
    "FlameGraph",
    "Job",
    "Operators",
    "Partial",
    "RankRecord",
    "Report",
    "Summary",
    "Table",
    "Trace",
    "TraceError",
    "TraceSet",
    "__version__",
    "compare_report",
    "comparison",
    "convert",
    "diff",
    "find",
    "key_averages",
    "local",
    "merge",
    "rank_record",
    "ranks",
    "read",
    "tables",
    "tensorboard_trace_handler",
    "views",
    "write_baseline",
]


def __getattr__(name: str) -> Any:
    # Those import multiprocessing, which takes longer than all else here.
    if name == "local":
        return importlib.import_module("tbtrace.local")
    if name == "Job":
        return importlib.import_module("tbtrace._job").Job
    raise AttributeError(f"module 'tbtrace' has no attribute '{name}'")
