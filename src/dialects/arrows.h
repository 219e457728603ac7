// The arrows of a trace, made anew from its links: from a launch to its work, and from a forward
// operator to its backward pass. Readers complain of arrows of which an end is missing, or is no
// range, of those that lead back in time, or of ids that are used twice.
// Pure function of a trace. Results own what they hold.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "dialects/crossings.h"

namespace tbtrace::dialects {

struct Arrows {
  enum class Kind : std::uint8_t { launch, forward_backward };
  struct End {
    EventId event = EventId::none;  ///< at whose start it is
    std::uint32_t id = 0;           ///< of its kind
    Kind kind = Kind::launch;
    bool start = false;
  };

  std::vector<End> ends;       ///< sorted by event
  std::uint64_t left_out = 0;  ///< ends of forward_backward that found no other, or no range
};

/// `origin_ns` is what will be subtracted from all times.
Arrows make_arrows(const Trace& trace, const Crossings& crossings, std::int64_t origin_ns);

}  // namespace tbtrace::dialects
