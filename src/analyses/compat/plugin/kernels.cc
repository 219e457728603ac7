#include "analyses/compat/plugin/kernels.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyses/compat/plugin/rules.h"
#include "analyses/compat/plugin/tensor_cores.h"
#include "analyses/compat/plugin/tree.h"
#include "analyses/kernels/grouping.h"
#include "analyses/kernels/keys.h"
#include "analyses/kernels/report.h"
#include "analyses/kernels/runs.h"
#include "analyses/kernels/sums.h"
#include "base/nearest_integer.h"
#include "report/optional_cell.h"
#include "report/source_report.h"

namespace tbtrace::analyses {
namespace {

/// It does not tell 0 and no value apart.
constexpr KernelKeyRules kKeys = {
    .uses_tensor_cores =
        [](std::string_view name) { return std::optional(uses_tensor_cores_in_plugin(name)); },
    .unknown_operator = "CallTreeRoot",
    .missing = 0,
    .communication = nullptr};

struct PluginRun {
  KernelRun run;
  double us = 0;  ///< the plugin's own double
};

std::vector<PluginRun> runs_of(const Trace& trace) {
  std::vector<PluginRun> runs;
  for (const EventId event : trace.by_start()) {
    if (!is_plugin_kernel(trace.category(event))) continue;
    const std::int64_t duration_ns = trace.events().duration_ns(event);
    runs.push_back({{.event = event, .duration_ns = duration_ns}, plugin_time(duration_ns)});
  }
  return runs;
}

/// By launch, in the order of the tree; a kernel can occur several times.
std::vector<PluginRun> runs_of_tree(const Trace& trace) {
  const PluginTree tree(trace);
  std::vector<PluginRun> runs;
  for (const PluginTree::Kernel& kernel : tree.kernels()) {
    runs.push_back({{.event = kernel.event,
                     .op = tree.node(kernel.op).event,
                     .duration_ns = nearest_integer(kernel.us * 1000)},
                    kernel.us});
  }
  return runs;
}

/// Weighted by the time of the kernels.
struct Mean {
  double sum = 0;
  double weight = 0;

  void add(double value, double us) {
    if (!std::isfinite(value)) return;
    sum += value * us;
    weight += us;
  }
  double value() const { return weight > 0 ? sum / weight : 0; }
};

/// The sums of a group, in whole numbers and in the plugin's doubles.
struct Sums {
  KernelSums whole;
  double us = 0;
  Mean blocks;
  Mean occupancy;
};

class Groups {
 public:
  Groups(const Trace& trace, const KernelsOptions& options)
      : blocks_per_sm_(trace.argument(Argument::blocks_per_sm)),
        occupancy_(trace.argument(Argument::occupancy)),
        keys_(trace, options, kKeys) {}

  void add(const PluginRun& run) {
    const std::size_t group = keys_.group_of(run.run);
    if (group == sums_.size()) sums_.emplace_back();
    add_to(sums_[group], run);
    add_to(all_, run);
  }

  KernelSummary finish() && {
    KernelSummary summary;
    summary.groups = std::move(keys_).release();
    for (std::size_t group = 0; group < summary.groups.size(); ++group) {
      set(summary.groups[group], sums_[group]);
    }
    set(summary.all, all_);
    name_and_sort(summary.groups);
    return summary;
  }

 private:
  /// Without a value a kernel counts as 0.
  void add_to(Sums& sums, const PluginRun& run) {
    sums.whole.add_duration(run.run.duration_ns);
    if (keys_.facts(run.run.event).tensor_cores.value_or(false))
      sums.whole.tensor_core_ns += run.run.duration_ns;
    const std::optional<double> blocks = blocks_per_sm_.real(run.run.event);
    const std::optional<double> occupancy = occupancy_.real(run.run.event);
    any_blocks_ = any_blocks_ || (blocks && *blocks > 0);
    any_occupancy_ = any_occupancy_ || (occupancy && *occupancy >= 0);
    sums.us += run.us;
    sums.blocks.add(blocks.value_or(0), run.us);
    sums.occupancy.add(occupancy.value_or(0), run.us);
  }

  /// The plugin has the two columns only if some kernel has a value that it takes, and then a value
  /// in every row.
  void set(KernelGroup& group, const Sums& sums) const {
    set_figures(group, sums.whole);
    group.launch_delay_mean_ns.reset();
    group.total_ns = nearest_integer(sums.us * 1000);
    group.mean_ns = group.count == 0 ? 0 : sums.us * 1000 / static_cast<double>(group.count);
    group.blocks_per_sm = any_blocks_ ? std::optional(sums.blocks.value()) : std::nullopt;
    group.occupancy_percent = any_occupancy_ ? std::optional(sums.occupancy.value()) : std::nullopt;
  }

  const ArgumentColumn& blocks_per_sm_;
  const ArgumentColumn& occupancy_;
  KernelKeys keys_;
  std::vector<Sums> sums_;  // by group
  Sums all_;
  bool any_blocks_ = false;  // some kernel has a value that the plugin takes
  bool any_occupancy_ = false;
};

Status check(const KernelsOptions& options) {
  if (!options.by.empty() || options.steps) {
    return {
        StatusCode::invalid_argument,
        "the kernels of torch-tb-profiler and HolisticTraceAnalysis cannot be grouped by device, "
        "stream, step and the like, or limited to steps"};
  }
  if (!groups_by_name(options) || !options.also_by.empty()) {
    return {StatusCode::invalid_argument,
            "torch-tb-profiler groups kernels by name or by launch; group by one of them"};
  }
  return {};
}

}  // namespace

Result<KernelSummary> plugin_kernel_summary(const Trace& trace, const KernelsOptions& options) {
  if (Status can = check(options); !can.ok()) return can;
  Groups groups(trace, options);
  const bool by_launch = options.group_by == KernelGrouping::launch;
  for (const PluginRun& run : by_launch ? runs_of_tree(trace) : runs_of(trace)) groups.add(run);
  KernelSummary summary = std::move(groups).finish();
  add_copies(summary, trace, std::nullopt);
  return summary;
}

Result<AnalysisReport> plugin_kernel_report(const Trace& trace, const KernelsOptions& options) {
  const Result<KernelSummary> summary = plugin_kernel_summary(trace, options);
  if (!summary.ok()) return summary.status();
  const KernelGroup& all = summary->all;
  KernelColumns columns;
  add_keys(columns, trace.identity().rank, options);
  add_times(columns, all.total_ns);
  columns.add("tensor_cores_used", true, [](const KernelGroup& group) {
    return report::optional_cell(group.tensor_cores_used);
  });
  if (options.group_by == KernelGrouping::launch) {
    columns.add("operator_eligible", false,
                [](const KernelGroup& group) { return Cell(is_eligible_in_plugin(group.op)); });
  }
  columns.add("tensor_core_ns", false,
              [](const KernelGroup& group) { return Cell(group.tensor_core_ns); });
  columns.add("blocks_per_sm", true,
              [](const KernelGroup& group) { return report::optional_cell(group.blocks_per_sm); });
  columns.add("occupancy_percent", true, [](const KernelGroup& group) {
    return report::optional_cell(group.occupancy_percent);
  });
  AnalysisReport report = std::move(columns).report(summary->groups);
  report.totals = {{"count", all.count},
                   {"total_ns", all.total_ns},
                   {"tensor_core_ns", all.tensor_core_ns},
                   {"memcpys", summary->memcpys},
                   {"memcpy_ns", summary->memcpy_ns},
                   {"memsets", summary->memsets},
                   {"memset_ns", summary->memset_ns}};
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace::analyses
