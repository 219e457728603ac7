#!/usr/bin/env python3
"""Does model_summary() count what torch.utils.flop_counter counts?

    flop_counts.py PROGRAM

Scripts models, counts a forward pass and a training step of each with FlopCounterMode, which has two FLOPs per multiply-add,
and has PROGRAM (count_script.cc) count the same. Known differences are stated with the model. Runs in the torch that PROGRAM
was built with (.venv-torch). Prints 'N models, K differences'.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode


class Convolutions(torch.nn.Module):
    """flop_counter counts the gradient of a weight as if there were one group: here four times too much."""

    def __init__(self):
        super().__init__()
        self.plain = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.grouped = torch.nn.Conv2d(8, 16, 3, groups=4, bias=False)
        self.norm = torch.nn.BatchNorm2d(16)
        self.transposed = torch.nn.ConvTranspose2d(16, 4, 4, stride=2)
        self.line = torch.nn.Conv1d(4, 2, 5)
        self.head = torch.nn.Linear(2, 3)

    def forward(self, x):
        x = torch.relu(self.norm(self.grouped(self.plain(x))))
        x = self.line(self.transposed(x).flatten(2)).mean(2)
        return self.head(x)


class Products(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 16)
        self.keys = torch.nn.Linear(16, 16)
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = torch.nn.Linear(16, 20)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = torch.softmax(torch.matmul(x, self.keys(x).transpose(1, 2)), -1) @ x
        x = x + self.attention(x, x, x)[0]
        return self.head(torch.tanh(x))


class FusedAttention(torch.nn.Module):
    """flop_counter has no rule for the operator that the host computes attention with."""

    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(32, 3 * 32)

    def forward(self, x):
        q, k, v = self.project(x).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4).unbind(0)
        return F.scaled_dot_product_attention(q, k, v)


def attention_macs(batch, heads, length, width, products):
    return batch * heads * length * length * width * products


# Model, input, and how many multiply-adds model_summary() counts more: forward, training step.
MODELS = [
    (Convolutions, torch.ones(2, 3, 32, 32), (0, -3 * 2 * 16 * 2 * 9 * 14 * 14)),
    (Products, torch.arange(30).reshape(3, 10) % 20, (0, 0)),
    (FusedAttention, torch.ones(2, 16, 32), (attention_macs(2, 4, 16, 8, 2), attention_macs(2, 4, 16, 8, 2 + 5))),
]


def main():
    differences = 0
    for make, example, more in MODELS:
        model = make()
        with FlopCounterMode(display=False) as forward:
            model(example)
        with FlopCounterMode(display=False) as training:
            model(example).sum().backward()
        expected = [forward.get_total_flops() // 2 + more[0], training.get_total_flops() // 2 + more[1],
                    sum(parameter.numel() for parameter in model.parameters())]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            torch.jit.script(model).save(str(path / "model.pt"))
            torch.save(example, path / "input.pt")
            printed = subprocess.run([sys.argv[1], str(path / "model.pt"), str(path / "input.pt")], check=True,
                                     capture_output=True, text=True).stdout
        counted = [int(number) for number in printed.split()]
        if counted != expected:
            differences += 1
            print(f"{make.__name__}: {counted} rather than {expected}")
    print(f"{len(MODELS)} models, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
