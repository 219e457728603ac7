#include "report/duration_sketch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/bounded_sum.h"
#include "base/nearest_integer.h"

namespace tbtrace::report {
namespace {

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();

/// The first duration of each bucket from 1 on.
std::vector<std::int64_t> make_starts() {
  std::vector<std::int64_t> starts = {0};
  WideInteger start = 1;
  while (start <= kLongest) {
    starts.push_back(static_cast<std::int64_t>(start));
    start = std::max(start + 1, start * 101 / 99);
  }
  return starts;
}

const std::vector<std::int64_t>& starts() {
  static const std::vector<std::int64_t> kStarts = make_starts();
  return kStarts;
}

}  // namespace

std::uint32_t DurationSketch::bucket_count() { return static_cast<std::uint32_t>(starts().size()); }

std::uint32_t DurationSketch::bucket_of(std::int64_t ns) {
  if (ns <= 0) return 0;
  const std::vector<std::int64_t>& all = starts();
  const auto after = std::upper_bound(all.begin(), all.end(), ns);
  return static_cast<std::uint32_t>(after - all.begin() - 1);
}

/// The harmonic mean of the first and the last duration is as far from both, in percent.
std::int64_t DurationSketch::value_of(std::uint32_t bucket) {
  if (bucket == 0) return 0;
  const std::vector<std::int64_t>& all = starts();
  const auto first = static_cast<long double>(all[bucket]);
  const auto last =
      static_cast<long double>(bucket + 1 < all.size() ? all[bucket + 1] - 1 : kLongest);
  return nearest_integer(2 * first * (last / (first + last)));
}

void DurationSketch::add(std::int64_t ns) {
  const std::uint32_t bucket = bucket_of(ns);
  const auto place = std::ranges::lower_bound(counts_, bucket, {},
                                              [](const Count& count) { return count.bucket; });
  if (place != counts_.end() && place->bucket == bucket) {
    place->durations = saturating_sum(place->durations, 1);
  } else {
    counts_.insert(place, {bucket, 1});
  }
}

void DurationSketch::add(const DurationSketch& other) {
  std::vector<Count> sum;
  sum.reserve(counts_.size() + other.counts_.size());
  auto one = counts_.begin();
  auto two = other.counts_.begin();
  while (one != counts_.end() || two != other.counts_.end()) {
    if (two == other.counts_.end() || (one != counts_.end() && one->bucket < two->bucket)) {
      sum.push_back(*one++);
    } else if (one == counts_.end() || two->bucket < one->bucket) {
      sum.push_back(*two++);
    } else {
      sum.push_back({one->bucket, saturating_sum(one->durations, two->durations)});
      ++one;
      ++two;
    }
  }
  counts_ = std::move(sum);
}

std::int64_t DurationSketch::percentile(int percent) const {
  WideInteger all = 0;
  for (const Count& count : counts_) all += count.durations;
  if (all == 0) return 0;
  const WideInteger rank = std::max<WideInteger>(1, (all * percent + 99) / 100);
  WideInteger so_far = 0;
  for (const Count& count : counts_) {
    so_far += count.durations;
    if (so_far >= rank) return value_of(count.bucket);
  }
  return value_of(counts_.back().bucket);
}

}  // namespace tbtrace::report
