# What nanobind's stubgen cannot see of _tbtrace.
_tbtrace.__suffix__:
    __version__: str
    class TraceError(Exception):
        """
        An input is no trace, cannot be read, or has problems that `strict` does not allow. The text
        says what is wrong and what to do about it.
        """

_tbtrace.ARGUMENT_GROUPS:
    ARGUMENT_GROUPS: tuple[str, ...]
