// The flow events of a trace, regenerated from its links: from a launch to its work, and from a
// forward operator to its backward pass. Readers complain about flow events with a missing end,
// with an end that is not a range, that lead back in time, or whose ids are used twice.
// Pure function of a trace. Results own their data.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "chrome/rows/crossings.h"

namespace tbtrace::chrome {

struct Arrows {
  enum class Kind : std::uint8_t { launch, forward_backward };
  struct End {
    EventId event = EventId::none;  ///< the end is at this event's start
    std::uint32_t id = 0;           ///< within its kind
    Kind kind = Kind::launch;
    bool start = false;
  };

  std::vector<End> ends;       ///< sorted by event
  std::uint64_t left_out = 0;  ///< ends of forward_backward without another end, or without a range
};

/// `origin_ns` will be subtracted from all times. Each flow event gets an id of its own.
Arrows make_arrows(const Trace& trace, const Crossings& crossings, std::int64_t origin_ns);

}  // namespace tbtrace::chrome
