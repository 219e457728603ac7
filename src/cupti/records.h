// Steps over the records of a buffer that CUPTI gave back.
// The buffer is the caller's. Any thread. Where a record cannot be told from what is behind it,
// reading ends: what CUPTI fills with zeros behind the last record is an end, too.
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
  while (static_cast<std::size_t>(end - at) >= sizeof(Kind)) {
    Kind kind;
    std::memcpy(&kind, at, sizeof kind);
    if (kind == Kind::invalid) return true;
    std::size_t size = sizes.of(kind);
    if (size == 0) {
      // The library may know more than was measured.
      auto* const from = const_cast<std::uint8_t*>(at);
      void* record = nullptr;
      const auto left = static_cast<std::size_t>(end - at);
      if (cupti.next_record(from, left, &record) != answers::kDone || record != from) return false;
      const Answer answer = cupti.next_record(from, left, &record);
      if (answer == answers::kMaxLimitReached) return true;
      const auto* const next = static_cast<const std::uint8_t*>(record);
      if (answer != answers::kDone || next <= at || next > end) return false;
      size = static_cast<std::size_t>(next - at);
    }
    if (size > static_cast<std::size_t>(end - at)) return false;
    if (sizes.fits(kind)) {
      switch (kind) {
        case Kind::kernel:
          visit<KernelRecord>(at, visitor);
          break;
        case Kind::copy:
          visit<CopyRecord>(at, visitor);
          break;
        case Kind::peer_copy:
          visit<PeerCopyRecord>(at, visitor);
          break;
        case Kind::set:
          visit<SetRecord>(at, visitor);
          break;
        case Kind::runtime:
        case Kind::driver:
          visit<CallRecord>(at, visitor);
          break;
        case Kind::external:
          visit<ExternalRecord>(at, visitor);
          break;
        case Kind::overhead:
          visit<OverheadRecord>(at, visitor, size);
          break;
        case Kind::wait:
          visit<WaitRecord>(at, visitor);
          break;
        case Kind::event:
          visit<EventRecord>(at, visitor);
          break;
        case Kind::marker:
          visit<MarkerRecord>(at, visitor);
          break;
        case Kind::invalid:
          break;
      }
    }
    at += size;
  }
  return true;
}

}  // namespace tbtrace::cupti
