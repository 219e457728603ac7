// Runs a TorchScript model, as torch.jit.save() wrote it, and records some of the runs: prints the
// table of operators and writes a log directory for TensorBoard, with the model's modules.
//   infer_torchscript LOGDIR [MODEL [SIZE...]]
// The model is given a tensor of the sizes, 1 3 224 224 if none are named. Without MODEL a small
// one is made and saved as LOGDIR/model.pt.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/script.h>

#include <tbtrace/profiler.h>

namespace {

/// Saves a model of two layers, in the language of TorchScript.
void save_small_model(const std::string& path) {
  torch::jit::Module model("classifier");
  model.register_parameter("hidden", torch::randn({128, 64}), false);
  model.register_parameter("output", torch::randn({10, 128}), false);
  model.define(R"(
    def forward(self, x):
        x = torch.relu(torch.matmul(x, self.hidden.t()))
        return torch.softmax(torch.matmul(x, self.output.t()), 1)
  )");
  model.save(path);
}

void infer(const std::string& logdir, const std::string& path,
           const std::vector<std::int64_t>& sizes) {
  torch::jit::Module model = torch::jit::load(path);
  model.eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor input = torch::randn(sizes);
  // TorchScript optimises in the first runs, for the inputs that it sees there.
  for (int run = 0; run < 5; ++run) model.forward({input});

  tbtrace::Profiler profiler({
      .activities = {tbtrace::Activity::cpu},
      .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 4, .repeat = 1}),
      .on_trace_ready = tbtrace::tensorboard_trace_handler(logdir),
      .record_shapes = true,
      .profile_memory = true,
  });
  profiler.attach(model, "model");
  profiler.start();
  for (int run = 0; run < 6; ++run) {
    {
      const tbtrace::record_function range("model_inference");
      model.forward({input});
    }
    profiler.step();
  }
  profiler.stop();
  std::cout << profiler.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 10});
  if (const tbtrace::Status written = profiler.wait_for_exports(); !written.ok()) {
    throw std::runtime_error(written.message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: infer_torchscript LOGDIR [MODEL [SIZE...]]\n";
    return 2;
  }
  const std::string logdir = argv[1];
  std::string model = argc > 2 ? argv[2] : "";
  std::vector<std::int64_t> sizes;
  for (int argument = 3; argument < argc; ++argument) sizes.push_back(std::atoll(argv[argument]));
  try {
    if (model.empty()) {
      std::filesystem::create_directories(logdir);
      model = (std::filesystem::path(logdir) / "model.pt").string();
      save_small_model(model);
      sizes = {32, 64};
    } else if (sizes.empty()) {
      sizes = {1, 3, 224, 224};
    }
    infer(logdir, model, sizes);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
