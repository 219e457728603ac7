"""One recorded window: torch's profiler from its start to the file."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import threading
import time
import warnings
from typing import Any, Dict, Iterator, List, Optional

import torch

from . import processes
from .export import write_trace
from .garbage import GARBAGE, GarbageRanges
from .options import Options
from .own_profiler import OwnProfiler

_STEP = "ProfilerStep#"  # readers know steps by it
_OPERATOR = re.compile(rb'"cat": "cpu_op",\s*"name": "(?!%s")' % GARBAGE.encode())


class Window:
    """One thread, but for `all_threads`. Raises what torch's profiler raises, such as for a second one."""

    def __init__(self, options: Options, own_profiler: OwnProfiler, *, all_threads: bool = False) -> None:
        self._options = options
        self._own_profiler = own_profiler
        self._profiler = torch.profiler.profile(
            activities=_activities(),
            record_shapes=options.record_shapes,
            profile_memory=options.profile_memory,
            with_stack=options.with_stack,
            with_modules=options.with_modules,
            experimental_config=_configuration(
                {"profile_all_threads": all_threads, "record_python_gc_info": options.with_stack}
            ),
        )
        self._all_threads = all_threads
        self._garbage = None if options.with_stack else GarbageRanges()
        self._step: Any = None
        self._thread = 0

    def prepare(self) -> None:
        """What takes long, such as loading CUPTI: a step before the start, if there is one."""
        self._thread = threading.get_ident()
        with self._own_calls():
            self._profiler.prepare_trace()

    def start(self, step: Optional[int] = None) -> None:
        """`step`: the number of the step that begins."""
        with self._own_calls():
            self._profiler.start_trace()
        self._add_metadata()
        if self._garbage is not None:
            self._garbage.start()
        self.step(step)

    def step(self, number: Optional[int]) -> None:
        """The range of a step ends, and that of step `number` begins."""
        if self._step is not None:
            self._step.__exit__(None, None, None)
        self._step = None
        if number is not None:
            self._step = torch.autograd.profiler.record_function(f"{_STEP}{number}")
            self._step.__enter__()

    def stop(self) -> None:
        self.step(None)
        if self._garbage is not None:
            self._garbage.stop()
        with self._own_calls():
            self._profiler.stop_trace()

    def cancel(self) -> None:
        """Of one that was prepared and not started. Crashes in another thread, so nothing is done there."""
        if threading.get_ident() != self._thread:
            return
        with self._own_calls():
            self._profiler.start_trace()
            self._profiler.stop_trace()

    def abandon(self) -> None:
        """Leaves torch's profiler as it is."""
        if self._garbage is not None:
            self._garbage.stop()

    def write(self) -> Optional[str]:
        """Returns the path; None if no operator ran, of which no trace is left."""
        os.makedirs(self._options.logs, exist_ok=True)
        name = f"{processes.worker_name()}.{time.time_ns()}.pt.trace.json"
        path = os.path.join(self._options.logs, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_trace(self._profiler, path, self._options.temporary)
        if self._all_threads and not _has_operators(path):
            os.unlink(path)
            return None
        return path

    def _add_metadata(self) -> None:
        """The command, and the rank where torch does not know it."""
        self._profiler.add_metadata("command", processes.command())
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return
        rank, size = processes.rank_and_size()
        if size > 1:
            facts = {"backend": "", "rank": rank, "world_size": size}
            self._profiler.add_metadata_json("distributedInfo", json.dumps(facts))

    @contextlib.contextmanager
    def _own_calls(self) -> Iterator[None]:
        with self._own_profiler.calls_are_ours(), _quiet_kineto(), _without_inductor(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield


def _activities() -> List[Any]:
    """Of the devices that the program uses. Others would be initialized, after which it could not fork."""
    kept = []
    for activity in torch.profiler.supported_activities():
        device = getattr(torch, activity.name.lower(), None)
        if getattr(device, "is_initialized", lambda: True)():
            kept.append(activity)
    return kept


def _has_operators(path: str) -> bool:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return _OPERATOR.search(text) is not None


def can_record_all_threads() -> bool:
    try:
        torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        return False
    return True


def _configuration(wanted: Dict[str, bool]) -> Any:
    """Without what this torch does not know."""
    made = torch._C._profiler._ExperimentalConfig
    known = {}
    for name, value in wanted.items():
        with contextlib.suppress(TypeError):
            made(**{name: value})
            known[name] = value
    return made(**known)


@contextlib.contextmanager
def _quiet_kineto() -> Iterator[None]:
    """Kineto's own lines on standard error."""
    name = "KINETO_LOG_LEVEL"
    if name in os.environ:
        yield
        return
    os.environ[name] = "99"
    try:
        yield
    finally:
        os.environ.pop(name, None)


@contextlib.contextmanager
def _without_inductor() -> Iterator[None]:
    """torch's profiler would import the compiler, for seconds, to ask for one of its options."""
    get, thread = torch.__dict__.get("__getattr__"), threading.get_ident()
    if get is None or "_inductor" in torch.__dict__:
        yield
        return

    def get_other(name: str) -> Any:
        if name == "_inductor" and threading.get_ident() == thread:
            raise AttributeError(name)
        return get(name)

    torch.__getattr__ = get_other
    try:
        yield
    finally:
        torch.__getattr__ = get
