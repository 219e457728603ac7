// Process and thread ids as text.
#pragma once

#include <string>

#include <tbtrace/trace.h>

namespace tbtrace {

/// As in the file; numbers in their shortest form.
inline std::string key_text(const Trace& trace, const TrackKey& key) {
  return key.text == StringId::empty ? std::to_string(key.number)
                                     : std::string(trace.string(key.text));
}

}  // namespace tbtrace
