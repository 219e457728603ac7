// Trains a ResNet-18 on pictures of noise and records some of the steps, as in the recipe of
// torch.profiler: a schedule, a log directory for TensorBoard, and the table of operators.
//   train_resnet18 LOGDIR [STEPS]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(convolution(in, out, 3, stride)), second(convolution(out, out, 3, 1)) {
    register_module("first", first);
    register_module("first_norm", first_norm = nn::BatchNorm2d(out));
    register_module("second", second);
    register_module("second_norm", second_norm = nn::BatchNorm2d(out));
    if (stride != 1 || in != out) {
      shortcut = register_module(
          "shortcut", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = torch::relu(first_norm(first(x)));
    return torch::relu(second_norm(second(inner)) + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Conv2d first;
  nn::Conv2d second;
  nn::BatchNorm2d first_norm{nullptr};
  nn::BatchNorm2d second_norm{nullptr};
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNet18Impl : nn::Module {
  ResNet18Impl() {
    register_module("stem", stem);
    register_module("blocks", blocks);
    register_module("classifier", classifier);
    std::int64_t in = 64;
    for (const std::int64_t out : {64, 128, 256, 512}) {
      blocks->push_back(Block(in, out, out == 64 ? 1 : 2));
      blocks->push_back(Block(out, out, 1));
      in = out;
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    x = blocks->forward(stem->forward(x));
    return classifier(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  nn::Sequential stem{convolution(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(),
                      nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1))};
  nn::Sequential blocks;
  nn::Linear classifier{512, 10};
};
TORCH_MODULE(ResNet18);

struct NoisePictures : torch::data::Dataset<NoisePictures> {
  torch::data::Example<> get(std::size_t index) override {
    return {torch::randn({3, 64, 64}), torch::full({}, static_cast<std::int64_t>(index % 10))};
  }
  torch::optional<std::size_t> size() const override { return 10'000; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: train_resnet18 LOGDIR [STEPS]\n";
    return 2;
  }
  const int steps = argc == 3 ? std::atoi(argv[2]) : 12;
  torch::manual_seed(0);

  ResNet18 model;
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  auto pictures = NoisePictures().map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(pictures), torch::data::DataLoaderOptions(8));

  tbtrace::Profiler profiler({
      .activities = {tbtrace::Activity::cpu},
      .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2}),
      .on_trace_ready = tbtrace::tensorboard_trace_handler(argv[1]),
      .record_shapes = true,
      .profile_memory = true,
      .with_stack = true,
      .with_flops = true,
  });
  profiler.attach(model, "resnet18");
  profiler.start();
  int left = steps;
  for (auto& batch : tbtrace::data_loader(*loader)) {
    if (left-- == 0) break;
    torch::Tensor loss;
    {
      const tbtrace::record_function range("forward", {{"batch", batch.data.size(0)}});
      loss = nn::functional::cross_entropy(model->forward(batch.data), batch.target);
    }
    tbtrace::zero_grad(optimizer);
    loss.backward();
    tbtrace::step(optimizer);
    tbtrace::counter("loss", loss.item<double>());
    profiler.step();
  }
  profiler.stop();

  std::cout << profiler.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 10});
  const tbtrace::Status written = profiler.wait_for_exports();
  if (!written.ok()) {
    std::cerr << written.message() << '\n';
    return 1;
  }
  return 0;
}
