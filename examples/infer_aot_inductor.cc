// Runs a model that AOTInductor compiled, as compile_aot_inductor.py wrote it: measures it, records
// some of the runs, prints the table of operators and writes a log directory for TensorBoard.
//   infer_aot_inductor LOGDIR MODEL.pt2 SIZE...
// The model is given a tensor of the sizes. Needs LibTorch 2.6 or later.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

#include <tbtrace/benchmark.h>
#include <tbtrace/profiler.h>

namespace {

void infer(const std::string& logdir, const std::string& path,
           const std::vector<std::int64_t>& sizes) {
  torch::inductor::AOTIModelPackageLoader model(path);
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> inputs = {torch::randn(sizes)};
  std::cout << tbtrace::benchmark([&] { return model.run(inputs); },
                                  {.batch_size = sizes.front(), .max_time_s = 1});

  tbtrace::Profiler profiler({
      .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 4, .repeat = 1}),
      .on_trace_ready = tbtrace::tensorboard_trace_handler(logdir),
      .record_shapes = true,
  });
  profiler.start();
  for (int run = 0; run < 6; ++run) {
    {
      const tbtrace::record_function range("model_inference");
      model.run(inputs);
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
  if (argc < 4) {
    std::cerr << "usage: infer_aot_inductor LOGDIR MODEL.pt2 SIZE...\n";
    return 2;
  }
  std::vector<std::int64_t> sizes;
  for (int argument = 3; argument < argc; ++argument) sizes.push_back(std::atoll(argv[argument]));
  try {
    infer(argv[1], argv[2], sizes);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
