#include "wire/tfrecord.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

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

std::vector<std::string> read_all(const std::string& bytes) {
  std::istringstream in(bytes);
  std::vector<std::string> payloads;
  for (std::string payload; read_record(in, payload);) payloads.push_back(payload);
  return payloads;
}

TEST(ReadRecord, GivesBackWhatWasAppended) {
  const std::vector<std::string> payloads = {"one", "", std::string(3 << 20, 'x'), "last"};
  std::string records;
  for (const std::string& payload : payloads) append_record(records, payload);
  EXPECT_EQ(read_all(records), payloads);
}

TEST(ReadRecord, EndsAtARecordThatIsCutOff) {
  std::string records;
  append_record(records, "first");
  const std::size_t whole = records.size();
  append_record(records, "second");
  for (std::size_t size = whole; size < records.size(); ++size) {
    EXPECT_EQ(read_all(records.substr(0, size)), std::vector<std::string>{"first"}) << size;
  }
}

TEST(ReadRecord, EndsAtARecordThatIsDamaged) {
  std::string records;
  append_record(records, "first");
  const std::size_t whole = records.size();
  append_record(records, "second");
  append_record(records, "third");
  const std::size_t third = records.size() - kRecordOverhead - 5;
  for (std::size_t at = whole; at < third; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = records;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      EXPECT_EQ(read_all(damaged), std::vector<std::string>{"first"}) << at;
    }
  }
}

TEST(ReadRecord, TakesNoMemoryForALengthThatIsALie) {
  std::string records;
  append_record(records, "first");
  std::string length = "\xff\xff\xff\xff\xff\xff\xff\x7f";
  const std::uint32_t checksum = masked_crc(crc32c(length));
  length.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  EXPECT_EQ(read_all(records + length + "rest"), std::vector<std::string>{"first"});
}

}  // namespace
}  // namespace tbtrace::wire
