#!/usr/bin/env python3
"""Does the compiler say in a sentence what is wrong with a wrong call of the toolbox?

    wrong_calls.py COMPILER INCLUDE

Stand-ins for LibTorch's classes make each call compile in a second. A call that is right must compile.
Prints 'N wrong calls, K unexplained'.
"""
import subprocess
import sys

TORCH = """
#include <memory>
#include <vector>
namespace at { class Tensor {}; }
namespace c10 { struct IValue { IValue(int) {} }; }
namespace torch::nn { class Module { public: virtual ~Module() = default; }; }
namespace torch::jit { struct Module {}; }
namespace torch::optim { class Optimizer { public: virtual ~Optimizer() = default; }; }
#include <tbtrace/benchmark.h>
#include <tbtrace/memory_reporter.h>
#include <tbtrace/model_summary.h>
struct Net : torch::nn::Module { at::Tensor forward(at::Tensor x, at::Tensor = {}) { return x; } };
struct Texts : torch::nn::Module { int forward(const char*) { return 0; } };
struct Free { at::Tensor forward(at::Tensor x) { return x; } };
void run(Net& net, std::shared_ptr<Net> pointer, Texts& texts, Free& free, at::Tensor x, torch::optim::Optimizer& optimizer) {
  CALL;
}
"""

RIGHT = [
    "tbtrace::model_summary(net, {x})", "tbtrace::model_summary(pointer, {x}, {.depth = 1})",
    "tbtrace::model_summary([&] { return net.forward(x); })",
    "tbtrace::model_summary(texts, [&] { return texts.forward(\"\"); })",
    "tbtrace::benchmark([&] { return net.forward(x); }, {.model = pointer, .batch_size = 16})",
    "tbtrace::benchmark(net, {x})", "tbtrace::benchmark(pointer, {x, x})", "tbtrace::benchmark(net, {x}, {.runs = 5})", "tbtrace::MemoryReporter(net).add(optimizer).add(x, \"mask\")",
]
WRONG = [
    ("tbtrace::model_summary(free, {x})", "takes a torch::nn::Module, its holder, a shared_ptr to it, or a torch::jit::Module"),
    ("tbtrace::model_summary(texts, {x})", "forward() cannot be called with one to four tensors; give a callable"),
    ("tbtrace::model_summary(net)", "model_summary(model, {tensors}) needs the model's inputs"),
    ("tbtrace::model_summary(free, [] {})", "model_summary(model, callable) takes a torch::nn::Module"),
    ("tbtrace::benchmark(free, {x})", "benchmark(model, {tensors}) takes a torch::nn::Module"),
    ("tbtrace::benchmark(net)", "benchmark(model, {tensors}) needs the model's inputs"),
    ("tbtrace::benchmark([] {}, {.model = free})", ".model takes a torch::nn::Module"),
    ("tbtrace::MemoryReporter reporter(free)", "MemoryReporter takes a torch::nn::Module"),
]


def errors_of(call):
    command = [sys.argv[1], "-std=c++20", "-fsyntax-only", "-I", sys.argv[2], "-x", "c++", "-"]
    return subprocess.run(command, input=TORCH.replace("CALL", call), capture_output=True, text=True).stderr


def main():
    unexplained = 0
    for call in RIGHT:
        if "error:" in (errors := errors_of(call)):
            unexplained += 1
            print(f"{call} does not compile:\n{errors[:2000]}")
    for call, sentence in WRONG:
        first = next((line for line in errors_of(call).splitlines() if "error:" in line), "no error")
        if sentence not in first:
            unexplained += 1
            print(f"{call}: {first}")
    print(f"{len(WRONG)} wrong calls, {unexplained} unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
