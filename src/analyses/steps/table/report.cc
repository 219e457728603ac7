#include "analyses/steps/table/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <tbtrace/steps.h>

#include "analyses/attribution/work_times.h"
#include "analyses/gpu/idle_account.h"
#include "analyses/gpu/report.h"
#include "analyses/steps/breakdown.h"
#include "analyses/steps/iteration_facts.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "base/quantile.h"
#include "base/share.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_columns.h"
#include "report/table_list.h"
#include "report/totals.h"
#include "trace/step_names.h"
#include "trace/times.h"

namespace tbtrace {
namespace {

using report::column_named;
using report::optional_cell;

constexpr const char* kDuration = "duration_ns";
constexpr const char* kOutlier = "outlier";
constexpr const char* kIdleCauses = "idle_causes";
constexpr const char* kKind = "kind";
constexpr const char* kRequests = "requests";
constexpr const char* kTokens = "tokens";
constexpr const char* kDroppedSteps = "dropped_steps";

/// How the durations of the steps spread.
struct Spread {
  std::int64_t least = 0;
  std::int64_t median = 0;  ///< of an even number, the lower one of the two in the middle
  std::int64_t most = 0;
  double mean = 0;
  double deviation = 0;                 ///< the standard deviation of a sample; 0 for one step
  std::int64_t outlier_ns = INT64_MAX;  ///< longer steps are outliers

  bool is_outlier(std::int64_t duration_ns) const { return duration_ns > outlier_ns; }
};

Spread spread_of(const std::vector<std::int64_t>& durations) {
  if (durations.empty()) return {};
  Spread spread;
  spread.least = *std::min_element(durations.begin(), durations.end());
  spread.most = *std::max_element(durations.begin(), durations.end());
  spread.median = median_of(durations);
  const auto count = static_cast<long double>(durations.size());
  long double sum = 0;
  for (const std::int64_t duration : durations) sum += static_cast<long double>(duration);
  const long double mean = sum / count;
  long double squares = 0;
  std::vector<std::int64_t> distances;
  distances.reserve(durations.size());
  for (const std::int64_t duration : durations) {
    const long double distance = static_cast<long double>(duration) - mean;
    squares += distance * distance;
    distances.push_back(std::abs(duration - spread.median));
  }
  spread.mean = static_cast<double>(mean);
  if (durations.size() > 1)
    spread.deviation = static_cast<double>(std::sqrt(squares / (count - 1)));
  constexpr std::size_t kFewestForOutliers = 5;
  if (durations.size() < kFewestForOutliers) return spread;
  const WideInteger limit =
      std::max<WideInteger>(WideInteger{4} * median_of(distances), spread.median / 10);
  spread.outlier_ns = bounded(spread.median + limit);
  return spread;
}

/// The mean over the devices that ran kernels.
Cell utilization_of(const StepTime& step) {
  if (step.busy_ns.empty()) return {};
  double sum = 0;
  for (std::size_t device = 0; device < step.busy_ns.size(); ++device) {
    sum += step.utilization(device);
  }
  return sum / static_cast<double>(step.busy_ns.size());
}

/// The highest peak of any GPU; if none is known, of the CPU.
std::optional<std::int64_t> peak_of(const StepBreakdown& breakdown, const StepTime& step) {
  std::optional<std::int64_t> gpu;
  std::optional<std::int64_t> cpu;
  for (std::size_t device = 0; device < step.peak_memory_bytes.size(); ++device) {
    const bool is_cpu = breakdown.memory_devices[device].type == DeviceType::cpu;
    std::optional<std::int64_t>& peak = is_cpu ? cpu : gpu;
    peak = std::max(peak, step.peak_memory_bytes[device]);
  }
  return gpu ? gpu : cpu;
}

/// Why devices were idle, step by step.
class IdleTimes {
 public:
  explicit IdleTimes(const Trace& trace) : trace_(trace) {
    const std::vector<analyses::DeviceActivities> devices = *analyses::device_activities(trace, {});
    const analyses::StepRules rules(trace, analyses::exact_step_policy());
    accounts_ = analyses::idle_accounts(trace, rules, devices);
  }

  void add_to(std::vector<Cell>& row, TimeRange time) const {
    if (accounts_.empty()) {
      row.insert(row.end(), {Cell(), Cell()});
      return;
    }
    std::vector<IdlePart> parts;
    for (const analyses::IdleAccount& account : accounts_) {
      GpuUse device;
      analyses::add_idle_causes(trace_, account, time, device);
      analyses::join_idle_parts(parts, device.idle_causes);
    }
    std::int64_t idle_ns = 0;
    for (const IdlePart& part : parts) add_bounded(idle_ns, part.ns);
    row.emplace_back(idle_ns);
    row.emplace_back(analyses::idle_causes_json(parts, idle_ns));
  }

 private:
  const Trace& trace_;
  std::vector<analyses::IdleAccount> accounts_;
};

std::vector<Cell> row_of(const Trace& trace, const Cell& rank, const StepBreakdown& breakdown,
                         const StepTime& step, const analyses::IterationFacts& facts,
                         const Spread& spread, const IdleTimes& idle) {
  const Cell number = step.is_whole_trace() ? Cell() : Cell(step.number);
  std::vector<Cell> row = {
      step.name, number, number, rank, since_start(trace, step.start_ns), step.duration_ns()};
  row.insert(row.end(), step.role_ns.begin(), step.role_ns.end());
  row.emplace_back(step.host_duration_ns());
  row.insert(row.end(), step.phase_ns.begin(), step.phase_ns.end());
  row.emplace_back(step.unphased_ns());
  row.push_back(utilization_of(step));
  row.push_back(optional_cell(peak_of(breakdown, step)));
  row.emplace_back(step.launched);
  row.emplace_back(spread.is_outlier(step.duration_ns()));
  idle.add_to(row, {step.start_ns, step.end_ns});
  const bool is_known = facts.kind != analyses::IterationKind::unknown;
  row.push_back(is_known ? Cell(std::string(iteration_kind_name(facts.kind))) : Cell());
  row.push_back(optional_cell(facts.requests));
  row.push_back(optional_cell(facts.tokens));
  return row;
}

/// The mean of a column over its rows that have a value.
Cell mean_of(const Table& table, std::size_t column) {
  WideInteger sum = 0;
  long double shares = 0;
  std::size_t count = 0;
  for (const std::vector<Cell>& row : table.rows) {
    if (const auto* whole = std::get_if<std::int64_t>(&row[column])) {
      sum += *whole;
    } else if (const auto* launched = std::get_if<std::uint64_t>(&row[column])) {
      sum += *launched;
    } else if (const auto* share = std::get_if<double>(&row[column])) {
      shares += static_cast<long double>(*share);
    } else {
      continue;
    }
    ++count;
  }
  if (count == 0) return {};
  if (shares == 0) return mean_of_sum(sum, count);
  return static_cast<double>(shares / static_cast<long double>(count));
}

AnalysisReport::Totals totals_of(const Table& table, const Cell& dropped_steps) {
  const std::size_t duration = *column_named(table, kDuration);
  std::uint64_t outliers = 0;
  std::vector<std::int64_t> durations;
  durations.reserve(table.rows.size());
  for (const std::vector<Cell>& row : table.rows) {
    // Rows of a partial that is not ours may have anything.
    const auto* outlier = std::get_if<bool>(&row[*column_named(table, kOutlier)]);
    const auto* ns = std::get_if<std::int64_t>(&row[duration]);
    outliers += outlier != nullptr && *outlier ? 1U : 0U;
    durations.push_back(ns != nullptr ? std::max<std::int64_t>(0, *ns) : 0);
  }
  const Spread spread = spread_of(durations);
  AnalysisReport::Totals totals = {{"steps", static_cast<std::uint64_t>(table.rows.size())},
                                   {kDroppedSteps, dropped_steps},
                                   {"outliers", outliers},
                                   {"duration_min_ns", spread.least},
                                   {"duration_median_ns", spread.median},
                                   {"duration_max_ns", spread.most},
                                   {"duration_std_ns", spread.deviation}};
  for (std::size_t column = duration; column < table.columns.size(); ++column) {
    const std::string& name = table.columns[column];
    const bool has_mean = name != kOutlier && name != kIdleCauses && name != kKind &&
                          name != kRequests && name != kTokens;
    if (has_mean) totals.emplace_back(name, mean_of(table, column));
  }
  return totals;
}

bool is_zero(const Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    const auto* whole = std::get_if<std::int64_t>(&row[column]);
    return whole != nullptr && *whole == 0;
  });
}

/// Whether names say more than the numbers do, as those of prefill and decode steps.
bool has_telling_names(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const std::vector<Cell>& row) {
    const auto* const name = std::get_if<std::string>(&row.front());
    return name != nullptr && !is_step_name(*name);
  });
}

/// Whether the names of all steps say what an inference engine did in them.
bool has_kinds(const Table& table) {
  const std::size_t kind = *column_named(table, kKind);
  return !table.rows.empty() && std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
    return std::holds_alternative<std::string>(row[kind]);
  });
}

/// Whether GPU activities end after the step that launched them, in any of the steps: phases add up
/// to the part on the host.
bool is_widened(const Table& table) {
  const std::size_t whole = *column_named(table, kDuration);
  const std::size_t host = *column_named(table, "host_duration_ns");
  return std::ranges::any_of(table.rows,
                             [&](const std::vector<Cell>& row) { return row[whole] != row[host]; });
}

/// What people see: how long each step was and why, without parts that are zero in every step.
std::vector<std::string> shown_columns(const Table& table) {
  std::vector<std::string> shown = {"step", "rank", "duration_ns"};
  if (has_kinds(table)) {
    shown.insert(shown.begin() + 1, {kKind, kRequests, kTokens});
  } else if (has_telling_names(table)) {
    shown.insert(shown.begin() + 1, "name");
  }
  if (is_widened(table)) shown.emplace_back("host_duration_ns");
  constexpr std::array<std::string_view, 9> kParts = {
      "gpu_utilization", "forward_ns", "backward_ns",      "optimizer_ns",     "data_ns",
      "unphased_ns",     "kernel_ns",  "communication_ns", "peak_memory_bytes"};
  for (const std::string_view name : kParts) {
    if (!is_zero(table, *column_named(table, name))) shown.emplace_back(name);
  }
  shown.emplace_back(kOutlier);
  return shown;
}

/// The means are those of all steps of all traces; which steps are outliers was decided in each.
AnalysisReport::Totals joined_totals(const AnalysisReport::Totals& sums, const Table& rows) {
  const Cell* const dropped = report::total_named(sums, kDroppedSteps);
  return totals_of(rows, dropped != nullptr ? *dropped : Cell());
}

std::optional<StepRange> steps_of(const StepBreakdown& breakdown) {
  std::optional<StepRange> range;
  for (const StepTime& step : breakdown.steps) {
    if (step.is_whole_trace()) continue;
    if (!range) range = {step.number, step.number};
    range->first = std::min(range->first, step.number);
    range->last = std::max(range->last, step.number);
  }
  return range;
}

/// The numbers of steps that did not end.
Json unfinished_json(const StepBreakdown& breakdown) {
  std::string text;
  for (const UnfinishedStep& step : breakdown.unfinished_steps) {
    text += (text.empty() ? "[" : ", ") + std::to_string(step.number);
  }
  return {text + "]"};
}

}  // namespace

Result<AnalysisReport> steps_report(const Trace& trace, const StepBreakdown& breakdown,
                                    const std::optional<StepRange>& steps) {
  if (Status read = trace.check_read(analyses::steps_table().arguments, "steps"); !read.ok()) {
    return read;
  }
  std::vector<const StepTime*> chosen;
  const std::vector<analyses::IterationFacts> facts =
      analyses::facts_of_steps(trace, breakdown.steps);
  for (const StepTime& step : breakdown.steps) {
    const bool is_chosen = !steps || (!step.is_whole_trace() && steps->contains(step.number));
    if (is_chosen) chosen.push_back(&step);
  }
  if (steps && chosen.empty()) {
    const auto open = std::ranges::find_if(
        breakdown.unfinished_steps, [&](const auto& step) { return steps->contains(step.number); });
    if (open != breakdown.unfinished_steps.end()) {
      return Status(StatusCode::invalid_argument, "cannot show step " +
                                                      std::to_string(open->number) +
                                                      ": it did not end, so it has no row");
    }
    return analyses::no_such_steps(*steps, steps_of(breakdown), breakdown.why_no_steps);
  }
  const auto facts_of = [&](const StepTime& step) -> const analyses::IterationFacts& {
    return facts[static_cast<std::size_t>(&step - breakdown.steps.data())];
  };
  std::map<analyses::IterationGroup, std::vector<std::int64_t>> durations;
  for (const StepTime* step : chosen) {
    durations[group_of(facts_of(*step))].push_back(step->duration_ns());
  }
  std::map<analyses::IterationGroup, Spread> spreads;
  for (const auto& [group, some] : durations) spreads[group] = spread_of(some);
  AnalysisReport report;
  report.schema = analyses::steps_table().schema;
  report.table.columns = analyses::steps_table().column_names();
  const Cell rank = optional_cell(trace.identity().rank);
  const IdleTimes idle(trace);
  for (const StepTime* step : chosen) {
    const analyses::IterationFacts& known = facts_of(*step);
    report.table.rows.push_back(
        row_of(trace, rank, breakdown, *step, known, spreads[group_of(known)], idle));
  }
  report.totals = totals_of(report.table, static_cast<std::uint64_t>(breakdown.dropped_steps));
  report.joined_totals = joined_totals;
  report.totals_label = "mean";
  report.shown = shown_columns(report.table);
  report.notes = analyses::work_time_notes(trace);
  if (!breakdown.why_no_steps.empty()) report.notes.push_back(breakdown.why_no_steps);
  for (std::string& text : analyses::left_out_steps_texts(breakdown)) {
    report.notes.push_back(std::move(text));
  }
  if (!breakdown.unfinished_steps.empty()) {
    report.facts = {{"unfinished_steps", unfinished_json(breakdown)}};
  }
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace
