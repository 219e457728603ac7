// The figures of the first page, in the order of its JSON; JSON and table are made of them.
// Entries own their texts. Pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/summary.h>

namespace tbtrace::writers {

/// A member of an entry of a list, such as `bytes` of a holder of memory.
using InnerMember = std::pair<std::string_view, Cell>;
using InnerList = std::vector<std::vector<InnerMember>>;

/// A figure, or a list of entries with figures of their own.
struct SummaryMember {
  std::string name;
  std::variant<Cell, InnerList> value;
};

struct SummaryEntry {
  std::size_t trace = 0;  ///< number of its input
  std::optional<std::int64_t> rank;
  Cell name;  ///< what it is about, such as the operator; none if there is one entry per trace
  std::vector<SummaryMember> members;
};

/// One of the lists, such as `operators`, with the entries of all traces.
struct SummaryPart {
  std::string_view name;
  std::vector<SummaryEntry> entries;
};

std::vector<SummaryPart> summary_entries(const std::vector<TraceSummary>& summaries);

}  // namespace tbtrace::writers
