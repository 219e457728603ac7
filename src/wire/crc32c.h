// CRC-32C, the checksum of TFRecord files: Castagnoli's polynomial, reflected 0x82f63b78, initial
// value and final xor 0xffffffff (RFC 3720, B.4).
// Pure functions, any thread. Any bytes are accepted.
#pragma once

#include <cstdint>
#include <string_view>

namespace tbtrace::wire {

/// `before`: of the bytes before these.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// The form stored in TFRecord: rotated by 15 bits and offset by a constant, because a CRC of data
/// that contains CRCs is problematic (tensorflow/core/lib/hash/crc32c.h).
constexpr std::uint32_t masked_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace tbtrace::wire
