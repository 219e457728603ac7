#include "wire/tfrecord.h"

#include <bit>
#include <cstdint>

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

}  // namespace

void append_record(std::string& records, std::string_view payload) {
  const std::uint64_t size = payload.size();
  records += bytes_of(size);
  append_checksum(records, bytes_of(size));
  records += payload;
  append_checksum(records, payload);
}

}  // namespace tbtrace::wire
