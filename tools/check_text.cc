#include "check_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include <tbtrace/report.h>

#include "console.h"
#include "inputs.h"

namespace tbtrace::tools {
namespace {

/// Of `tbtrace.check/1`.
enum Column : std::size_t { input, severity, id, count, example, at_ns, offset, cause, remedy };

/// The text of a cell, empty without a value.
std::string text_in(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : "";
}

std::string place_of(const Cell& input) {
  const std::string path = text_in(input);
  return path.empty() ? "all inputs" : printable(subject_of(path));
}

/// `  first: cudaLaunchKernel, at 1250 ns`: a line with what is known of the first one.
std::string first_of(const std::vector<Cell>& row, bool is_one_of_several) {
  std::string first;
  const auto add = [&](const std::string& text) { first += (first.empty() ? "" : ", ") + text; };
  if (const std::string name = text_in(row[example]); !name.empty()) add(printable(name));
  if (const auto* at = std::get_if<std::int64_t>(&row[at_ns])) {
    add("at " + std::to_string(*at) + " ns");
  }
  if (const auto* byte = std::get_if<std::uint64_t>(&row[offset])) {
    add("at byte " + std::to_string(*byte));
  }
  if (is_one_of_several) add("in " + place_of(row[input]));
  return first.empty() ? "" : "  first: " + first + "\n";
}

/// A finding, and in how many inputs it is.
struct Paragraph {
  const std::vector<Cell>* first = nullptr;
  std::size_t inputs = 0;
  std::uint64_t count = 0;

  bool says_the_same(const std::vector<Cell>& row) const {
    return std::ranges::all_of(std::array{severity, id, cause, remedy},
                               [&](Column column) { return (*first)[column] == row[column]; });
  }

  std::string text() const {
    const std::vector<Cell>& row = *first;
    std::string text = text_in(row[severity]) + " " + text_in(row[id]) + ", " +
                       std::to_string(count) + " x, in " +
                       (inputs == 1 ? place_of(row[input]) : std::to_string(inputs) + " inputs") +
                       "\n" + first_of(row, inputs > 1) + "  " + text_in(row[cause]) + "\n";
    if (const std::string advice = text_in(row[remedy]); !advice.empty()) {
      text += "  remedy: " + advice + "\n";
    }
    return text + "\n";
  }
};

std::vector<Paragraph> paragraphs_of(const Table& table) {
  std::vector<Paragraph> paragraphs;
  for (const std::vector<Cell>& row : table.rows) {
    const auto same = std::ranges::find_if(
        paragraphs, [&](const Paragraph& paragraph) { return paragraph.says_the_same(row); });
    Paragraph& paragraph =
        same != paragraphs.end() ? *same : paragraphs.emplace_back(Paragraph{.first = &row});
    ++paragraph.inputs;
    paragraph.count += std::get<std::uint64_t>(row[count]);
  }
  return paragraphs;
}

std::string recorded_text(const std::vector<RecordedInput>& inputs) {
  std::vector<std::pair<const RecordedInput*, std::size_t>> groups;
  for (const RecordedInput& one : inputs) {
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return group.first->lines == one.lines; });
    if (same != groups.end()) {
      ++same->second;
    } else {
      groups.emplace_back(&one, 1);
    }
  }
  std::string text;
  for (const auto& [first, same] : groups) {
    if (first->lines.empty()) continue;
    if (groups.size() > 1) {
      text += printable(subject_of(first->path)) +
              (same > 1 ? " and " + std::to_string(same - 1) + " more" : "") + "\n";
    }
    for (const std::string& line : first->lines) text += line + "\n";
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::string> check_text(const AnalysisReport& report,
                               const std::vector<RecordedInput>& inputs,
                               const ReportOptions& options) {
  ReportOptions all = options;
  all.row_limit = -1;
  const Result<Table> rows = report_rows(report, all);
  if (!rows.ok()) return rows.status();
  const std::vector<Paragraph> paragraphs = paragraphs_of(*rows);
  const std::size_t shown =
      options.row_limit < 0
          ? paragraphs.size()
          : std::min(paragraphs.size(), static_cast<std::size_t>(options.row_limit));
  // A process that died explains what is missing.
  std::size_t recovered = 0;
  while (recovered < shown && text_in((*paragraphs[recovered].first)[id]) == "recovered_trace") {
    ++recovered;
  }
  std::string text;
  for (std::size_t at = 0; at < recovered; ++at) text += paragraphs[at].text();
  text += recorded_text(inputs);
  for (std::size_t at = recovered; at < shown; ++at) text += paragraphs[at].text();
  if (const std::size_t hidden = paragraphs.size() - shown; hidden > 0) {
    text += "... and " + std::to_string(hidden) +
            (hidden == 1 ? " more finding\n\n" : " more findings\n\n");
  }
  std::string totals;
  for (const auto& [name, number] : report.totals) {
    totals += (totals.empty() ? "" : ", ") + name + ": " +
              std::to_string(std::get<std::uint64_t>(number));
  }
  return text + totals + "\n";
}

}  // namespace tbtrace::tools
