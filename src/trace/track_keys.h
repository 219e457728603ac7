// Tracks as text, and places (an instant on a track) as keys of maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "base/hash.h"

namespace tbtrace {

/// A process or thread id as in the file; numbers in their shortest form.
inline std::string key_text(const Trace& trace, const TrackKey& key) {
  return key.text == StringId::empty ? key.number_text() : std::string(trace.string(key.text));
}

/// `thread 12 (main)`; `what` is `thread` or `stream`. Names that have the id already stay
/// unchanged.
std::string track_label(const Trace& trace, const Track& track, std::string_view what);

/// A text without the blanks around it.
std::string_view trimmed(std::string_view name);

/// Two places may share a key, so after a lookup, check that the row is at the place.
inline std::int64_t place_key(TrackId track, std::int64_t time_ns) {
  return static_cast<std::int64_t>(hash_integer(static_cast<std::uint64_t>(time_ns), index(track)));
}

}  // namespace tbtrace
