// Tracks as text, and places (an instant on a track) as keys of maps.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/trace.h>

#include "base/hash.h"

namespace tbtrace {

/// A process or thread id as in the file; numbers in their shortest form.
inline std::string key_text(const Trace& trace, const TrackKey& key) {
  return key.text == StringId::empty ? key.number_text() : std::string(trace.string(key.text));
}

/// Two places may share a key, so after a lookup, check that the row is at the place.
inline std::int64_t place_key(TrackId track, std::int64_t time_ns) {
  return static_cast<std::int64_t>(hash_integer(static_cast<std::uint64_t>(time_ns), index(track)));
}

}  // namespace tbtrace
