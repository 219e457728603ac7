"""Functions and methods as Python's own, so that inspect.signature(), help() and editors know their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class _Hint(str):
    """The text of a hint, which help() shows without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def with_signature(function: Function, called: Callable[..., Any] | None = None) -> Function:
    """The same function with the signature that its hints have; or `called`, with this signature."""
    made: Function = _made({function.__name__: function}, called)[function.__name__]
    return made


def with_signatures(*owners: type) -> None:
    """Gives the public methods of classes the signatures that their hints have.

    Methods that take different kinds of arguments, such as `__getitem__`, stay as they are.
    """
    for owner in owners:
        methods = {name: method for name, method in vars(owner).items() if _has_signature(name, method)}
        for name, made in _made(methods).items():
            made.__qualname__ = f"{owner.__name__}.{name}"
            is_static = "self" not in made.__code__.co_varnames[:1]
            setattr(owner, name, staticmethod(made) if is_static else made)


def _has_signature(name: str, method: Any) -> bool:
    return not name.startswith("_") and len(getattr(method, "__nb_signature__", ())) == 1


def _made(functions: dict[str, Any], called: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Written as text and compiled, as dataclasses do it: wrappers with `*args` would need Signature objects, and
    importing `inspect` takes longer than all else here. One text, because each takes a while."""
    space: dict[str, Any] = {"__name__": "tbtrace"}
    lines = ["from __future__ import annotations"]
    for name, function in functions.items():
        signature, _, defaults = function.__nb_signature__[0]
        for number, value in enumerate(defaults or ()):
            signature = signature.replace(f"\\{number}", repr(value))
        signature = signature.replace("tbtrace._tbtrace.", "")
        arguments = signature.split("(", 1)[1]
        space[f"_{name}"] = called or function
        lines.append(f"{signature}:\n return _{name}({_passed_on(arguments)})")
    exec("\n".join(lines), space)
    made = {name: space[name] for name in functions}
    for name, function in functions.items():
        made[name].__doc__ = function.__nb_signature__[0][1]
        made[name].__annotations__ = {what: _Hint(text) for what, text in made[name].__annotations__.items()}
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
