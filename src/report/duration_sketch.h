// How durations are distributed, in little memory: counts in buckets that two sketches share, so
// that sketches of parts add up to the sketch of the whole, whatever the order.
// Plain values; any number of threads may read one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tbtrace::report {

/// Bucket 0 has what is not above 0 ns. Bucket 1 begins at 1 ns, and each other one at 101/99 of
/// the one before it, rounded down, but at least 1 ns later: the value that stands for a bucket is
/// within 1 % of every duration in it. The limits are integers, the same on every machine.
/// Source of the idea: Masson, Rim, Lee, DDSketch (2019); buckets here are never collapsed.
class DurationSketch {
 public:
  struct Count {
    std::uint32_t bucket = 0;
    std::uint64_t durations = 0;

    bool operator==(const Count&) const = default;
  };

  static std::uint32_t bucket_of(std::int64_t ns);
  /// The duration that stands for a bucket below bucket_count().
  static std::int64_t value_of(std::uint32_t bucket);
  static std::uint32_t bucket_count();

  DurationSketch() = default;
  /// By bucket, each at most once.
  explicit DurationSketch(std::vector<Count> counts) : counts_(std::move(counts)) {}

  void add(std::int64_t ns);
  void add(const DurationSketch& other);

  /// By bucket; none is 0.
  std::span<const Count> counts() const { return counts_; }

  /// The duration that `percent` of all are not longer than, within 1 %: the nearest rank. 0
  /// without durations.
  std::int64_t percentile(int percent) const;

 private:
  std::vector<Count> counts_;
};

}  // namespace tbtrace::report
