// Trains a transformer layer on a GPU, or on the CPU where LibTorch sees none, and records both the
// program and the GPU.
//   train_on_gpu [LOGDIR]      ./logs without; then: tensorboard --logdir LOGDIR
#include <cstdint>
#include <iostream>
#include <string>

#include <torch/torch.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/profiler.h>

namespace {

namespace nn = torch::nn;

struct ClassifierImpl : nn::Module {
  ClassifierImpl() {
    register_module("embed", embed);
    register_module("encoder", encoder);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    return head(encoder(embed(tokens)).mean(0));
  }

  nn::Embedding embed{1000, 128};
  nn::TransformerEncoder encoder{
      nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(128, 4), 2)};
  nn::Linear head{128, 10};
};
TORCH_MODULE(Classifier);

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: train_on_gpu [LOGDIR]\n";
    return 2;
  }
  const std::string logs = argc == 2 ? argv[1] : "./logs";
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const tbtrace::DeviceTracing gpus = tbtrace::capabilities().device_tracing();
  std::cout << "training on " << device << "; GPUs are "
            << (gpus.available ? "recorded" : "not recorded: " + gpus.problem) << '\n';

  torch::manual_seed(0);
  Classifier model;
  model->to(device);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3));

  tbtrace::Profiler profiler({
      .activities = {},  // all that there is
      .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 1}),
      .on_trace_ready = tbtrace::tensorboard_trace_handler(logs),
      .record_shapes = true,
      .profile_memory = true,
  });
  profiler.attach(model, "classifier");
  {
    const auto recording = profiler.record();
    for (int step = 0; step < 6; ++step) {
      torch::Tensor tokens;
      torch::Tensor classes;
      {
        const tbtrace::record_function range("load");
        tokens = torch::randint(1000, {16, 8}).to(device, /*non_blocking=*/true);
        classes = torch::randint(10, {8}).to(device, /*non_blocking=*/true);
      }
      optimizer.zero_grad();
      nn::functional::cross_entropy(model->forward(tokens), classes).backward();
      optimizer.step();
      profiler.step();
    }
  }
  const tbtrace::Status written = profiler.wait_for_exports();
  if (!written.ok()) {
    std::cerr << written.message() << '\n';
    return 1;
  }
  const char* const order = device.is_cuda() ? "self_cuda_time_total" : "self_cpu_time_total";
  std::cout << profiler.key_averages().table({.sort_by = order, .row_limit = 10});
  std::cout << "now: tensorboard --logdir " << logs << '\n';
  return 0;
}
