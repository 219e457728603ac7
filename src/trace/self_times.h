// How long each range of the host runs itself.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Ranges may overlap without nesting; every instant is counted once all the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// On each thread every instant belongs to the open range that started last. So on a thread the
/// self times and the idle time make up the window, to the nanosecond.
class SelfTimes {
 public:
  SelfTimes(const Trace& trace, const CallTree& tree);

  /// 0 for events that are not ranges of the host.
  std::int64_t ns(EventId event) const { return ns_[index(event)]; }

  /// Time in which at least one range was open on the thread, by TrackId.
  std::span<const std::int64_t> busy_ns() const { return busy_ns_; }

 private:
  Column<std::int64_t> ns_;
  std::vector<std::int64_t> busy_ns_;
};

}  // namespace tbtrace
