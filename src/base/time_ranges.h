// Sets of time as sorted ranges that do not overlap: union, intersection, difference.
// Source: torch-tb-profiler, profiler/range_utils.py.
// Ranges must not end before they start. Empty ranges are kept where the plugin keeps them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tbtrace {

/// From `start` up to, not including, `end`, in ns.
struct TimeRange {
  std::int64_t start = 0;
  std::int64_t end = 0;

  bool operator==(const TimeRange&) const = default;
};

/// Adds a range to a union; ranges must be added by start.
void add_range(std::vector<TimeRange>& ranges, TimeRange range);

std::vector<TimeRange> intersection(std::span<const TimeRange> a, std::span<const TimeRange> b);

/// The parts of `a` that are not in `b`.
std::vector<TimeRange> difference(std::span<const TimeRange> a, std::span<const TimeRange> b);

/// Of ranges that do not overlap.
std::int64_t total_length(std::span<const TimeRange> ranges);

/// Computes how much of a window is in a set, in logarithmic time.
class RangeLengths {
 public:
  /// `ranges` must outlive this.
  explicit RangeLengths(std::span<const TimeRange> ranges);

  std::int64_t within(TimeRange window) const { return until(window.end) - until(window.start); }

 private:
  std::int64_t until(std::int64_t time) const;

  std::span<const TimeRange> ranges_;
  std::vector<std::int64_t> before_;  // by range: the total length of all ranges before it
};

}  // namespace tbtrace
