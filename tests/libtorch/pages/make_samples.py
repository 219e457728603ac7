#!/usr/bin/env python3
"""The C++ blocks of pages as one source that compiles if each of them does: make_samples.py SOURCE.cc PAGE.md...

A block that begins with #include is whole. Others are statements, which may use a `model` and `train_some_steps()`.
Python 3, nothing besides.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATEMENTS = """void sample([[maybe_unused]] torch::nn::Sequential model, [[maybe_unused]] void (*train_some_steps)()) {
%s}
"""


def main():
    source, *pages = map(pathlib.Path, sys.argv[1:])
    includes, samples = {"#include <iostream>", "#include <torch/torch.h>", "#include <tbtrace/profiler.h>"}, []
    for page in pages:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        assert blocks, f"{page} has no C++"
        for block in blocks:
            if "int main(" in block:
                continue  # a program of its own
            lines = block.splitlines(keepends=True)
            own = [line for line in lines if line.startswith("#include")]
            includes.update(line.strip() for line in own)
            rest = "".join(line for line in lines if line not in own)
            samples.append(f"// {page.name}\nnamespace sample_{len(samples)} {{\n"
                           f"{rest if own else STATEMENTS % rest}}}\n")
    source.write_text("\n".join(sorted(includes)) + "\n\n" + "\n".join(samples), encoding="utf-8")


if __name__ == "__main__":
    main()
