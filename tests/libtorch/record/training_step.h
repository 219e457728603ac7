// A small model and steps of its training, for recordings that are compared with each other.
#pragma once

#include <torch/torch.h>

namespace tbtrace::testing {

struct TrainingStep {
  torch::nn::Sequential model{
      torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).stride(2).padding(1)),
      torch::nn::BatchNorm2d(8),
      torch::nn::ReLU(),
      torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({4, 4})),
      torch::nn::Flatten(),
      torch::nn::Linear(128, 32),
      torch::nn::Dropout(0.5),
      torch::nn::Linear(32, 10)};
  torch::optim::SGD optimizer{model->parameters(),
                              torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4)};
  torch::Tensor images = torch::randn({8, 3, 32, 32});
  torch::Tensor classes = torch::randint(10, {8});

  void run() {
    optimizer.zero_grad();
    const torch::Tensor answer = model->forward(images);
    torch::Tensor loss = torch::nn::functional::cross_entropy(answer, classes);
    // Lists of tensors, values that are no tensors, sparse and empty ones.
    const torch::Tensor joined = torch::cat({answer, answer.detach().slice(1, 0, 3)}, 1);
    loss = loss + 1e-3 * joined.pow(2.0).sum() + torch::zeros({0, 2}).sum();
    loss.backward();
    optimizer.step();
  }
};

}  // namespace tbtrace::testing
