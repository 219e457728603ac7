// The checksums in a journal's structures: CRC-32C of the bytes before a member.
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recorder/journal/layout.h"
#include "wire/crc32c.h"

namespace tbtrace::recorder::journal {

template <typename Struct>
std::uint32_t checksum_before(const Struct& all, std::size_t offset) {
  return wire::crc32c({reinterpret_cast<const char*>(&all), offset});
}

inline std::uint32_t checksum_of(const Heartbeat& beat) {
  return checksum_before(beat, offsetof(Heartbeat, checksum));
}
inline std::uint32_t checksum_of(const SlotMark& mark) {
  return checksum_before(mark, offsetof(SlotMark, checksum));
}
/// Without what changes later.
inline std::uint32_t checksum_of(const Head& head) {
  return checksum_before(head, offsetof(Head, checksum));
}

inline std::uint32_t checksum_of_words(const std::uint64_t* words, std::size_t count,
                                       std::uint32_t before = 0) {
  return wire::crc32c({reinterpret_cast<const char*>(words), count * sizeof(std::uint64_t)},
                      before);
}

}  // namespace tbtrace::recorder::journal
