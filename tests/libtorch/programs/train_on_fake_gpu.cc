// Trains a small model on the CPU, each of whose operators also has a GPU that is not there do
// something, and records both.
//   train_on_fake_gpu LOGDIR    prints what the GPU did in the recorded steps, as JSON
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/fake_gpu_run.h"
#include "libtorch/record/scripted_allocator.h"
#include "support/fake_cuda/fake_cuda.h"

namespace {

using tbtrace::fake_cuda::FakeCuda;
using tbtrace::testing::Truths;

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

FakeCuda* gpu = nullptr;
bool is_recorded = false;
Truths kernels;  // nanoseconds
Truths operators;
Truths copies;

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
  count(kernels, script->second.kernel, script->second.duration_ns);
  count(operators, script->first, script->second.duration_ns);
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
  auto& allocator = tbtrace::testing::ScriptedAllocator::instance();
  allocator.make_ready();
  allocator.allocate(0, 64 << 20);  // the model
  const bool is_fine = tbtrace::testing::record_steps(
      {.on_trace_ready = tbtrace::tensorboard_trace_handler(argv[1], {.worker_name = "fake_gpu"}),
       .record_shapes = true,
       .profile_memory = true,
       .experimental = {.enable_cuda_sync_events = true}},
      [](tbtrace::Profiler&) {},
      [&](bool is_recorded_step) {
        is_recorded = is_recorded_step;
        {
          const tbtrace::record_function range("load");
          cuda.cupti.copy({.bytes = 1 << 20, .time = {.duration_ns = 50'000}});
          if (is_recorded) count(copies, "Memcpy HtoD (Pageable -> Device)", 50'000);
        }
        optimizer.zero_grad();
        torch::nn::functional::cross_entropy(model->forward(torch::ones({32, 64})),
                                             torch::zeros({32}, torch::kInt64))
            .backward();
        optimizer.step();
        cuda.cupti.sync({});
      });
  std::cout << '{';
  print("kernels", kernels);
  print("operators", operators);
  print("copies", copies);
  const std::int64_t batches = tbtrace::testing::kFirst + tbtrace::testing::kActive;
  const std::int64_t peak = (64LL << 20) + batches * (2LL << 20) + (1 << 20);
  std::cout << "\"peak_bytes\": " << peak << ", \"steps\": " << tbtrace::testing::kActive << "}\n";
  return is_fine ? 0 : 1;
}
