// A comparison for people: circumstances, the verdict on the step, what explains it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/diff.h>

#include "base/utf8.h"
#include "report/table_columns.h"
#include "writers/diff/json.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace {
namespace {

constexpr std::array kAll = {DiffBy::part,   DiffBy::op,     DiffBy::shape,
                             DiffBy::kernel, DiffBy::module, DiffBy::line};

/// Smaller changes are 0 in whole ns.
constexpr double kLeastShownNs = 0.5;

/// Rows that stand for time without what a division is by.
bool is_rest(const DiffRow& row) { return row.key.starts_with('['); }

const std::vector<DiffRow>& rows_of(const Diff& diff, DiffBy by) {
  return diff.rows[static_cast<std::size_t>(by)];
}

/// Divisions that say something: not those that only have a rest, and not shapes, which repeat
/// operators.
std::vector<DiffBy> telling(const Diff& diff) {
  std::vector<DiffBy> by;
  for (const DiffBy one : kAll) {
    const bool has_rows = !std::ranges::all_of(rows_of(diff, one), is_rest);
    if (has_rows && one != DiffBy::shape) by.push_back(one);
  }
  return by;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// A line that names of files and devices may be in, so that none of them is markup.
std::string escaped(std::string_view line, bool is_markdown) {
  std::string shown = writers::printable(line);
  if (!is_markdown) return shown;
  std::string text;
  for (const char c : shown) {
    if (std::string_view("\\`*_[]<>#|&").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string signed_percent(double share) {
  constexpr double kMost = 100;
  return share > kMost ? "more than +10,000 %" : fmt::format("{:+.1f} %", 100 * share);
}

std::string headline(const Diff& diff) {
  const StepChange& step = diff.step;
  std::string text = fmt::format("step: {:.3f} ms before, {:.3f} ms now, {}", step.base_ns / 1e6,
                                 step.new_ns / 1e6, signed_percent(step.change));
  if (step.low) {
    text += fmt::format(" (99.7 % interval {} to {})", signed_percent(*step.low),
                        signed_percent(*step.high));
  }
  return text;
}

std::string verdict_line(const Diff& diff) {
  if (diff.comparable == Comparable::no) return "verdict: not comparable";
  if (diff.is_same_recording) return diff.why;
  return "verdict: " + std::string(diff_verdict_name(diff.verdict)) + ". " + diff.why;
}

std::string steps_line(const StepChange& step) {
  if (!step.steps_low) return {};
  return fmt::format(
      "The steps of these two runs differ by {} to {}; how much runs differ is not known.",
      signed_percent(*step.steps_low), signed_percent(*step.steps_high));
}

std::vector<std::string> head_lines(const Diff& diff, const std::vector<LimitResult>& limits) {
  std::vector<std::string> lines = {"base: " + listed(diff.base_names),
                                    "new:  " + listed(diff.new_names)};
  if (diff.comparable == Comparable::warning) lines.emplace_back("comparable with a warning:");
  if (diff.comparable == Comparable::no) lines.emplace_back("not comparable:");
  for (const std::string& reason : diff.reasons) lines.push_back("- " + reason);
  if (!diff.batches.empty()) lines.push_back("Batches: " + diff.batches + ".");
  if (!diff.sentence.empty()) lines.push_back(diff.sentence);
  if (diff.comparable != Comparable::no && !diff.is_same_recording) {
    constexpr std::size_t kMost = 2;
    for (std::size_t at = 0; at < std::min(kMost, diff.phases.size()); ++at) {
      const std::string& sentence = diff.phases[at].sentence;
      if (!sentence.empty()) lines.push_back("- " + sentence + ".");
    }
  }
  lines.push_back(headline(diff));
  lines.push_back(verdict_line(diff));
  if (std::string steps = steps_line(diff.step); !steps.empty()) lines.push_back(std::move(steps));
  for (const LimitResult& limit : limits) {
    lines.push_back("- " + std::string(limit_verdict_name(limit.verdict)) + ": " + limit.sentence);
  }
  return lines;
}

Table quantities_table(const Diff& diff) {
  Table table{.columns = {"per step", "base", "new", "change", "interval"}, .rows = {}};
  for (const DiffQuantity& quantity : diff.quantities) {
    if (quantity.base_value.value_or(0) == 0 && quantity.new_value.value_or(0) == 0) continue;
    const auto text = [&](const std::optional<double>& value) {
      return value ? Cell(writers::shown_cell(quantity.name, *value)) : Cell();
    };
    Cell change;
    if (quantity.base_value && quantity.new_value && *quantity.base_value != 0) {
      change = signed_percent(*quantity.new_value / *quantity.base_value - 1);
    }
    Cell interval;
    if (quantity.low && quantity.high) {
      interval = signed_percent(*quantity.low) + " to " + signed_percent(*quantity.high);
    }
    table.rows.push_back({writers::heading_of(quantity.name), text(quantity.base_value),
                          text(quantity.new_value), std::move(change), std::move(interval)});
  }
  return table;
}

AnalysisReport people_report(const Diff& diff, DiffBy by) {
  AnalysisReport report = diff_rows_report(diff, by);
  // Rows without a change explain nothing; their counts say so.
  const std::size_t change = *report::column_named(report.table, "change_ns");
  const std::size_t unchanged =
      std::erase_if(report.table.rows, [change](const std::vector<Cell>& row) {
        return std::abs(std::get<double>(row[change])) < kLeastShownNs;
      });
  if (unchanged > 0) {
    report.notes.push_back(std::to_string(unchanged) + (unchanged == 1 ? " row" : " rows") +
                           " without a change");
  }
  const bool is_judged = std::ranges::any_of(rows_of(diff, by), [](const DiffRow& row) {
    return row.verdict == DiffVerdict::slower || row.verdict == DiffVerdict::faster;
  });
  if (!is_judged) std::erase(report.shown, "verdict");
  const bool has_renamed = std::ranges::any_of(
      rows_of(diff, by), [](const DiffRow& row) { return !row.base_key.empty(); });
  if (!has_renamed) std::erase(report.shown, "matched_by");
  // Shares of a change that hardly is one say nothing.
  constexpr double kLeastChange = 0.01;
  if (diff.comparable == Comparable::no || std::abs(diff.step.change) < kLeastChange) {
    std::erase(report.shown, "share");
  }
  const bool is_counted = std::ranges::any_of(rows_of(diff, by), [](const DiffRow& row) {
    return row.base_count != 0 || row.new_count != 0;
  });
  if (!is_counted) {
    std::erase(report.shown, "base_count");
    std::erase(report.shown, "new_count");
  }
  return report;
}

/// The shown columns in the units that people read; a pull request takes 65,536 characters.
std::string people_markdown(const AnalysisReport& report, std::int64_t row_limit) {
  constexpr std::size_t kMostRows = 50;
  constexpr std::size_t kMostCharacters = 120;
  const std::size_t most = row_limit < 0 ? kMostRows : static_cast<std::size_t>(row_limit);
  std::vector<std::size_t> places;
  Table table;
  for (const std::string& name : report.shown) {
    const std::size_t place = *report::column_named(report.table, name);
    const bool has_value = std::ranges::any_of(
        report.table.rows, [&](const std::vector<Cell>& row) { return row[place] != Cell(); });
    if (!has_value) continue;
    places.push_back(place);
    table.columns.push_back(writers::heading_of(name));
  }
  for (const std::vector<Cell>& row : report.table.rows) {
    if (table.rows.size() == most) break;
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const std::size_t place : places) {
      std::string text = writers::shown_cell(report.table.columns[place], row[place]);
      const std::string_view cut = utf8_prefix(text, kMostCharacters);
      if (cut.size() < text.size()) text = std::string(cut) + "\u2026";
      cells.emplace_back(std::move(text));
    }
  }
  std::string text = table_markdown(table);
  if (report.table.rows.size() > most) {
    text += "\n" + std::to_string(report.table.rows.size() - most) + " more rows.\n";
  }
  return text;
}

Result<std::string> people_text(const Diff& diff, const DiffTextOptions& options,
                                const std::vector<DiffBy>& by) {
  const bool is_markdown = options.format == TableFormat::markdown;
  std::string text;
  bool in_list = false;
  for (const std::string& line : head_lines(diff, options.limits)) {
    const bool is_item = line.starts_with("- ");
    if (is_markdown && in_list && !is_item) text += "\n";
    in_list = is_item;
    const std::string shown = escaped(line, is_markdown);
    text +=
        is_markdown ? shown + (is_item ? "\n" : "\n\n") : wrapped_text(shown + "\n", options.width);
  }
  if (diff.is_same_recording) return text;  // all rows are the same
  const ReportOptions rows = {.format = options.format,
                              .row_limit = options.row_limit,
                              .width = options.width,
                              .wide = options.wide,
                              .how_to_show_all_columns = options.how_to_show_all_columns};
  if (!diff.phases.empty()) {
    text += std::string(is_markdown ? "### " : "\n") + "By kind and batch, per step" +
            (is_markdown ? "\n\n" : "\n");
    const AnalysisReport report = diff_phases_report(diff);
    const Result<std::string> table =
        is_markdown ? people_markdown(report, options.row_limit) + "\n" : report_text(report, rows);
    if (!table.ok()) return table.status();
    text += *table;
  }
  for (const DiffBy one : by) {
    const bool is_changed = std::ranges::any_of(rows_of(diff, one), [](const DiffRow& row) {
      return std::abs(row.change_ns) >= kLeastShownNs;
    });
    if (!is_changed) {
      text += std::string(is_markdown ? "" : "\n") + "By " + std::string(diff_by_name(one)) +
              ": no change\n" + (is_markdown ? "\n" : "");
      continue;
    }
    text += std::string(is_markdown ? "### " : "\n") + "By " + std::string(diff_by_name(one)) +
            ", per step" + (is_markdown ? "\n\n" : "\n");
    const AnalysisReport report = people_report(diff, one);
    if (is_markdown) {
      text += people_markdown(report, options.row_limit) + "\n";
      continue;
    }
    const Result<std::string> table = report_text(report, rows);
    if (!table.ok()) return table.status();
    text += *table;
  }
  AnalysisReport quantities;
  quantities.table = quantities_table(diff);
  if (quantities.table.rows.empty()) return text;
  quantities.shown = quantities.table.columns;
  const Result<std::string> table =
      report_text(quantities, {.format = options.format, .width = options.width});
  if (!table.ok()) return table.status();
  return text + "\n" + *table;
}

}  // namespace

Result<std::string> diff_text(const Diff& diff, const DiffTextOptions& options) {
  const bool for_people =
      options.format == TableFormat::text || options.format == TableFormat::markdown;
  std::vector<DiffBy> by = options.by;
  if (by.empty()) by = for_people ? telling(diff) : std::vector<DiffBy>(kAll.begin(), kAll.end());
  if (for_people) return people_text(diff, options, by);
  if (options.format == TableFormat::json) return writers::diff_json(diff, by);
  Table all;
  for (const DiffBy one : by) {
    Table rows = diff_rows_report(diff, one).table;
    all.columns = std::move(rows.columns);
    std::ranges::move(rows.rows, std::back_inserter(all.rows));
  }
  return table_csv(all);
}

}  // namespace tbtrace
