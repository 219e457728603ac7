// Where a thread stands still until collectives that run on other threads of the host have ended.
// Results are plain values. Pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/host_time.h"

namespace tbtrace::analyses {

struct HostCollective;

struct HostWait {
  TrackId thread = {};
  std::int64_t stops = 0;
  std::int64_t resumes = 0;                ///< when the last one ended
  std::vector<std::uint32_t> collectives;  ///< that ended meanwhile, by their numbers
};

/// No row says what such a thread waits for. It is taken to wait if collectives that it started
/// ended while it began and ended no range and was in no operator or call of the runtime, the last
/// of them in the second half of that time. An operator that waits (`wait_tensor`) counts as well.
std::vector<HostWait> find_host_waits(const Trace& trace, const HostTime& host,
                                      std::span<const HostCollective> collectives);

}  // namespace tbtrace::analyses
