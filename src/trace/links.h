// Which call launched which device work, and inside which operator.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
// Work whose launch or operator is not in the file stays unlinked and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"
#include "trace/process_scopes.h"

namespace tbtrace {

/// Two relations: from work to launch by `correlation`, else by the flow event that ends at the
/// work; from launch to operator by a valid `External id`, else by containment on the launching
/// thread. Ids are unique only within a process.
class Links {
 public:
  Links(const Trace& trace, const CallTree& tree);

  /// All device work, by start.
  std::span<const DeviceLink> device_work() const { return work_.view(); }
  /// The same without misplaced work: for windows, idle time, shares of time and steps.
  std::span<const DeviceLink> placed_work() const {
    return misplaced_.empty() ? work_.view() : placed_.view();
  }
  /// Work whose times cannot be, by start: it begins far before its own launch, or lies far outside
  /// of the recording (recording_reach() in times.h). None if that is half of the work or more:
  /// then the device's clock is off as a whole, and its times fit each other. Also all work whose
  /// times were lost (times.h).
  std::span<const EventId> misplaced() const { return misplaced_; }
  bool is_misplaced(EventId event) const {
    return !misplaced_.empty() && is_misplaced_.contains(event);
  }

  const LinkReport& report() const { return report_; }

  /// The process in which an event's ids are valid: a number below scopes(), or
  /// ProcessScopes::kUnknown for a device event that nothing connects to a process.
  std::uint32_t scope(const Trace& trace, EventId event) const {
    return scopes_.is_single() ? 0 : scope_of_several(trace, event);
  }
  /// The same for ids of the process's own activity.
  std::uint32_t scope(TrackId track) const { return scopes_.of(track); }
  std::size_t scopes() const { return scopes_.count(); }

 private:
  std::uint32_t scope_of_several(const Trace& trace, EventId event) const;
  void find_launches(const Trace& trace, std::span<const EventId> calls);
  void find_launches_of_processes(const Trace& trace, std::span<const EventId> calls);
  void find_launches_by_flow(const Trace& trace, std::span<const EventId> calls);
  void find_operators(const Trace& trace, const CallTree& tree);
  void find_misplaced(const Trace& trace);
  void count(const Trace& trace);

  Column<DeviceLink> work_;
  Column<DeviceLink> placed_;  // if there is misplaced work
  std::vector<EventId> misplaced_;
  std::unordered_set<EventId> is_misplaced_;
  ProcessScopes scopes_;
  Column<EventId> launch_;  // by event, if the file holds several processes
  LinkReport report_;
};

/// The links of a trace, computed by the first call on any thread. The trace owns them.
const Links& links_of(const Trace& trace);

}  // namespace tbtrace
