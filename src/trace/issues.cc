#include "trace/issues.h"

#include <algorithm>

namespace tbtrace {

void Losses::add(const Loss& loss) {
  const bool goes_on = others == 0 && !kept.empty() && kept.back().id == loss.id &&
                       kept.back().end == loss.start && loss.end > loss.start;
  if (goes_on) {
    kept.back().end = loss.end;
    return;
  }
  // What follows the document is the last one, and goes on with each further text.
  if (kept.size() < kMost || loss.id == IssueId::trailing_text) {
    kept.push_back(loss);
    return;
  }
  ++others;
  others_bytes += loss.end - loss.start;
}

void IssueLog::add_lost(IssueId id, std::uint64_t offset, std::uint64_t end) {
  begin_loss(id, offset);
  end_loss(end);
}

void IssueLog::begin_loss(IssueId id, std::uint64_t offset) {
  end_loss(offset);
  add(id, offset);
  begun_ = Loss{id, offset, offset};
}

void IssueLog::end_loss(std::uint64_t end) {
  if (!begun_) return;
  begun_->end = std::max(end, begun_->start);
  losses_.add(*begun_);
  begun_.reset();
}

void IssueLog::extend_loss(std::uint64_t end) {
  if (!losses_.kept.empty()) losses_.kept.back().end = end;
}

void IssueLog::replace_losses(const Loss& loss) {
  std::erase_if(losses_.kept, [&](const Loss& each) {
    return loss.start <= each.start && each.start < loss.end;
  });
  // They come after those that are kept, and so within it.
  losses_.others = 0;
  losses_.others_bytes = 0;
  const auto after = std::ranges::upper_bound(losses_.kept, loss.start, {}, &Loss::start);
  losses_.kept.insert(after, loss);
}

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
  for (const Loss& loss : other.losses_.kept) {
    losses_.add({loss.id, loss.start + shift, loss.end + shift});
  }
  losses_.others += other.losses_.others;
  losses_.others_bytes += other.losses_.others_bytes;
  other.losses_ = {};
  if (other.begun_) begun_ = Loss{other.begun_->id, other.begun_->start + shift, 0};
  other.begun_.reset();
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
