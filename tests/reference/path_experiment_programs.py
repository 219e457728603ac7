"""Programs of which one thing is really changed, for path_experiments.py. Runs with torch, on CPUs.

    path_experiment_programs.py FOLDER < experiments.json

An experiment is {"name", "before": settings, "after": settings}. Both are run and recorded in turns, ROUNDS times:
FOLDER/NAME_before_0.json and so on. Prints {name: {"before": [seconds of a step], "after": [...]}}.
"""
import json
import pathlib
import sys
import threading
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 16
WARMUP = 3
ROUNDS = 3
DEFAULTS = {
    "a": 4, "b": 4,  # of pieces of work of the operators bench::a and bench::b
    "backward": 0,  # pieces of work of the gradient of bench::a; 0: inference
    "sleep_ms": 0.0, "load": 0,  # of the data loader, a batch: time that it sleeps, pieces of work
    "workers": 0,  # processes of the data loader
    "beside": 0,  # pieces of work that another thread does while bench::a runs
    "stack": False,
}
SIDE = 288

_matrix = torch.rand(SIDE, SIDE)
_numbers = [hash(str(number)) for number in range(10_000)]
_library = torch.library.Library("bench", "DEF")
_library.define("a(Tensor x, int pieces) -> Tensor")
_library.define("b(Tensor x, int pieces) -> Tensor")
_library.define("a_backward(Tensor x, int pieces) -> Tensor")


def _work(x, pieces):
    for _ in range(pieces):
        torch.mm(_matrix, _matrix)  # line of a
    return x.clone()


def _other_work(x, pieces):
    for _ in range(pieces):
        torch.mm(_matrix, _matrix)  # line of b
    return x.clone()


for _name, _does in (("a", _work), ("b", _other_work), ("a_backward", _work)):
    _library.impl(_name, _does, "CPU")


class _A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, pieces, backward):
        ctx.backward_pieces = backward
        return torch.ops.bench.a(x, pieces)

    @staticmethod
    def backward(ctx, grad):
        return torch.ops.bench.a_backward(grad, ctx.backward_pieces), None, None


class First(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings

    def forward(self, x):
        if self.settings["backward"]:
            return _A.apply(x, self.settings["a"], self.settings["backward"])
        return torch.ops.bench.a(x, self.settings["a"])


class Second(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings

    def forward(self, x):
        return torch.ops.bench.b(x.detach(), self.settings["b"]) + x


class Batches(torch.utils.data.Dataset):
    def __init__(self, settings):
        self.settings = settings

    def __len__(self):
        return 1_000_000

    def __getitem__(self, at):
        torch.set_num_threads(1)
        if self.settings["sleep_ms"]:
            time.sleep(self.settings["sleep_ms"] / 1e3)
        for _ in range(self.settings["load"]):
            sorted(_numbers)
        return torch.ones(8)


def run(settings, path):
    """Seconds of a step."""
    settings = {**DEFAULTS, **settings}
    model = torch.nn.Sequential(First(settings), Second(settings))
    batches = torch.utils.data.DataLoader(Batches(settings), batch_size=None, num_workers=settings["workers"])
    ends = []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=WARMUP, active=STEPS, repeat=1),
                 with_stack=settings["stack"], with_modules=settings["stack"],
                 on_trace_ready=lambda prof: prof.export_chrome_trace(str(path))) as prof:
        for number, batch in enumerate(batches):
            x = batch.clone().requires_grad_(bool(settings["backward"]))
            other = None
            if settings["beside"]:
                other = threading.Thread(target=_work, args=(x.detach(), settings["beside"]))
                other.start()
            y = model(x).sum()
            if settings["backward"]:
                y.backward()
            if other:
                other.join()
            ends.append(time.perf_counter())
            prof.step()
            if number + 1 == WARMUP + STEPS:
                break
    return (ends[-1] - ends[WARMUP - 1]) / STEPS


def main():
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    times = {}
    run({}, folder / "first.json")  # what happens once happens here
    for experiment in json.load(sys.stdin):
        times[experiment["name"]] = {
            which: [] for which in ("before", "after")}
        for turn in range(ROUNDS):
            for which, all_times in times[experiment["name"]].items():
                all_times.append(run(experiment[which], folder / f"{experiment['name']}_{which}_{turn}.json"))
    print(json.dumps(times))


if __name__ == "__main__":
    main()
