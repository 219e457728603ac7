// The highest total of a curve of memory in any span of time.
// Refers to the curve, which must outlive it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/memory.h>

namespace tbtrace::analyses {

class HighestTotal {
 public:
  /// `before`: the total until the first point.
  HighestTotal(std::span<const MemoryPoint> curve, std::int64_t before);

  /// The highest total from what there was at the start to the last point at the end. Takes
  /// O(log n) time; less if each start is not before the last one.
  std::int64_t between(std::int64_t start_ns, std::int64_t end_ns);

 private:
  std::size_t first_from(std::int64_t time_ns);
  std::int64_t highest(std::size_t first, std::size_t last) const;

  std::span<const MemoryPoint> curve_;
  std::int64_t before_;
  std::size_t next_ = 0;             // where the last span began
  std::vector<std::int64_t> above_;  // node n of a tree has the highest of 2n and 2n + 1
};

}  // namespace tbtrace::analyses
