#include "base/time_ranges.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace {

void add_range(std::vector<TimeRange>& ranges, TimeRange range) {
  if (!ranges.empty() && range.start <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

std::vector<TimeRange> intersection(std::span<const TimeRange> a, std::span<const TimeRange> b) {
  std::vector<TimeRange> common;
  std::size_t next = 0;
  for (TimeRange rest : a) {
    for (; next < b.size(); ++next) {
      const TimeRange& other = b[next];
      if (other.end <= rest.start) continue;
      const std::int64_t start = std::max(rest.start, other.start);
      if (other.end >= rest.end) {
        const bool any = other.start <= rest.start || other.start < rest.end;
        if (any) common.push_back({start, rest.end});
        break;  // `other` may continue in the next range of `a`
      }
      common.push_back({start, other.end});
      rest.start = other.end;
    }
  }
  return common;
}

std::vector<TimeRange> difference(std::span<const TimeRange> a, std::span<const TimeRange> b) {
  std::vector<TimeRange> left;
  std::size_t next = 0;
  for (TimeRange rest : a) {
    bool taken = false;
    for (; next < b.size(); ++next) {
      const TimeRange& other = b[next];
      if (other.end <= rest.start) continue;
      if (other.start >= rest.end && other.start > rest.start) break;
      if (other.start > rest.start) left.push_back({rest.start, other.start});
      taken = other.end >= rest.end;
      if (taken) break;  // `other` may continue in the next range of `a`
      rest.start = other.end;
    }
    if (!taken) left.push_back(rest);
  }
  return left;
}

std::int64_t total_length(std::span<const TimeRange> ranges) {
  std::int64_t sum = 0;
  for (const TimeRange& range : ranges) sum += range.end - range.start;
  return sum;
}

RangeLengths::RangeLengths(std::span<const TimeRange> ranges) : ranges_(ranges) {
  before_.reserve(ranges.size());
  std::int64_t length = 0;
  for (const TimeRange& range : ranges) {
    before_.push_back(length);
    length += range.end - range.start;
  }
}

std::int64_t RangeLengths::until(std::int64_t time) const {
  const auto after = std::partition_point(
      ranges_.begin(), ranges_.end(), [&](const TimeRange& range) { return range.start < time; });
  if (after == ranges_.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - ranges_.begin()) - 1;
  // Adding two lengths cannot overflow; adding a length and a time could.
  return before_[last] + (std::min(time, ranges_[last].end) - ranges_[last].start);
}

}  // namespace tbtrace
