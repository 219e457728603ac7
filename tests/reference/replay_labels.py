#!/usr/bin/env python3
"""Compares `tbtrace kernels --labels` with simulated models whose kernels' modules are known.

    replay_labels.py --tbtrace PATH [--models N] [--seed N] [--keep FOLDER]

A model is recorded twice: once with each kernel launched by an operator in its module, once with CUDA graphs, of all
of a step or of pieces of it. Some kernels have other names in the second recording, and some are in one of them only.
Labels of the replayed kernels have to be right for 95 % of their time if 95 % of the names agree; of another model
there must be none. The last line is 'N passed, N failed'. There are 40 models, or as many as TBTRACE_RANDOM_PERCENT
says.
"""
import collections
import json
import subprocess

from rounds import run_rounds

PARTS = ["self_attn.qkv_proj", "self_attn.attn", "self_attn.o_proj", "mlp.gate_up_proj", "mlp.act_fn", "mlp.down_proj"]


class Model:
    """Kernels of a step: a module and a name each."""

    def __init__(self, rng, layers=None):
        self.rng = rng
        layers = layers or rng.randint(2, 30)
        kinds = [f"kernel_{rng.randrange(10**6)}" for _ in range(rng.randint(4, 9))]
        layer = [(part, rng.choice(kinds)) for part in PARTS for _ in range(rng.randint(1, 3))]
        self.kernels = [("embed", "gather")]
        self.layer = len(layer)
        for number in range(layers):
            self.kernels += [(f"layers.{number}.{part}", name) for part, name in layer]
        self.kernels.append(("lm_head", "last_gemm"))

    def changed(self, share):
        """With other names for a share of the kernels, as of other tiles."""
        return [(module, name + "_tile" if self.rng.random() < share else name) for module, name in self.kernels]


class Recording:
    def __init__(self, rng):
        self.rng, self.events, self.correlation, self.time = rng, [], 0, 100

    def add(self, category, name, start, duration, thread=1, process=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start,
                            "dur": duration, "args": args})

    def kernel(self, name, start, **args):
        length = self.rng.randint(1, 30)
        self.add("kernel", name, start, length, 7, 0, device=0, stream=7, correlation=self.correlation, **args)
        return start + length

    def eager(self, kernels):
        """Each kernel in an operator in a frame of its module, and with kernels of the sampler after them."""
        begin = self.time
        for module, name in kernels + [(None, "sample_a"), (None, "sample_b")]:
            start = self.time
            self.correlation += 1
            self.add("cpu_op", "aten::op", start + 1, 8, **{"External id": self.correlation})
            self.add("cuda_runtime", "cudaLaunchKernel", start + 2, 3, correlation=self.correlation,
                     **{"External id": self.correlation})
            end = self.kernel(name, start + 20, **{"External id": self.correlation})
            if module:
                self.add("python_function", f"nn.Module: {module.replace('.', '_')}_0", start, 10,
                         **{"Python id": self.correlation, "Python module id": 0})
            self.time = max(start + 12, end)
        self.add("user_annotation", "execute_context_0(0)_generation_8(8)", begin, self.time - begin)
        self.time += 50

    def replay(self, kernels, pieces, has_steps=True, size=None):
        """Returns the time of the replayed kernels by their modules."""
        begin, times, node = self.time, collections.Counter(), 0
        size = size or -(-len(kernels) // pieces)
        for first in range(0, len(kernels), size):
            self.correlation += 1
            self.add("cuda_runtime", "cudaGraphLaunch", self.time, 5, correlation=self.correlation)
            at = self.time + 10
            for module, name in kernels[first:first + size]:
                node += 1
                end = self.kernel(name, at, **{"graph id": 1, "graph node id": node})
                times[f"{module.replace('.', '_')}_0"] += 1000 * (end - at)
                at = end
            self.time = at
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", self.time, 5, correlation=self.correlation)
        self.time = self.kernel("sample_a", self.time + 10)
        if has_steps:
            self.add("user_annotation", "execute_context_0(0)_generation_8(8)", begin, self.time - begin)
        self.time += 50
        return times

    def write(self, path):
        self.events.sort(key=lambda each: (each["ts"], -each["dur"]))
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}))


def rows_of(tbtrace, graphs, eager):
    done = subprocess.run([tbtrace, "kernels", str(graphs), "--labels", str(eager), "--group-by", "label", "--format",
                           "json"], capture_output=True, check=True, timeout=60)
    return {row["label"]: row["total_ns"] for row in json.loads(done.stdout)["rows"]}


def problem_of(tbtrace, folder, rng, number):
    """Of four models one is another one, every other time with the same layers, twice as many; and one is replayed layer by
    layer without steps, so that no launch says which layer it is."""
    is_other_model, is_by_layer = number % 4 == 3, number % 4 == 1
    model = Model(rng, 8 if is_other_model else None)
    eager, graphs = Recording(rng), Recording(rng)
    share = rng.choice([0, 0, 0.01])
    for _ in range(rng.randint(1, 3)):
        eager.eager(model.kernels)
    kernels = model.changed(share)
    if is_other_model:
        kernels = Model(rng).changed(share) if number % 8 == 3 else model.kernels[:1 + 4 * model.layer]
    times = collections.Counter()
    for _ in range(rng.randint(1, 4)):
        if is_by_layer:  # without what comes before and after the layers
            times += graphs.replay(kernels[1:-1], None, False, model.layer)
        else:
            times += graphs.replay(kernels, rng.choice([1, 1, 8]))
    eager.write(folder / "eager.json")
    graphs.write(folder / "graphs.json")
    rows = rows_of(tbtrace, folder / "graphs.json", folder / "eager.json")
    rows.pop("[unlabelled]", None)
    if is_other_model:
        return f"labels of another model: {rows}" if rows else None
    right = sum(min(rows.get(module, 0), time) for module, time in times.items())
    labelled = sum(rows.values())
    is_enough = is_by_layer or right >= 0.95 * sum(times.values())
    if not is_enough or labelled - right > 0.01 * labelled:
        return f"{right} of {sum(times.values())} ns are right, {labelled} labelled"
    return None


run_rounds(__doc__, "model", 40, problem_of)
