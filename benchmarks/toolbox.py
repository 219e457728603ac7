#!/usr/bin/env python3
"""tbtrace::benchmark() against torch.utils.benchmark, on calls of the same LibTorch, in turns.

    benchmarks/toolbox.py PROGRAM [--python .venv-torch/bin/python] [--rounds 10]

PROGRAM is tbtrace_benchmark_calls of a build against the torch of PYTHON: -DTBTRACE_TORCH_ROOT=.../site-packages/torch.
Each round runs both on each call, in processes of their own. Prints the ratio of the medians with its 95 % interval (of the
logarithms, by Student's distribution), and what benchmark() adds to a call. Python 3, nothing besides.
"""
import argparse
import math
import os
import statistics
import subprocess

CALLS = {
    "add": "torch.add(wide, wide, out=result)",
    "convolution": "torch.conv2d(images, filters)",
    "cumsum": "torch.cumsum(wide, 1, out=result)",
    "exp": "torch.exp(wide, out=result)",
    "index_select": "torch.index_select(wide, 0, rows, out=result)",
    "matmul": "torch.matmul(square, square, out=product)",
    "softmax": "torch.softmax(wide, 1, out=result)",
    "sort": "torch.sort(numbers, out=(ordered, order))",
    "tanh": "torch.tanh(wide, out=result)",
    "transpose": "transposed.copy_(wide.t())",
}
TIMER = """
import torch, torch.utils.benchmark
torch.manual_seed(0)
torch.set_grad_enabled(False)
wide, square, numbers = torch.randn(2000, 8000), torch.randn(768, 768), torch.randn(512, 512)
images, filters = torch.randn(4, 16, 96, 96), torch.randn(32, 16, 3, 3)
result, transposed, product = torch.empty_like(wide), torch.empty(8000, 2000), torch.empty_like(square)
ordered, order = torch.empty_like(numbers), torch.empty(512, 512, dtype=torch.long)
rows = torch.arange(1999, -1, -1)
print(torch.utils.benchmark.Timer({!r}, globals=globals(), num_threads=1).blocked_autorange(min_run_time=0.4).median * 1e9)
"""
# Student's quantile of 97.5 % by degrees of freedom.
STUDENT = {4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 14: 2.145, 19: 2.093}
# What glibc does with freed blocks depends on the process's past (mallopt(3): the threshold moves): here both keep them.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}


def output(command):
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                env={**os.environ, **ALLOCATOR}).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--python", default=".venv-torch/bin/python")
    parser.add_argument("--rounds", type=int, default=10, choices=[degrees + 1 for degrees in STUDENT])
    options = parser.parse_args()
    ratios = {name: [] for name in CALLS}
    medians = dict.fromkeys(CALLS, 0.0)
    for number in range(options.rounds):
        for name, statement in CALLS.items():
            both = [lambda: output([options.program, name]), lambda: output([options.python, "-c", TIMER.format(statement)])]
            # Each is first in turn.
            if number % 2:
                theirs, ours = both[1](), both[0]()
            else:
                ours, theirs = both[0](), both[1]()
            ratios[name].append(math.log(ours / theirs))
            medians[name] = theirs
    for name, logs in ratios.items():
        middle = statistics.mean(logs)
        width = STUDENT[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
        holds = abs(middle) <= width
        print(f"{name}: {medians[name] / 1e6:.2f} ms, ratio {math.exp(middle):.4f} [{math.exp(middle - width):.4f}, "
              f"{math.exp(middle + width):.4f}]{'' if holds else ', does not hold 1'}")
    print(f"benchmark() adds {output([options.program, 'cost']):.0f} ns to a call")


if __name__ == "__main__":
    main()
