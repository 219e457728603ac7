#include "wire/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace tbtrace::wire {

namespace {

constexpr std::size_t kSlices = 8;  // bytes processed at once, each with its own table

using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlices; at += kSlices, left -= kSlices) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, kSlices);
    word ^= crc;
    crc = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      crc ^= kTables[kSlices - 1 - slice][(word >> (8 * slice)) & 0xff];
    }
  }
  for (; left > 0; ++at, --left) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xff];
  }
  return ~crc;
}

}  // namespace tbtrace::wire
