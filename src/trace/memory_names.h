// By which name and category a range's row is a memory record instead, as torch's Python writer
// writes them.
#pragma once

#include <string_view>

namespace tbtrace {

inline constexpr std::string_view kMemoryCategory = "cpu_instant_event";
inline constexpr std::string_view kMemoryName = "[memory]";
inline constexpr std::string_view kOutOfMemoryName = "[OutOfMemory]";

constexpr bool is_memory_name(std::string_view name) {
  return name == kMemoryName || name == kOutOfMemoryName;
}

}  // namespace tbtrace
