#!/usr/bin/env python3
"""Compares `tbtrace diff` with simulated versions of an inference engine, of which it is known what changed.

    serving_versions.py --tbtrace PATH [--pairs N] [--seed N] [--keep FOLDER]

Ranks run the same iterations and wait for each other in a custom all-reduce that spins. The second version gets other
requests, and one of: nothing else, a slower host of one rank, a slower host of all, slower kernels of one rank, slower
kernels of all, or a slower all-reduce. What `diff` names has to be that; if nothing changed, no phase may take longer.
Half of the pairs with a slower rank are the traces of another rank alone, which only shows that it may wait. The last
line is 'N passed, N failed'. There are 42 pairs, or as many as TBTRACE_RANDOM_PERCENT says.
"""
import json
import re
import subprocess

from rounds import run_rounds

CHANGES = ["nothing", "host of a rank", "host of all", "kernels of a rank", "kernels of all", "all-reduce",
           "between steps"]
LAUNCHES = 12
HOST = "node"


class Version:
    def __init__(self, rng, ranks, decodes, changed=None, rank=None):
        self.rng, self.ranks = rng, ranks
        self.changed, self.rank = changed, rank
        self.iterations = []  # kind, requests, tokens
        for _ in range(rng.randint(60, 80)):
            if rng.random() < decodes:
                self.iterations.append(("decode", rng.choice([8, 64, 64]), None))
            else:
                self.iterations.append(("prefill", 1, 2048))
        self.events = [[] for _ in range(ranks)]
        self.run()

    def add(self, rank, category, name, start, end, thread, args):
        self.events[rank].append({"ph": "X", "cat": category, "name": name,
                                  "pid": 0 if category == "kernel" else 7, "tid": thread,
                                  "ts": round(start, 3), "dur": round(end - start, 3), "args": args})

    def is_of(self, rank, what):
        return self.changed == f"{what} of all" or (self.changed == f"{what} of a rank" and self.rank == rank)

    def run(self):
        now = 1000.0
        for number, (kind, requests, tokens) in enumerate(self.iterations):
            name = (f"execute_context_0(0)_generation_{requests}({requests})" if kind == "decode"
                    else f"execute_context_{requests}({tokens})_generation_0(0)")
            host = [now] * self.ranks
            device = [now] * self.ranks
            for launch in range(LAUNCHES):
                arrivals = []
                for rank in range(self.ranks):
                    call = 20 * (2.2 if self.is_of(rank, "host") else 1) * self.rng.uniform(0.98, 1.02)
                    length = {"decode": 10 + requests / 8, "prefill": 80}[kind]
                    length *= (2 if self.is_of(rank, "kernels") else 1) * self.rng.uniform(0.98, 1.02)
                    correlation = {"correlation": 2 * (number * LAUNCHES + launch) + 1}
                    self.add(rank, "cuda_runtime", "cudaLaunchKernel", host[rank], host[rank] + call, 7, correlation)
                    host[rank] += call
                    start = max(device[rank], host[rank])
                    self.add(rank, "kernel", "gemm", start, start + length, 7,
                             {"device": rank, "stream": 7, **correlation})
                    device[rank] = start + length
                    correlation = {"correlation": correlation["correlation"] + 1}
                    self.add(rank, "cuda_runtime", "cudaLaunchKernel", host[rank], host[rank] + 1, 7, correlation)
                    host[rank] += 1
                    arrivals.append(max(device[rank], host[rank]))
                end = max(arrivals) + (25 if self.changed == "all-reduce" else 5)
                for rank, start in enumerate(arrivals):
                    self.add(rank, "kernel",
                             "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)", start, end, 7,
                             {"device": rank, "stream": 7, "correlation": 2 * (number * LAUNCHES + launch) + 2})
                    device[rank] = end
            end = max(host + device)
            for rank in range(self.ranks):
                self.add(rank, "user_annotation", name, now, end, 7, {})
            now = end + self.rng.uniform(28, 32) + (400 if self.changed == "between steps" else 0)

    def write(self, folder, only=None):
        folder.mkdir()
        for rank in range(self.ranks):
            if only not in (None, rank):
                continue
            # A range around others comes first.
            events = sorted(self.events[rank], key=lambda each: (each["ts"], -each["dur"]))
            (folder / f"rank{rank}.json").write_text(json.dumps({
                "schemaVersion": 1, "host_name": HOST + str(rank), "baseTimeNanoseconds": 1_759_300_000_000_000_000,
                "distributedInfo": {"rank": rank, "world_size": self.ranks}, "traceEvents": events}))


def wanted_words(changed, rank, only):
    """What the sentence about decode steps has to contain, and what it must not."""
    if changed.endswith("of a rank") and only is not None and only != rank:
        return ["more communication", "may be waiting"], ["kernels take"]
    name = f"wait for rank {rank} ({HOST}{rank})"
    return {"host of a rank": ([name, "the host is late", "for a launch instead of"], ["kernels take"]),
            "host of all": (["the host is late", "for a launch instead of"], ["wait for rank"]),
            "kernels of a rank": ([name, "kernels take"], ["host is late"]),
            "kernels of all": (["in other kernels"], ["wait for rank", "host is late"]),
            "all-reduce": (["more communication, on all ranks"], ["wait for rank"]),
            "between steps": (["lies between the steps"], ["wait for rank", "host is late"])}[changed]


def problem_of(tbtrace, folder, changed, rank, only):
    answer = json.loads(subprocess.run([tbtrace, "diff", str(folder / "before"), str(folder / "after"), "--format",
                                        "json"], capture_output=True, check=True, timeout=60).stdout)
    phases = {phase["phase"]: phase for phase in answer["phases"]}
    if "the batches differ" not in (answer["batches"] or ""):
        return f"batches: {answer['batches']}"
    if changed == "nothing":
        slower = [phase["why"] for phase in phases.values() if phase["why"]]
        change = answer["step"]["change"]
        return f"{slower}, {change}" if slower or abs(change) > 0.02 or "between" in answer["sentence"] else None
    why = phases["decode of 57 to 64 requests"]["why"] or ""
    there, not_there = wanted_words(changed, rank, only)
    if not all(text in why for text in there) or any(text in why for text in not_there):
        return f"it says: {why}"
    if changed == "between steps":
        found = re.search(r"The time between two steps is (\S+) ms longer\.", answer["sentence"])
        return None if found and abs(float(found[1]) - 0.4) < 0.02 else f"it says: {answer['sentence']}"
    return None if answer["step"]["change"] > 0.02 else f"the step changes by {answer['step']['change']}"


def problem_of_pair(tbtrace, folder, rng, number):
    changed = CHANGES[number % len(CHANGES)]
    ranks = rng.randint(2, 4)
    rank = rng.randrange(ranks)
    only = (rank + 1) % ranks if changed.endswith("of a rank") and rng.random() < 0.5 else None
    Version(rng, ranks, 0.9).write(folder / "before", only)
    Version(rng, ranks, 0.5, changed, rank).write(folder / "after", only)
    problem = problem_of(tbtrace, folder, changed, rank, only)
    return problem and f"{changed}, rank {rank} of {ranks}, only {only}: {problem}"


run_rounds(__doc__, "pair", 42, problem_of_pair)
