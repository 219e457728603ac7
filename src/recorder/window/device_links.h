// Which operator made which CUDA call, and which call launched which activity of a device.
// A call belongs to the innermost operator that was open on its thread when it began; no number is
// handed from one to the other while the program runs. An activity belongs to the call whose
// correlation it has, whenever it ran: device clocks are never compared with the program's.
// Values only. Any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "recorder/log/device_trace.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

struct DeviceLinks {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // Of each call, rows of the window's ranges.
  std::vector<std::uint32_t> call_operator;
  std::vector<std::uint32_t> call_annotation;  ///< the innermost range of the user
  /// Of each activity, a row of the calls.
  std::vector<std::uint32_t> activity_call;

  /// What a stream did within a range of the user: from the first to the last activity of its
  /// calls.
  struct Annotation {
    std::uint32_t range;
    std::uint32_t device;
    std::uint32_t stream;
    std::uint64_t start_ticks;
    std::uint64_t end_ticks;
  };
  std::vector<Annotation> annotations;  ///< by start

  // Where the driver was told of operators, too: calls of which it said one, and those of which it
  // said another one.
  std::uint64_t checked = 0;
  std::uint64_t different = 0;
};

DeviceLinks link_device_trace(const Window& window, const DeviceTrace& trace);

}  // namespace tbtrace::recorder
