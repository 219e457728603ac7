#include "wire/tfrecord.h"

#include <string>

#include <gtest/gtest.h>

#include "wire/crc32c.h"

namespace tbtrace::wire {
namespace {

/// Bit by bit, from the definition.
std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

// RFC 3720, B.4.
TEST(Crc32c, IsThatOfThePublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aa);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(crc32c(ascending), 0x46dd794e);
  EXPECT_EQ(crc32c(""), 0);
}

TEST(Crc32c, IsThatOfTheDefinitionForEveryLength) {
  std::string bytes;
  for (int size = 0; size < 100; ++size) {
    EXPECT_EQ(crc32c(bytes), slow_crc32c(bytes)) << size;
    bytes += static_cast<char>(size * 37 + 11);
  }
}

TEST(Crc32c, IsMaskedAsTensorFlowDoes) {
  // From TensorBoard's own reader.
  EXPECT_EQ(masked_crc(crc32c("\x1a\x11"
                              "CRC test, one two")),
            0x5794d08a);
}

TEST(AppendRecord, WritesLengthPayloadAndTheirChecksums) {
  std::string records = "before";
  append_record(records, "123456789");
  ASSERT_EQ(records.size(), 6 + kRecordOverhead + 9);
  const std::string record = records.substr(6);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 9), "123456789");
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(record[at + byte]);
    }
    return value;
  };
  EXPECT_EQ(number(8), masked_crc(slow_crc32c(record.substr(0, 8))));
  EXPECT_EQ(number(21), masked_crc(0xe3069283));
}

TEST(AppendRecord, TakesNothingAsAPayload) {
  std::string records;
  append_record(records, "");
  EXPECT_EQ(records.size(), kRecordOverhead);
}

}  // namespace
}  // namespace tbtrace::wire
