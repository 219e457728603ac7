#!/usr/bin/env python3
"""Does a C++ program's memory timeline say what Python's says of the same training?

    memory_timelines.py PROGRAM

Trains a small model under torch.profiler, has PROGRAM (train_mlp.cc) train the same with and without telling its
profiler of the model, and compares the raw timelines: action, bytes and category of each row, in order. Runs in the
torch that PROGRAM was built with (.venv-torch). Prints 'N rows, M made of numbers, K differences', with 'N rows' those
that were compared.

Two things are not the same, and are not compared:
- Rows of what was there before have no time; their order is that of first use, and Python's profiler looks at a
  module's parameters before the module runs. They are compared as a set.
- Python makes tensors of numbers (the 8 bytes of the momentum, a double) before the operator that takes them begins,
  C++ within it: INPUT there, TEMPORARY here, and at another place of the list. Their number is compared.
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

NUMBER_BYTES = 8
PREEXISTING = 1


def recorded(path):
    model = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.ones(16, 20), torch.zeros(16, dtype=torch.int64)
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.zero_grad()

    def step():  # the loss is gone at its end, as in C++
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True) as prof:
        for _ in range(3):
            step()
    prof.export_memory_timeline(str(path), device="cpu")


class Timeline:
    def __init__(self, path):
        rows = json.loads(gzip.decompress(path.read_bytes()))
        self.is_sorted = [row[0] for row in rows] == sorted(row[0] for row in rows)
        rows = [tuple(row[1:]) for row in rows]
        self.before = sorted(row for row in rows if row[0] == PREEXISTING)
        self.numbers = [row[:2] for row in rows if abs(row[1]) == NUMBER_BYTES]
        self.rows = [row for row in rows if row[0] != PREEXISTING and abs(row[1]) != NUMBER_BYTES]


def differences(theirs, ours):
    if not ours.is_sorted:
        yield "our rows are not in the order of time"
    if theirs.before != ours.before:
        yield f"before: Python {theirs.before}, C++ {ours.before}"
    if theirs.numbers != ours.numbers:
        yield f"numbers: Python {theirs.numbers}, C++ {ours.numbers}"
    if len(theirs.rows) != len(ours.rows):
        yield f"Python has {len(theirs.rows)} rows, C++ {len(ours.rows)}"
    for at, (their_row, our_row) in enumerate(zip(theirs.rows, ours.rows)):
        if their_row != our_row:
            yield f"row {at}: Python {their_row}, C++ {our_row}"


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        recorded(folder / "python.raw.json.gz")
        theirs = Timeline(folder / "python.raw.json.gz")
        problems = []
        for more in ([], ["no_model"]):
            subprocess.run([sys.argv[1], folder / "ours.raw.json.gz", *more], check=True)
            ours = Timeline(folder / "ours.raw.json.gz")
            problems += [f"{' '.join(more)} {problem}" for problem in differences(theirs, ours)]
    categories = {row[2] for row in theirs.before + theirs.rows}
    if not categories >= {0, 1, 2, 3, 4, 5, 6}:
        problems.append(f"Python's categories are only {sorted(categories)}")
    for problem in problems:
        print(problem)
    print(f"{len(theirs.before) + len(ours.rows)} rows, {len(ours.numbers)} made of numbers, {len(problems)} differences")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
