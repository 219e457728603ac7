// Keys for maps from places (an instant on a track) to rows.
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

#include "base/hash.h"

namespace tbtrace {

/// Two places may share a key, so after a lookup, check that the row is at the place.
inline std::int64_t place_key(TrackId track, std::int64_t time_ns) {
  return static_cast<std::int64_t>(hash_integer(static_cast<std::uint64_t>(time_ns), index(track)));
}

}  // namespace tbtrace
