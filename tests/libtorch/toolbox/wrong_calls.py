#!/usr/bin/env python3
"""Does the compiler say in a sentence what is wrong with a wrong call of what LibTorch programs use?

    wrong_calls.py COMPILER INCLUDE

Stand-ins for LibTorch's classes make each call compile in a second. Calls that are right must compile, all in one.
Prints 'N wrong calls, K unexplained'.
"""
import subprocess
import sys

TORCH = """
#include <memory>
#include <vector>
namespace at { class Tensor { public: bool defined() const { return true; } bool is_complex() const { return false; } long numel() const { return 1; }
  template <typename T> T item() const { return T(); } }; }
namespace c10 { struct IValue { IValue(int) {} }; }
namespace torch::nn { class Module { public: virtual ~Module() = default; };
  template <typename T> class ModuleHolder { public: T& operator*() const { return *impl; } std::shared_ptr<T> impl; }; }
namespace torch::jit { struct Module {}; }
namespace torch::optim { class Optimizer { public: virtual ~Optimizer() = default; }; struct SGD : Optimizer {}; }
#include <tbtrace/benchmark.h>
#include <tbtrace/memory_reporter.h>
#include <tbtrace/model_summary.h>
#include <tbtrace/profiler.h>
#include <tbtrace/summary_writer.h>
struct Net : torch::nn::Module { at::Tensor forward(at::Tensor x, at::Tensor = {}) { return x; } };
struct Texts : torch::nn::Module { int forward(const char*) { return 0; } };
struct Holder : torch::nn::ModuleHolder<Net> {};
struct Free { at::Tensor forward(at::Tensor x) { return x; } };
void run(Net& net, std::shared_ptr<Net> pointer, Texts& texts, Free& free, at::Tensor x, torch::optim::Optimizer& optimizer,
         tbtrace::Profiler& profiler, tbtrace::SummaryWriter& writer, torch::optim::SGD& sgd, std::unique_ptr<std::vector<int>> loader) {
  CALL;
}
"""

RIGHT = [
    "tbtrace::model_summary(net, {x})", "tbtrace::model_summary(pointer, {x}, {.depth = 1})",
    "tbtrace::model_summary([&] { return net.forward(x); })",
    "tbtrace::model_summary(texts, [&] { return texts.forward(\"\"); })",
    "tbtrace::benchmark([&] { return net.forward(x); }, {.model = pointer, .batch_size = 16})",
    "tbtrace::benchmark(net, {x})", "tbtrace::benchmark(pointer, {x, x})", "tbtrace::benchmark(net, {x}, {.runs = 5})", "tbtrace::MemoryReporter(net).add(optimizer).add(x, \"mask\")",
    "profiler.attach(net)", "profiler.attach(pointer, \"net\")", "profiler.attach(Holder())", "profiler.attach(torch::jit::Module(), \"script\")",
    "tbtrace::step(optimizer)", "tbtrace::step(sgd)", "tbtrace::step(sgd, [&] { return x; })", "tbtrace::zero_grad(sgd)",
    "for (int& batch : tbtrace::data_loader(*loader)) ++batch", "for (int& batch : tbtrace::data_loader(loader)) ++batch",
    "for (int batch : tbtrace::data_loader(std::vector<int>{1, 2})) static_cast<void>(batch)",
    "const std::vector<int> all; for (int batch : tbtrace::data_loader(all)) static_cast<void>(batch)",
    "tbtrace::record_function range(\"a\", {{\"n\", 16}, {\"x\", 0.5F}, {\"b\", true}, {\"s\", \"text\"}, {\"u\", 1UL}})",
    "tbtrace::record_function range(\"a\", {{\"key\", \"value\"}})", "TBTRACE_RECORD_FUNCTION(\"a\", {{\"n\", 1}})",
    "tbtrace::counter(\"loss\", x.item<double>())", "tbtrace::instant(\"saved\", {{\"path\", std::string(\"a\")}})",
    "writer.add_scalar(\"loss\", x, 1)", "writer.add_scalar(\"loss\", 1, 1)", "writer.add_scalar(\"loss\", 0.5F)",
]
WRONG = [
    ("profiler.attach(free)", "attach() takes a torch::nn::Module, its holder, a shared_ptr to it, or a torch::jit::Module"),
    ("profiler.attach(&net)", "attach() takes a torch::nn::Module, its holder"),
    ("tbtrace::step(profiler)", "step() takes a torch::optim::Optimizer"),
    ("tbtrace::step(&optimizer)", "of a pointer to one, write step(*optimizer)"),
    ("tbtrace::zero_grad(net)", "zero_grad() takes a torch::optim::Optimizer"),
    ("tbtrace::data_loader(net)", "data_loader() takes a data loader of torch::data"),
    ("tbtrace::record_function range(\"a\", {{\"loss\", x}})", "the value of an argument is a number, a bool or a text"),
    ("writer.add_scalar(\"loss\", net)", "the value of a scalar is a number, or a tensor with one element"),
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
    if "error:" in (errors := errors_of("\n".join(f"{{ {call}; }}" for call in RIGHT))):
        unexplained += 1
        print(f"one of the calls that are right does not compile:\n{errors[:2000]}")
    for call, sentence in WRONG:
        first = next((line for line in errors_of(call).splitlines() if "error:" in line), "no error")
        if sentence not in first:
            unexplained += 1
            print(f"{call}: {first}")
    print(f"{len(WRONG)} wrong calls, {unexplained} unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
