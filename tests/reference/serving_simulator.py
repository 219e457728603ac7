#!/usr/bin/env python3
"""Compares `tbtrace serving` with simulated inference engines, whose steps are known.

    serving_simulator.py --tbtrace PATH [--servers N] [--seed N] [--keep FOLDER]

A server makes steps of random kinds and batch sizes, names them as one of the engines does, launches CUDA graphs or
single kernels, and waits for the device or runs ahead of it. Kinds, requests, tokens, times, gaps, launches and the
busy time of each row have to be those of the simulation. The last line is 'N passed, N failed'. There are 60 servers,
or as many as TBTRACE_RANDOM_PERCENT says (tests/fixtures/random_rounds.h).
"""
import collections
import json
import statistics
import subprocess

from rounds import run_rounds


class Step:
    def __init__(self, kind, requests, tokens, name):
        self.kind, self.requests, self.tokens, self.name = kind, requests, tokens, name
        self.launches, self.kernels = [], []


def sums_of(lengths, before):
    """The sums that detailed names have: sq, sk, sqsq, sqsk of queries of these lengths after so many tokens."""
    keys = [length + old for length, old in zip(lengths, before)]
    return (sum(lengths), sum(keys), sum(each * each for each in lengths),
            sum(query * key for query, key in zip(lengths, keys)))


class Engine:
    """Names of steps, by what is in their batches: lengths of prompts, and tokens of each request that decodes."""

    def __init__(self, rng):
        self.rng, self.detailed = rng, rng.random() < 0.5
        self.speculates = rng.random() < 0.3

    def batch(self):
        kind = self.rng.choice(["prefill", "decode", "decode", "decode", "mixed"])
        prompts = [self.rng.randint(1, 4000) for _ in range(self.rng.randint(1, 6))] if kind != "decode" else []
        decoding = self.rng.choice([1, 8, 32, 64, 117]) if kind != "prefill" else 0
        return kind, prompts, [4 if self.speculates else 1] * decoding


class Vllm(Engine):
    def step(self):
        kind, prompts, decoding = self.batch()
        total = sum(prompts) + sum(decoding)
        if self.detailed:
            parts = ["sq{}sk{}sqsq{}sqsk{}".format(*sums_of(each, [self.rng.randint(0, 999) for _ in each]))
                     for each in (prompts, decoding)]
            name = f"execute_{total}_context_{len(prompts)}({parts[0]})_generation_{len(decoding)}({parts[1]})"
        else:
            name = f"execute_context_{len(prompts)}({sum(prompts)})_generation_{len(decoding)}({sum(decoding)})"
        return Step(kind, len(prompts) + len(decoding), total, name)


class OldVllm(Engine):
    def step(self):
        kind, prompts, decoding = self.batch()
        is_unknown = kind == "decode"  # requests that are not new may still read their prompts
        return Step("unknown" if is_unknown else kind, len(prompts) + len(decoding), None,
                    f"execute_new_{len(prompts)}_cached_{len(decoding)}")


class Sglang(Engine):
    def step(self):
        if self.rng.random() < 0.1:
            count = self.rng.randint(1, 9)
            return Step("unknown", count, None, f"step[DLLM_EXTEND bs={count}]")
        kind, prompts, decoding = self.batch()
        count, total = len(prompts) + len(decoding), sum(prompts) + sum(decoding)
        fields = [f"bs={count}"]
        if kind == "prefill":
            fields.append(f"toks={total}")
        if self.detailed:
            if kind == "mixed":
                fields += [f"c={len(prompts)}", f"g={len(decoding)}"]
            for letter, lengths in (("c", prompts), ("g", decoding)):
                if lengths or kind == "mixed":
                    sq, sk, sqsq, sqsk = sums_of(lengths, [self.rng.randint(0, 99) for _ in lengths])
                    fields += [f"{letter}_sq={sq}", f"{letter}_sqsq={sqsq}", f"{letter}_sqsk={sqsk}",
                               f"{letter}_sk={sk}"]
        mode = {"prefill": "EXTEND", "decode": "DECODE", "mixed": "MIXED"}[kind]
        if kind == "decode" and self.speculates and not self.detailed:
            mode, total = "TARGET_VERIFY", None
        if kind == "mixed" and not self.detailed:
            total = None
        return Step(kind, count, total, f"step[{mode} {' '.join(fields)}]")


class Atom(Engine):
    def step(self):
        kind, prompts, decoding = self.batch()
        count, total = len(prompts) + len(decoding), sum(prompts) + sum(decoding)
        fields = [f"tok={total}"]
        if kind == "prefill":
            shown = ", ".join(str(each) for each in prompts[:3])
            fields.append(f"ctx=[{shown}]" + (f"...+{len(prompts) - 3}" if len(prompts) > 3 else ""))
        elif kind == "mixed":
            fields.append(f"p={len(prompts)}")
        if decoding:
            fields.append(f"d={len(decoding)}")
        if self.speculates and decoding:
            fields.append("spec=3")
        padded = f"/{count + self.rng.randint(1, 9)}" if kind == "decode" and self.rng.random() < 0.5 else ""
        word = "prefill" if kind == "prefill" else self.rng.choice(["decode", "eager_decode"])
        return Step(kind, count, total, f"{word}[bs={count}{padded} {' '.join(fields)}]")


class TensorRt(Engine):
    number = 41

    def step(self):
        kind, prompts, decoding = self.batch()
        self.number += 1
        return Step(kind, len(prompts) + len(decoding), None,
                    f"[Executor] _forward_step {self.number}: {len(prompts)} ctx reqs, {len(decoding)} gen reqs")


ENGINES = [Vllm, OldVllm, Sglang, Atom, TensorRt]


class Server:
    """A host thread and a stream. Times are whole microseconds, so that the file has them exactly."""

    def __init__(self, rng):
        self.rng, self.steps, self.events, self.correlation = rng, [], [], 0
        engine = rng.choice(ENGINES)(rng)
        self.wraps = rng.random() < 0.3  # calls the profiler's step(), too
        runs_ahead = rng.random() < 0.5
        host = device = 1000
        for _ in range(rng.randint(1, 40)):
            step = engine.step()
            step.start = host = host + rng.choice([0, 3, 50])
            for _ in range(rng.choice([1, 1, 7])):
                host += rng.randint(1, 20)
                device = self.launch(step, host, device)
                host += step.launches[-1]
            if not runs_ahead:
                host = max(host, device)
            host += rng.randint(1, 30)
            step.end = host
            self.steps.append(step)

    def launch(self, step, host, device):
        self.correlation += 1
        duration = self.rng.randint(1, 9)
        step.launches.append(duration)
        count = self.rng.choice([1, 1, 12])
        self.add("cuda_runtime", "cudaGraphLaunch" if count > 1 else "cudaLaunchKernel", host, duration, 1)
        device = max(device, host + duration)
        for number in range(count):
            device += self.rng.randint(0, 2)
            length = self.rng.randint(1, 30)
            step.kernels.append((device, device + length))
            self.add("kernel", f"kernel_{number}", device, length, 7, 0)
            device += length
        return device

    def add(self, category, name, start, duration, thread, process=1):
        args = {"correlation": self.correlation} if category != "user_annotation" else {}
        if category == "kernel":
            args |= {"device": 0, "stream": 7}
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start,
                            "dur": duration, "args": args})

    def write(self, path):
        for number, step in enumerate(self.steps):
            self.add("user_annotation", step.name, step.start, step.end - step.start, 1)
            if self.wraps:
                self.add("user_annotation", f"ProfilerStep#{number}", step.start, step.end - step.start, 1)
        # A range around another one comes first.
        self.events.sort(key=lambda each: (each["ts"], -each["dur"], not each["name"].startswith("Profiler")))
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}))

    def windows(self):
        """Of each step: from when the one before has ended on the device, to the end of its own work there; never
        shorter than its part on the host (docs/formats/steps.md)."""
        before = self.steps[0].start
        for step in self.steps:
            end = max([step.end, before, *(end for _, end in step.kernels)])
            yield step, min(max(step.start, before), end - (step.end - step.start)), end
            before = end


def percentile(values, share):
    """As numpy's, by its definition."""
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def covered(ranges, start, end):
    return sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in ranges)


def expected(server, by_batch):
    groups, last_end = collections.defaultdict(list), None
    kernels = [each for step in server.steps for each in step.kernels]
    for step, start, end in server.windows():
        gap = None if last_end is None else max(0, start - last_end)
        last_end = end
        groups[step.kind, step.requests if by_batch else None].append(
            (step, end - start, gap, covered(kernels, start, end)))
    rows = {}
    for key, group in groups.items():
        steps = [step for step, *_ in group]
        durations = [duration for _, duration, *_ in group]
        gaps = [gap for _, _, gap, _ in group if gap is not None]
        launches = [each for step in steps for each in step.launches]
        known = all(step.tokens is not None for step in steps)
        rows[key] = {
            "steps": len(group), "tokens": sum(step.tokens for step in steps) if known else None,
            "duration_ns": 1000 * sum(durations), "duration_median_ns": 1000 * statistics.median_low(durations),
            "duration_p90_ns": 1000 * percentile(durations, 0.9), "duration_p99_ns": 1000 * percentile(durations, 0.99),
            "gap_median_ns": 1000 * statistics.median_low(gaps) if gaps else None,
            "host_median_ns": 1000 * statistics.median_low([step.end - step.start for step in steps]),
            "launches_per_step": len(launches) / len(group), "launch_mean_ns": 1000 * sum(launches) / len(launches),
            "tokens_per_s": sum(step.tokens for step in steps) * 1e6 / (sum(durations) + sum(gaps)) if known else None,
            "gpu_utilization": sum(busy for *_, busy in group) / sum(durations)}
    return rows


def is_near(got, wanted):
    if got is None or wanted is None:
        return got is wanted
    return abs(got - wanted) <= 1e-9 * max(abs(got), abs(wanted), 1)


def problems_of(tbtrace, path, server):
    for group_by in ("batch", "kind"):
        answer = json.loads(subprocess.run(
            [tbtrace, "serving", str(path), "--group-by", group_by, "--format", "json"], capture_output=True,
            check=True, timeout=60).stdout)
        rows = {(row["kind"], row["requests"]): row for row in answer["rows"]}
        wanted = expected(server, group_by == "batch")
        if rows.keys() != wanted.keys():
            yield f"--group-by {group_by}: rows {sorted(map(str, rows))}, not {sorted(map(str, wanted))}"
            continue
        for key, figures in wanted.items():
            for name, value in figures.items():
                if not is_near(rows[key][name], value):
                    yield f"--group-by {group_by}: {key}: {name} is {rows[key][name]}, not {value}"


def problem_of_server(tbtrace, folder, rng, _):
    server = Server(rng)
    path = folder / "trace.json"
    server.write(path)
    return "\n".join(list(problems_of(tbtrace, path, server))[:5])


run_rounds(__doc__, "server", 60, problem_of_server)
