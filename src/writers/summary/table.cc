// The figures of the first page as rows, for spreadsheets and documents.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/summary.h>

#include "report/optional_cell.h"
#include "report/table_list.h"
#include "writers/summary/entries.h"

namespace tbtrace {

const TableDescription& analyses::summary_table() {
  static const TableDescription kTable = {.name = "summary",
                                          .schema = "tbtrace.summary/1",
                                          .summary = "the figures of the first page about a trace",
                                          .about = {},
                                          .columns = columns_in(R"(
part | text | a list of the document
trace | integer or null | number of its input
rank | integer or null | from `distributedInfo`
name | any | what the figure is about; null if it is the trace
quantity | text | the member
value | any
)")};
  return kTable;
}

Table summary_table(const std::vector<TraceSummary>& summaries,
                    const std::optional<StragglerResult>& stragglers) {
  Table table;
  table.columns = analyses::summary_table().column_names();
  for (const writers::SummaryPart& part : writers::summary_entries(summaries)) {
    for (const writers::SummaryEntry& entry : part.entries) {
      const auto add = [&](std::string quantity, const Cell& value) {
        table.rows.push_back({std::string(part.name), static_cast<std::uint64_t>(entry.trace),
                              report::optional_cell(entry.rank), entry.name, std::move(quantity),
                              value});
      };
      for (const writers::SummaryMember& member : entry.members) {
        const auto* const list = std::get_if<writers::InnerList>(&member.value);
        if (list == nullptr) {
          add(member.name, std::get<Cell>(member.value));
          continue;
        }
        for (std::size_t at = 0; at < list->size(); ++at) {
          const std::string prefix = member.name + "[" + std::to_string(at) + "].";
          for (const auto& inner : (*list)[at])
            add(prefix + std::string(inner.first), inner.second);
        }
      }
    }
  }
  if (!stragglers) return table;
  for (const Straggler& one : stragglers->stragglers) {
    const auto add = [&](const char* quantity, const Cell& value) {
      table.rows.push_back({std::string("stragglers"), Cell(), one.rank,
                            "rank " + std::to_string(one.rank), std::string(quantity), value});
    };
    add("cause", std::string(straggler_cause_name(one.cause)));
    add("excess_per_step_ns", one.excess_per_step_ns);
    add("cause_ns", one.cause_ns);
    add("share", one.share);
    add("steps", static_cast<std::uint64_t>(one.steps.size()));
    add("peer", report::optional_cell(one.peer));
  }
  return table;
}

}  // namespace tbtrace
