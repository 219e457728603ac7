// Recordings of tbtrace alone.
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

void links(const Arguments& arguments, Figures& figures) {
  const int rounds = arguments.number(0, 3);
  std::vector<std::string> warnings;
  for (std::size_t number = 1; number < arguments.rest.size(); ++number) {
    const std::string& model = arguments.rest[number];
    const Body step = training_step(model);
    for (int warm_up = 0; warm_up < 5; ++warm_up) step();
    for (int round = 0; round < rounds; ++round) {
      tbtrace::ProfilerOptions options = both_activities();
      options.experimental.check_launches = true;
      const std::string name = "links_" + model + "_" + std::to_string(round) + ".json";
      const Recorded recorded = record_ours(std::move(options), step, arguments.path(name));
      warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
    }
  }
  figures.add("warnings", warnings);
}

void cycles(const Arguments& arguments, Figures& figures) {
  const int rounds = arguments.number(0, 20);
  const Body step = training_step("transformer");
  for (int warm_up = 0; warm_up < 5; ++warm_up) step();
  std::vector<std::string> warnings;
  std::vector<double> start_ms;
  std::vector<double> stop_ms;
  for (int round = 0; round < rounds; ++round) {
    const std::string name = "cycles_" + std::to_string(round) + ".json";
    const Recorded recorded = record_ours(both_activities(), step, arguments.path(name));
    warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
    start_ms.push_back(recorded.start_ms);
    stop_ms.push_back(recorded.stop_ms);
  }
  figures.add("first_start_ms", start_ms.empty() ? 0 : start_ms.front());
  figures.add("start_ms", median(start_ms));
  figures.add("stop_ms", median(stop_ms));
  figures.add("warnings", warnings);
}

void long_run(const Arguments& arguments, Figures& figures) {
  constexpr int kWarmUpLaunches = 2000;
  const int windows = arguments.number(0, 20);
  const int launches = arguments.number(1, 100'000);
  const std::string path = arguments.path("long_run.json");
  Launches tiny;
  tiny.run(kWarmUpLaunches);
  wait_for_gpu();
  figures.add("gpu_bytes_before", gpu_bytes_used());

  double lost = 0;
  double untimed = 0;
  std::string problem;
  std::vector<double> kernels;
  std::vector<double> resident;
  std::vector<double> gpu;
  std::vector<std::string> warnings;
  tbtrace::ProfilerOptions options = both_activities();
  options.schedule = tbtrace::schedule({.warmup = 1, .active = 1, .repeat = 0});
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  options.on_trace_ready = [&](tbtrace::Profiler& profiler) {
    const tbtrace::Status written = profiler.export_chrome_trace(path);
    if (!written.ok()) throw std::runtime_error(path + ": " + written.message());
    const Scanned scanned = scan_trace(path);
    lost += scanned.lost;
    untimed += scanned.untimed;
    if (!scanned.problem.empty()) problem = scanned.problem;
    kernels.push_back(static_cast<double>(scanned.kernels));
    resident.push_back(resident_bytes());
    gpu.push_back(gpu_bytes_used());
  };
  const double start = now_ms();
  {
    tbtrace::Profiler profiler(std::move(options));
    profiler.start();
    for (int step = 0; step < 2 * windows; ++step) {
      tiny.run(step % 2 == 0 ? kWarmUpLaunches : launches);
      profiler.step();
    }
    profiler.stop();
  }
  figures.add("seconds", (now_ms() - start) / 1e3);
  figures.add("launches", launches);
  figures.add("kernels", kernels);
  figures.add("resident_bytes", resident);
  figures.add("gpu_bytes", gpu);
  figures.add("lost", lost);
  figures.add("untimed", untimed);
  figures.add("problem", problem);
  figures.add("warnings", warnings);
  std::filesystem::remove(path);
}

void logs(const Arguments& arguments, Figures& figures) {
  const Body step = training_step("transformer_bf16");
  step();
  std::vector<std::string> warnings;
  tbtrace::ProfilerOptions options = both_activities();
  options.schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 1});
  options.on_trace_ready =
      tbtrace::tensorboard_trace_handler(arguments.path("logs"), {.worker_name = "gpu"});
  options.record_shapes = true;
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  tbtrace::Profiler profiler(std::move(options));
  {
    const auto recording = profiler.record();
    for (int number = 0; number < 6; ++number) {
      step();
      profiler.step();
    }
  }
  const tbtrace::Status written = profiler.wait_for_exports();
  if (!written.ok()) throw std::runtime_error(written.message());
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
