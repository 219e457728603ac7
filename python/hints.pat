# What nanobind's stubgen cannot see of _tbtrace.
_tbtrace.__suffix__:
    __version__: str
    class TraceError(Exception): ...
    class TraceFileNotFoundError(TraceError, FileNotFoundError): ...

_tbtrace.ARGUMENT_GROUPS:
    ARGUMENT_GROUPS: tuple[str, ...]
