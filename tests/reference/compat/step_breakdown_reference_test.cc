// Step breakdowns against what torch-tb-profiler's own backend answered: its figures on all files,
// and the exact ones wherever no rule makes them differ.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/compat.h>
#include <tbtrace/steps.h>

#include "reference/compat/plugin_answers.h"
#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

namespace dom = simdjson::dom;

using Costs = std::array<double, kStepRoles + 1>;  // us, by role, then of the step

/// What the plugin said of one file.
struct Answer {
  std::vector<std::string> numbers;
  std::vector<Costs> steps;
  Costs average = {};
  std::vector<std::pair<std::string, double>> utilization;
};

Costs costs_of(const dom::array& array) {
  Costs costs = {};
  std::size_t at = 0;
  for (const dom::element value : array) costs.at(at++) = double(value);
  return costs;
}

Answer answer_to(const std::string& trace_path) {
  dom::parser parser;
  const dom::element summary = parser.parse(plugin_answer(trace_path, "_summary"));
  Answer answer;
  for (const dom::element name : summary["steps_names"].get_array()) {
    answer.numbers.emplace_back(std::string_view(name));
  }
  for (const dom::element step : summary["steps"].get_array()) {
    answer.steps.push_back(costs_of(step));
  }
  answer.average = costs_of(summary["avg"]);
  for (const auto& [device, share] : summary["gpu_utilization"].get_object()) {
    answer.utilization.emplace_back(device, double(share));
  }
  // Without any operator it takes the time from the largest to the smallest number for a step.
  if (answer.steps.size() == 1 && answer.steps[0].back() < 0) answer = {};
  return answer;
}

struct PluginTimes {
  bool whole = true;      ///< microseconds, so that doubles hold them
  double spacing_ns = 0;  ///< of doubles where the latest time is
};

PluginTimes plugin_times(const Trace& trace) {
  PluginTimes times;
  double farthest = 0;
  for (const EventId event : trace.by_start()) {
    const auto end = static_cast<double>(trace.events().end_ns(event));
    farthest = std::max(farthest, std::abs(end) / 1000);
    times.whole = times.whole && trace.events().start_ns(event) % 1000 == 0 &&
                  trace.events().duration_ns(event) % 1000 == 0;
  }
  times.spacing_ns =
      (std::nextafter(farthest, std::numeric_limits<double>::infinity()) - farthest) * 1000;
  return times;
}

/// The plugin reckons in doubles of microseconds. Far from 0 these are whole parts of a
/// microsecond again, as ours are; near to 0 they are as good as exact; between, they are parts of
/// a nanosecond, which we round. Each end of a piece of time is off by less than the spacing of
/// doubles, in no direction, so sums are off by about the root of the number of pieces.
double tolerance_ns(const Trace& trace) {
  constexpr double kSums = 1e-3;  // the last bits of sums
  const PluginTimes times = plugin_times(trace);
  if (times.whole || times.spacing_ns >= 100) return kSums;
  return kSums + std::sqrt(static_cast<double>(trace.events().size())) * times.spacing_ns;
}

void expect_near(double us, double ns, double tolerance, std::string_view what) {
  EXPECT_NEAR(us * 1000, ns, tolerance + std::abs(ns) * 1e-12) << what;
}

void expect_costs(const StepBreakdown& found, const Answer& expected, double tolerance) {
  ASSERT_EQ(found.steps.size(), expected.steps.size());
  for (std::size_t row = 0; row < found.steps.size(); ++row) {
    const StepTime& step = found.steps[row];
    SCOPED_TRACE(step.name);
    EXPECT_EQ(std::to_string(step.number), expected.numbers[row]);
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      expect_near(expected.steps[row][role], static_cast<double>(step.role_ns[role]), tolerance,
                  step_role_name(static_cast<StepRole>(role)));
    }
    expect_near(expected.steps[row].back(), static_cast<double>(step.duration_ns()), tolerance,
                "length");
  }
  for (std::size_t role = 0; role < kStepRoles && !found.steps.empty(); ++role) {
    expect_near(expected.average[role], found.mean_ns(static_cast<StepRole>(role)), tolerance,
                step_role_name(static_cast<StepRole>(role)));
  }
  expect_near(expected.average.back(), found.mean_duration_ns(), tolerance, "average length");
}

void expect_utilization(const StepBreakdown& found, const Answer& expected, double tolerance) {
  ASSERT_EQ(found.devices.size(), expected.utilization.size());
  if (found.steps.empty()) return;
  const std::int64_t length = found.steps.back().end_ns - found.steps.front().start_ns;
  for (std::size_t device = 0; device < found.devices.size(); ++device) {
    EXPECT_EQ(std::to_string(found.devices[device]), expected.utilization[device].first);
    EXPECT_NEAR(found.utilization(device), expected.utilization[device].second,
                1e-12 + tolerance / static_cast<double>(length));
  }
}

/// Calls `check` with each trace that the plugin could load, and what it said.
template <typename Check>
std::size_t for_each_answer(Check check) {
  std::size_t count = 0;
  for (const std::string& file :
       trace_files({"traces/hta", "traces/minimal", "traces/tb_plugin"})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file);
    EXPECT_TRUE(trace.ok());
    if (!trace.ok()) continue;
    check(*trace, answer_to(file));
    ++count;
  }
  return count;
}

TEST(StepBreakdown, OfThePluginIsThePlugins) {
  const std::size_t files = for_each_answer([](const Trace& trace, const Answer& expected) {
    const StepBreakdown found = *step_breakdown(trace, Figures::plugin);
    expect_costs(found, expected, tolerance_ns(trace));
    expect_utilization(found, expected, tolerance_ns(trace));
  });
  EXPECT_GE(files, 52u);
}

/// Why exact figures of a trace may differ from the plugin's.
std::set<std::string> reasons(const Trace& trace, const Answer& answer) {
  std::set<std::string> reasons;
  const PluginTimes times = plugin_times(trace);
  if (!times.whole && times.spacing_ns >= 1) reasons.insert("times that doubles do not hold");
  for (const Category& category : trace.categories()) {
    if (trace.string(category.name).ends_with("_driver")) reasons.insert("driver calls");
    if (category.kind == EventKind::gpu_user_annotation) reasons.insert("annotations on devices");
    if (category.kind == EventKind::kernel && category.device == DeviceType::mtia) {
      reasons.insert("kernels of another make");
    }
  }
  constexpr std::array<std::string_view, 5> kKnown = {"broadcast", "reduce", "all_reduce",
                                                      "all_gather", "reduce_scatter"};
  const auto is_known = [&](std::string_view name) {
    return std::find(kKnown.begin(), kKnown.end(), name.substr(5)) != kKnown.end();
  };
  std::set<std::int64_t> ids;  // of collectives
  for (const EventId event : trace.by_start()) {
    const std::string_view name = trace.name(event);
    const bool collective = name.starts_with("nccl:") || name.starts_with("gloo:");
    if (name == "record_param_comms" || (collective && !is_known(name))) {
      reasons.insert("collectives that the plugin does not know");
    }
    if (collective) ids.insert(trace.external_id(event));
  }
  for (const EventId event : trace.by_start()) {
    const std::string_view name = trace.name(event);
    const bool of_nccl = trace.kind(event) == EventKind::kernel && name.starts_with("nccl");
    if (of_nccl && !ids.contains(trace.external_id(event))) {
      reasons.insert("kernels of collectives that the plugin does not know");
    }
  }
  if (!ids.empty() && !trace.links().external_ids_valid) reasons.insert("ids that say nothing");
  if (trace.links().launch_by_flow > 0) reasons.insert("launches known by arrows only");
  for (const Costs& step : answer.steps) {
    double sum = 0;
    for (std::size_t role = 0; role < kStepRoles; ++role) sum += step[role];
    if (sum > step.back() + 1e-3 + step.back() * 1e-9) reasons.insert("the plugin's flaw");
  }
  return reasons;
}

TEST(StepBreakdown, IsThePluginsWhereNoRuleSaysOtherwise) {
  std::size_t equal = 0;
  for_each_answer([&](const Trace& trace, const Answer& expected) {
    const StepBreakdown found = step_breakdown(trace);
    for (const StepTime& step : found.steps) {
      std::int64_t sum = 0;
      for (const std::int64_t part : step.role_ns) sum += part;
      EXPECT_EQ(sum, step.duration_ns());
    }
    if (!reasons(trace, expected).empty()) return;
    // A step of the plugin may be shorter than its part on the host.
    for (std::size_t row = 0; row < std::min(found.steps.size(), expected.steps.size()); ++row) {
      const auto on_host = static_cast<double>(found.steps[row].host_duration_ns());
      if (expected.steps[row].back() * 1000 < on_host - tolerance_ns(trace)) return;
    }
    expect_costs(found, expected, tolerance_ns(trace));
    expect_utilization(found, expected, tolerance_ns(trace));
    ++equal;
  });
  EXPECT_GE(equal, 35u);
}

}  // namespace
}  // namespace tbtrace::reference
