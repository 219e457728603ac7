"""The made jobs that TraceLens and we are asked about."""
import pathlib

import made_jobs

# Collectives that end on all ranks at the same time, and clocks that do not drift: then what TraceLens takes for the
# transfer, the shortest part of a rank, is what we take for it, from the last arrival to the last end.
SAME = {"dialect": "torch_2_10", "clock_kind": "close", "end_jitter_ns": 0, "gpus_per_node": 8}
JOBS = {
    "ddp": {"seed": 5, "kind": "ddp", "world_size": 4},
    "fsdp": {"seed": 6, "kind": "fsdp", "world_size": 4},
    "tensor_parallel": {"seed": 7, "kind": "tp", "world_size": 4},
    "two_groups": {"seed": 9, "kind": "tp_dp", "world_size": 8},
}


def make_job(folder, name):
    """Makes one; returns its truth."""
    return made_jobs.make(folder, **SAME, **JOBS[name])


def files_by_rank(folder, truth):
    return [str(pathlib.Path(folder) / truth["files"][str(rank)]) for rank in range(truth["world_size"])]
