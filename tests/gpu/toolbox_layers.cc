// model_summary() of a model on a GPU, beside a recording of the same call and beside the same
// model on the host.
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/benchmark.h>
#include <tbtrace/model_summary.h>

#include "../../examples/published_models.h"
#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

void write(const Arguments& arguments, const std::string& name, const std::string& text) {
  std::ofstream(arguments.path(name)) << text;
}

void write(const Arguments& arguments, const std::string& name,
           const tbtrace::ModelSummary& summary) {
  write(arguments, name + ".json", summary.json());
  std::string text;
  for (const char* style : {"layers", "types", "operators", "torchinfo", "flops_profiler"}) {
    text += std::string("== ") + style + '\n' + summary.table({.style = style}) + '\n';
  }
  write(arguments, name + ".txt", text);
}

torch::jit::Module script() {
  torch::jit::Module half("Half");
  half.register_parameter("weight", torch::ones({512, 512}), false);
  half.define("def forward(self, x):\n    return torch.relu(torch.matmul(x, self.weight))\n");
  torch::jit::Module module("Script");
  module.register_module("first", half.deepcopy());
  module.register_module("second", half.deepcopy());
  module.define("def forward(self, x):\n    return self.second.forward(self.first.forward(x))\n");
  module.to(device());
  return module;
}

}  // namespace

void toolbox_layers(const Arguments& arguments, Figures& figures) {
  const std::int64_t images = arguments.number(0, 16);
  std::vector<std::string> warnings;
  torch::manual_seed(0);
  auto model = published::resnet18();
  const torch::Tensor on_host = torch::rand({images, 3, 224, 224});
  const auto step_of = [&](const torch::Tensor& input) {
    return [&model, input] {
      model->zero_grad();
      model->forward(input).sum().backward();
    };
  };
  // Before the module moves to the GPU.
  write(arguments, "host", tbtrace::model_summary(model, {on_host}, {.depth = 9}));
  auto host_step = step_of(on_host);
  write(arguments, "host_step", tbtrace::model_summary(model, host_step, {.depth = 9}));

  model->to(device());
  const torch::Tensor input = on_host.to(device());
  for (int warm_up = 0; warm_up < 3; ++warm_up) step_of(input)();
  write(arguments, "gpu", tbtrace::model_summary(model, {input}, {.depth = 9}));
  auto step = step_of(input);
  model->train();
  write(arguments, "gpu_step", tbtrace::model_summary(model, step, {.depth = 9}));
  write(arguments, "gpu_callable", tbtrace::model_summary([&] { return model->forward(input); }));
  const auto record = [&](const std::string& name, const Body& body) {
    const Recorded recorded =
        record_ours(both_activities(), body, arguments.path(name + ".trace.json"));
    warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
  };
  record("gpu_step", step);
  model->eval();
  record("gpu", [&] { model->forward(input); });

  // Of TorchScript.
  torch::jit::Module scripted = script();
  const torch::Tensor rows = torch::rand({256, 512}).to(device());
  const torch::NoGradGuard no_grad;
  for (int warm_up = 0; warm_up < 4; ++warm_up) scripted.forward({rows});
  wait_for_gpu();
  write(arguments, "script", tbtrace::model_summary(scripted, {rows}));
  tbtrace::ProfilerOptions options = both_activities();
  options.record_shapes = true;
  tbtrace::Profiler profiler(std::move(options));
  profiler.attach(scripted, "net");
  profiler.start();
  scripted.forward({rows});
  profiler.stop();
  const tbtrace::Status written = profiler.export_chrome_trace(arguments.path("script.trace.json"));
  if (!written.ok()) throw std::runtime_error(written.message());
  figures.add("images", static_cast<double>(images));
  figures.add("warnings", warnings);
}

void toolbox_levels(const Arguments& arguments, Figures& figures) {
  const torch::NoGradGuard no_grad;
  auto model = published::resnet50();
  model->to(device());
  model->eval();
  const torch::Tensor image = torch::rand({1, 3, 224, 224}).to(device());
  const tbtrace::BenchmarkResult whole = tbtrace::benchmark(
      model, {image}, {.warmup = 3, .runs = 20, .min_time_s = 0.1, .max_time_s = 1});
  write(arguments, "model.json", whole.json());
  write(arguments, "layers", tbtrace::model_summary(model, {image}, {.depth = 1}));
  tbtrace::ProfilerOptions options = both_activities();
  options.record_shapes = true;
  tbtrace::Profiler profiler(std::move(options));
  profiler.start();
  model->forward(image);
  profiler.stop();
  const auto table =
      profiler.key_averages().table({.sort_by = "self_cuda_time_total", .row_limit = 8});
  if (!table.ok()) throw std::runtime_error(table.status().message());
  write(arguments, "operators.txt", *table);
  const tbtrace::Status written =
      profiler.export_chrome_trace(arguments.path("operators.trace.json"));
  if (!written.ok()) throw std::runtime_error(written.message());
  figures.add("images", 1);
}

}  // namespace gpu_checks
