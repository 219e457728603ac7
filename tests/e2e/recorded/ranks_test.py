#!/usr/bin/env python3
"""Records two ranks whose collectives keep GPUs busy that are not there, and looks at both in the Distributed view of
torch-tb-profiler.

    python3 -m e2e.recorded.ranks_test --tbtrace PATH --program libtorch_train_rank_on_fake_gpu

The program prints what its GPU did and how many bytes its collectives took, which is what the files and the view have
to say. The view's times are those of the kernels together with the host's ranges, which nobody scripts: they are
computed here from the files, with other means. Needs the packages of requirements.txt. Prints a line for each failure
and 'N passed, M failed'.
"""
import json
import sys

from e2e.consumers import Report
from e2e.plugin.log_directory_test import Run, check_run
from e2e.recorded.distributed_view import Rank, check_overlap, length, merged, near
from e2e.recorded.program import files_in, log_directory, on_tensorboard, read_options, recorded

# Of the program.
WORKERS = ["node0_0", "node0_1"]
STEPS = ["2", "3", "4"]
# The view's names; of the second one the plugin knows that only.
SHOWN = {"nccl:all_reduce": "nccl:all_reduce", "nccl:_all_gather_base": "nccl:all_gather"}
DEMANGLED = {
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE":
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_Z31ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE":
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
}
ROUNDING = 4  # ns of a range: both its ends are rounded to ticks, and to nanoseconds


class Interval:
    def __init__(self, start, end):
        self.start, self.end = start, end

    @property
    def duration(self):
        return self.end - self.start


class Collective:
    """What the view takes for one: the host's range, and the kernels with its id."""

    def __init__(self, row, kernels):
        self.name, self.start, self.end = row.name, row.start, row.end
        self.kernels = [kernel for kernel in kernels if kernel.args["External id"] == row.args["External id"]]
        self.ranges = sorted([row, *self.kernels], key=lambda part: (part.start, -part.end))


class NcclRank(Rank):
    def __init__(self, trace, truth):
        self.truth = truth
        self.nccl = [row for row in trace.kernels if row.name.startswith("ncclDevKernel")]
        super().__init__(trace, [row for row in trace.kernels if row not in self.nccl],
                         [Collective(row, self.nccl) for row in trace.rows
                          if row.name in SHOWN.values() and row.category in ("cpu_op", "user_annotation")])
        self.shadows = [row for row in trace.rows if row.category == "gpu_annotation" and row.name in SHOWN]
        self.described = [row for row in trace.operators if row.name == "record_param_comms"]

    def ranges(self, collective):
        return collective.ranges


def transfers(number, ranks, wanted):
    """Of a rank's collectives: all their parts, and of each part its end, as long as the shortest rank's one is."""
    parts, ends = [], []
    for together in zip(*(rank.collectives for rank in ranks)):
        if not wanted(ranks[number], together[number]):
            continue
        for same in zip(*(one.ranges for one in together)):
            shortest = min(part.duration for part in same)
            parts.append(same[number])
            ends.append(Interval(same[number].end - shortest, same[number].end))
    return length(merged(parts)), length(merged(ends))


def check_file(report, rank, number):
    where = rank.trace.path.name
    info = rank.trace.metadata.get("distributedInfo")
    report(info == {"backend": "nccl", "rank": number, "world_size": len(WORKERS)}, f"{where}: distributedInfo {info}")
    check = rank.trace.metadata["tbtrace_launch_check"]
    report(check["different"] == 0 and check["calls"] == 18, f"{where}: links and what the driver was told: {check}")
    kernels = {}
    for row in rank.trace.kernels:
        calls, total = kernels.get(row.name, (0, 0))
        kernels[row.name] = (calls + 1, total + row.duration)
    expected = {DEMANGLED.get(name, name): figures for name, figures in rank.truth["kernels"].items()}
    report(kernels.keys() == expected.keys(), f"{where}: kernels {kernels}")
    for name, (calls, total) in expected.items():
        got_calls, got = kernels.get(name, (0, 0))
        report(got_calls == calls and abs(got - total) <= ROUNDING * calls,
               f"{where}: {name}: {got_calls} in {got} ns, expected {calls} in {total} ns")
    # What c10d says of a collective stands with its range and with its kernel, but where it said nothing.
    counts = [len(rows) for rows in (rank.described, rank.nccl, rank.collectives, rank.shadows)]
    report(counts == [9] * 4, f"{where}: descriptions, kernels, collectives and their shadows: {counts}")
    for range_, collective in zip(rank.described, rank.collectives):
        if not report(len(collective.kernels) == 1, f"{where}: kernels of {collective.name}: {collective.kernels}"):
            continue
        kernel = collective.kernels[0]
        base = "allreduce" if collective.name == "nccl:all_reduce" else "_allgather_base"
        for args in (range_.args, kernel.args):
            report(args.get("Collective name") == base and args.get("dtype") == "Float"
                   and args.get("In msg nelems") in (1000, 24, 21), f"{where}: {collective.name}: {args}")
        said = [args.get("Out msg nelems") for args in (range_.args, kernel.args)]
        scale = len(WORKERS) if base == "_allgather_base" else 1
        report(said == [scale * kernel.args["In msg nelems"]] * 2, f"{where}: {collective.name} gives {said}")
    for step in STEPS:
        report(len(rank.in_step(step, rank.collectives)) == 3 and len(rank.in_step(step, rank.nccl)) == 3,
               f"{where}: collectives of step {step}")
        report(rank.overlap(step)[1] > 0, f"{where} step {step}: overlap {rank.overlap(step)} ns")


def check_view(report, ranks, span):
    check_overlap(report, "two ranks", WORKERS, ranks, STEPS, span)

    answer = span.get("distributed/waittime")["data"]
    report(list(answer) == ["all", *STEPS], f"steps with waiting {list(answer)}")
    for step in STEPS:
        for number, worker in enumerate(WORKERS):
            whole, ends = transfers(number, ranks, lambda rank, one: one in rank.in_step(step, rank.collectives))
            report(near(answer[step][worker], [ends, whole - ends]),
                   f"step {step}: waiting {answer[step]}, expected of {worker}: {ends} of {whole} ns")
    # In each step the first rank's kernel waits 1.5 ms for the second one, whose kernel later waits 0.1 ms.
    report(answer["all"][WORKERS[0]][1] > answer["all"][WORKERS[1]][1], f"waiting {answer['all']}")

    answer = span.get("distributed/commops")["data"]
    report(list(answer) == WORKERS, f"workers {list(answer)}")
    for number, (worker, rank) in enumerate(zip(WORKERS, ranks)):
        rows = {row[0]: row[1:] for row in answer[worker]["rows"]}
        report(rows.keys() == set(SHOWN.values()), f"collectives of {worker}: {rows}")
        for name, (calls, size) in rank.truth["collectives"].items():
            shown = SHOWN[name]
            whole, ends = transfers(number, ranks, lambda rank, one: one.name == shown)
            got = rows.get(shown, [0] * 7)
            report(got[:3] == [calls, size, round(size / calls)],
                   f"{shown} of {worker}: {got}, expected {calls} of {size} bytes")
            report(near([got[3], got[5]], [whole, ends]), f"{shown} of {worker}: {got}, expected {whole}, {ends} ns")
    gpus = span.get("distributed/gpuinfo")["data"]
    report(list(gpus) == ["node0"] and sorted(gpus["node0"]) == ["Process 0", "Process 1"]
           and all(gpu["GPU0"]["Name"] == "NVIDIA H200" for gpu in gpus["node0"].values()), f"devices {gpus}")


def main():
    options = read_options(__doc__)
    report = Report()
    with log_directory() as logdir:
        truths = [json.loads(recorded(report, options.program, logdir / "ranks", str(number)))
                  for number in range(len(WORKERS))]
        run = Run(files_in(logdir / "ranks"), "ranks")
        report(len(run.inputs) == len(WORKERS), f"files {run.inputs}")
        ranks = [NcclRank(trace, truth) for trace, truth in zip(run.traces, truths)]
        for number, rank in enumerate(ranks):
            check_file(report, rank, number)
        with on_tensorboard(report, logdir, run):
            report(run.views == ["Overview", "Operator", "Kernel", "Trace", "Distributed"], f"views {run.views}")
            places = [(span.query["worker"], span.query["span"]) for span in run.distributed]
            report(places == [("All", "1")], f"spans of the Distributed view: {places}")
            check_run(report, options.tbtrace, run)
            check_view(report, ranks, run.distributed[0])
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
