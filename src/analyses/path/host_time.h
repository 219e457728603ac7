// The time of each host thread as a sequence of stretches, each of the innermost range.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

struct HostStretch {
  std::int64_t start = 0;
  std::int64_t end = 0;
  EventId range = EventId::none;
};

class HostTime {
 public:
  explicit HostTime(const Trace& trace);

  /// By time; between two of them no range was open.
  std::span<const HostStretch> of(TrackId thread) const {
    return stretches_.view().subspan(first_[index(thread)],
                                     first_[index(thread) + 1] - first_[index(thread)]);
  }

 private:
  Column<HostStretch> stretches_;
  std::vector<std::size_t> first_;  // by thread, and one more
};

/// Calls `give(range, start, end)` for the stretches of a thread in a time, and with
/// EventId::none where no range was open.
template <typename Give>
void for_each_stretch(std::span<const HostStretch> stretches, std::int64_t start, std::int64_t end,
                      Give give) {
  auto next = std::ranges::partition_point(
      stretches, [&](const HostStretch& each) { return each.end <= start; });
  while (start < end) {
    const bool is_over = next == stretches.end() || next->start >= end;
    const std::int64_t begins = is_over ? end : next->start;
    if (begins > start) give(EventId::none, start, begins);
    if (is_over) return;
    const std::int64_t from = begins > start ? begins : start;
    const std::int64_t until = next->end < end ? next->end : end;
    give(next->range, from, until);
    start = until;
    ++next;
  }
}

}  // namespace tbtrace::analyses
