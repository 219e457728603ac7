// Steps over the records of a buffer that CUPTI gave back. The buffer is the caller's. Any thread.
// Reading ends at a record whose size is unknown, and at the zeros that follow the last record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cupti/abi.h"
#include "cupti/cupti_library.h"
#include "cupti/record_sizes.h"

namespace tbtrace::cupti {

namespace records_detail {
template <typename Record, typename Visitor>
void visit(const std::uint8_t* at, Visitor& visitor, std::size_t size = sizeof(Record)) {
  Record record;
  if (size < sizeof record) std::memset(&record, 0, sizeof record);
  std::memcpy(&record, at, std::min(size, sizeof record));
  visitor(record);
}
}  // namespace records_detail

/// Calls `visitor(record)` for each record of a kind that is read, in the order of the buffer.
/// Returns whether all of the buffer was understood.
template <typename Visitor>
bool for_each_record(const CuptiLibrary& cupti, const RecordSizes& sizes,
                     const std::uint8_t* buffer, std::size_t valid, Visitor&& visitor) {
  using records_detail::visit;
  const std::uint8_t* at = buffer;
  const std::uint8_t* const end = buffer + valid;
  while (static_cast<std::size_t>(end - at) >= sizeof(ActivityKind)) {
    ActivityKind kind;
    std::memcpy(&kind, at, sizeof kind);
    if (kind == ActivityKind::invalid) return true;
    std::size_t size = sizes.of(kind);
    if (size == 0) {
      // The library may know more than was measured.
      auto* const from = const_cast<std::uint8_t*>(at);
      void* record = nullptr;
      const auto left = static_cast<std::size_t>(end - at);
      if (cupti.next_record(from, left, &record) != results::kSuccess || record != from)
        return false;
      const ResultCode result = cupti.next_record(from, left, &record);
      if (result == results::kMaxLimitReached) return true;
      const auto* const next = static_cast<const std::uint8_t*>(record);
      if (result != results::kSuccess || next <= at || next > end) return false;
      size = static_cast<std::size_t>(next - at);
    }
    if (size > static_cast<std::size_t>(end - at)) return false;
    if (sizes.fits(kind)) {
      switch (kind) {
        case ActivityKind::kernel:
          visit<KernelRecord>(at, visitor);
          break;
        case ActivityKind::memcpy:
          visit<MemcpyRecord>(at, visitor);
          break;
        case ActivityKind::memcpy_peer:
          visit<MemcpyPeerRecord>(at, visitor);
          break;
        case ActivityKind::memset:
          visit<MemsetRecord>(at, visitor);
          break;
        case ActivityKind::runtime:
        case ActivityKind::driver:
          visit<ApiRecord>(at, visitor);
          break;
        case ActivityKind::external_correlation:
          visit<ExternalCorrelationRecord>(at, visitor);
          break;
        case ActivityKind::overhead:
          visit<OverheadRecord>(at, visitor, size);
          break;
        case ActivityKind::synchronization:
          visit<SynchronizationRecord>(at, visitor);
          break;
        case ActivityKind::cuda_event:
          visit<CudaEventRecord>(at, visitor);
          break;
        case ActivityKind::marker:
          visit<MarkerRecord>(at, visitor);
          break;
        case ActivityKind::invalid:
          break;
      }
    }
    at += size;
  }
  return true;
}

}  // namespace tbtrace::cupti
