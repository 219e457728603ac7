#!/usr/bin/env python3
"""Compares the MACs of tbtrace model --by operator with torch's FlopCounterMode and with products written out, of the same operators.

    python3 -m e2e.torch.flop_counter_test --tbtrace PROGRAM

Run it with a Python that has torch. Each operator runs on the CPU, forward and backward, under torch.profiler with
record_shapes. FlopCounterMode has no formula for some operators, and counts the gradient of a convolution's weight
once for each group; those are compared with the products only.

Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Callable, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode


class Case(NamedTuple):
    """An operator, its MACs, and whether FlopCounterMode has them."""

    name: str
    run: Callable[[], torch.Tensor]
    forward: int
    backward: int
    counted: bool = True


def needing(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, dtype=dtype, requires_grad=True)


def of(name, module, values, forward, counted=True):
    """A module whose gradients are as many products again for its input and for its weights."""
    return Case(name, lambda: module(values), forward, 2 * forward, counted)


def convolutions():
    image = needing(2, 3, 16, 16)
    channels = needing(2, 8, 16, 16)
    yield of("conv1d", nn.Conv1d(4, 8, 3, stride=2, padding=1), needing(2, 4, 20), 2 * 10 * 8 * 4 * 3)
    yield of("conv1d without batch", nn.Conv1d(4, 8, 3), needing(4, 20), 18 * 8 * 4 * 3)
    yield of("conv2d", nn.Conv2d(3, 8, (3, 5), stride=(2, 1), padding=(1, 2)), image, 2 * 8 * 16 * 8 * 3 * 15)
    yield of("conv2d same", nn.Conv2d(3, 8, 3, padding="same"), image, 2 * 256 * 8 * 3 * 9)
    yield of("conv2d same, even", nn.Conv2d(3, 8, 4, padding="same"), image, 2 * 256 * 8 * 3 * 16)
    yield of("conv2d valid", nn.Conv2d(3, 8, 3, padding="valid"), image, 2 * 196 * 8 * 3 * 9)
    yield of("conv2d grouped", nn.Conv2d(8, 16, 3, groups=4, dilation=2), channels, 2 * 144 * 16 * 2 * 9, False)
    yield of("conv2d depthwise", nn.Conv2d(8, 8, 3, groups=8), channels, 2 * 196 * 8 * 9, False)
    yield of("conv3d", nn.Conv3d(2, 4, 3, padding=1), needing(2, 2, 6, 7, 8), 2 * 336 * 4 * 2 * 27)
    yield of("conv3d double", nn.Conv3d(2, 4, 2, dilation=2).double(), needing(2, 2, 6, 7, 8, dtype=torch.float64),
             2 * 120 * 4 * 2 * 8)
    yield of("conv_transpose1d", nn.ConvTranspose1d(4, 8, 3, stride=2, output_padding=1), needing(2, 4, 20),
             2 * 20 * 4 * 8 * 3)
    yield of("conv_transpose2d grouped", nn.ConvTranspose2d(6, 4, 3, stride=2, groups=2, padding=1),
             needing(2, 6, 9, 9), 2 * 81 * 6 * 2 * 9, False)
    yield of("conv_transpose2d double", nn.ConvTranspose2d(6, 4, 3, dilation=2).double(),
             needing(2, 6, 9, 9, dtype=torch.float64), 2 * 81 * 6 * 4 * 9)
    yield of("conv_transpose3d", nn.ConvTranspose3d(3, 4, 2, stride=2), needing(2, 3, 4, 5, 6), 2 * 120 * 3 * 4 * 8)
    first = 2 * 196 * 8 * 3 * 9
    data = torch.randn(2, 3, 16, 16)
    yield Case("conv2d of data", lambda layer=nn.Conv2d(3, 8, 3): layer(data), first, first)


def products():
    left, right, row, column = needing(3, 4), needing(4, 5), needing(5), needing(4)
    batches, others = needing(2, 3, 4), needing(2, 4, 5)
    yield of("linear", nn.Linear(10, 7), needing(3, 5, 10), 15 * 70)
    yield of("linear of a vector", nn.Linear(10, 7, bias=False), needing(10), 70)
    yield Case("matmul", lambda: left @ right, 60, 120)
    yield Case("matmul, broadcast", lambda a=needing(8, 1, 2, 3), b=needing(4, 3, 5): a @ b, 960, 1920)
    yield Case("addmm", lambda: torch.addmm(row, left, right), 60, 120)
    yield Case("addmv", lambda a=needing(3): torch.addmv(a, left, column), 12, 24, False)
    yield Case("bmm", lambda: torch.bmm(batches, others), 120, 240)
    yield Case("baddbmm", lambda: torch.baddbmm(row, batches, others), 120, 240)
    yield Case("addbmm", lambda a=needing(3, 5): torch.addbmm(a, batches, others), 120, 240, False)
    yield Case("einsum", lambda: torch.einsum("bij,bjk->bik", batches, others), 120, 240)
    yield Case("tensordot", lambda: torch.tensordot(batches, needing(3, 4, 5), 2), 120, 240)


def attention():
    pairs = 2 * 4 * 6 * 10
    query, key, value = needing(2, 4, 6, 8), needing(2, 4, 10, 8), needing(2, 4, 10, 8)
    attend = functional.scaled_dot_product_attention
    mask = torch.ones(6, 10).tril().bool()
    fused = (pairs * 16, pairs * 40, False)
    yield Case("attention", lambda: attend(query, key, value), *fused)
    yield Case("attention with a mask", lambda: attend(query, key, value, attn_mask=mask), *fused)
    yield Case("attention in groups", lambda k=needing(2, 2, 10, 8), v=needing(2, 2, 10, 8):
               attend(query, k, v, enable_gqa=True), *fused)
    yield Case("attention, unfused", lambda v=needing(2, 4, 10, 5): attend(query, key, v), pairs * 13, pairs * 26)


def recurrent():
    """Of the gradient of the first step's state, which is no input that needs one, there is no product."""
    steps, first = 3 * 2, 2
    lstm = 2 * 28 * (5 + 7) + 2 * 28 * (14 + 7)
    yield Case("lstm", lambda layer=nn.LSTM(5, 7, 2, bidirectional=True): layer(needing(3, 2, 5))[0],
               steps * lstm, 2 * steps * lstm, False)  # one operator, also for the first state
    gru = 21 * (5 + 7)
    yield Case("gru", lambda layer=nn.GRU(5, 7): layer(needing(3, 2, 5))[0], steps * gru,
               2 * steps * gru - first * 21 * 7)
    cell = 7 * (5 + 7)
    yield Case("rnn", lambda layer=nn.RNN(5, 7): layer(needing(3, 2, 5))[0], steps * cell,
               2 * steps * cell - first * 7 * 7)


def without_products():
    for name, module, values in (
            ("layer_norm", nn.LayerNorm(8), needing(2, 8)), ("batch_norm", nn.BatchNorm2d(3), needing(2, 3, 4, 4)),
            ("group_norm", nn.GroupNorm(2, 4), needing(2, 4, 4)), ("rms_norm", nn.RMSNorm(8), needing(2, 8)),
            ("embedding", nn.Embedding(10, 4), torch.tensor([1, 2, 3]))):
        yield of(name, module, values, 0)


def counted(case):
    """The MACs of FlopCounterMode, 2 FLOPs each."""
    with FlopCounterMode(display=False) as counter:
        result = case.run()
        forward = counter.get_total_flops()
        result.sum().backward()
    return forward / 2, (counter.get_total_flops() - forward) / 2


def of_the_trace(case, program):
    """The MACs of tbtrace model --by operator, and the operators whose sizes or formulas it lacks."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json"
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            case.run().sum().backward()
        profiler.export_chrome_trace(str(file))
        done = subprocess.run([program, "model", "--by", "operator", str(file), "--format", "json"], capture_output=True, text=True,
                              check=True, timeout=60)
    document = json.loads(done.stdout)
    lacking = sorted(row["name"] for row in document["rows"]
                     if row["state"] in ("unknown_sizes", "no_rule") and row["name"].startswith("aten::"))
    totals = document["totals"]
    return totals["forward_macs"], totals["backward_macs"], lacking


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    options = parser.parse_args()
    passed, failed = 0, 0
    for case in (*convolutions(), *products(), *attention(), *recurrent(), *without_products()):
        forward, backward, lacking = of_the_trace(case, options.tbtrace)
        wrong = []
        if (forward, backward) != (case.forward, case.backward):
            wrong.append(f"{forward} and {backward} MACs, by hand {case.forward} and {case.backward}")
        if case.counted and (forward, backward) != counted(case):
            wrong.append(f"{forward} and {backward} MACs, by FlopCounterMode {counted(case)}")
        if lacking:
            wrong.append(f"nothing is known about {', '.join(lacking)}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong:
            print(f"{case.name}: {text}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
