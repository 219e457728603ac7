// A small training on the CPU that records itself: one run of many, to compare runs that are equal.
//
//   tbtrace_repeated_run MODEL OUTPUT.json.gz [STEPS [wide]]
//
// MODEL: mlp, cnn or lstm. wide: the second convolution of cnn has four times the channels, which
// is the change in tests/data/compare.
#include <cstdlib>
#include <iostream>
#include <string>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

namespace {

namespace nn = torch::nn;

/// The last state of a recurrent layer, classified.
struct RecurrentImpl : nn::Module {
  RecurrentImpl() {
    register_module("lstm", lstm);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& inputs) {
    return head(std::get<0>(lstm(inputs)).select(1, -1));
  }

  nn::LSTM lstm{nn::LSTMOptions(32, 64).batch_first(true)};
  nn::Linear head{64, 10};
};
TORCH_MODULE(Recurrent);

struct Training {
  nn::Sequential model;
  torch::Tensor inputs;
  torch::Tensor labels;
};

Training made(const std::string& name, bool is_wide) {
  const int channels = is_wide ? 128 : 32;
  if (name == "cnn") {
    return {nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)), nn::BatchNorm2d(16),
                           nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(16, channels, 3), nn::ReLU(),
                           nn::AdaptiveAvgPool2d(4), nn::Flatten(), nn::Linear(16 * channels, 10)),
            torch::randn({8, 3, 24, 24}), torch::randint(10, {8})};
  }
  if (name == "lstm") {
    return {nn::Sequential(Recurrent()), torch::randn({16, 24, 32}), torch::randint(10, {16})};
  }
  return {
      nn::Sequential(nn::Linear(256, 512), nn::GELU(), nn::Linear(512, 512),
                     nn::LayerNorm(nn::LayerNormOptions({512})), nn::GELU(), nn::Linear(512, 10)),
      torch::randn({64, 256}), torch::randint(10, {64})};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: tbtrace_repeated_run mlp|cnn|lstm OUTPUT.json.gz [STEPS [wide]]\n";
    return 2;
  }
  const int steps = argc > 3 ? std::atoi(argv[3]) : 40;
  torch::manual_seed(0);
  torch::set_num_threads(1);
  Training training = made(argv[1], argc > 4 && std::string(argv[4]) == "wide");
  torch::optim::Adam optimizer(training.model->parameters());
  tbtrace::Status written;
  tbtrace::Profiler profiler({
      .activities = {tbtrace::Activity::cpu},
      .schedule = tbtrace::schedule({.wait = 5, .warmup = 2, .active = steps, .repeat = 1}),
      .on_trace_ready =
          [&](tbtrace::Profiler& ready) { written = ready.export_chrome_trace(argv[2]); },
      .record_shapes = true,
  });
  profiler.start();
  for (int step = 0; step < steps + 8; ++step) {
    optimizer.zero_grad();
    nn::functional::cross_entropy(training.model->forward(training.inputs), training.labels)
        .backward();
    optimizer.step();
    profiler.step();
  }
  profiler.stop();
  if (!written.ok()) {
    std::cerr << written.message() << '\n';
    return 1;
  }
  return 0;
}
