#!/usr/bin/env python3
"""The analyses of `tbtrace summary` against HolisticTraceAnalysis and torch-tb-profiler.

    benchmarks/analyses.py [--build build] [--python .venv/bin/python] [--repeat 5] [--check] TRACE...

Each run is a process of its own; the contenders take turns, so that a busy moment hits all of them alike. Figures
are medians, on two threads. What is timed, each without the start of the process or interpreter and its imports:

  reading            reading the trace for `tbtrace summary` (tbtrace_trace_summary)
  summary            the same, all analyses of `tbtrace summary` and its page
  HTA                HolisticTraceAnalysis: reading, and its analyses of what `summary` also tells: temporal breakdown,
                     overlap of communication and computation, idle time, kernels, launches, queue lengths
  torch-tb-profiler  reading, and what its overview, operator, kernel and memory views show

--check exits with 1 where `summary` takes more than twice as long as reading, or is not 30 times as fast as a peer.
"""

import argparse
import pathlib
import statistics
import sys

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_TIMES_READING = 2.0
LEAST_TIMES_PEER = 30
SLOW_ROUNDS = 3  # of the peers
LEAST_TEXT = 30e6  # below it the figures depend on chance

HTA = """
import logging, os, sys, time, warnings
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis
start = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: os.path.abspath(sys.argv[1])}, trace_dir="/", include_last_profiler_step=True)
for name, options in (("get_temporal_breakdown", {"visualize": False}), ("get_comm_comp_overlap", {"visualize": False}),
                      ("get_idle_time_breakdown", {"visualize": False, "ranks": [0]}),
                      ("get_gpu_kernel_breakdown", {"visualize": False}),
                      ("get_cuda_kernel_launch_stats", {"visualize": False}),
                      ("get_queue_length_summary", {})):
    getattr(analysis, name)(**options)
print("took", time.perf_counter() - start, flush=True)
os._exit(0)
"""

MEMORY_VIEWS = """if profile.memory_snapshot:
        profile.get_memory_stats()
        profile.get_memory_curve()
        profile.get_memory_events()"""


class Measured:
    """What one trace cost each contender."""

    def __init__(self, trace, options):
        program = str(options.build / "benchmarks" / "tbtrace_trace_summary")
        self.name = trace.name.split(".")[0]
        self.text = peers.text_size(trace)
        self.summary = peers.Contender("tbtrace summary", [program, "2"], peers.seconds_taken)
        self.hta = peers.Contender("HTA", [options.python, "-c", HTA], peers.seconds_taken, SLOW_ROUNDS)
        self.plugin = peers.Contender("torch-tb-profiler", [options.python, "-c", peers.plugin_program(MEMORY_VIEWS)],
                                      peers.seconds_taken, SLOW_ROUNDS)
        self.contenders = [self.summary, self.hta, self.plugin]
        reading = []
        for round_number in range(options.repeat):
            for contender in self.contenders:
                contender.take_turn(round_number, trace)
            if self.summary.failure:
                raise peers.Failed(f"{trace}: {self.summary.failure}")
            reading.append(peers.seconds_of("read")(self.summary.output))
        self.reading = statistics.median(reading)

    def times_reading(self):
        return self.summary.time() / self.reading

    def times(self, peer):
        return None if peer.time() is None else peer.time() / self.summary.time()

    def misses(self):
        if self.text < LEAST_TEXT:
            return
        if self.times_reading() > MOST_TIMES_READING:
            yield f"{self.name}: summary takes {self.times_reading():.2f} times as long as reading, " \
                  f"not {MOST_TIMES_READING:.2f} or less"
        for peer in (self.hta, self.plugin):
            if self.times(peer) is None:
                yield f"{self.name}: times {peer.name}'s speed is unknown, it failed"
            elif self.times(peer) < LEAST_TIMES_PEER:
                yield f"{self.name}: {self.times(peer):.1f} times {peer.name}'s speed, not {LEAST_TIMES_PEER} or more"


def report(measured):
    rows = [["trace", "text MB", "reading ms", "summary ms", "in times of reading", "HTA ms", "times",
             "torch-tb-profiler ms", "times"]]
    for trace in measured:
        rows.append([trace.name, f"{trace.text / 1e6:.0f}", f"{trace.reading * 1000:.0f}",
                     f"{trace.summary.time() * 1000:.0f}", f"{trace.times_reading():.2f}",
                     peers.cell(peers.milliseconds(trace.hta)), peers.cell(trace.times(trace.hta)),
                     peers.cell(peers.milliseconds(trace.plugin)), peers.cell(trace.times(trace.plugin))])
    print(peers.markdown(rows), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=pathlib.Path, metavar="TRACE")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of a Release build")
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"), help="has HTA and torch-tb-profiler")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of tbtrace")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    options = parser.parse_args()
    measured = peers.measure_all("analyses", Measured, options)
    if measured is None:
        return 2
    report(measured)
    return peers.conclude("analyses", measured, options.check)


if __name__ == "__main__":
    sys.exit(main())
