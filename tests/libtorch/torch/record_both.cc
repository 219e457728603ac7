// Records the same steps with torch's own C++ profiler and with ours, at once.
//   record_both TORCH.json OURS.json [OURS_PLUGIN_DIRECTORY]
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/script.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/collective_call.h"
#include "libtorch/record/training_step.h"

/// Modules within a module, from a file, since code without one has no call stack.
torch::jit::Module script() {
  torch::jit::Module inner("Inner");
  inner.define("def forward(self, x):\n  return torch.relu(x) * 2\n");
  torch::jit::Module outer("Outer");
  outer.register_module("inner", inner);
  outer.define(
      "def forward(self, x):\n  y = self.inner.forward(x)\n  return self.inner.forward(y)\n");
  std::stringstream file;
  outer.save(file);
  return torch::jit::load(file);
}

/// All forms that c10d's descriptions have; nothing is sent anywhere.
void run_collectives() {
  using tbtrace::testing::CollectiveCall;
  using tbtrace::testing::run_collective;
  const std::vector<std::int64_t> splits(40, 7);
  const CollectiveCall calls[] = {
      {.in_elements = 20, .out_elements = 20, .sequence = 1, .tensors = {torch::ones({4, 5})}},
      {.name = "all_to_allv", .type = torch::kBFloat16, .in_splits = splits, .out_splits = {1, 2}},
      {.name = "send",
       .rank = 2,
       .first_rank = 10,
       .rank_stride = 3,
       .group_size = 4,
       .sequence = 8,
       .is_message = true},
      {.name = "recv",
       .rank = 1,
       .first_rank = 10,
       .rank_stride = 3,
       .group_size = 4,
       .sequence = 9,
       .is_message = true},
      {.name = "_allgather_base", .type = torch::kLong, .group_size = 64, .is_async = false},
      {.name = "wait",
       .type = torch::kByte,
       .first_rank = -1,
       .rank_stride = 0,
       .group_size = 1,
       .group = "",
       .description = "",
       .sequence = -1}};
  for (const CollectiveCall& call : calls) run_collective(call);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  using namespace torch::profiler::impl;
  namespace torch_profiler = torch::autograd::profiler;
  torch::manual_seed(1);
  torch::set_num_threads(1);
  tbtrace::testing::TrainingStep step;
  step.run();
  torch::jit::Module module = script();
  const auto run_script = [&] {
    const torch::Tensor input = torch::ones({2}).requires_grad_();
    module.forward({input}).toTensor().sum().backward();
  };
  run_script();

  const std::set<ActivityType> activities = {ActivityType::CPU};
  const ProfilerConfig config(ProfilerState::KINETO, /*report_input_shapes=*/true,
                              /*profile_memory=*/true, /*with_stack=*/true,
                              /*with_flops=*/false, /*with_modules=*/true);
  tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu},
                              .record_shapes = true,
                              .profile_memory = true,
                              .with_stack = true,
                              .with_modules = true});
  torch_profiler::prepareProfiler(config, activities);
  profiler.start();
  torch_profiler::enableProfiler(config, activities);
  for (int number = 0; number < 3; ++number) {
    const tbtrace::record_function range("step \"" + std::to_string(number) + "\"");
    step.run();
    run_script();
    run_collectives();
  }
  auto result = torch_profiler::disableProfiler();
  profiler.stop();
  result->save(argv[1]);
  const tbtrace::Status written = profiler.export_chrome_trace(argv[2]);
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.message().c_str());
  return written.ok() ? 0 : 1;
}
