#include "trace/issues.h"

#include <algorithm>

namespace tbtrace {

void IssueLog::take(IssueLog& other, std::uint64_t shift) {
  for (std::size_t id = 0; id < counts_.size(); ++id) {
    Count& from = other.counts_[id];
    if (from.count == 0) continue;
    counts_[id].count += from.count;
    for (const std::uint64_t offset : from.offsets) {
      if (counts_[id].offsets.size() == kKeptOffsets) break;
      counts_[id].offsets.push_back(offset + shift);
    }
    from = {};
  }
}

bool IssueLog::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](const Count& c) { return c.count == 0; });
}

std::vector<Issue> IssueLog::list() const {
  std::vector<Issue> issues;
  for (std::size_t id = 0; id < counts_.size(); ++id) {
    if (counts_[id].count == 0) continue;
    const IssueRow& row = kIssueTable[id];
    issues.push_back({row.id, row.severity, row.sentence, counts_[id].count, counts_[id].offsets});
  }
  return issues;
}

}  // namespace tbtrace
