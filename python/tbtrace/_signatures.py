"""Functions of the module as Python's own, so that inspect.signature() and editors know their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def with_signature(function: Function, called: Callable[..., Any] | None = None) -> Function:
    """The same function with the signature that its hints have; or `called`, with this signature.

    Written as text and compiled, as dataclasses do it: a wrapper with `*args` would need a Signature
    object, and importing `inspect` takes longer than all else here.
    """
    signature, documentation, _ = function.__nb_signature__[0]  # type: ignore[attr-defined]
    head, arguments = signature.split("(", 1)
    name = head.removeprefix("def ")
    space: dict[str, Any] = {"_function": called or function, "__name__": "tbtrace"}
    source = f"from __future__ import annotations\n{signature}:\n return _function({_passed_on(arguments)})"
    exec(source, space)
    made: Function = space[name]
    made.__doc__ = documentation
    return made


def _passed_on(arguments: str) -> str:
    """`source, *, threads: int | None = None) -> Trace` as `source, threads=threads`."""
    passed = []
    depth = 0
    argument = ""
    named = False
    for character in arguments:
        depth += character in "(["
        depth -= character in ")]"
        if depth >= 0 and (character != "," or depth > 0):
            argument += character
            continue
        name = argument.split(":")[0].split("=")[0].strip()
        argument = ""
        if name == "*":
            named = True
        elif name:
            passed.append(f"{name}={name}" if named else name)
        if depth < 0:
            break
    return ", ".join(passed)
