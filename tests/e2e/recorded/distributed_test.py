#!/usr/bin/env python3
"""Trains in two processes that record themselves, and looks at both in the Distributed view of torch-tb-profiler.

    python3 -m e2e.recorded.distributed_test --tbtrace PATH --program train_two_processes

The files say when collectives began and ended on each rank, which has to be possible: none ends before all ranks have
begun it. The view's calls and bytes are those of the model's gradients; its times are computed here from the files,
with other means. Needs the packages of requirements.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import math
import re
import sys

from e2e.consumers import Report
from e2e.plugin.log_directory_test import Run, check_run
from e2e.recorded.distributed_view import Rank, check_overlap, near
from e2e.recorded.program import files_in, log_directory, on_tensorboard, read_options, recorded
from e2e.trace_reading import is_data_loading

# Of the program.
WORKERS = ["node0_0", "node0_1"]
WINDOWS = [["2", "3", "4"], ["7", "8", "9"]]
LAYERS = [(256, 512), (512, 512), (512, 10)]
LATE_NS = 30_000_000  # by which the second rank's data come later
FLOAT_BYTES = 4

COLLECTIVE = "gloo:all_reduce"
CLOCKS_NS = 200_000  # by which clocks of two processes may disagree


class GlooRank(Rank):
    def __init__(self, trace):
        super().__init__(trace, [row for row in trace.operators if not is_data_loading(row.name)],
                         [row for row in trace.rows if row.name == COLLECTIVE])
        self.base = int(trace.metadata["baseTimeNanoseconds"])


def check_file(report, rank, number):
    where = rank.trace.path.name
    info = rank.trace.metadata.get("distributedInfo")
    report(info == {"backend": "gloo", "rank": number, "world_size": len(WORKERS)}, f"{where}: distributedInfo {info}")
    main = {row.tid for row in rank.steps.values()}
    report(len(main) == 1 and not main & {row.tid for row in rank.collectives}, f"{where}: collectives on thread {main}")
    states = {(row.args.get("asynchronous"), row.args.get("finished")) for row in rank.collectives}
    report(states == {("true", None)}, f"{where}: collectives are {states}")
    for step in rank.steps:
        elements = sorted(math.prod(row.args["Input Dims"][0]) for row in rank.in_step(step, rank.collectives))
        report(elements == sorted(size for layer in LAYERS for size in (layer[1], math.prod(layer))),
               f"{where}: gradients of step {step}: {elements}")


def check_times(report, where, ranks):
    """Collectives as they can be, and waiting as the program makes it."""
    waited = 0
    for together in zip(*(rank.collectives for rank in ranks)):
        shapes = {str(row.args["Input Dims"]) for row in together}
        report(len(shapes) == 1, f"{where}: one collective of {shapes}")
        begun = max(rank.base + row.start for rank, row in zip(ranks, together))
        ended = min(rank.base + row.end for rank, row in zip(ranks, together))
        report(ended >= begun - CLOCKS_NS, f"{where}: a collective ended {begun - ended} ns before all had begun it")
        waited += together[0].duration - together[1].duration
    report(waited > LATE_NS, f"{where}: rank 0 waited {waited} ns longer than rank 1 in all")


def check_view(report, where, ranks, steps, span):
    check_overlap(report, where, WORKERS, ranks, steps, span)

    answer = span.get("distributed/waittime")["data"]
    report(list(answer) == ["all", *steps], f"{where}: steps with waiting {list(answer)}")
    for step in steps:
        together = list(zip(*(rank.in_step(step, rank.collectives) for rank in ranks)))
        transfers = sum(min(row.duration for row in rows) for rows in together)
        for number, worker in enumerate(WORKERS):
            # One thread runs all collectives, so that none overlap.
            whole = sum(rows[number].duration for rows in together)
            report(near(answer[step][worker], [transfers, whole - transfers]),
                   f"{where} step {step}: waiting {answer[step]}, expected of {worker}: {whole} - {transfers} ns")
    report(answer["all"][WORKERS[0]][1] > answer["all"][WORKERS[1]][1], f"{where}: waiting {answer['all']}")

    answer = span.get("distributed/commops")["data"]
    report(list(answer) == WORKERS, f"{where}: workers {list(answer)}")
    calls = 2 * len(LAYERS) * len(steps)
    size = FLOAT_BYTES * sum((inputs + 1) * outputs for inputs, outputs in LAYERS) * len(steps)
    for worker, rank in zip(WORKERS, ranks):
        rows = answer[worker]["rows"]
        report(len(rows) == 1 and rows[0][:4] == [COLLECTIVE, calls, size, round(size / calls)],
               f"{where}: collectives of {worker}: {rows}, expected {calls} of {size} bytes")
        whole = sum(row.duration for row in rank.collectives)
        report(near(rows[0][4:5], [whole]), f"{where}: collectives of {worker}: {rows}, expected {whole} ns")
    report(span.get("distributed/gpuinfo") is None, f"{where}: devices {span.get('distributed/gpuinfo')}")


def check_training(report, run):
    report(run.views == ["Overview", "Operator", "Trace", "Distributed"], f"views {run.views}")
    places = [(span.query["worker"], span.query["span"]) for span in run.distributed]
    if not report(places == [("All", "1"), ("All", "2")], f"spans of the Distributed view: {places}"):
        return
    windows = {}
    for trace, span in run.matched():
        windows.setdefault(span.query["span"], {})[span.query["worker"]] = GlooRank(trace)
    for steps, span in zip(WINDOWS, run.distributed):
        window = windows[span.query["span"]]
        where = f"window {span.query['span']}"
        if not report(sorted(window) == WORKERS, f"{where}: workers {sorted(window)}"):
            continue
        ranks = [window[worker] for worker in WORKERS]
        for number, rank in enumerate(ranks):
            check_file(report, rank, number)
        check_times(report, where, ranks)
        check_view(report, where, ranks, steps, span)


def main():
    options = read_options(__doc__)
    report = Report()
    with log_directory() as logdir:
        printed = recorded(report, options.program, logdir / "ranks")
        # Averaged gradients leave all ranks with the same weights.
        weights = dict(re.findall(r"^rank (\d): the weights add up to (\S+)$", printed, re.MULTILINE))
        report(sorted(weights) == ["0", "1"] and len(set(weights.values())) == 1, f"weights: {printed}")
        run = Run(files_in(logdir / "ranks"), "ranks")
        report(len(run.inputs) == len(WORKERS) * len(WINDOWS), f"files {run.inputs}")
        with on_tensorboard(report, logdir, run):
            check_run(report, options.tbtrace, run)
            check_training(report, run)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
