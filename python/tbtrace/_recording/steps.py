"""Where steps end, in a program that does not say so."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Iterator, List, Optional, Set

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook


class Cycle:
    """Which of several calls that alternate ends a step: the first one, and another if that one is not called again."""

    def __init__(self) -> None:
        self._ending: Optional[int] = None
        self._others: Set[int] = set()

    def ends_with(self, key: int) -> bool:
        if self._ending is None or key == self._ending or key in self._others:
            self._ending = key
            self._others.clear()
            return True
        self._others.add(key)
        return False


class OptimizerSteps:
    """A step ends when an optimizer's `step()` returns; where several alternate, with one of them."""

    def __init__(self, on_step: Callable[[], None], on_made: Callable[[], None]) -> None:
        """`on_made` is called when the first optimizer of a class is made."""
        self.has_known = False  # whether there were optimizers before watch()
        self._on_step = on_step
        self._on_made = on_made
        self._cycle = Cycle()
        self._undo: List[Callable[[], None]] = []
        self._is_watched = False  # whether the step that runs is one that _watched() made

    def watch(self) -> None:
        """torch calls its hooks for all optimizers within the range of `step()`, which would be cut there. So `step()`
        is wrapped outside of that range. The hook sees the rest, such as one that a scheduler wrapped before."""
        self._undo.append(register_optimizer_step_post_hook(self._on_hook).remove)
        optimizer = torch.optim.Optimizer
        original = getattr(optimizer, "profile_hook_step", None)
        if original is None:
            return

        def profile_hook_step(step: Callable[..., Any]) -> Callable[..., Any]:
            self._on_made()
            return self._watched(original(step))

        self._replace(optimizer, "profile_hook_step", staticmethod(profile_hook_step))
        for known in _subclasses(optimizer):
            if getattr(known.__dict__.get("step"), "hooked", False):
                self.has_known = True
                self._replace(known, "step", self._watched(known.step))

    def forget(self) -> None:
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(functools.partial(setattr, owner, name, owner.__dict__[name]))
        setattr(owner, name, value)

    def _watched(self, step: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(step)
        def watched(*arguments: Any, **options: Any) -> Any:
            if torch.compiler.is_compiling():
                return step(*arguments, **options)
            self._is_watched = True
            try:
                result = step(*arguments, **options)
            finally:
                self._is_watched = False
            self._stepped(arguments[0])
            return result

        return watched

    def _on_hook(self, optimizer: Any, *_: Any) -> None:
        if not torch.compiler.is_compiling() and not self._is_watched:
            self._stepped(optimizer)

    def _stepped(self, optimizer: Any) -> None:
        if self._undo and self._cycle.ends_with(id(optimizer)):
            self._on_step()


def _subclasses(of: Any) -> Iterator[Any]:
    for each in of.__subclasses__():
        yield each
        yield from _subclasses(each)


class ModuleCalls:
    """A step ends when a module returns that no other module has called. Modules inside it cost nothing."""

    def __init__(self, on_step: Callable[[], None], on_first: Callable[[], None]) -> None:
        """`on_first` is called before the first call."""
        self._on_step = on_step
        self._on_first: Optional[Callable[[], None]] = on_first
        self._cycle = Cycle()
        self._thread: Optional[int] = None
        self._before: Any = None
        self._is_watching = False

    def watch(self) -> None:
        self._is_watching = True
        self._arm()

    def forget(self) -> None:
        self._is_watching = False
        self._disarm()

    def _arm(self) -> None:
        if self._is_watching and self._before is None:
            self._before = register_module_forward_pre_hook(self._on_call)

    def _disarm(self) -> None:
        if self._before is not None:
            self._before.remove()
        self._before = None

    def _on_call(self, module: Any, arguments: Any) -> None:
        if torch.compiler.is_compiling() or torch._C._get_tracing_state():
            return
        thread = threading.get_ident()
        if self._thread is None:
            self._thread = thread
        if self._thread != thread:
            return
        if self._on_first is not None:
            on_first, self._on_first = self._on_first, None
            on_first()
        self._disarm()  # so that modules inside this one take torch's short way
        after: Any = None

        def on_return(*_: Any) -> None:
            after.remove()
            self._arm()
            if self._is_watching and self._cycle.ends_with(id(module)):
                self._on_step()

        after = module.register_forward_hook(on_return, always_call=True)
