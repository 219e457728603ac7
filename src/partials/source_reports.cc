#include "partials/source_reports.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/checks.h>
#include <tbtrace/partial.h>
#include <tbtrace/tables.h>

#include "base/natural_order.h"
#include "partials/content.h"
#include "trace/trace_builder.h"

namespace tbtrace::partials {
namespace {

/// In their order, after those that files had before.
constexpr std::string_view kAddedLater[] = {"flops", "check"};

/// The verb and the method `check` take several inputs together, so the table has no function.
Result<AnalysisReport> made_of(const TableDescription& table, const Trace& trace,
                               const OptionValues& options) {
  if (table.name != "check") return make_table(table, trace, options);
  const CheckedInput input = checked_input("", trace);
  return checks_report({&input, 1});
}

std::vector<SourceTable> make_tables() {
  const Trace empty = std::move(TraceBuilder()).finish();
  std::vector<const TableDescription*> in_order;
  for (const TableDescription* const table : tables()) {
    const bool is_later = std::ranges::find(kAddedLater, table->name) != std::end(kAddedLater);
    if (table->in_partials == InPartials::by_source && !is_later) in_order.push_back(table);
  }
  for (const std::string_view name : kAddedLater) in_order.push_back(tbtrace::table_named(name));
  std::vector<SourceTable> made;
  for (const TableDescription* const table : in_order) {
    std::vector<KeptRows> kept = table->kept;
    if (kept.empty()) kept.push_back({table->name, {}});
    for (const KeptRows& rows : kept) {
      made.push_back({table, rows.name, *complete_options(*table, rows.options),
                      *made_of(*table, empty, rows.options)});
    }
  }
  return made;
}

}  // namespace

Result<AnalysisReport> SourceTable::make(const Trace& trace) const {
  return made_of(*table, trace, options);
}

const std::vector<SourceTable>& source_tables() {
  static const std::vector<SourceTable> kSourceTables = make_tables();
  return kSourceTables;
}

std::size_t source_table_named(std::string_view name) {
  const auto found = std::ranges::find(source_tables(), name, &SourceTable::name);
  return static_cast<std::size_t>(found - source_tables().begin());
}

namespace {

/// Of the rows of `tbtrace.check/1`.
enum CheckColumn : std::uint8_t {
  kInput,
  kSeverity,
  kId,
  kCount,
  kExample,
  kExampleAt,
  kExampleOffset,
  kCause,
  kRemedy,
};

template <typename T>
std::optional<T> value_in(const Cell& cell) {
  const auto* const value = std::get_if<T>(&cell);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

CheckSeverity severity_of(const std::string& name) {
  for (const CheckSeverity severity : {CheckSeverity::error, CheckSeverity::warning}) {
    if (check_severity_name(severity) == name) return severity;
  }
  return CheckSeverity::info;
}

CheckFinding finding_of(const std::vector<Cell>& row) {
  CheckFinding finding;
  finding.severity = severity_of(value_in<std::string>(row[kSeverity]).value_or(""));
  finding.id = value_in<std::string>(row[kId]).value_or("");
  finding.count = value_in<std::uint64_t>(row[kCount]).value_or(0);
  finding.example = value_in<std::string>(row[kExample]).value_or("");
  finding.example_at_ns = value_in<std::int64_t>(row[kExampleAt]);
  finding.example_offset = value_in<std::uint64_t>(row[kExampleOffset]);
  finding.cause = value_in<std::string>(row[kCause]).value_or("");
  finding.remedy = value_in<std::string>(row[kRemedy]).value_or("");
  return finding;
}

}  // namespace

std::optional<std::vector<CheckFinding>> checks_of(const SourceContent& source) {
  const std::size_t table = source_table_named("check");
  if (table >= source.reports.size()) return std::nullopt;
  std::vector<CheckFinding> findings;
  for (const std::vector<Cell>& row : source.reports[table].table.rows) {
    findings.push_back(finding_of(row));
  }
  return findings;
}

}  // namespace tbtrace::partials

namespace tbtrace {
namespace {

/// The sources by rank and name, those without a rank last.
std::vector<std::size_t> in_order(const partials::Content& content) {
  std::vector<std::size_t> order(content.sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    const PartialSource& a = content.sources[one];
    const PartialSource& b = content.sources[other];
    const std::int64_t first = a.rank.value_or(INT64_MAX);
    const std::int64_t second = b.rank.value_or(INT64_MAX);
    return first != second ? first < second : in_natural_order(a.name, b.name);
  });
  return order;
}

}  // namespace

Result<std::vector<CheckedInput>> checked_inputs(const Partial& partial) {
  const partials::Content& content = partial.content();
  std::vector<CheckedInput> inputs;
  for (const std::size_t number : in_order(content)) {
    const partials::SourceContent& source = content.of_sources[number];
    std::optional<std::vector<CheckFinding>> findings = partials::checks_of(source);
    if (!findings) {
      return Status(StatusCode::invalid_argument,
                    "a partial made without reports, or by an older version of tbtrace, has no "
                    "findings; make it again from " +
                        content.sources[number].name);
    }
    CheckedInput& input = inputs.emplace_back();
    input.input = content.sources[number].name;
    input.source = source.report;
    input.findings = std::move(*findings);
  }
  return inputs;
}

Result<std::vector<CheckedTrace>> checked_traces(const Partial& partial) {
  const partials::Content& content = partial.content();
  std::vector<CheckedTrace> traces;
  for (const std::size_t number : in_order(content)) {
    const PartialSource& source = content.sources[number];
    const std::optional<RankRecord>& record = content.of_sources[number].rank;
    if (!record) {
      return Status(StatusCode::invalid_argument,
                    "a partial made without ranks cannot say whether its traces are those of one "
                    "job; make it again from the traces");
    }
    CheckedTrace& trace = traces.emplace_back();
    trace.input = source.name;
    trace.identity.rank = source.rank;
    trace.identity.world_size = source.world_size;
    trace.identity.host = source.host;
    trace.identity.process = source.process;
    trace.start_ns = record->start_ns;
    trace.end_ns = record->end_ns;
  }
  return traces;
}

Result<AnalysisReport> checks_report(const Partial& partial) {
  Result<std::vector<CheckedInput>> inputs = checked_inputs(partial);
  if (!inputs.ok()) return inputs.status();
  if (inputs->size() > 1) {
    const Result<std::vector<CheckedTrace>> traces = checked_traces(partial);
    if (!traces.ok()) return traces.status();
    inputs->push_back({.input = {}, .findings = job_checks(*traces)});
  }
  return checks_report(*inputs);
}

}  // namespace tbtrace
