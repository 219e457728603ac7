// Memory records in torch's event list.
// A step on TorchRows, and the sums that it needs. Not synchronised.
// Source: torch/autograd/profiler.py (MemRecordsAcc, _parse_kineto_results).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch/rows.h"

namespace tbtrace::analyses {

/// A record counts for every CPU event that contains its time (ends included), on any thread.
class TorchMemory {
 public:
  /// `events`: those of other categories with a record's name, by start; they count as records of 0
  /// bytes.
  TorchMemory(std::span<const MemoryRecord> records, std::span<const MemoryRecord> events);

  bool empty() const { return records_.empty() && failed_.empty(); }

  /// Adds a range; call in the order of starts. Records in no range become leftovers.
  void cover(std::int64_t start_ns, std::int64_t end_ns);

  /// After the last cover(): the records in no range, and all failed allocations; by time.
  std::vector<MemoryRecord> leftovers();

  /// What a record counts: nothing if the allocation failed.
  static TorchRows::Memory bytes_of(const MemoryRecord& record);

  /// The memory of a range. `near`: 0, then left by the last call. Fast in the order of starts, but
  /// any order works: rows are sorted by doubles, which do not distinguish all nanoseconds.
  TorchRows::Memory within(std::int64_t start_ns, std::int64_t end_ns, std::size_t& near) const {
    if (near > 0 && records_[near - 1].time_ns >= start_ns) near = first_from(start_ns);
    while (near < records_.size() && records_[near].time_ns < start_ns) ++near;
    if (near == records_.size() || records_[near].time_ns > end_ns) return {};
    return sum_until(near, end_ns);
  }

 private:
  static constexpr std::size_t kSumStep = 16;  // one sum per record would take 32 bytes each

  void settle_before(std::int64_t time_ns);
  std::size_t first_from(std::int64_t time_ns) const;
  /// Of `first` and the records after it up to the time, which `first` is not after.
  TorchRows::Memory sum_until(std::size_t first, std::int64_t end_ns) const;
  TorchRows::Memory sum_of(std::size_t first, std::size_t last) const;
  TorchRows::Memory sum_before(std::size_t record) const;

  std::span<const MemoryRecord> records_;  // by time: the trace's, or own_
  std::vector<MemoryRecord> own_;
  std::vector<MemoryRecord> failed_;
  std::vector<TorchRows::Memory> sums_;  // of all records before each kSumStep-th
  std::vector<MemoryRecord> leftovers_;
  std::size_t next_ = 0;  // the first record that may still be covered
  std::int64_t covered_until_ = INT64_MIN;
};

}  // namespace tbtrace::analyses
