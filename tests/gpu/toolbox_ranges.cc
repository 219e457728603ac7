// What a training loop tells a recording of a GPU: ranges with arguments, counters, instants, data
// loaders and optimizers.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/ranges.h>
#include <tbtrace/training_loop.h>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

struct Rows : torch::data::Dataset<Rows> {
  torch::data::Example<> get(std::size_t index) override {
    return {torch::full({64}, static_cast<double>(index)), torch::zeros({1})};
  }
  torch::optional<std::size_t> size() const override { return 64; }
};

}  // namespace

void ranges(const Arguments& arguments, Figures& figures) {
  const auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(16));
  torch::nn::Linear model(64, 1);
  model->to(device());
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(1e-4));
  std::vector<std::string> warnings;
  std::vector<double> losses;
  tbtrace::ProfilerOptions options = both_activities();
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  options.schedule = tbtrace::schedule({.wait = 0, .warmup = 0, .active = 4, .repeat = 1});
  tbtrace::Profiler profiler(std::move(options));
  const auto epoch = [&](bool is_recorded) {
    int number = 0;
    for (auto& batch : tbtrace::data_loader(*loader)) {
      tbtrace::zero_grad(optimizer);
      torch::Tensor loss;
      {
        const tbtrace::record_function range(
            "forward", {{"batch", number}, {"share", 0.25}, {"name", "a \"quoted\" \\ name"}});
        loss = model->forward(batch.data.to(device())).square().mean();
      }
      loss.backward();
      tbtrace::step(optimizer);
      tbtrace::counter("loss", loss.template item<double>());
      if (is_recorded) losses.push_back(loss.template item<double>());
      tbtrace::instant("done", {{"batch", number}});
      ++number;
      if (is_recorded) profiler.step();
    }
  };
  epoch(false);
  wait_for_gpu();
  profiler.start();
  epoch(true);
  profiler.stop();
  const tbtrace::Status written = profiler.export_chrome_trace(arguments.path("ranges.json"));
  if (!written.ok()) throw std::runtime_error(written.message());
  figures.add("losses", losses);
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
