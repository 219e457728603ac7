// Memory records in torch's event list.
// A step on TorchRows, and the sums that it needs. Not synchronised.
// Source: torch/autograd/profiler.py (MemRecordsAcc, _parse_kineto_results).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch_rows.h"

namespace tbtrace::analyses {

/// A record counts for every event of the CPU that it lies in, on any thread, ends included.
class TorchMemory {
 public:
  /// `names`: events of other categories may bear a record's name; they are records of no bytes.
  TorchMemory(const Trace& trace, TorchNames& names);

  bool empty() const { return records_.empty() && failed_.empty(); }

  /// Tells of a range, in the order of their starts. Records in no range will be left over.
  void cover(std::int64_t start_ns, std::int64_t end_ns);

  struct Leftover {
    MemoryRecord record;
    TorchRows::Memory bytes;
  };
  /// Once all ranges are told: the records that lie in none, and all failed allocations, whose
  /// bytes are not counted; by time.
  std::vector<Leftover> leftovers();

  /// What lies in a range; quick in the order of their starts. Doubles do not tell all times apart,
  /// so rows need not come in the order of their nanoseconds.
  TorchRows::Memory within(std::int64_t start_ns, std::int64_t end_ns);

 private:
  static constexpr std::size_t kSumStep = 16;  // a sum for each record would take 32 bytes of it

  void settle_before(std::int64_t time_ns);
  TorchRows::Memory sum_of(std::size_t first, std::size_t last) const;
  TorchRows::Memory sum_before(std::size_t record) const;

  std::span<const MemoryRecord> records_;  // by time: the trace's, or own_
  std::vector<MemoryRecord> own_;
  std::vector<MemoryRecord> failed_;
  std::vector<TorchRows::Memory> sums_;  // of all records before each kSumStep-th
  std::vector<Leftover> leftovers_;
  std::size_t next_ = 0;  // the first record of which it is not known whether it is left over
  std::int64_t covered_until_ = INT64_MIN;
  std::size_t first_ = 0;  // the first record that the last range could hold
};

}  // namespace tbtrace::analyses
