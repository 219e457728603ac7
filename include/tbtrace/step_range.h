// Some steps of a trace, by their numbers.
#pragma once

#include <cstdint>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// From the first to the last number, both included.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool contains(std::int64_t number) const { return first <= number && number <= last; }
  bool operator==(const StepRange&) const = default;
};

}  // namespace tbtrace
