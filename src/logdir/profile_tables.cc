#include "logdir/profile_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/operators.h>

#include "writers/tables/text_card.h"

namespace tbtrace::logdir {
namespace {

// Sums are doubles, because sums of integers could overflow.

/// Three decimals, that is, microseconds. Adding 0 turns -0, which would be printed with its sign,
/// into 0.
double ms(std::int64_t ns) { return std::round(static_cast<double>(ns) / 1e3) / 1e3 + 0.0; }
double mib(std::int64_t bytes) {
  return std::round(static_cast<double>(bytes) / (1 << 20) * 1e3) / 1e3 + 0.0;
}
double percent(std::int64_t part, double whole) {
  if (whole <= 0) return 0;
  return std::round(static_cast<double>(part) / whole * 1e4) / 1e2 + 0.0;
}
double sum(std::int64_t one, std::int64_t two) {
  return static_cast<double>(one) + static_cast<double>(two);
}

/// Whether a row is a Python function of torch's profiler itself, whose start and end are in each
/// recorded window, or one that only these call.
/// Source: torch/profiler/profiler.py, torch/autograd/profiler.py (2.14).
bool is_of_profiler(const OperatorRow& row) {
  const std::string_view name = row.key;
  if (name.find("torch/profiler/profiler.py(") != std::string_view::npos) return true;
  if (name.find("torch/autograd/profiler.py(") != std::string_view::npos) {
    return name.ends_with(": _start_trace") || name.ends_with(": _prepare_trace");
  }
  return name.starts_with("<built-in method _disable_profiler of ") ||
         name.starts_with("<built-in method _enable_profiler of ") ||
         name.starts_with("<built-in method _add_metadata_json of ");
}

/// Empty for `[idle]` and `[unattributed]`, which have no calls.
Cell calls(const OperatorRow& row) {
  if (row.key == "[idle]" || row.key == "[unattributed]") return {};
  return row.count;
}

bool is_of_gpu(StepRole role) {
  return role == StepRole::kernel || role == StepRole::memcpy || role == StepRole::memset ||
         role == StepRole::runtime;
}

/// The host rows with a value, largest first; kernels have a table of their own.
std::vector<const OperatorRow*> largest(const OperatorSummary& summary,
                                        const std::function<double(const OperatorRow&)>& by) {
  std::vector<const OperatorRow*> rows;
  for (const OperatorRow& row : summary.rows()) {
    if (row.device_type == DeviceType::cpu && by(row) > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const OperatorRow* one, const OperatorRow* two) {
    return by(*one) > by(*two);
  });
  return rows;
}

}  // namespace

std::string operator_card(const OperatorSummary& operators, const CardOptions& options) {
  auto cpu = static_cast<double>(operators.self_cpu_time_total().ns);
  for (const OperatorRow& row : operators.rows()) {
    if (is_of_profiler(row)) cpu -= static_cast<double>(row.self_cpu_time_total.ns);
  }
  const auto device = static_cast<double>(operators.self_device_time_total().ns);
  Table table;
  table.columns = {"Name", "Calls", "Self\nCPU ms", "Self\nCPU %", "CPU\ntotal ms"};
  if (device > 0) {
    table.columns.insert(table.columns.end(), {"Self\ndevice ms", "Self\ndevice %"});
  }
  auto all = largest(operators, [](const OperatorRow& row) {
    if (is_of_profiler(row)) return 0.0;
    return sum(row.self_cpu_time_total.ns, row.self_device_time_total.ns);
  });
  // One column is in order: that of devices, if there are any. The others follow by CPU time.
  std::ranges::stable_sort(all, std::ranges::greater(), [](const OperatorRow* row) {
    return std::pair(row->self_device_time_total.ns, row->self_cpu_time_total.ns);
  });
  const std::size_t shown = std::min(options.rows, all.size());
  for (const OperatorRow* const row : std::span(all).first(shown)) {
    std::vector<Cell> cells = {row->key, calls(*row), ms(row->self_cpu_time_total.ns),
                               percent(row->self_cpu_time_total.ns, cpu),
                               ms(row->cpu_time_total.ns)};
    if (device > 0) {
      cells.emplace_back(ms(row->self_device_time_total.ns));
      cells.emplace_back(percent(row->self_device_time_total.ns, device));
    }
    table.rows.push_back(std::move(cells));
  }
  return writers::text_card({options.heading, std::move(table), all.size() - shown});
}

std::string kernel_card(const Trace& trace, const CardOptions& options) {
  const std::vector<KernelGroup> kernels = (*kernel_summary(trace)).groups;
  double total = 0;
  for (const KernelGroup& kernel : kernels) total += static_cast<double>(kernel.total_ns);
  Table table;
  table.columns = {"Kernel", "Calls", "Total\nms", "%", "Mean\nus", "Min\nus", "Max\nus"};
  std::vector<std::string> labels;
  const std::size_t shown = std::min(options.rows, kernels.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const KernelGroup& kernel = kernels[at];
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1e3; };
    table.rows.push_back({kernel.name, kernel.count, ms(kernel.total_ns),
                          percent(kernel.total_ns, total), std::round(kernel.mean_ns) / 1e3,
                          us(kernel.min_ns), us(kernel.max_ns)});
    labels.push_back(kernel.short_name);
  }
  return writers::text_card(
      {options.heading, std::move(table), kernels.size() - shown, std::move(labels)});
}

std::string memory_card(const OperatorSummary& operators, const CardOptions& options) {
  // Rounded as shown: less than half a KiB is 0.
  auto all = largest(operators, [](const OperatorRow& row) {
    return std::abs(mib(row.self_cpu_memory_usage_bytes)) +
           std::abs(mib(row.self_device_memory_usage_bytes));
  });
  const std::size_t left_out = all.size() - std::min(options.rows, all.size());
  all.resize(all.size() - left_out);
  std::stable_sort(all.begin(), all.end(), [](const OperatorRow* one, const OperatorRow* two) {
    const auto value = [](const OperatorRow& row) {
      return sum(row.self_cpu_memory_usage_bytes, row.self_device_memory_usage_bytes);
    };
    return value(*one) > value(*two);
  });
  const bool has_device = std::any_of(all.begin(), all.end(), [](const OperatorRow* row) {
    return mib(row->self_device_memory_usage_bytes) != 0;
  });
  Table table;
  table.columns = {"Name", "Calls", "Sum of\nCPU MiB"};
  if (has_device) table.columns.emplace_back("Sum of\ndevice MiB");
  for (const OperatorRow* const row : all) {
    std::vector<Cell> cells = {row->key, calls(*row), mib(row->self_cpu_memory_usage_bytes)};
    if (has_device) cells.emplace_back(mib(row->self_device_memory_usage_bytes));
    table.rows.push_back(std::move(cells));
  }
  return writers::text_card(
      {options.heading +
           ". What all calls allocated, less what they freed: cumulative, not a peak. Peaks are in "
           "Custom Scalars.",
       std::move(table), left_out});
}

std::vector<StepRole> shown_roles(const StepBreakdown& steps) {
  std::array<bool, kStepRoles> takes_time = {};
  bool has_gpu = false;
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    takes_time[role] = std::any_of(steps.steps.begin(), steps.steps.end(),
                                   [&](const StepTime& step) { return step.role_ns[role] != 0; });
    has_gpu = has_gpu || (takes_time[role] && is_of_gpu(static_cast<StepRole>(role)));
  }
  std::vector<StepRole> roles;
  for (std::size_t number = 0; number < kStepRoles; ++number) {
    const auto role = static_cast<StepRole>(number);
    const bool is_of_host = role == StepRole::cpu_op || role == StepRole::other;
    if (is_of_host || takes_time[number] || (has_gpu && is_of_gpu(role))) roles.push_back(role);
  }
  return roles;
}

std::string step_card(const StepBreakdown& steps, const CardOptions& options) {
  const std::vector<StepRole> roles = shown_roles(steps);
  Table table;
  table.columns = {"Step", "ms"};
  for (const StepRole role : roles) {
    std::string name(step_role_name(role));
    std::replace(name.begin(), name.end(), '_', ' ');
    table.columns.push_back(name + "\nms");
  }
  const std::size_t shown = std::min(options.rows, steps.steps.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const StepTime& step = steps.steps[at];
    std::vector<Cell> cells = {step.name, ms(step.duration_ns())};
    for (const StepRole role : roles) cells.emplace_back(ms(step.ns(role)));
    table.rows.push_back(std::move(cells));
  }
  return writers::text_card({options.heading, std::move(table), steps.steps.size() - shown});
}

}  // namespace tbtrace::logdir
