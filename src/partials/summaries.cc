// What partials have for the first page about a job.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/partial.h>
#include <tbtrace/summary.h>

#include "base/natural_order.h"
#include "partials/content.h"
#include "partials/source_reports.h"

namespace tbtrace {
namespace {

/// Rows of a source's report, by the names of their columns.
class Rows {
 public:
  Rows(const partials::SourceContent& source, std::string_view table) {
    const std::size_t place = partials::source_table_named(table);
    if (place < source.reports.size()) table_ = &source.reports[place].table;
  }

  std::size_t size() const { return table_ == nullptr ? 0 : table_->rows.size(); }

  /// 0 for what is not a whole number.
  std::int64_t whole(std::size_t row, std::string_view column) const {
    const auto* const value = std::get_if<std::int64_t>(&cell(row, column));
    return value == nullptr ? 0 : *value;
  }
  std::string text(std::size_t row, std::string_view column) const {
    const auto* const value = std::get_if<std::string>(&cell(row, column));
    return value == nullptr ? std::string() : *value;
  }

 private:
  const Cell& cell(std::size_t row, std::string_view column) const {
    static const Cell kNone;
    const auto found = std::ranges::find(table_->columns, column);
    if (found == table_->columns.end()) return kNone;
    return table_->rows[row][static_cast<std::size_t>(found - table_->columns.begin())];
  }

  const Table* table_ = nullptr;
};

void add_steps(TraceSummary& summary, const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    StepTime& step = summary.steps.steps.emplace_back();
    step.name = rows.text(row, "name");
    step.number = rows.whole(row, "step");
    step.end_ns = rows.whole(row, "duration_ns");
    step.host_end_ns = rows.whole(row, "host_duration_ns");
  }
}

void add_gpus(TraceSummary& summary, const Rows& rows) {
  constexpr std::pair<std::string_view, std::int64_t GpuUse::*> kColumns[] = {
      {"device", &GpuUse::device},
      {"window_ns", &GpuUse::window_ns},
      {"busy_ns", &GpuUse::busy_ns},
      {"computation_ns", &GpuUse::computation_ns},
      {"communication_ns", &GpuUse::communication_ns},
      {"memory_ns", &GpuUse::memory_ns},
      {"overlap_ns", &GpuUse::overlap_ns},
      {"exposed_communication_ns", &GpuUse::exposed_communication_ns},
      {"exposed_memory_ns", &GpuUse::exposed_memory_ns},
      {"idle_ns", &GpuUse::idle_ns},
      {"idle_host_wait_ns", &GpuUse::idle_host_wait_ns},
      {"idle_kernel_wait_ns", &GpuUse::idle_kernel_wait_ns},
      {"idle_other_ns", &GpuUse::idle_other_ns}};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    GpuUse& gpu = summary.gpus.emplace_back();
    for (const auto& [column, member] : kColumns) gpu.*member = rows.whole(row, column);
  }
}

void add_memory(TraceSummary& summary, const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t bytes = rows.whole(row, "peak_bytes");
    if (bytes == 0) continue;  // nothing was recorded of this device
    DevicePeak& peak = summary.memory.emplace_back();
    peak.device = rows.text(row, "device_name");
    peak.peak_bytes = bytes;
  }
  std::ranges::stable_sort(summary.memory, std::ranges::greater(), &DevicePeak::peak_bytes);
}

TraceSummary summary_of(const PartialSource& source, const partials::SourceContent& content) {
  TraceSummary summary;
  summary.is_of_partial = true;
  summary.run.input = source.name;
  summary.run.identity.rank = source.rank;
  summary.run.identity.world_size = source.world_size;
  summary.run.identity.host = source.host;
  summary.run.identity.process = source.process;
  summary.run.window_ns = content.rank->end_ns - content.rank->start_ns;
  add_steps(summary, Rows(content, "steps"));
  add_gpus(summary, Rows(content, "gpu.devices"));
  add_memory(summary, Rows(content, "memory.peak"));
  summary.looked_for = {"ranks that hold up the job"};
  summary.checks = partials::checks_of(content).value_or(std::vector<CheckFinding>());
  std::erase_if(summary.checks, [](const CheckFinding& check) {
    return check.severity == CheckSeverity::info && check.id != kRecoveredTrace;
  });
  summary.source = content.report;
  return summary;
}

}  // namespace

std::vector<TraceSummary> partial_summaries(const Partial& partial) {
  const partials::Content& content = partial.content();
  std::vector<TraceSummary> summaries;
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    if (!content.of_sources[source].rank) continue;
    summaries.push_back(summary_of(content.sources[source], content.of_sources[source]));
  }
  std::ranges::stable_sort(summaries, [](const TraceSummary& one, const TraceSummary& other) {
    const std::optional<std::int64_t>& rank = one.run.identity.rank;
    const std::optional<std::int64_t>& after = other.run.identity.rank;
    if (rank != after) return rank && (!after || *rank < *after);
    return in_natural_order(one.run.input, other.run.input);
  });
  return summaries;
}

}  // namespace tbtrace
