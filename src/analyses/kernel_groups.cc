#include "analyses/kernel_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
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

/// Three parts of a key.
std::array<std::int64_t, 3> parts_of(const std::optional<Dim3>& sizes) {
  if (!sizes) return {-1, -1, -1};
  return {sizes->x, sizes->y, sizes->z};
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
  const auto [found, is_new] = numbers_.try_emplace(key_of(run), groups_.size());
  if (is_new) {
    groups_.emplace_back();
    sums_.emplace_back();
    describe(groups_.back(), run);
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
    add_run(groups_[group], sums_[group], run);
    add_run(all_, all_sums_, run);
  }
  // How far each run is from its group's mean.
  std::vector<double> means;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    means.push_back(mean_ns(groups_[group], sums_[group]));
  }
  const double mean_of_all = mean_ns(all_, all_sums_);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto ns = static_cast<double>(runs[run].duration_ns);
    const std::uint32_t group = group_of_run_[run];
    sums_[group].squares += (ns - means[group]) * (ns - means[group]);
    all_sums_.squares += (ns - mean_of_all) * (ns - mean_of_all);
  }
  if (options_.figures == KernelFigures::exact) count_launches(runs);
}

void KernelGroups::add_run(KernelGroup& group, Sums& sums, const KernelRun& run) {
  const std::int64_t ns = run.duration_ns;
  group.min_ns = group.count == 0 ? ns : std::min(group.min_ns, ns);
  group.max_ns = group.count == 0 ? ns : std::max(group.max_ns, ns);
  ++group.count;
  sums.total += ns;
  sums.us += run.us;
  if (facts(trace_.events().name(run.event)).tensor_cores) sums.tensor_cores += ns;
  const std::optional<double> blocks = blocks_per_sm_.real(run.event);
  const std::optional<double> occupancy = occupancy_.real(run.event);
  any_blocks_ = any_blocks_ || (blocks && *blocks > 0);
  any_occupancy_ = any_occupancy_ || (occupancy && *occupancy >= 0);
  add_weighted(sums.blocks, run, blocks);
  add_weighted(sums.occupancy, run, occupancy);
  if (options_.figures == KernelFigures::exact) add_launch(group, sums, run);
}

void KernelGroups::add_weighted(WeightedSum& sum, const KernelRun& run,
                                std::optional<double> value) const {
  const bool is_plugin = options_.figures == KernelFigures::plugin;
  if (is_plugin && !value) value = 0;
  if (!value || !std::isfinite(*value)) return;
  const double weight = is_plugin ? run.us : static_cast<double>(run.duration_ns);
  sum.sum += *value * weight;
  sum.weight += weight;
  sum.plain += *value;
  ++sum.count;
}

void KernelGroups::add_launch(KernelGroup& group, Sums& sums, const KernelRun& run) {
  if (run.launch == EventId::none) {
    ++group.without_launch;
    return;
  }
  const WideInteger delay = launch_delay(trace_.events(), run.event, run.launch);
  sums.delay += delay;
  group.launch_delay_max_ns = std::max(group.launch_delay_max_ns, bounded(delay));
  if (launch_sizes_->is_short(run.event, run.launch)) ++group.short_kernels;
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
    ++groups_[group].launches;
    sums_[group].calls += ns;
    if (launch == previous) continue;
    previous = launch;
    ++all_.launches;
    all_sums_.calls += ns;
  }
}

double KernelGroups::mean_ns(const KernelGroup& group, const Sums& sums) const {
  if (group.count == 0) return 0;
  const double total =
      options_.figures == KernelFigures::plugin ? sums.us * 1000 : static_cast<double>(sums.total);
  return total / static_cast<double>(group.count);
}

/// The plugin has the columns only if some kernel has a value that it takes, and then a value in
/// every row.
std::optional<double> KernelGroups::mean_of(const WeightedSum& sum, bool any_usable) const {
  if (options_.figures == KernelFigures::plugin) {
    if (!any_usable) return std::nullopt;
    return sum.weight > 0 ? sum.sum / sum.weight : 0;
  }
  if (sum.count == 0) return std::nullopt;
  return sum.weight > 0 ? sum.sum / sum.weight : sum.plain / static_cast<double>(sum.count);
}

void KernelGroups::finish_group(KernelGroup& group, const Sums& sums) const {
  group.total_ns = options_.figures == KernelFigures::plugin ? nearest_integer(sums.us * 1000)
                                                             : bounded(sums.total);
  group.tensor_core_ns = bounded(sums.tensor_cores);
  group.mean_ns = mean_ns(group, sums);
  group.stddev_ns =
      group.count < 2 ? 0 : std::sqrt(sums.squares / static_cast<double>(group.count - 1));
  group.blocks_per_sm = mean_of(sums.blocks, any_blocks_);
  group.occupancy_percent = mean_of(sums.occupancy, any_occupancy_);
  group.launch_call_ns = bounded(sums.calls);
  group.launch_delay_total_ns = bounded(sums.delay);
  const bool is_exact = options_.figures == KernelFigures::exact;
  const std::uint64_t launched = is_exact ? group.count - group.without_launch : 0;
  if (launched > 0) {
    group.launch_delay_mean_ns = static_cast<double>(sums.delay) / static_cast<double>(launched);
  }
}

void KernelGroups::give_short_names() {
  std::vector<std::string_view> names;
  for (const KernelGroup& group : groups_) names.push_back(group.name);
  std::vector<std::string> short_names = distinct_kernel_names(names);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    groups_[group].short_name = std::move(short_names[group]);
  }
}

KernelSummary KernelGroups::finish() {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    finish_group(groups_[group], sums_[group]);
  }
  finish_group(all_, all_sums_);
  give_short_names();
  const auto order = [](const KernelGroup& group) {
    return std::tuple(-group.total_ns, std::string_view(group.name), std::string_view(group.op),
                      group.family, group.device, std::string_view(group.stream));
  };
  std::stable_sort(
      groups_.begin(), groups_.end(),
      [&](const KernelGroup& one, const KernelGroup& two) { return order(one) < order(two); });
  KernelSummary summary;
  summary.groups = std::move(groups_);
  summary.all = std::move(all_);
  return summary;
}

}  // namespace tbtrace::analyses
