// The figures of the first page as rows, for spreadsheets and documents.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/summary.h>

#include "report/optional_cell.h"
#include "writers/summary/entries.h"

namespace tbtrace {

Table summary_table(const std::vector<TraceSummary>& summaries) {
  Table table;
  table.columns = {"part", "trace", "rank", "name", "quantity", "value"};
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
  return table;
}

}  // namespace tbtrace
