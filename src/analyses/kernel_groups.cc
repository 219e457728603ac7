#include "analyses/kernel_groups.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analyses/device_number.h"
#include "analyses/hta_rows.h"
#include "analyses/kernel_families.h"
#include "analyses/kernel_names.h"
#include "base/hash.h"
#include "base/nearest_integer.h"
#include "trace/links.h"
#include "trace/track_text.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kUnattributed = "[unattributed]";
constexpr std::string_view kPluginRoot = "CallTreeRoot";

std::string_view hta_type(std::string_view name) {
  switch (hta_class(name)) {
    case HtaClass::communication:
      return "communication";
    case HtaClass::memory:
      return "memory";
    default:
      return "computation";
  }
}

}  // namespace

std::size_t KernelGroups::KeyHash::operator()(const Key& key) const {
  std::array<char, sizeof(Key)> bytes;
  std::memcpy(bytes.data(), key.data(), bytes.size());
  return hash_bytes({bytes.data(), bytes.size()}, kProcessSeed.value);
}

KernelGroups::KernelGroups(const Trace& trace, const KernelsOptions& options)
    : trace_(trace),
      options_(options),
      grid_(trace.argument(Argument::grid)),
      block_(trace.argument(Argument::block)),
      registers_(trace.argument(Argument::registers_per_thread)),
      shared_memory_(trace.argument(Argument::shared_memory)),
      blocks_per_sm_(trace.argument(Argument::blocks_per_sm)),
      occupancy_(trace.argument(Argument::occupancy)) {
  if (options_.figures == KernelFigures::exact) launch_sizes_.emplace(trace);
}

const KernelNameFacts& KernelGroups::facts(StringId name) {
  const auto [found, is_new] = facts_.try_emplace(name);
  if (is_new) {
    const std::string_view text = trace_.string(name);
    found->second = {kernel_family(text), options_.figures == KernelFigures::plugin
                                              ? uses_tensor_cores_in_plugin(text)
                                              : uses_tensor_cores(text)};
  }
  return found->second;
}

KernelGroups::Key KernelGroups::key_of(const KernelRun& run) {
  Key key = {};
  const StringId name = trace_.events().name(run.event);
  const std::int64_t op =
      run.op == EventId::none ? -1 : static_cast<std::int64_t>(trace_.events().name(run.op));
  switch (options_.group_by) {
    case KernelGrouping::name:
      key[0] = static_cast<std::int64_t>(name);
      break;
    case KernelGrouping::op:
      key[0] = op;
      break;
    case KernelGrouping::family:
      key[0] = static_cast<std::int64_t>(facts(name).family);
      break;
    case KernelGrouping::launch: {
      // The plugin does not tell 0 and no value apart.
      const std::int64_t missing = options_.figures == KernelFigures::plugin ? 0 : -1;
      key[0] = static_cast<std::int64_t>(name);
      key[1] = op;
      const auto grid = parts_of(grid_.dim3(run.event));
      const auto block = parts_of(block_.dim3(run.event));
      std::copy(grid.begin(), grid.end(), key.begin() + 2);
      std::copy(block.begin(), block.end(), key.begin() + 5);
      key[8] = registers_.integer(run.event).value_or(missing);
      key[9] = shared_memory_.integer(run.event).value_or(missing);
      break;
    }
  }
  const TrackId track = trace_.events().track(run.event);
  if (options_.by_stream) {
    key[10] = static_cast<std::int64_t>(track);
  } else if (options_.by_device) {
    key[10] = device_number(trace_.track(track));
  }
  return key;
}

std::size_t KernelGroups::group_of(const KernelRun& run) {
  const auto [found, is_new] = numbers_.try_emplace(key_of(run), kernels_.groups.size());
  if (is_new) {
    describe(kernels_.groups.emplace_back(), run);
    kernels_.sums.emplace_back();
    if (options_.figures == KernelFigures::plugin) plugin_.emplace_back();
  }
  return found->second;
}

void KernelGroups::describe(KernelGroup& group, const KernelRun& run) {
  const StringId name = trace_.events().name(run.event);
  const bool by_launch = options_.group_by == KernelGrouping::launch;
  if (options_.group_by == KernelGrouping::name || by_launch) {
    group.name = trace_.string(name);
    group.tensor_cores_used = facts(name).tensor_cores;
    if (options_.figures == KernelFigures::hta) group.type = hta_type(group.name);
  }
  if (options_.group_by != KernelGrouping::op) group.family = facts(name).family;
  if (options_.group_by == KernelGrouping::op || by_launch) {
    const std::string_view unknown =
        options_.figures == KernelFigures::plugin ? kPluginRoot : kUnattributed;
    group.op = run.op == EventId::none ? unknown : trace_.name(run.op);
  }
  if (by_launch) {
    if (options_.figures == KernelFigures::plugin) {
      group.op_eligible = is_eligible_in_plugin(group.op);
    }
    group.grid = grid_.dim3(run.event);
    group.block = block_.dim3(run.event);
    group.registers = registers_.integer(run.event);
    group.shared_memory_bytes = shared_memory_.integer(run.event);
  }
  const Track& track = trace_.track(trace_.events().track(run.event));
  if (options_.by_device || options_.by_stream) group.device = device_number(track);
  if (options_.by_stream) group.stream = key_text(trace_, track.thread);
}

void KernelGroups::add(const std::vector<KernelRun>& runs) {
  group_of_run_.reserve(runs.size());
  for (const KernelRun& run : runs) {
    const std::size_t group = group_of(run);
    group_of_run_.push_back(static_cast<std::uint32_t>(group));
    add_run(kernels_.sums[group], run);
    add_run(kernels_.all, run);
    if (options_.figures == KernelFigures::plugin) {
      add_plugin_run(plugin_[group], run);
      add_plugin_run(plugin_all_, run);
    }
  }
  if (options_.figures == KernelFigures::exact) count_launches(runs);
}

void KernelGroups::add_run(KernelSums& sums, const KernelRun& run) {
  sums.add_duration(run.duration_ns);
  if (facts(trace_.events().name(run.event)).tensor_cores) sums.tensor_core_ns += run.duration_ns;
  if (options_.figures != KernelFigures::exact) return;
  if (const auto blocks = blocks_per_sm_.real(run.event)) {
    sums.blocks_per_sm.add(*blocks, run.duration_ns);
  }
  if (const auto occupancy = occupancy_.real(run.event)) {
    sums.occupancy.add(*occupancy, run.duration_ns);
  }
  add_launch(sums, run);
}

/// Without a value a kernel counts as 0.
void KernelGroups::add_plugin_run(PluginSums& sums, const KernelRun& run) {
  const std::optional<double> blocks = blocks_per_sm_.real(run.event);
  const std::optional<double> occupancy = occupancy_.real(run.event);
  any_blocks_ = any_blocks_ || (blocks && *blocks > 0);
  any_occupancy_ = any_occupancy_ || (occupancy && *occupancy >= 0);
  const auto add = [&](PluginMean& mean, double value) {
    if (!std::isfinite(value)) return;
    mean.sum += value * run.us;
    mean.weight += run.us;
  };
  sums.us += run.us;
  add(sums.blocks, blocks.value_or(0));
  add(sums.occupancy, occupancy.value_or(0));
}

void KernelGroups::add_launch(KernelSums& sums, const KernelRun& run) {
  if (run.launch == EventId::none) {
    ++sums.without_launch;
    return;
  }
  const WideInteger delay = launch_delay(trace_.events(), run.event, run.launch);
  sums.launch_delay_total_ns += delay;
  sums.launch_delay_max_ns = std::max(sums.launch_delay_max_ns, bounded(delay));
  if (launch_sizes_->is_short(run.event, run.launch)) ++sums.short_kernels;
}

/// Each launch counts once in each group, and once in all.
void KernelGroups::count_launches(const std::vector<KernelRun>& runs) {
  std::vector<std::pair<EventId, std::uint32_t>> launches;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].launch != EventId::none) {
      launches.emplace_back(runs[run].launch, group_of_run_[run]);
    }
  }
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  EventId previous = EventId::none;
  for (const auto& [launch, group] : launches) {
    const std::int64_t ns = trace_.events().duration_ns(launch);
    ++kernels_.sums[group].launches;
    kernels_.sums[group].launch_call_ns += ns;
    if (launch == previous) continue;
    previous = launch;
    ++kernels_.all.launches;
    kernels_.all.launch_call_ns += ns;
  }
}

/// The plugin has the two columns only if some kernel has a value that it takes, and then a value
/// in every row.
void KernelGroups::set_plugin_figures(KernelGroup& group, const PluginSums& sums) const {
  const auto mean_of = [](const PluginMean& mean, bool any_usable) {
    if (!any_usable) return std::optional<double>();
    return std::optional(mean.weight > 0 ? mean.sum / mean.weight : 0);
  };
  group.total_ns = nearest_integer(sums.us * 1000);
  group.mean_ns = group.count == 0 ? 0 : sums.us * 1000 / static_cast<double>(group.count);
  group.blocks_per_sm = mean_of(sums.blocks, any_blocks_);
  group.occupancy_percent = mean_of(sums.occupancy, any_occupancy_);
}

KernelSummary KernelGroups::finish() && {
  if (options_.figures == KernelFigures::exact) return summary_of(std::move(kernels_));
  KernelSummary summary;
  summary.groups = std::move(kernels_.groups);
  for (std::size_t group = 0; group < summary.groups.size(); ++group) {
    set_figures(summary.groups[group], kernels_.sums[group]);
    summary.groups[group].launch_delay_mean_ns.reset();
    if (!plugin_.empty()) set_plugin_figures(summary.groups[group], plugin_[group]);
  }
  set_figures(summary.all, kernels_.all);
  summary.all.launch_delay_mean_ns.reset();
  if (options_.figures == KernelFigures::plugin) set_plugin_figures(summary.all, plugin_all_);
  name_and_sort(summary.groups);
  return summary;
}

}  // namespace tbtrace::analyses
