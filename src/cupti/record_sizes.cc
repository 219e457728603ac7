#include "cupti/record_sizes.h"

#include <cstddef>

namespace tbtrace::cupti {

namespace {

std::size_t read_bytes(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kernel:
      return sizeof(KernelRecord);
    case ActivityKind::memcpy:
      return sizeof(MemcpyRecord);
    case ActivityKind::memcpy_peer:
      return sizeof(MemcpyPeerRecord);
    case ActivityKind::memset:
      return sizeof(MemsetRecord);
    case ActivityKind::runtime:
    case ActivityKind::driver:
      return sizeof(ApiRecord);
    case ActivityKind::external_correlation:
      return sizeof(ExternalCorrelationRecord);
    case ActivityKind::overhead:
      return offsetof(OverheadRecord, correlation);
    case ActivityKind::synchronization:
      return sizeof(SynchronizationRecord);
    case ActivityKind::cuda_event:
      return sizeof(CudaEventRecord);
    case ActivityKind::marker:
      return sizeof(MarkerRecord);
    case ActivityKind::invalid:
      break;
  }
  return 0;
}

}  // namespace

RecordSizes RecordSizes::measured_with(const CuptiLibrary& cupti) {
  // Wherever the next record begins in here, it begins with the kind's number.
  constexpr std::size_t kWords = 512;
  alignas(8) std::array<std::uint64_t, kWords> words;
  RecordSizes sizes;
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    words.fill(kind);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
    void* record = nullptr;
    if (cupti.next_record(bytes, sizeof words, &record) != results::kSuccess) continue;
    if (cupti.next_record(bytes, sizeof words, &record) != results::kSuccess) continue;
    const auto* const second = static_cast<std::uint8_t*>(record);
    if (second <= bytes || second >= bytes + sizeof words) continue;
    const auto size = static_cast<std::size_t>(second - bytes);
    if (size % alignof(std::uint64_t) == 0) sizes.sizes_[kind] = size;
  }
  return sizes;
}

bool RecordSizes::fits(ActivityKind kind) const {
  const std::size_t needed = read_bytes(kind);
  return needed > 0 && of(kind) >= needed;
}

}  // namespace tbtrace::cupti
