#!/usr/bin/env python3
"""Trains a small model with tbtrace.tensorboard_trace_handler(): two cycles of two steps for each worker.

    train_with_handler.py LOG_DIR WORKER...

LOG_DIR is made anew. Needs torch, and tbtrace in PYTHONPATH. Fails if the handler logs a warning.
"""
import logging
import shutil
import sys

import torch

import tbtrace


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3)
        self.output = torch.nn.Linear(8 * 14 * 14, 10)

    def forward(self, images):
        return self.output(torch.relu(self.convolution(images)).flatten(1))


def train(log_dir, worker):
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.utils.data.TensorDataset(torch.randn(9 * 16, 3, 16, 16), torch.randint(10, (9 * 16,)))
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
            schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=tbtrace.tensorboard_trace_handler(log_dir, worker)) as profiler:
        for batch, labels in torch.utils.data.DataLoader(images, batch_size=16):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch), labels).backward()
            optimizer.step()
            profiler.step()


class Failed(logging.Handler):
    def emit(self, record):
        sys.exit(record.getMessage())


logging.getLogger("tbtrace").addHandler(Failed())
shutil.rmtree(sys.argv[1], ignore_errors=True)
for name in sys.argv[2:]:
    train(sys.argv[1], name)
