#!/usr/bin/env python3
"""Compiles a small model with AOTInductor, for infer_aot_inductor.cc.

    compile_aot_inductor.py MODEL.pt2

Needs torch 2.6 or later, and a C++ compiler. With cpp.enable_kernel_profile recordings show the kernels that
AOTInductor makes for the CPU, and its calls of operators; without it they are not in any trace.
"""

import sys

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(256, 1024)
        self.down = torch.nn.Linear(1024, 256)
        self.norm = torch.nn.LayerNorm(256)

    def forward(self, x):
        return self.norm(x + self.down(torch.nn.functional.gelu(self.up(x))))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.manual_seed(0)
    sizes = ({0: torch.export.Dim("batch", min=1, max=512)},)
    with torch.no_grad():
        program = torch.export.export(Block().eval(), (torch.randn(16, 256),), dynamic_shapes=sizes)
        torch._inductor.aoti_compile_and_package(
            program, package_path=sys.argv[1], inductor_configs={"cpp.enable_kernel_profile": True})


if __name__ == "__main__":
    main()
