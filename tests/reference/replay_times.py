#!/usr/bin/env python3
"""Compares the times of operators in a recording with those of the programs that `tbtrace replay` writes from it.

    replay_times.py --tbtrace PATH --python PYTHON_WITH_TORCH

Twenty operators that take above 100 us are recorded on one core. The least of the repetitions of each has to be within
25 % of the least recorded. The last line is 'N of 20 agree'.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

RECORD = r"""
import sys, torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
torch.set_num_threads(1)
x, y, wide = torch.rand(512, 512), torch.rand(512, 512), torch.rand(2000, 500)
images, weights = torch.rand(8, 16, 56, 56), torch.rand(32, 16, 3, 3)
other, indices = torch.rand(2000, 500), torch.randint(0, 2000, (20000,))
does = {
    "mm": lambda: torch.mm(x, y), "addmm": lambda: torch.addmm(x[0], x, y),
    "bmm": lambda: torch.bmm(x.view(8, 64, 512), y.view(8, 512, 64)),
    "_softmax": lambda: torch.softmax(wide, 1), "_log_softmax": lambda: torch.log_softmax(wide, 1),
    "native_layer_norm": lambda: F.layer_norm(wide, (500,)), "gelu": lambda: F.gelu(wide), "exp": lambda: torch.exp(wide),
    "add": lambda: wide + other, "mul": lambda: wide * 2.5, "sum": lambda: wide.sum(0), "cumsum": lambda: wide.cumsum(1),
    "sort": lambda: wide.sort(1), "topk": lambda: wide.topk(10), "cat": lambda: torch.cat([wide, other]),
    "embedding": lambda: F.embedding(indices, wide), "index_select": lambda: wide.index_select(0, indices),
    "mkldnn_convolution": lambda: F.conv2d(images, weights, padding=1), "max_pool2d_with_indices": lambda: F.max_pool2d(images, 2),
    "clone": lambda: x.t().contiguous(),
}
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recording:
    for do in does.values():
        for _ in range(30):
            do()
recording.export_chrome_trace(sys.argv[1])
print(*does)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()
    agree = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        recorded = subprocess.run([options.python, "-W", "ignore", "-c", RECORD, folder / "trace.json"], capture_output=True,
                                  text=True, check=True)
        names = recorded.stdout.split()
        for name in names:
            program = folder / f"{name}.py"
            subprocess.run([options.tbtrace, "replay", folder / "trace.json", "--operator", f"aten::{name}", "-o", program,
                            "--row-limit", "1"], check=True)
            run = subprocess.run([options.python, "-W", "ignore", program, "--threads", "1"], capture_output=True, text=True)
            times = re.search(r"^ *([\d.]+) +[\d.]+ +([\d.]+) ", run.stdout, re.MULTILINE)
            if times is None:
                print(f"{name}: {run.stderr.strip().splitlines()[-1:]}")
                continue
            least, wanted = map(float, times.groups())
            good = abs(least / wanted - 1) <= 0.25
            agree += good
            print(f"{name:24} {least:10.1f} us, recorded {wanted:10.1f} us {(least / wanted - 1) * 100:+6.1f} %"
                  f"{'' if good else '  no'}")
    print(f"{agree} of {len(names)} agree")


if __name__ == "__main__":
    main()
