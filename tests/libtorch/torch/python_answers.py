#!/usr/bin/env python3
"""Does a C++ program that records itself say what Python's profiler says of the same model?

    python_answers.py PROGRAM

Scripts a model, records an inference and a training step of it with torch.profiler, has PROGRAM (run_script.cc) record
the same of the saved model, and compares: operators with their calls, shapes, memory and FLOPs, and every record of
memory. Runs in the torch that PROGRAM was built with (.venv-torch). Prints 'N rows, M records of memory, K differences'.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.hidden = torch.nn.Linear(8 * 16 * 16, 32)
        self.attention = torch.nn.MultiheadAttention(32, 4, batch_first=True)
        self.classifier = torch.nn.Linear(32, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.convolution(x)))
        x = torch.relu(self.hidden(x.flatten(1))).unsqueeze(0)
        x, _ = self.attention(x, x, x)
        return torch.log_softmax(self.classifier(torch.cat([x, x * 0.5], 1).squeeze(0)), 1)


def recorded(model, folder):
    pictures, one = torch.ones(4, 3, 32, 32), torch.ones(())
    for _ in range(4):
        model(pictures).sum().backward()
    model.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_flops=True) as prof:
        with record_function("inference"), torch.no_grad():
            model(pictures)
        with record_function("training"):
            loss = model(pictures).sum()
            loss.backward(one)
            del loss
    prof.export_chrome_trace(str(folder / "python.json"))
    rows = [[row.key, row.count, str(row.input_shapes or []), row.cpu_memory_usage, row.self_cpu_memory_usage,
             row.flops or 0] for row in prof.key_averages(group_by_input_shape=True)]
    return rows, memory_of(folder / "python.json")


def memory_of(path):
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    records = [event for event in events if event["ph"] == "i" and event["name"] == "[memory]"]
    return [event["args"]["Bytes"] for event in sorted(records, key=lambda event: event["ts"])]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        model = torch.jit.script(Model())
        model.save(str(folder / "model.pt"))
        theirs, their_memory = recorded(model, folder)
        done = subprocess.run([sys.argv[1], folder / "model.pt", folder / "ours.json"], check=True, capture_output=True)
        ours = [[row["key"], row["count"], str(row["input_shapes"] or []), row["cpu_memory_usage_bytes"],
                 row["self_cpu_memory_usage_bytes"], row["flops"] or 0] for row in json.loads(done.stdout)["rows"]]
        our_memory = memory_of(folder / "ours.json")
    problems = [f"only in Python: {row}" for row in theirs if row not in ours]
    problems += [f"only in C++: {row}" for row in ours if row not in theirs]
    if their_memory != our_memory:
        problems.append(f"memory: {len(their_memory)} records in Python, {len(our_memory)} in C++")
    for problem in problems:
        print(problem)
    print(f"{len(ours)} rows, {len(our_memory)} records of memory, {len(problems)} differences")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
