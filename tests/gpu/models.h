// What the checks train and launch.
#pragma once

#include <functional>
#include <string>

#include <torch/types.h>

namespace gpu_checks {

/// The GPU, or the CPU where LibTorch sees none.
torch::Device device();

/// A step of training, to be called again and again: `resnet50`, `transformer` or
/// `transformer_bf16`. Always the same kernels, once the first steps are done.
/// \throws std::invalid_argument for another name.
std::function<void()> training_step(const std::string& name);

/// Launches a tiny kernel `count` times, each by one operator, and waits for nothing.
class Launches {
 public:
  void run(int count);

 private:
  torch::Tensor sum_ = torch::zeros({4}, torch::TensorOptions().device(device()));
  torch::Tensor one_ = torch::ones({4}, torch::TensorOptions().device(device()));
};

}  // namespace gpu_checks
