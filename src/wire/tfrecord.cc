#include "wire/tfrecord.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "wire/crc32c.h"

namespace tbtrace::wire {

namespace {

template <typename Integer>
std::string_view bytes_of(const Integer& value) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

void append_checksum(std::string& records, std::string_view bytes) {
  const std::uint32_t checksum = masked_crc(crc32c(bytes));
  records += bytes_of(checksum);
}

/// Reads `size` bytes in pieces, because a damaged length may be huge.
bool read_bytes(std::istream& in, std::uint64_t size, std::string& bytes) {
  constexpr std::uint64_t kPiece = 1 << 20;
  bytes.clear();
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    const std::uint64_t piece = std::min(size - before, kPiece);
    bytes.resize(before + piece);
    if (!in.read(bytes.data() + before, static_cast<std::streamsize>(piece))) return false;
  }
  return true;
}

bool read_checksum_of(std::string_view bytes, std::istream& in) {
  std::uint32_t checksum = 0;
  return in.read(reinterpret_cast<char*>(&checksum), sizeof checksum) &&
         checksum == masked_crc(crc32c(bytes));
}

}  // namespace

void append_record(std::string& records, std::string_view payload) {
  const std::uint64_t size = payload.size();
  records += bytes_of(size);
  append_checksum(records, bytes_of(size));
  records += payload;
  append_checksum(records, payload);
}

bool read_record(std::istream& records, std::string& payload) {
  std::uint64_t size = 0;
  if (!read_bytes(records, sizeof size, payload)) return false;
  std::memcpy(&size, payload.data(), sizeof size);
  return read_checksum_of(payload, records) && read_bytes(records, size, payload) &&
         read_checksum_of(payload, records);
}

}  // namespace tbtrace::wire
