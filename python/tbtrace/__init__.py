"""PyTorch profiler traces: read them, and get tables, flame graphs and TensorBoard log directories."""

from tbtrace._tbtrace import (
    FlameGraph,
    Operators,
    Partial,
    Summary,
    Table,
    Trace,
    TraceError,
    TraceSet,
    __version__,
    convert,
    merge,
    read,
)

__all__ = [
    "FlameGraph",
    "Operators",
    "Partial",
    "Summary",
    "Table",
    "Trace",
    "TraceError",
    "TraceSet",
    "__version__",
    "convert",
    "merge",
    "read",
]
