#include "cupti/record_sizes.h"

#include <cstddef>

namespace tbtrace::cupti {

namespace {

std::size_t read_bytes(Kind kind) {
  switch (kind) {
    case Kind::kernel:
      return sizeof(KernelRecord);
    case Kind::copy:
      return sizeof(CopyRecord);
    case Kind::peer_copy:
      return sizeof(PeerCopyRecord);
    case Kind::set:
      return sizeof(SetRecord);
    case Kind::runtime:
    case Kind::driver:
      return sizeof(CallRecord);
    case Kind::external:
      return sizeof(ExternalRecord);
    case Kind::overhead:
      return offsetof(OverheadRecord, correlation);
    case Kind::wait:
      return sizeof(WaitRecord);
    case Kind::event:
      return sizeof(EventRecord);
    case Kind::marker:
      return sizeof(MarkerRecord);
    case Kind::invalid:
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
    if (cupti.next_record(bytes, sizeof words, &record) != answers::kDone) continue;
    if (cupti.next_record(bytes, sizeof words, &record) != answers::kDone) continue;
    const auto* const second = static_cast<std::uint8_t*>(record);
    if (second <= bytes || second >= bytes + sizeof words) continue;
    const auto size = static_cast<std::size_t>(second - bytes);
    if (size % alignof(std::uint64_t) == 0) sizes.sizes_[kind] = size;
  }
  return sizes;
}

bool RecordSizes::fits(Kind kind) const {
  const std::size_t needed = read_bytes(kind);
  return needed > 0 && of(kind) >= needed;
}

}  // namespace tbtrace::cupti
