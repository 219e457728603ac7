#include "models.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include <ATen/Context.h>
#include <torch/torch.h>

namespace gpu_checks {

namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t size,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(inputs, outputs, size).stride(stride).padding(size / 2).bias(false));
}

struct BottleneckImpl : nn::Module {
  BottleneckImpl(std::int64_t inputs, std::int64_t width, std::int64_t stride) {
    const std::int64_t outputs = 4 * width;
    body = register_module(
        "body",
        nn::Sequential(convolution(inputs, width, 1, 1), nn::BatchNorm2d(width), nn::ReLU(),
                       convolution(width, width, 3, stride), nn::BatchNorm2d(width), nn::ReLU(),
                       convolution(width, outputs, 1, 1), nn::BatchNorm2d(outputs)));
    if (stride == 1 && inputs == outputs) return;
    shortcut = register_module("shortcut", nn::Sequential(convolution(inputs, outputs, 1, stride),
                                                          nn::BatchNorm2d(outputs)));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor kept = shortcut.is_empty() ? input : shortcut->forward(input);
    return torch::relu(body->forward(input) + kept);
  }

  nn::Sequential body{nullptr};
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Bottleneck);

nn::Sequential resnet50() {
  nn::Sequential model(convolution(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(),
                       nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  std::int64_t inputs = 64;
  std::int64_t width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      model->push_back(Bottleneck(inputs, width, block == 0 && width > 64 ? 2 : 1));
      inputs = 4 * width;
    }
    width *= 2;
  }
  model->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1})));
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(inputs, 1000));
  return model;
}

constexpr std::int64_t kWidth = 512;

struct ClassifierImpl : nn::Module {
  ClassifierImpl() {
    register_module("encoder", encoder);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& sequence) {
    return head(encoder(sequence).mean(0)).to(torch::kFloat);
  }

  nn::TransformerEncoder encoder{nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(kWidth, 8).dim_feedforward(2048).dropout(0.1), 4)};
  nn::Linear head{kWidth, 10};
};
TORCH_MODULE(Classifier);

template <typename Model, typename Optimizer>
std::function<void()> step_of(Model model, std::shared_ptr<Optimizer> optimizer,
                              torch::Tensor input, torch::Tensor classes) {
  return [model = std::move(model), optimizer = std::move(optimizer), input = std::move(input),
          classes = std::move(classes)]() mutable {
    optimizer->zero_grad();
    nn::functional::cross_entropy(model->forward(input), classes).backward();
    optimizer->step();
  };
}

}  // namespace

torch::Device device() {
  static const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  return device;
}

std::function<void()> training_step(const std::string& name) {
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  torch::manual_seed(0);
  if (name == "resnet50") {
    constexpr std::int64_t kImages = 32;
    nn::Sequential model = resnet50();
    model->to(device());
    auto optimizer = std::make_shared<torch::optim::SGD>(
        model->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
    return step_of(model, std::move(optimizer), torch::rand({kImages, 3, 224, 224}).to(device()),
                   torch::randint(1000, {kImages}).to(device()));
  }
  if (name != "transformer" && name != "transformer_bf16") {
    throw std::invalid_argument("there is no model '" + name + "'");
  }
  constexpr std::int64_t kSequences = 16;
  const auto type = name == "transformer" ? torch::kFloat : torch::kBFloat16;
  Classifier model;
  model->to(device(), type);
  auto optimizer =
      std::make_shared<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(1e-4));
  return step_of(model, std::move(optimizer),
                 torch::rand({128, kSequences, kWidth}).to(device(), type),
                 torch::randint(10, {kSequences}).to(device()));
}

void Launches::run(int count) {
  const torch::NoGradGuard no_grad;
  for (int launch = 0; launch < count; ++launch) sum_.add_(one_);
}

}  // namespace gpu_checks
