// Who launched which work of a device, and inside which operator.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
// Work whose launch or operator is not in the file stays unlinked and is counted.
#pragma once

#include <cstdint>
#include <span>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// A kernel, copy or fill with its launch and operator; EventId::none where there is none.
struct DeviceLink {
  EventId work = EventId::none;
  EventId launch = EventId::none;
  EventId op = EventId::none;
};

/// Two relations: work -> launch by `correlation`, else by the arrow that ends at the work; launch
/// -> operator by a valid `External id`, else by containment on the launching thread.
class Links {
 public:
  Links(const Trace& trace, const CallTree& tree);

  /// All work of devices, by start.
  std::span<const DeviceLink> device_work() const { return work_.view(); }

  /// The operator whose range, or else the annotation whose range, holds a launch.
  static EventId container(const Trace& trace, const CallTree& tree, EventId launch);

  const LinkReport& report() const { return report_; }

 private:
  void find_launches(const Trace& trace, std::span<const EventId> calls);
  void find_launches_by_flow(const Trace& trace, std::span<const EventId> calls);
  void find_operators(const Trace& trace, const CallTree& tree);
  void count(const Trace& trace);

  Column<DeviceLink> work_;
  LinkReport report_;
};

}  // namespace tbtrace
