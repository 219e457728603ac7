"""Which processes below `tbtrace record` are recorded, and which rank they are."""

from __future__ import annotations

import enum
import os
import shlex
import sys
from typing import Dict, List, Tuple

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS")
_CLAIM = "TBTRACE_RECORD_PARENT"  # set in a process that was taken, for those that it starts
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "deepspeed", "deepspeed.launcher.launch",
              "accelerate", "accelerate.commands.launch")


class Role(enum.Enum):
    PROGRAM = "program"  # it is recorded
    CHILD = "child"  # recorded if an optimizer steps in it: a process of multiprocessing, or of a program with torch
    LAUNCHER = "launcher"  # it starts ranks
    OTHER = "other"


def role(children: bool) -> Role:
    words = _words()
    if _is_compile_worker(words) or _is_pip(words):
        return Role.OTHER
    if any(os.path.basename(word) in _LAUNCHERS for word in words[:4]):
        return Role.LAUNCHER
    if _is_of_multiprocessing(words):
        return Role.CHILD
    taken, _, ranks = os.environ.get(_CLAIM, "").partition(" ")
    if not taken or children or (_evidence() and _evidence() != ranks):
        return Role.PROGRAM
    return Role.CHILD if taken == "imported" else Role.OTHER


def claim(taken: str) -> None:
    """Tells the processes that this one starts that it was `imported` with torch, or is `recorded`."""
    os.environ[_CLAIM] = f"{taken} {_evidence()}"


def rank_and_size() -> Tuple[int, int]:
    """This process's rank, and how many there are: by torch.distributed, else by the environment that launchers set."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return _number(_RANKS, 0), _number(_SIZES, 1)


def worker_name() -> str:
    """For the names of this process's traces."""
    import socket

    rank, size = rank_and_size()
    name = f"{socket.gethostname()}_{os.getpid()}"
    return f"rank{rank}_{name}" if size > 1 else name


def command() -> str:
    """As a shell takes it."""
    return " ".join(map(shlex.quote, _words()))


def is_child() -> bool:
    """Whether multiprocessing started it."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def is_loader_worker() -> bool:
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def _number(names: Tuple[str, ...], otherwise: int) -> int:
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return otherwise


def _evidence() -> str:
    """What launchers say of the rank, for a comparison."""
    found: Dict[str, str] = {name: os.environ[name] for name in (*_RANKS, "LOCAL_RANK") if name in os.environ}
    return ",".join(f"{name}={value}" for name, value in found.items())


def _words() -> List[str]:
    try:
        with open("/proc/self/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")[:-1]
    except OSError:
        return list(getattr(sys, "orig_argv", sys.argv))


def _is_of_multiprocessing(words: List[str]) -> bool:
    return "--multiprocessing-fork" in words or any(word.startswith("from multiprocessing.") for word in words[:8])


def _is_compile_worker(words: List[str]) -> bool:
    return any("compile_worker" in word for word in words[:4])


def _is_pip(words: List[str]) -> bool:
    return any(os.path.basename(word) in ("pip", "pip3") for word in words[:3])
