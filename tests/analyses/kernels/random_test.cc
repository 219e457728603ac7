// Kernel summaries of random recordings against their definition, group by group.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>
#include <tbtrace/kernels.h>

#include "analyses/kernels/families.h"
#include "analyses/kernels/random_kernels.h"
#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

std::string text_of(const std::optional<Dim3>& sizes) {
  if (!sizes) return "none";
  return std::to_string(sizes->x) + "," + std::to_string(sizes->y) + "," + std::to_string(sizes->z);
}
std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "none";
}

std::string key_of(const KernelGroup& group, KernelGrouping grouping) {
  switch (grouping) {
    case KernelGrouping::name:
      return group.name;
    case KernelGrouping::op:
      return group.op;
    case KernelGrouping::family:
      return std::string(kernel_family_name(group.family));
    case KernelGrouping::label:
      return group.label;
    case KernelGrouping::all:
      return "";
    case KernelGrouping::launch:
      break;
  }
  return group.name + "|" + group.op + "|" + text_of(group.grid) + "|" + text_of(group.block) +
         "|" + text_of(group.registers) + "|" + text_of(group.shared_memory_bytes);
}

/// All that tells a group from others, as one text.
std::string key_of(const KernelGroup& group, const KernelsOptions& options) {
  std::string key = key_of(group, options.group_by);
  for (const KernelGrouping also : options.also_by) key += "|" + key_of(group, also);
  if (options.by.has(GroupKey::device) || options.by.has(GroupKey::stream)) {
    key += "|" + text_of(group.values.device);
  }
  if (options.by.has(GroupKey::stream)) key += "|" + group.values.stream.value_or("none");
  return key;
}

class KernelsByDefinition {
 public:
  explicit KernelsByDefinition(const Trace& trace)
      : trace_(trace), events_(trace.events()), context_(trace) {}

  std::map<std::string, std::vector<EventId>> groups(const KernelsOptions& options) const {
    std::map<std::string, std::vector<EventId>> groups;
    for (std::size_t row = 0; row < events_.size(); ++row) {
      const auto event = static_cast<EventId>(row);
      if (trace_.string(trace_.category(event).name) != "kernel") continue;
      KernelGroup like;
      like.name = trace_.name(event);
      like.family = analyses::kernel_family(like.name);
      const EventId op = context_.device_link(event)->op;
      like.op = op == EventId::none ? "[unattributed]" : std::string(trace_.name(op));
      like.grid = trace_.argument(Argument::grid).dim3(event);
      like.block = trace_.argument(Argument::block).dim3(event);
      like.registers = trace_.argument(Argument::registers_per_thread).integer(event);
      like.shared_memory_bytes = trace_.argument(Argument::shared_memory).integer(event);
      const std::string_view label = trace_.argument_text(event, Argument::label);
      const bool is_node = trace_.argument(Argument::graph_node_id).integer(event).value_or(0) != 0;
      like.label = is_node && !label.empty() ? label : "[unlabelled]";
      const Track& track = trace_.track(events_.track(event));
      like.values.device = track.process.number;
      like.values.stream = std::to_string(track.thread.number);
      groups[key_of(like, options)].push_back(event);
    }
    return groups;
  }

  void expect_group(const KernelGroup& found, const std::vector<EventId>& kernels) const {
    std::vector<std::int64_t> durations;
    std::int64_t total = 0;
    std::int64_t tensor_cores = 0;
    for (const EventId kernel : kernels) {
      durations.push_back(events_.duration_ns(kernel));
      total += durations.back();
      if (trace_.name(kernel).find("16816") != std::string_view::npos) {
        tensor_cores += durations.back();
      }
    }
    ASSERT_EQ(found.count, kernels.size());
    ASSERT_EQ(found.total_ns, total);
    ASSERT_EQ(found.tensor_core_ns, tensor_cores);
    if (!durations.empty()) {
      ASSERT_EQ(found.min_ns, *std::min_element(durations.begin(), durations.end()));
      ASSERT_EQ(found.max_ns, *std::max_element(durations.begin(), durations.end()));
      const double mean = static_cast<double>(total) / static_cast<double>(kernels.size());
      ASSERT_DOUBLE_EQ(found.mean_ns, mean);
      double squares = 0;
      for (const std::int64_t ns : durations)
        squares += std::pow(static_cast<double>(ns) - mean, 2);
      const double count = static_cast<double>(kernels.size());
      ASSERT_NEAR(found.stddev_ns, count < 2 ? 0 : std::sqrt(squares / (count - 1)), 1e-9);
    }
    expect_mean(found.blocks_per_sm, Argument::blocks_per_sm, kernels);
    expect_mean(found.occupancy_percent, Argument::occupancy, kernels);
    expect_launches(found, kernels);
  }

 private:
  void expect_mean(const std::optional<double>& found, Argument argument,
                   const std::vector<EventId>& kernels) const {
    double weighted = 0;
    double weight = 0;
    double sum = 0;
    int count = 0;
    for (const EventId kernel : kernels) {
      const std::optional<double> value = trace_.argument(argument).real(kernel);
      if (!value) continue;
      ++count;
      sum += *value;
      weighted += *value * static_cast<double>(events_.duration_ns(kernel));
      weight += static_cast<double>(events_.duration_ns(kernel));
    }
    ASSERT_EQ(found.has_value(), count > 0);
    if (count > 0) {
      ASSERT_NEAR(*found, weight > 0 ? weighted / weight : sum / count, 1e-9);
    }
  }

  std::size_t activities_of(EventId launch) const {
    std::size_t count = 0;
    for (const DeviceLink& link : context_.device_links()) count += link.launch == launch;
    return count;
  }

  void expect_launches(const KernelGroup& found, const std::vector<EventId>& kernels) const {
    std::set<EventId> launches;
    std::uint64_t without = 0;
    std::uint64_t is_short = 0;
    std::int64_t delays = 0;
    std::int64_t longest = 0;
    for (const EventId kernel : kernels) {
      const EventId launch = context_.device_link(kernel)->launch;
      if (launch == EventId::none) {
        ++without;
        continue;
      }
      launches.insert(launch);
      const std::int64_t delay =
          std::max<std::int64_t>(0, events_.start_ns(kernel) - events_.end_ns(launch));
      delays += delay;
      longest = std::max(longest, delay);
      is_short +=
          activities_of(launch) == 1 && events_.duration_ns(kernel) < events_.duration_ns(launch);
    }
    std::int64_t calls = 0;
    for (const EventId launch : launches) calls += events_.duration_ns(launch);
    ASSERT_EQ(found.launches, launches.size());
    ASSERT_EQ(found.without_launch, without);
    ASSERT_EQ(found.launch_call_ns, calls);
    ASSERT_EQ(found.launch_delay_total_ns, delays);
    ASSERT_EQ(found.launch_delay_max_ns, longest);
    ASSERT_EQ(found.short_kernels, is_short);
    ASSERT_EQ(found.launch_delay_mean_ns.has_value(), kernels.size() > without);
    if (found.launch_delay_mean_ns) {
      ASSERT_DOUBLE_EQ(*found.launch_delay_mean_ns,
                       static_cast<double>(delays) / static_cast<double>(kernels.size() - without));
    }
  }

  const Trace& trace_;
  const Events& events_;
  AnalysisContext context_;
};

std::vector<KernelsOptions> groupings() {
  std::vector<KernelsOptions> all;
  for (const KernelGrouping group_by :
       {KernelGrouping::name, KernelGrouping::launch, KernelGrouping::op, KernelGrouping::family,
        KernelGrouping::label, KernelGrouping::all}) {
    all.push_back({.group_by = group_by});
    all.push_back({.group_by = group_by, .by = {GroupKey::device}});
    all.push_back({.group_by = group_by, .by = {GroupKey::stream}});
    for (const KernelGrouping also : {KernelGrouping::name, KernelGrouping::op,
                                      KernelGrouping::family, KernelGrouping::label}) {
      all.push_back({.group_by = group_by, .also_by = {also}});
    }
  }
  all.push_back({.group_by = KernelGrouping::op,
                 .also_by = {KernelGrouping::family, KernelGrouping::label},
                 .by = {GroupKey::stream}});
  return all;
}

void expect_by_definition(const Trace& trace) {
  const KernelsByDefinition expected(trace);
  std::vector<EventId> all;
  for (const auto& [key, kernels] : expected.groups({})) {
    all.insert(all.end(), kernels.begin(), kernels.end());
  }
  for (const KernelsOptions& options : groupings()) {
    const KernelSummary found = *kernel_summary(trace, options);
    const auto groups = expected.groups(options);
    ASSERT_EQ(found.groups.size(), groups.size());
    std::int64_t sum = 0;
    std::int64_t before = INT64_MAX;
    std::map<std::string, std::string> short_names;
    for (const KernelGroup& group : found.groups) {
      const auto kernels = groups.find(key_of(group, options));
      ASSERT_NE(kernels, groups.end()) << key_of(group, options);
      ASSERT_NO_FATAL_FAILURE(expected.expect_group(group, kernels->second));
      ASSERT_LE(group.total_ns, before);
      before = group.total_ns;
      sum += group.total_ns;
      ASSERT_EQ(short_names.try_emplace(group.short_name, group.name).first->second, group.name);
    }
    ASSERT_EQ(sum, found.all.total_ns);
    ASSERT_NO_FATAL_FAILURE(expected.expect_group(found.all, all));
  }
}

TEST(KernelSummary, MatchesItsDefinitionOnRandomTraces) {
  int launched = 0;
  int unattributed = 0;
  int graphs = 0;
  int is_short = 0;
  const unsigned count = fixtures::random_rounds(500u);
  for (unsigned seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = analyses::RandomKernels(seed).make();
    ASSERT_NO_FATAL_FAILURE(expect_by_definition(trace));
    const KernelSummary summary = *kernel_summary(trace, {.group_by = KernelGrouping::op});
    launched += summary.all.launches > 0;
    is_short += summary.all.short_kernels > 0;
    graphs += summary.all.launches > 0 &&
              summary.all.launches < summary.all.count - summary.all.without_launch;
    for (const KernelGroup& group : summary.groups) unattributed += group.op == "[unattributed]";
  }
  const int few = static_cast<int>(count / 10);
  EXPECT_GT(launched, few);
  EXPECT_GT(unattributed, few);
  EXPECT_GT(graphs, few);
  EXPECT_GT(is_short, few);
}

}  // namespace
}  // namespace tbtrace
