// Self time of each host range.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Ranges may overlap without nesting; every instant is still counted once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// On each thread every instant belongs to the open range that started last. Therefore the self
/// times and the idle time of a thread add up to the window, to the nanosecond.
class SelfTimes {
 public:
  /// Counts only the time from `from` up to, not including, `until`.
  SelfTimes(const Trace& trace, const CallTree& tree, std::int64_t from = INT64_MIN,
            std::int64_t until = INT64_MAX);

  /// 0 for events that are not host ranges.
  std::int64_t ns(EventId event) const { return ns_[index(event)]; }

  /// Time during which at least one range was open on the thread, by TrackId.
  std::span<const std::int64_t> busy_ns() const { return busy_ns_; }

 private:
  Column<std::int64_t> ns_;
  std::vector<std::int64_t> busy_ns_;
};

/// The self times of a trace, computed by the first call on any thread. The trace owns them.
const SelfTimes& self_times_of(const Trace& trace);

}  // namespace tbtrace
