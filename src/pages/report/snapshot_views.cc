#include "pages/report/snapshot_views.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>
#include <tbtrace/views.h>

#include "pages/command_text.h"

namespace tbtrace::pages {
namespace {

/// Of pictures and of rows that stand for single things.
constexpr std::size_t kMostSingleRows = 4000;

struct Part {
  std::string_view name;
  std::string_view title;
  std::string_view view;  ///< the option
  std::string_view by = {};
  std::string_view sort_by = {};
  bool is_curve = false;
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
};

constexpr Part kParts[] = {
    {"peak", "Peaks", "peak"},
    {"alive", "Holders", "alive"},
    {"oom", "Failed allocations", "oom"},
    {"growth", "Growth", "growth"},
    {"segments", "Segments", "segments", {}, {}, false, kMostSingleRows},
    {"blocks", "Blocks", "blocks", {}, "bytes", false, kMostSingleRows},
    {"allocations", "Allocations", "allocations", {}, "bytes", false, kMostSingleRows},
    {"by_line", "By line over time", "bands", "line"},
    {"by_category", "By category over time", "bands", "category"},
    {"curve", "Curve", "curve", {}, {}, true},
};

const TableDescription& table() { return *table_of_schema("tbtrace.memory_snapshot/1"); }

std::vector<ColumnDescription> columns_of(std::string_view view) {
  for (const ColumnsWithOptions& more : table().more_columns) {
    if (more.options.substr(more.options.rfind(' ') + 1) == view) return more.columns;
  }
  return table().columns;
}

/// Why there are no rows.
std::string_view why_empty(std::string_view view) {
  if (view == "oom") return "no allocation failed";
  if (view == "growth") return "nothing grows from step to step, or steps are not known";
  if (view == "segments" || view == "blocks") return "the file does not say what was reserved";
  return "the snapshot has neither entries nor segments of a device";
}

Result<TableContent> content_of(const MemorySnapshot& snapshot, const Part& part, bool has_failed) {
  OptionValues options;
  options.of_command_line = true;  // people give them to the command that is below the table
  if (part.view != "alive") options.set("view", std::string(part.view));
  if (!part.by.empty()) options.set("by", std::vector<std::string>{std::string(part.by)});
  const bool is_of_moment = part.view == "segments" || part.view == "blocks";
  if (is_of_moment && !has_failed) options.set("at", std::string("end"));
  Result<AnalysisReport> report = memory_snapshot_report(snapshot, options);
  if (!report.ok()) return report.status();
  if (!part.sort_by.empty()) {
    Result<Table> sorted = report_rows(std::move(*report), {.sort_by = std::string(part.sort_by)});
    if (!sorted.ok()) return sorted.status();
    report->table = *std::move(sorted);
  }
  const bool is_empty = report->table.rows.empty();
  return TableContent{.name = part.name,
                      .title = part.title,
                      .command = command_text(table(), options, part.sort_by),
                      .report = *std::move(report),
                      .sort_by = part.sort_by,
                      .is_curve = part.is_curve,
                      .most_rows = part.most_rows,
                      .columns = columns_of(part.view),
                      .empty = is_empty ? std::string(why_empty(part.view)) : std::string()};
}

bool any_failure(const AnalysisReport& peaks) {
  const auto& columns = peaks.table.columns;
  const auto column =
      static_cast<std::size_t>(std::ranges::find(columns, "out_of_memory") - columns.begin());
  return std::ranges::any_of(peaks.table.rows, [&](const std::vector<Cell>& row) {
    return std::get<std::int64_t>(row[column]) > 0;
  });
}

}  // namespace

Result<std::vector<ViewContent>> snapshot_views(const MemorySnapshot& snapshot) {
  ViewContent memory{.view = view_named("memory")};
  bool has_failed = false;
  for (const Part& part : kParts) {
    Result<TableContent> content = content_of(snapshot, part, has_failed);
    if (!content.ok()) return content.status();
    if (part.name == "peak") {
      has_failed = any_failure(content->report);
      content->report.notes = memory_snapshot_sentences(snapshot);
    }
    memory.tables.push_back(*std::move(content));
  }
  ViewContent stacks{.view = view_named("flame_graph")};
  const auto add_stacks = [&](std::string_view name, std::string_view title,
                              const char* at) -> Status {
    Result<StackTree> tree = memory_snapshot_stacks(snapshot, {{"at", std::string(at)}});
    if (!tree.ok()) return tree.status();
    if (tree->total() == 0 && std::string_view(at) == "oom") return {};
    const bool is_empty = tree->total() == 0;
    stacks.stacks.push_back({.name = name,
                             .title = title,
                             .tree = *std::move(tree),
                             .empty = is_empty ? "nothing was allocated" : ""});
    return {};
  };
  for (const Status& added :
       {add_stacks("oom", "When an allocation failed", "oom"),
        add_stacks("peak", "At the peak", "peak"), add_stacks("end", "At the end", "end")}) {
    if (!added.ok()) return added;
  }
  std::vector<ViewContent> views;
  views.push_back(std::move(memory));
  views.push_back(std::move(stacks));
  return views;
}

}  // namespace tbtrace::pages
