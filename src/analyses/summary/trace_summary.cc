#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/serving.h>
#include <tbtrace/summary.h>

#include "analyses/modules/groups.h"
#include "analyses/steps/selection.h"
#include "analyses/summary/kernel_origins.h"
#include "base/bounded_sum.h"
#include "base/threads.h"
#include "report/source_report.h"
#include "trace/links.h"
#include "trace/step_names.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

/// Members of the file that say what was recorded.
constexpr std::array<std::string_view, 5> kOptions = {"record_shapes", "profile_memory",
                                                      "with_stack", "with_flops", "with_modules"};

RecordedRun recorded_run(const Trace& trace, const Trace& part, const std::string& input) {
  RecordedRun run;
  run.input = input;
  run.identity = trace.identity();
  run.device_type = trace.device();
  run.window_ns = trace.window_end_ns() - trace.window_start_ns();
  run.ranges = part.events().size();
  run.device_activities = links_of(part).device_work().size();
  for (const std::string_view option : kOptions) {
    if (trace.is_set(option)) run.options.emplace_back(option);
  }
  run.recorded = recorded_options(trace);
  std::set<std::int64_t> used;
  for (const DeviceLink& link : links_of(part).device_work()) {
    used.insert(device_number(part.track(part.events().track(link.activity))));
  }
  for (DeviceProperties& device : trace.device_properties()) {
    if (used.empty() || used.contains(device.id)) run.devices.push_back(std::move(device));
  }
  return run;
}

/// The names of Python functions and modules: they are rows of a summary, but not operators.
std::set<std::string_view> python_names(const Trace& trace) {
  std::set<std::string_view> names;
  std::vector<bool> is_known;  // by StringId
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::python_function) continue;
    const std::size_t name = index(trace.events().name(event));
    if (name >= is_known.size()) is_known.resize(name + 1);
    if (!is_known[name]) names.insert(trace.name(event));
    is_known[name] = true;
  }
  return names;
}

bool is_operator(const OperatorRow& row, const std::set<std::string_view>& python) {
  const bool is_made = row.key == "[idle]" || row.key == "[unattributed]";
  return row.device_type == DeviceType::cpu && !row.is_user_annotation && !is_made &&
         !is_step_name(row.key) && !row.key.starts_with("ProfilerStep*") &&
         !python.contains(row.key);
}

void add_operators(TraceSummary& summary, const Trace& trace, std::size_t limit) {
  const OperatorSummary all = exact_operator_summary(trace);
  summary.self_device_time_total_ns = all.self_device_time_total().ns;
  const std::set<std::string_view> python = python_names(trace);
  WideInteger self_cpu = 0;
  WideInteger unowned = summary.self_device_time_total_ns;
  for (const OperatorRow& row : all.rows()) {
    if (!is_operator(row, python)) continue;
    self_cpu += row.self_cpu_time_total.ns;
    unowned -= row.self_device_time_total.ns;
    summary.operators.push_back({row.key, static_cast<std::uint64_t>(row.count),
                                 row.self_cpu_time_total.ns, row.self_device_time_total.ns});
  }
  summary.self_cpu_time_total_ns = bounded(self_cpu);
  summary.unowned_device_time_ns = bounded(unowned);
  const bool by_device = summary.self_device_time_total_ns > 0;
  const auto value = [by_device](const OperatorShare& row) {
    return by_device ? row.self_device_time_total_ns : row.self_cpu_time_total_ns;
  };
  std::stable_sort(
      summary.operators.begin(), summary.operators.end(),
      [&](const OperatorShare& one, const OperatorShare& two) { return value(one) > value(two); });
  std::erase_if(summary.operators, [&](const OperatorShare& row) { return value(row) == 0; });
  if (summary.operators.size() > limit) summary.operators.resize(limit);
}

void add_kernels(TraceSummary& summary, const Trace& trace, std::size_t limit) {
  const std::optional<StepRange>& steps = summary.run.steps;
  summary.kernels = *kernel_summary(trace, {.steps = steps});
  if (summary.kernels.groups.size() > limit) summary.kernels.groups.resize(limit);
  summary.kernel_origins = analyses::kernel_origins(trace, summary.kernels.groups,
                                                    *analyses::window_of_steps(trace, steps));
}

void add_modules(TraceSummary& summary, const Trace& trace, std::size_t limit) {
  if (!has_modules(trace)) return;
  const ModuleTree tree =
      *module_tree(trace, {.steps = summary.run.steps, .with_operations = false});
  summary.all_modules = tree.total;
  for (analyses::ModuleGroup& group :
       analyses::module_groups(tree, {{}, ModuleGrouping::layer, std::nullopt})) {
    ModuleShare& share = summary.modules.emplace_back();
    static_cast<ModuleCost&>(share) = group.sum;
    share.path = std::move(group.sum.path);
    share.modules = group.modules;
    share.calls = group.sum.calls;
  }
  const std::int64_t ModuleCost::*const own = tree.total.device_time_total_ns > 0
                                                  ? &ModuleCost::self_device_time_ns
                                                  : &ModuleCost::self_cpu_time_ns;
  std::ranges::stable_sort(summary.modules, std::greater(), own);
  std::erase_if(summary.modules, [&](const ModuleShare& share) { return share.*own == 0; });
  if (summary.modules.size() > limit) summary.modules.resize(limit);
}

/// One for each operator, since that is what a summary shows of a holder, the largest first. A
/// module, line or category stays if it is that of all of them.
std::vector<MemoryHolder> holders_by_operator(const std::vector<MemoryHolder>& holders) {
  std::vector<MemoryHolder> merged;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const MemoryHolder& holder : holders) {
    const auto [place, is_new] = places.try_emplace(holder.source.op, merged.size());
    if (is_new) {
      merged.push_back(holder);
      continue;
    }
    MemoryHolder& sum = merged[place->second];
    add_bounded(sum.bytes, holder.bytes);
    sum.allocations += holder.allocations;
    if (sum.source.module != holder.source.module) sum.source.module.clear();
    if (sum.source.line != holder.source.line) sum.source.line.clear();
    if (sum.source.category != holder.source.category) {
      sum.source.category = MemoryCategory::unknown;
    }
  }
  std::ranges::stable_sort(merged, std::ranges::greater(), &MemoryHolder::bytes);
  return merged;
}

/// The device with the highest peak first.
void add_memory(TraceSummary& summary, const MemoryUse& memory, std::size_t limit) {
  summary.unknown_memory = unknown_memory_text(memory);
  for (const DeviceMemory& device : memory.devices) {
    if (!device.peak_at_ns) continue;
    std::vector<MemoryHolder> alive = holders_by_operator(device.alive);
    if (alive.size() > limit) alive.resize(limit);
    summary.memory.push_back({device.device, device.peak_bytes, device.peak_reserved_bytes,
                              device.growth_per_step_bytes, std::move(alive)});
  }
  std::ranges::stable_sort(summary.memory, std::ranges::greater(), &DevicePeak::peak_bytes);
}

/// The chosen steps, also if they are at the end, where others would be left out.
StepBreakdown steps_of(const Trace& trace, const std::optional<StepRange>& steps) {
  StepBreakdown breakdown = step_breakdown(trace, {.steps = steps});
  if (!steps || !breakdown.steps.empty()) return breakdown;
  return step_breakdown(trace, {.keep_tail_steps = true, .steps = steps});
}

/// With the events that devices are idle before as they are called in the part.
std::vector<GpuUse> in_part(const Trace& part, std::vector<GpuUse> gpus) {
  for (GpuUse& gpu : gpus) {
    for (IdlePart& cause : gpu.idle_causes) {
      cause.largest.ended_by = event_in_part(part, cause.largest.ended_by);
    }
    for (IdleGap& gap : gpu.longest_gaps) gap.ended_by = event_in_part(part, gap.ended_by);
  }
  return gpus;
}

/// `part`: what of the trace the summary is of, if it is not of all.
TraceSummary summary_of(const Trace& trace, const std::optional<StepRange>& steps,
                        const Trace& part, const std::string& input,
                        const TraceSummaryOptions& options) {
  TraceSummary summary;
  summary.run = recorded_run(trace, part, input);
  summary.run.steps = steps;
  summary.recovered = recovered_recording(trace);
  const bool has_device = summary.run.device_activities > 0;
  MemoryUse memory;
  // The longest first.
  run_side_by_side(static_cast<std::size_t>(thread_count(options.threads)),
                   {[&] { add_operators(summary, part, options.operators); },
                    [&] { add_modules(summary, trace, options.modules); },
                    [&] {
                      summary.steps = steps_of(trace, steps);
                      summary.slowest_step = slowest_step(trace, summary.steps);
                      summary.phases =
                          serving_phases(trace, summary.steps, {.by_batch = false}).phases;
                    },
                    [&] { memory = *memory_use(trace, {.steps = steps}); },
                    [&] {
                      if (has_device) add_kernels(summary, trace, options.kernels);
                    },
                    [&] {
                      if (has_device) summary.gpus = *gpu_use(trace, {.steps = steps});
                    }});
  const std::vector<GpuUse> gpus = in_part(part, summary.gpus);
  summary.findings = findings(part, summary.steps, gpus, memory);
  summary.looked_for = findings_looked_for(part, summary.steps, gpus, memory);
  summary.checks = trace_checks(trace);
  std::erase_if(summary.checks,
                [](const CheckFinding& check) { return check.severity == CheckSeverity::info; });
  add_memory(summary, memory, options.memory_holders);
  summary.source = report::source_report(trace);
  return summary;
}

}  // namespace

TraceSummary trace_summary(const Trace& trace, const std::string& input,
                           const TraceSummaryOptions& options) {
  return summary_of(trace, std::nullopt, trace, input, options);
}

Result<TraceSummary> summary_of_steps(const Trace& trace, const StepRange& steps,
                                      const std::string& input,
                                      const TraceSummaryOptions& options) {
  const Result<Trace> part = trace_of_steps(trace, steps);
  if (!part.ok()) return part.status();
  return summary_of(trace, steps, *part, input, options);
}

}  // namespace tbtrace
