// Trains a small model on the CPU, each of whose operators also has a GPU that is not there do
// something, and records both.
//   train_on_fake_gpu LOGDIR    prints what the GPU did in the recorded steps, as JSON
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "scripted_allocator.h"
#include "support/fake_cuda/fake_cuda.h"

namespace {

using tbtrace::fake_cuda::FakeCuda;

struct Script {
  const char* kernel;
  std::uint64_t duration_ns;
  int blocks;
};

/// One kernel for each call of these operators.
const std::map<std::string, Script>& scripts() {
  static const std::map<std::string, Script> scripts = {
      {"aten::addmm", {"_Z14sgemm_128x128nPfS_", 40'000, 264}},
      {"aten::mm", {"ampere_sgemm_64x32", 30'000, 132}},
      {"aten::relu", {"_Z4reluPf", 5'000, 66}},
      {"aten::threshold_backward", {"_Z4reluPf", 6'000, 66}},
      {"aten::add_", {"_Z3addPfS_f", 3'000, 33}},
  };
  return scripts;
}

struct Truth {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
};

FakeCuda* gpu = nullptr;
bool is_recorded = false;
std::map<std::string, Truth> kernels;
std::map<std::string, Truth> operators;
Truth copies;

/// Of an operator's end: LibTorch tells this observer, which was there first, before the
/// profiler's, so that the profiler's range is still open.
void launch(const at::RecordFunction& function, at::ObserverContext*) {
  auto& allocator = tbtrace::testing::ScriptedAllocator::instance();
  // A batch, which is never given back.
  if (std::string_view(function.name()) == "aten::ones") allocator.allocate(0, 2 << 20);
  const auto script = scripts().find(function.name());
  if (script == scripts().end()) return;
  // What a kernel works on beside its tensors.
  allocator.free(0, allocator.allocate(0, 1 << 20));
  gpu->cupti.launch({.name = script->second.kernel,
                     .grid = {script->second.blocks, 1, 1},
                     .block = {256, 1, 1},
                     .registers = 64,
                     .time = {.duration_ns = script->second.duration_ns}});
  if (!is_recorded) return;
  for (Truth* truth : {&kernels[script->second.kernel], &operators[script->first]}) {
    ++truth->calls;
    truth->total_ns += script->second.duration_ns;
  }
}

void print(const char* name, const std::map<std::string, Truth>& rows) {
  std::cout << '"' << name << "\": {";
  const char* comma = "";
  for (const auto& [key, truth] : rows) {
    std::cout << comma << '"' << key << "\": [" << truth.calls << ", " << truth.total_ns << ']';
    comma = ", ";
  }
  std::cout << "}, ";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  FakeCuda cuda(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  gpu = &cuda;
  at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
      launch));

  torch::set_num_threads(1);
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(64, 128), torch::nn::ReLU(),
                              torch::nn::Linear(128, 10));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
  int failures = 0;
  auto& allocator = tbtrace::testing::ScriptedAllocator::instance();
  allocator.make_ready();
  allocator.allocate(0, 64 << 20);  // the model
  constexpr int kFirst = 2;         // recorded steps
  constexpr int kActive = 3;
  {
    tbtrace::Profiler profiler(
        {.activities = {tbtrace::Activity::cpu, tbtrace::Activity::cuda},
         .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = kActive, .repeat = 1}),
         .on_trace_ready = tbtrace::tensorboard_trace_handler(argv[1], {.worker_name = "fake_gpu"}),
         .record_shapes = true,
         .profile_memory = true,
         .experimental = {.on_warning =
                              [&](std::string_view sentence) {
                                std::cerr << sentence << '\n';
                                ++failures;
                              },
                          .enable_cuda_sync_events = true,
                          .check_launches = true}});
    const auto recording = profiler.record();
    for (int step = 0; step < kFirst + kActive + 1; ++step) {
      is_recorded = step >= kFirst && step < kFirst + kActive;
      {
        const tbtrace::record_function range("load");
        cuda.cupti.copy({.bytes = 1 << 20, .time = {.duration_ns = 50'000}});
        if (is_recorded) {
          ++copies.calls;
          copies.total_ns += 50'000;
        }
      }
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(model->forward(torch::ones({32, 64})),
                                           torch::zeros({32}, torch::kInt64))
          .backward();
      optimizer.step();
      cuda.cupti.sync({});
      profiler.step();
    }
    const tbtrace::Status written = profiler.wait_for_exports();
    if (!written.ok()) {
      std::cerr << written.message() << '\n';
      ++failures;
    }
  }
  std::cout << '{';
  print("kernels", kernels);
  print("operators", operators);
  print("copies", {{"Memcpy HtoD (Pageable -> Device)", copies}});
  const std::int64_t peak = (64LL << 20) + (kFirst + kActive) * (2LL << 20) + (1 << 20);
  std::cout << "\"peak_bytes\": " << peak << ", \"steps\": " << kActive << "}\n";
  return failures == 0 ? 0 : 1;
}
