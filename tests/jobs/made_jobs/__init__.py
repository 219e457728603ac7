"""Made jobs: traces of many ranks whose truth is known, for tests of whatever looks at many ranks.

    made_jobs.make(folder, seed)                      one job, with everything drawn from the seed
    made_jobs.make(folder, seed, kind="ddp", ...)     the same with some of it given, see settings.py
    python3 -m made_jobs OUT --seed N --count N       jobs of the seeds N, N + 1, ...

A job is simulated: the host of each rank runs ahead of its GPU, streams run their kernels in order, a collective's
kernel starts on a rank when its stream comes to it, its data moves once the last rank has arrived, and it ends on all
ranks together. Nothing here uses tbtrace. Python 3.11, standard library only; the same seed gives the same bytes.

    OUT/jobs/JOB/*.pt.trace.json    one trace per rank, as torch.profiler writes it; names need not have the rank
    OUT/truth/JOB.json              what is true; not below the folder of the traces

The truth. Times are integers: nanoseconds of true time since 1970, which is what the clock of rank 0 shows.

- `job`, `seed`, `kind`, `layout` (sizes of its parallelism), `dialect`, `world_size`, `gpus_per_node`, `step_numbers`
- `resolution_ns`: what the times in the traces are rounded to (1; older torch: 1000)
- `groups`: {name: {"ranks": [...], "description": ...}}; a pair of ranks that exchange messages is in the group of its
  pipeline
- `clean`: whether no rank is to blame; `causes` is then empty
- `causes`: [{`rank`, `cause` (compute, input, launch, memory, network, garbage_collection), `variant` (how it was
  made), `steps` (numbers of ProfilerStep), `excess_per_step_ns`, `excess_share`, `visible`, `candidates`}] and `peer`,
  the other end of a slow link, if only this link is slow
    - `excess_per_step_ns`: by how much this rank lengthens the job, divided by the number of `steps`. It is the
      difference between the simulated job and one that differs only in that this cause is absent.
    - `excess_share`: the same as a share of the median step without causes
    - `visible`: whether the traces name the cause (an event "Python GC", for instance) or only show a gap
    - `candidates`: ranks between which the traces cannot decide. For `network` these are the members of all groups
      whose transfers are slow: with one group for all ranks no analysis can name the rank.
- `excess_total_ns`: of all causes together, over the whole recording
- `disturbances`: what happened besides and is not a straggler: {"kind": "hiccup", "rank", "step", "ns"} (one step of
  one rank), {"kind": "slow_network", "factor"} (for all), {"kind": "slow_loader", "ns"} (all ranks wait for data),
  {"kind": "last_stage", "extra_layers"} (a pipeline's last stage does more, by design), {"kind": "pause", "step", "ns"}
  (all ranks, an evaluation for instance), {"kind": "imbalance", "share"} (only if asked for: each step each rank has up
  to this share more work, by chance)
- `steps`: [{`step`, `start_ns`, `end_ns`}], `start_ns` of the first rank that begins it, `end_ns` of the last rank that
  is through with it, with its host and with the kernels launched in it; `duration_ns`: end of the last step less start
  of the first
- `clocks`: {`reference_ns`, `ranks`: [{`rank`, `offset_ns`, `drift_ppb`, `drift_ppm`, `base_ns`}]}; the clock of a
  rank shows true + offset_ns + (true - reference_ns) * drift_ppb // 10**9, and its file has that less base_ns
- `end_jitter_ns`: how far the ends of one collective lie apart at most, in true time
- `collectives`: [{`group`, `name` (c10d's; "send" for a message, whose `ranks` are sender and receiver), `step`,
  `sequence`, `bytes`, `ranks`, `start_ns` and `end_ns` (of each rank's kernel; gloo: of its annotation), `last_rank`,
  `transfer_ns`}], those of a group (of messages: of a sender and a receiver) in the order in which they run. `sequence`
  counts these from 0. `bytes` is the larger of input and output. `transfer_ns` is from the last rank's start to the end
  without jitter
- `files`: {rank: path relative to OUT}; `damage`: what was done to the folder besides, see damage.py
"""
from .jobs import make, make_truth, simulate

__all__ = ["make", "make_truth", "simulate"]
