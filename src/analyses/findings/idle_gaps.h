// The longest gaps of a device, with what the host did meanwhile.
// Results own their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/gpu/gaps.h"

namespace tbtrace::analyses {

struct IdleGap {
  TimeRange time;
  EventId ended_by = EventId::none;  ///< an activity of the device
  /// What the thread that launched this activity did in most of the gap (host_times()):
  /// `aten::to` or `aten::to in train.py(46): forward`; empty if nothing was recorded there.
  std::string host;
};

/// The longest first, at most `most`.
std::vector<IdleGap> longest_gaps(const Trace& trace, std::span<const DeviceGap> gaps,
                                  std::size_t most);

}  // namespace tbtrace::analyses
