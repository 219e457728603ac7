#include "trace_facts.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <set>
#include <string_view>
#include <utility>

#include <tbtrace/report.h>

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

constexpr std::int64_t kMostShown = 20;  // rows of a notebook, as of tables

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Different numbers: several threads may mark the same step.
std::size_t count_steps(const Trace& trace) {
  std::set<std::int64_t> numbers;
  for (const Step& step : trace.steps()) numbers.insert(step.number);
  return numbers.size();
}

std::string rank_text(const TraceIdentity& identity) {
  std::string text = std::to_string(*identity.rank);
  if (identity.world_size) text += " of " + std::to_string(*identity.world_size);
  return text;
}

/// `2026-11-28 05:40:00 UTC`; empty for a time that there is not.
std::string date_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm date = {};
  char text[40];
  if (gmtime_r(&seconds, &date) == nullptr) return {};
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &date)};
}

std::string devices_text(const Trace& trace) {
  std::string text;
  for (const DeviceProperties& device : trace.device_properties()) {
    text += (text.empty() ? "" : ", ") + device.name;
  }
  return text;
}

}  // namespace

std::string trace_repr(const PythonTrace& trace) {
  const TraceIdentity identity = trace.trace->identity();
  std::string text = "<tbtrace.Trace: ";
  text += trace.name.substr(trace.name.find_last_of('/') + 1);
  if (identity.rank) text += ", rank " + rank_text(identity);
  return text + ", " + counted(count_steps(*trace.trace), "step") + ", " +
         counted(trace.trace->events().size(), "event") + ">";
}

std::string trace_html(const PythonTrace& named) {
  const Trace& trace = *named.trace;
  const TraceIdentity identity = trace.identity();
  AnalysisReport report;
  report.table.columns = {"fact", "value"};
  report.shown = report.table.columns;
  report.named_values = {"fact", "value"};
  const auto add = [&](const char* fact, Cell value) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr && text->empty()) return;
    report.table.rows.push_back({std::string(fact), std::move(value)});
  };
  add("file", named.name);
  if (identity.rank) add("rank", rank_text(identity));
  add("host", identity.host);
  add("devices", devices_text(trace));
  if (identity.start_ns) add("recorded", date_text(*identity.start_ns));
  add("window_ns", trace.window_end_ns() - trace.window_start_ns());
  add("steps", static_cast<std::int64_t>(count_steps(trace)));
  add("events", static_cast<std::int64_t>(trace.events().size()));
  for (const Issue& issue : trace.issues()) {
    report.notes.push_back(std::string(issue.id) + ", " + std::to_string(issue.count) +
                           " x: " + std::string(issue.sentence));
  }
  return value_of(report_html(report));
}

nb::list issue_list(const std::vector<Issue>& issues) {
  nb::list list;
  for (const Issue& issue : issues) {
    nb::dict row;
    row["id"] = nb::str(issue.id.data(), issue.id.size());
    row["severity"] = issue.severity == Severity::info ? "info" : "data_loss";
    row["sentence"] = nb::str(issue.sentence.data(), issue.sentence.size());
    row["count"] = issue.count;
    row["offsets"] = issue.offsets;
    list.append(row);
  }
  return list;
}

std::string trace_set_html(const PythonTraceSet& set) {
  AnalysisReport report;
  report.table.columns = {"file", "rank", "recorded", "window_ns", "steps", "events", "issues"};
  report.shown = report.table.columns;
  for (const SharedTrace& one : set.traces()) {
    const Trace& trace = *one.trace;
    const TraceIdentity identity = trace.identity();
    report.table.rows.push_back({one.path, one.rank ? Cell(*one.rank) : Cell(),
                                 identity.start_ns ? Cell(date_text(*identity.start_ns)) : Cell(),
                                 trace.window_end_ns() - trace.window_start_ns(),
                                 static_cast<std::uint64_t>(count_steps(trace)),
                                 static_cast<std::uint64_t>(trace.events().size()),
                                 static_cast<std::uint64_t>(trace.issues().size())});
  }
  for (const UnreadInput& input : set.shared->unread) {
    if (std::cmp_equal(report.notes.size(), kMostShown)) {
      const std::size_t more = set.shared->unread.size() - kMostShown;
      report.notes.push_back("not read: " + std::to_string(more) + " more");
      break;
    }
    report.notes.push_back("not read: " + input.path + ": " + input.status.message());
  }
  return value_of(report_html(report, {.row_limit = kMostShown}));
}

}  // namespace tbtrace::python
