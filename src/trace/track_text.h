// Process and thread ids as text.
// Pure function.
#pragma once

#include <string>

#include <tbtrace/trace.h>

namespace tbtrace {

/// As the file has it, a number in its shortest form.
inline std::string key_text(const Trace& trace, const TrackKey& key) {
  return key.text == StringId::empty ? std::to_string(key.number)
                                     : std::string(trace.string(key.text));
}

}  // namespace tbtrace
