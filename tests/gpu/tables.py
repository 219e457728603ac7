#!/usr/bin/env python3
"""Records with torch's profiler on a GPU; what it prints of a recording is what tbtrace has to print of its file.

    tables.py FOLDER

Writes traces and tables to FOLDER and prints a line of JSON: for each table its trace, its file and the options of
`tbtrace ops`. Python 3 with torch for CUDA.
"""
import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

TABLES = (
    ("default", {}, {}),
    ("self_cuda", {}, {"sort_by": "self_cuda_time_total", "row_limit": -1}),
    ("self_cpu", {}, {"sort_by": "self_cpu_time_total", "row_limit": -1}),
    ("shapes", {"group_by_input_shape": True}, {"sort_by": "cuda_time_total", "row_limit": -1}),
    ("memory", {}, {"sort_by": "self_cuda_memory_usage", "row_limit": -1}),
    ("top_level", {}, {"sort_by": "count", "top_level_events_only": True}),
)


def trained(model, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()

    return step


def perceptron():
    images, classes = torch.randn(256, 784), torch.randint(10, (256,))
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return trained(model, lambda net: F.cross_entropy(net(images), classes))


def convolutions():
    images, classes = torch.randn(8, 3, 64, 64), torch.randint(10, (8,))
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    return trained(model, lambda net: F.cross_entropy(net(images), classes))


def transformer():
    words, classes = torch.randn(8, 128, 256), torch.randint(10, (8, 128))
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(256, 10))

    def loss_of(net):
        with record_function("forward"), torch.autocast("cuda", torch.bfloat16):
            return F.cross_entropy(net(words).flatten(0, 1), classes.flatten())

    return trained(model, loss_of)


def streams():
    left = torch.randn(1024, 1024)
    host = torch.randn(1024, 1024, device="cpu").pin_memory()
    side = torch.cuda.Stream()

    def step():
        with record_function("main"):
            product = left @ left
        with torch.cuda.stream(side), record_function("side"):
            copied = host.to("cuda", non_blocking=True)
            other = (copied @ copied).relu().sum()
        torch.cuda.current_stream().wait_stream(side)
        (product.sum() + other).item()

    return step


def graph():
    matrix, result = torch.randn(512, 512), torch.zeros(512, 512)

    def work():
        result.copy_((matrix @ matrix).relu() + 1)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        work()

    def step():
        with record_function("replay"):
            captured.replay()
        (matrix + 1).sum()

    return step


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_default_device("cuda")
    made = []
    for workload in (perceptron, convolutions, transformer, streams, graph):
        torch.manual_seed(0)
        step = workload()
        step()
        # In the warm-up CUPTI gets its buffers. torch's profiler counts that time in an operator; its file does not
        # say in which.
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, profile_memory=True,
                     schedule=schedule(wait=0, warmup=2, active=2, repeat=1)) as profiler:
            for _ in range(4):
                step()
                torch.cuda.synchronize()
                profiler.step()
        trace = f"{workload.__name__}.json"
        profiler.export_chrome_trace(str(folder / trace))
        for name, group, options in TABLES:
            text = profiler.key_averages(**group).table(**options)
            file = f"{workload.__name__}.{name}.txt"
            (folder / file).write_text(text, encoding="utf-8", newline="")
            given = [part for key, value in {"sort_by": "none", **group, **options}.items()
                     for part in ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])]
            made.append({"trace": trace, "table": file, "options": given})
    print(json.dumps(made))


if __name__ == "__main__":
    main()
