// The collectives of one trace: its kernels and ranges with what c10d recorded about them.
// Results refer to the Trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::jobs {

struct RecordedCollective {
  EventId event = EventId::none;  ///< a kernel, or a range of the host
  EventId symmetric =
      EventId::none;  ///< the operator of symmetric memory around the launch, if any
  /// If it ran on copy engines, the activity of it that ended last; `event` started first.
  EventId last_copy = EventId::none;
  EventId launch = EventId::none;      ///< where the host called it, if known
  EventId details = EventId::none;     ///< the event whose arguments describe it; it may be `event`
  EventId annotation = EventId::none;  ///< `nccl:all_reduce`, if there is one around the launch
};

struct RecordedCollectives {
  std::vector<RecordedCollective> collectives;  ///< by start
  std::vector<bool> is_part;                    ///< by EventId: of the kernels and ranges above
  std::uint64_t calls_without_kernel = 0;
};

/// Kernels that communicate; the copies of each collective that ran on copy engines; ranges of
/// backends that run on the host; and if the trace has neither, what record_param_comms shows of a
/// backend on the host. Takes O(n log n) time.
RecordedCollectives recorded_collectives(const Trace& trace);

}  // namespace tbtrace::jobs
