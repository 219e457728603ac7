#include "dialects/profile_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tbtrace/analyses.h>
#include <tbtrace/writers.h>

#include "analyses/kernel_summary.h"

namespace tbtrace::dialects {
namespace {

// Sums are doubles: those of whole numbers might not fit.

/// Three digits behind the point are a microsecond.
double ms(std::int64_t ns) { return std::round(static_cast<double>(ns) / 1e3) / 1e3; }
double mib(std::int64_t bytes) {
  return std::round(static_cast<double>(bytes) / (1 << 20) * 1e3) / 1e3;
}
double percent(std::int64_t part, double whole) {
  if (whole <= 0) return 0;
  return std::round(static_cast<double>(part) / whole * 1e4) / 1e2;
}
double sum(std::int64_t one, std::int64_t two) {
  return static_cast<double>(one) + static_cast<double>(two);
}

std::string markdown(const Table& table, std::size_t left_out) {
  if (table.rows.empty()) return {};
  std::string text;
  for (const char c : table_markdown(table)) {
    // Escaped as GitHub wants it; TensorBoard's Markdown shows the backslash.
    if (c == '|' && text.ends_with('\\')) text.pop_back();
    text += c;
  }
  if (left_out > 0) text += "\n" + std::to_string(left_out) + " more rows are not shown.\n";
  return text;
}

/// The host's rows that have a figure, the greatest first: kernels have a table of their own.
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

std::string operator_markdown(const OperatorSummary& operators, std::size_t rows) {
  const auto cpu = static_cast<double>(operators.self_cpu_time_total().ns);
  const auto device = static_cast<double>(operators.self_device_time_total().ns);
  Table table;
  table.columns = {"Name", "Calls", "Self CPU ms", "Self CPU %", "CPU total ms"};
  if (device > 0) table.columns.insert(table.columns.end(), {"Self device ms", "Self device %"});
  const auto all = largest(operators, [](const OperatorRow& row) {
    return sum(row.self_cpu_time_total.ns, row.self_device_time_total.ns);
  });
  const std::size_t shown = std::min(rows, all.size());
  for (const OperatorRow* const row : std::span(all).first(shown)) {
    std::vector<Cell> cells = {row->key, row->count, ms(row->self_cpu_time_total.ns),
                               percent(row->self_cpu_time_total.ns, cpu),
                               ms(row->cpu_time_total.ns)};
    if (device > 0) {
      cells.emplace_back(ms(row->self_device_time_total.ns));
      cells.emplace_back(percent(row->self_device_time_total.ns, device));
    }
    table.rows.push_back(std::move(cells));
  }
  return markdown(table, all.size() - shown);
}

std::string kernel_markdown(const Trace& trace, std::size_t rows) {
  const std::vector<analyses::KernelRow> kernels = analyses::kernel_summary(trace);
  double total = 0;
  for (const analyses::KernelRow& kernel : kernels) total += static_cast<double>(kernel.total_ns);
  Table table;
  table.columns = {"Kernel", "Calls", "Total ms", "%", "Mean us", "Min us", "Max us"};
  const std::size_t shown = std::min(rows, kernels.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const analyses::KernelRow& kernel = kernels[at];
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1e3; };
    const double mean = us(kernel.total_ns) / static_cast<double>(kernel.count);
    table.rows.push_back({kernel.name, kernel.count, ms(kernel.total_ns),
                          percent(kernel.total_ns, total), std::round(mean * 1e3) / 1e3,
                          us(kernel.min_ns), us(kernel.max_ns)});
  }
  return markdown(table, kernels.size() - shown);
}

std::string memory_markdown(const OperatorSummary& operators, std::size_t rows) {
  const auto all = largest(operators, [](const OperatorRow& row) {
    return std::abs(static_cast<double>(row.self_cpu_memory_usage_bytes)) +
           std::abs(static_cast<double>(row.self_device_memory_usage_bytes));
  });
  Table table;
  table.columns = {"Name", "Calls", "Self CPU MiB", "Self device MiB"};
  const std::size_t shown = std::min(rows, all.size());
  for (const OperatorRow* const row : std::span(all).first(shown)) {
    table.rows.push_back({row->key, row->count, mib(row->self_cpu_memory_usage_bytes),
                          mib(row->self_device_memory_usage_bytes)});
  }
  return markdown(table, all.size() - shown);
}

std::string step_markdown(const StepBreakdown& steps, std::size_t rows) {
  Table table;
  table.columns = {"Step", "ms"};
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    table.columns.emplace_back(std::string(step_role_name(static_cast<StepRole>(role))) + " ms");
  }
  const std::size_t shown = std::min(rows, steps.steps.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const StepTime& step = steps.steps[at];
    std::vector<Cell> cells = {step.name, ms(step.length_ns())};
    for (const std::int64_t ns : step.role_ns) cells.emplace_back(ms(ns));
    table.rows.push_back(std::move(cells));
  }
  return markdown(table, steps.steps.size() - shown);
}

}  // namespace tbtrace::dialects
