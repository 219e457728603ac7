#!/usr/bin/env python3
"""Compares `tbtrace collectives` with simulated ranks of inference engines, whose iterations are known.

    serving_ranks.py --tbtrace PATH [--servers N] [--seed N] [--keep FOLDER]

All ranks of a server run the same iterations, with all-reduces in CUDA graphs that have no sequence numbers, and wait
in them for the last rank. The recordings begin and end at different iterations, on clocks that differ if the ranks are
on different hosts. Where it can be told which iterations are the same, those that all ranks recorded have to be
matched, each with its wait; where it cannot, nothing may be matched wrongly, nor between two servers that have nothing
to do with each other. A line says 'N passed, N failed'. There are 60 servers, or as many as
TBTRACE_RANDOM_PERCENT says (tests/fixtures/random_rounds.h).
"""
import collections
import json
import pathlib
import subprocess
import tempfile

from rounds import run_rounds

ALL_REDUCES = 3
TRANSFER = 10
CALL = 5


def names_of(rng, engine, count):
    """Of iterations: without numbers all equal, or from few that repeat, or of random batches."""
    if engine == "tensorrt":
        first = rng.randint(0, 999)
        return [f"[Executor] _forward_step {first + at}: 0 ctx reqs, 8 gen reqs" for at in range(count)]
    steady = "execute_context_0(0)_generation_64(64)" if engine == "vllm" else "step[DECODE bs=64]"
    if rng.random() < 0.5:
        return [steady] * count
    batches = [steady, steady, steady]
    for _ in range(3):
        tokens, decoding = rng.randint(1, 4000), rng.randint(0, 63)
        batches.append(f"execute_context_1({tokens})_generation_{decoding}({decoding})" if engine == "vllm"
                       else f"step[EXTEND bs=1 toks={tokens}]")
    return [rng.choice(batches) for _ in range(count)]


class Server:
    def __init__(self, rng, ranks=None, count=None):
        self.rng = rng
        self.ranks = ranks or rng.randint(2, 4)
        self.engine = rng.choice(["vllm", "vllm", "sglang", "tensorrt"])
        self.is_regular = rng.random() < 0.3
        self.hosts = rng.choice(["one", "many", "unknown"])
        count = count or rng.randint(30, 60)
        self.names = names_of(rng, self.engine, count)
        self.iterations = [self.iteration() for _ in range(count)]
        starts_together = rng.random() < 0.4
        self.parts = []  # of each rank: the first iteration and the one after the last
        for _ in range(self.ranks):
            first, last = (0, 0) if starts_together else (rng.randint(0, 9), rng.randint(0, 9))
            self.parts.append((first, count - last))
        self.starts_together = starts_together

    def iteration(self):
        """Of each all-reduce: how long the last rank computes before it, and how much less each rank does."""
        work = []
        for _ in range(ALL_REDUCES):
            length = 500 if self.is_regular else self.rng.randint(300, 900)
            earlier = [self.rng.randint(1, 90) for _ in range(self.ranks)]
            earlier[self.rng.randrange(self.ranks)] = 0
            work.append((length, earlier))
        return work

    def write(self, folder, first_rank=0, start=0):
        for rank in range(self.ranks):
            base = 1_759_300_000_000_000_000
            if self.hosts != "one":
                base += self.rng.randint(-20_000_000, 20_000_000)
            number = first_rank + rank
            trace = {"schemaVersion": 1, "baseTimeNanoseconds": base,
                     "traceEvents": self.events(rank, start)}
            if self.hosts != "unknown":
                trace["host_name"] = "node" if self.hosts == "one" else f"node{number}"
            if self.hosts == "one":
                trace["trace_id"] = str(number)
            (folder / f"rank{number}.json").write_text(json.dumps(trace))

    def events(self, rank, start):
        events, now = [], 1000 + start
        first, after_last = self.parts[rank]

        def add(category, name, start, end, thread, args):
            events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 7,
                           "tid": thread, "ts": start, "dur": end - start, "args": args})

        for number, work in enumerate(self.iterations):
            begin = now
            kernels = []
            now += CALL
            for length, earlier in work:
                arrival = now + length - earlier[rank]
                kernels.append(("gemm", now, arrival))
                now += length + TRANSFER
                kernels.append(("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)", arrival,
                                now))
            if not first <= number < after_last:
                now += 20
                continue
            add("user_annotation", self.names[number], begin, now + 10, 7, {})
            add("cuda_runtime", "cudaGraphLaunch", begin, begin + CALL, 7, {"correlation": number + 1})
            for name, start, end in kernels:
                add("kernel", name, start, end, 7, {"correlation": number + 1, "device": rank, "stream": 7})
            now += 20
        return events

    def waits(self):
        first, after_last = max(first for first, _ in self.parts), min(last for _, last in self.parts)
        return sorted(max(earlier) for work in self.iterations[first:after_last] for _, earlier in work)

    def can_be_told(self):
        """Regular iterations of equal names are all alike, but for a clock that ranks have in common.

        Without names of hosts, unlike clocks may look alike by chance and contradict the equal numbers.
        """
        return not self.is_regular or self.hosts == "one" or self.engine == "tensorrt" or (
            self.starts_together and self.hosts == "many")


def matched(tbtrace, folder):
    answer = json.loads(subprocess.run([tbtrace, "collectives", str(folder), "--format", "json"], capture_output=True,
                                       check=True, timeout=60).stdout)
    return sorted(row["wait_max_ns"] / 1000 for row in answer["rows"])


def problem_of(tbtrace, folder, server):
    got, wanted = matched(tbtrace, folder), server.waits()
    if not got and not server.can_be_told():
        return None
    if len(got) != len(wanted):
        return f"{len(got)} collectives are matched, not {len(wanted)}"
    wrong = sum(abs(one - other) > 2 for one, other in zip(got, wanted))
    return f"{wrong} of {len(wanted)} waits are wrong" if wrong else None


def problem_of_partial(tbtrace, folder):
    with tempfile.TemporaryDirectory() as name:
        partial = pathlib.Path(name) / "job.tbp"
        subprocess.run([tbtrace, "save", str(folder), "-o", str(partial), "-q"], check=True, timeout=60)
        return None if matched(tbtrace, partial) == matched(tbtrace, folder) else "partials have other waits"


def problem_of_server(tbtrace, folder, rng, number):
    if number % 6 == 5:  # two servers, which do not wait for each other
        one, other = Server(rng, 1, 40), Server(rng, 1, 40)
        one.write(folder)
        other.write(folder, 1, rng.randint(0, 30_000))
        count = len(matched(tbtrace, folder))
        return f"{count} collectives of two servers are matched" if count else None
    server = Server(rng)
    server.write(folder)
    problem = problem_of(tbtrace, folder, server)
    unknown[server.can_be_told()] += 1
    if not problem and number % 6 == 0:
        problem = problem_of_partial(tbtrace, folder)
    return problem and (f"{server.engine}, hosts: {server.hosts}, regular: {server.is_regular}, "
                        f"parts: {server.parts}: {problem}")


unknown = collections.Counter()
run_rounds(__doc__, "server", 60, problem_of_server)
print(f"{unknown[True]} servers whose iterations can be told, {unknown[False]} others")
