// Beside torch's own profiler, in one process.
#include <filesystem>
#include <map>
#include <utility>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

constexpr int kWarmUp = 10;  // steps

void repeat(int times, const Body& body) {
  for (int time = 0; time < times; ++time) body();
}

void keep_warnings(const Recorded& recorded, std::vector<std::string>& warnings) {
  warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
}

}  // namespace

void kernels(const Arguments& arguments, Figures& figures) {
  const std::string who = arguments.text(0, "both");
  const int rounds = arguments.number(1, 20);
  std::vector<std::string> warnings;
  for (std::size_t number = 2; number < arguments.rest.size(); ++number) {
    const std::string& model = arguments.rest[number];
    const Body step = training_step(model);
    repeat(kWarmUp, step);
    const auto path = [&](const char* contender, int round) {
      return arguments.path(model + "_" + contender + "_" + std::to_string(round) + ".json");
    };
    for (int round = 0; round < rounds; ++round) {
      if (who != "torch") {
        keep_warnings(record_ours(both_activities(), step, path("ours", round)), warnings);
      }
      if (who != "ours") record_torchs(true, step, path("torch", round));
    }
  }
  figures.add("warnings", warnings);
}

void launch_cost(const Arguments& arguments, Figures& figures) {
  using tbtrace::Activity;
  const int rounds = arguments.number(0, 5);
  const int launches = arguments.number(1, 200'000);
  Launches tiny;
  const Body body = [&] { tiny.run(launches); };
  std::vector<std::string> warnings;
  const auto ours = [&](tbtrace::ProfilerOptions options) {
    Recorded recorded = record_ours(std::move(options), body, "");
    keep_warnings(recorded, warnings);
    return recorded;
  };
  const auto with = [&](bool tbtrace::ExperimentalOptions::*option) {
    tbtrace::ProfilerOptions options = both_activities();
    options.experimental.*option = true;
    return ours(std::move(options));
  };
  const std::vector<std::pair<std::string, std::function<Recorded()>>> contenders = {
      {"off", [&] { return record_nothing(body); }},
      {"ours_cuda", [&] { return ours({.activities = {Activity::cuda}}); }},
      {"ours_cpu_cuda", [&] { return ours(both_activities()); }},
      {"ours_sync_events",
       [&] { return with(&tbtrace::ExperimentalOptions::enable_cuda_sync_events); }},
      {"ours_overhead", [&] { return with(&tbtrace::ExperimentalOptions::cuda_overhead); }},
      {"ours_check_launches", [&] { return with(&tbtrace::ExperimentalOptions::check_launches); }},
      {"torch_cuda", [&] { return record_torchs(false, body, ""); }},
      {"torch_cpu_cuda", [&] { return record_torchs(true, body, ""); }},
  };
  tiny.run(launches / 10);
  // Before anything has had to do with CUPTI, which leaves traces of its own.
  const auto ns_each = [&](const Recorded& recorded) { return recorded.body_ms * 1e6 / launches; };
  figures.add("untouched_ns", ns_each(record_nothing(body)));
  // Costs mean nothing if nothing is recorded.
  const std::string path = arguments.path("launch_cost.json");
  keep_warnings(record_ours(both_activities(), body, path), warnings);
  figures.add("kernels", static_cast<double>(scan_trace(path).kernels));
  std::filesystem::remove(path);
  std::map<std::string, std::vector<double>> ns;
  std::map<std::string, std::vector<double>> stop_ms;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [name, record] : contenders) {
      const Recorded recorded = record();
      ns[name].push_back(ns_each(recorded));
      stop_ms[name].push_back(recorded.wait_ms + recorded.stop_ms);
    }
  }
  for (const auto& [name, record] : contenders) {
    figures.add(name + "_ns", median(ns[name]));
    figures.add(name + "_stop_ms", median(stop_ms[name]));
  }
  figures.add("launches", launches);
  figures.add("warnings", warnings);
}

void step_time(const Arguments& arguments, Figures& figures) {
  constexpr int kSteps = 5;
  const int rounds = arguments.number(0, 9);
  const Body step = training_step("resnet50");
  repeat(kWarmUp, step);
  const Body body = [&] { repeat(kSteps, step); };
  std::map<std::string, std::vector<double>> figure;
  const auto add = [&](const std::string& name, const Recorded& recorded) {
    figure[name + "_step_ms"].push_back(recorded.step_ms() / kSteps);
    figure[name + "_start_ms"].push_back(recorded.start_ms);
    figure[name + "_stop_ms"].push_back(recorded.stop_ms);
    figure[name + "_export_ms"].push_back(recorded.export_ms);
  };
  std::vector<std::string> warnings;
  for (int round = 0; round < rounds; ++round) {
    add("off", record_nothing(body));
    const Recorded ours =
        record_ours(both_activities(), body, arguments.path("step_time_ours.json"));
    keep_warnings(ours, warnings);
    add("ours", ours);
    add("torch", record_torchs(true, body, arguments.path("step_time_torch.json")));
  }
  for (const auto& [name, values] : figure) figures.add(name, median(values));
  figures.add("warnings", warnings);
}

void torch_first(const Arguments& arguments, Figures& figures) {
  const int launches = arguments.number(0, 500);
  Launches tiny;
  const Body body = [&] { tiny.run(launches); };
  repeat(2, body);
  wait_for_gpu();
  TorchProfiler torchs;
  const Recorded ours = record_ours(both_activities(), body, arguments.path("torch_first.json"));
  body();
  wait_for_gpu();
  torchs.save_ms(arguments.path("torch_first_torch.json"));
  figures.add("launches", launches);
  figures.add("warnings", ours.warnings);
}

void ours_first(const Arguments& arguments, Figures& figures) {
  const int launches = arguments.number(0, 500);
  Launches tiny;
  const Body body = [&] { tiny.run(launches); };
  repeat(2, body);
  const Body with_torchs_within = [&] {
    body();
    wait_for_gpu();
    {
      TorchProfiler torchs;
      body();
      wait_for_gpu();
      torchs.save_ms(arguments.path("ours_first_torch.json"));
    }
    body();
  };
  const Recorded first =
      record_ours(both_activities(), with_torchs_within, arguments.path("ours_first.json"));
  const Recorded second =
      record_ours(both_activities(), body, arguments.path("ours_first_after.json"));
  figures.add("launches", launches);
  figures.add("warnings", first.warnings);
  figures.add("later_warnings", second.warnings);
  figures.add("stop_ms", first.stop_ms);
  figures.add("export_ms", first.export_ms);
}

void torch_before(const Arguments& arguments, Figures& figures) {
  const int launches = arguments.number(0, 500);
  Launches tiny;
  const Body body = [&] { tiny.run(launches); };
  repeat(2, body);
  record_torchs(true, body, arguments.path("torch_before_torch.json"));
  std::vector<std::string> warnings;
  for (int window = 0; window < 3; ++window) {
    const std::string name = "torch_before_" + std::to_string(window) + ".json";
    keep_warnings(record_ours(both_activities(), body, arguments.path(name)), warnings);
  }
  figures.add("launches", launches);
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
