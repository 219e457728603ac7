#!/usr/bin/env python3
"""Records the traces in examples/traces/ with torch 2.13 for CPU, and beside each the table that torch printed of it.

Run it from the repository's root:

    python examples/record_traces.py [NAME...]

Rewritten after recording, because it tells where a trace was made: the machine's name, the temporary file's, and
folders that Python searches (torch leaves these out itself, from frames; here they go from anything that is left).
A trace that still names a folder of this machine is refused. Operators and times stay as they were, so the tables
are those of the traces.
"""

import argparse
import gzip
import pathlib
import re
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

FOLDER = pathlib.Path("examples/traces")
TABLE = {"sort_by": "self_cpu_time_total", "row_limit": 10}


class Residual(nn.Module):
    """Two convolutions with a way around them."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                  nn.MaxPool2d(3, 2, padding=1)]
        inputs = 64
        for outputs in (64, 128, 256, 512):
            layers += [Residual(inputs, outputs, 1 if outputs == 64 else 2), Residual(outputs, outputs, 1)]
            inputs = outputs
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classifier = nn.Linear(512, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 128)
        self.output = nn.Linear(128, 10)

    def forward(self, x):
        return self.output(torch.relu(self.hidden(x)))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.narrow(torch.relu(self.widen(x)))


class LanguageModel(nn.Module):
    """A small transformer that guesses a class for each token."""

    def __init__(self, tokens=100, length=16, width=32, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(x).mean(dim=1)


def train(model, batch, steps, prof):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    labels = torch.arange(len(batch)) % 10
    for _ in range(steps):
        with record_function("forward"):
            loss = loss_of(model(batch), labels)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        prof.step()


def resnet18_training():
    """Two steps after a warm-up, with shapes."""
    model, batch = ResNet18(), torch.randn(4, 3, 64, 64)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
        train(model, batch, 4, prof)
    return prof


def perceptron_stacks():
    """A step with Python frames and modules; `verbose` keeps the operators' stacks in memory, so that
    export_stacks() has some."""
    model, batch = Perceptron(), torch.randn(32, 64)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True, with_modules=True,
                 experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True),
                 schedule=schedule(wait=0, warmup=1, active=1, repeat=1)) as prof:
        train(model, batch, 2, prof)
    return prof


def encoder_memory():
    """A step of a small transformer layer with allocations, shapes and FLOPs."""
    model = nn.Sequential(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), nn.Flatten(), nn.Linear(320, 10))
    batch = torch.randn(8, 10, 32)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_flops=True,
                 schedule=schedule(wait=0, warmup=1, active=1, repeat=1)) as prof:
        train(model, batch, 2, prof)
    return prof


def transformer_modules():
    """Two steps of a small transformer with modules, Python frames, shapes and allocations."""
    model, batch = LanguageModel(), torch.randint(0, 100, (8, 16))
    print(sum(parameter.numel() for parameter in model.parameters()), "parameters")
    with profile(activities=[ProfilerActivity.CPU], with_stack=True, record_shapes=True, profile_memory=True,
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
        train(model, batch, 4, prof)
    return prof


def without_places(text, name):
    packages = "|".join(re.escape(folder.rstrip("/") + "/") for folder in sorted(sys.path, key=len, reverse=True)
                        if folder.startswith("/"))
    text = re.sub(packages, "", text)
    text = re.sub(r'"host_name": "[^"]*"', '"host_name": "host"', text)
    text = re.sub(r'"traceName": "[^"]*"', f'"traceName": "{name}.json"', text)
    for left in (str(pathlib.Path.cwd()), str(pathlib.Path.home()), sys.prefix, "/tmp/"):
        if len(left) > 1 and left in text:
            sys.exit(f"record_traces: {name} still names {left}")
    return text


def record(make):
    name = make.__name__
    torch.manual_seed(0)
    prof = make()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        text = without_places(path.read_text(), name)
    target = FOLDER / f"{name}.json.gz"
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(text.encode())
    (FOLDER / f"{name}.txt").write_text(prof.key_averages().table(**TABLE))
    if prof.with_stack:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "stacks"
            prof.export_stacks(str(path), "self_cpu_time_total")
            if stacks := path.read_text():  # none without `verbose`
                (FOLDER / f"{name}.stacks.txt").write_text(without_places(stacks, name))
    print(f"{target}: {target.stat().st_size} bytes")


def main():
    recordings = {make.__name__: make for make in (resnet18_training, perceptron_stacks, encoder_memory,
                                                     transformer_modules)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(recordings)} (default: all)")
    names = parser.parse_args().names
    if unknown := set(names) - set(recordings):
        parser.error(f"there is no recording {', '.join(sorted(unknown))}")
    torch.set_num_threads(2)
    for name in names or recordings:
        record(recordings[name])


if __name__ == "__main__":
    main()
