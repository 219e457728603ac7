// What options of tbtrace's recordings make of the same launches.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

struct Way {
  const char* name;
  void (*set)(tbtrace::ProfilerOptions& options);
};

constexpr Way kWays[] = {
    {"all_calls", [](tbtrace::ProfilerOptions& options) { options.cupti.all_calls = true; }},
    {"sync_events",
     [](tbtrace::ProfilerOptions& options) {
       options.experimental.enable_cuda_sync_events = true;
     }},
    {"all_options",
     [](tbtrace::ProfilerOptions& options) {
       options.record_shapes = options.profile_memory = options.with_stack = true;
       options.with_flops = options.with_modules = options.all_threads = true;
     }},
    {"attach_early", [](tbtrace::ProfilerOptions& options) { options.cupti.attach_early = true; }},
    // The last: it takes CUPTI away.
    {"detach_at_end",
     [](tbtrace::ProfilerOptions& options) { options.cupti.detach_at_end = true; }},
};

/// Of a launch that nothing records.
double launch_ns(Launches& tiny) {
  constexpr int kLaunches = 100'000;
  std::vector<double> ns;
  for (int round = 0; round < 3; ++round) {
    const Recorded recorded = record_nothing([&] { tiny.run(kLaunches); });
    ns.push_back(recorded.body_ms * 1e6 / kLaunches);
  }
  return median(ns);
}

}  // namespace

void options(const Arguments& arguments, Figures& figures) {
  const int launches = arguments.number(0, 500);
  Launches tiny;
  tiny.run(launches);
  figures.add("untouched_ns", launch_ns(tiny));
  std::vector<std::string> names;
  std::vector<std::string> warnings;
  for (const auto& [name, set] : kWays) {
    names.emplace_back(name);
    if (names.back() == "detach_at_end") figures.add("attached_ns", launch_ns(tiny));
    for (const char* round : {"_0", "_1"}) {
      tbtrace::ProfilerOptions options = both_activities();
      set(options);
      const Recorded recorded = record_ours(
          std::move(options), [&] { tiny.run(launches); },
          arguments.path(names.back() + round + ".json"));
      warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
    }
  }
  figures.add("detached_ns", launch_ns(tiny));
  figures.add("launches", launches);
  figures.add("ways", names);
  figures.add("warnings", warnings);
}

void unfinished(const Arguments& arguments, Figures& figures) {
  constexpr std::int64_t kSize = 4096;
  const int products = arguments.number(0, 100);
  const torch::Tensor matrix = torch::rand({kSize, kSize}, torch::TensorOptions().device(device()));
  torch::Tensor product = torch::mm(matrix, matrix);
  wait_for_gpu();
  std::vector<std::string> warnings;
  tbtrace::ProfilerOptions options = both_activities();
  options.experimental.wait_for_device = false;
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  tbtrace::Profiler profiler(std::move(options));
  profiler.start();
  for (int number = 0; number < products; ++number) torch::mm_out(product, matrix, matrix);
  const double launched = now_ms();
  profiler.stop();
  const double stopped = now_ms();
  wait_for_gpu();
  const double done = now_ms();
  const std::string path = arguments.path("unfinished.json");
  const tbtrace::Status written = profiler.export_chrome_trace(path);
  if (!written.ok()) throw std::runtime_error(path + ": " + written.message());
  figures.add("products", products);
  figures.add("stop_ms", stopped - launched);
  figures.add("wait_ms", done - stopped);
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
