# What nanobind's stubgen cannot see of _tbtrace.
_tbtrace.__suffix__:
    __version__: str
    class TraceError(Exception): ...
    class TraceFileNotFoundError(TraceError, FileNotFoundError): ...
    \from typing import Protocol
    class _Profiler(Protocol):
        def export_chrome_trace(self, path: str) -> Any: ...
    class _Job(Protocol):
        @property
        def partial(self) -> Partial: ...
        @property
        def files(self) -> list[Any]: ...

_tbtrace.ARGUMENT_GROUPS:
    ARGUMENT_GROUPS: tuple[str, ...]

# A text unless there is a path.
_tbtrace.Table.to_csv:
    @overload
    def to_csv(self, path: None = None, *, sort_by: str | None = None, row_limit: int = -1) -> str:
        \doc
    @overload
    def to_csv(
        self, path: str | os.PathLike[str], *, sort_by: str | None = None, row_limit: int = -1, overwrite: bool = False
    ) -> None: ...

# The module has a function `slice`.
_tbtrace.Column.__getitem__:
    \from builtins import slice as _slice
    \from typing import overload
    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, rows: _slice) -> Column: ...

# A fourth says what is wrong with other arguments.
_tbtrace.Table.__getitem__:
    @overload
    def __getitem__(self, column: str) -> Column:
        \doc
    @overload
    def __getitem__(self, row: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, rows: _slice) -> Table: ...
