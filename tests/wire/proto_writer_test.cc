#include "wire/proto_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tbtrace::wire {
namespace {

using std::string_literals::operator""s;

template <typename Write>
std::string written(const Write& write) {
  std::string bytes;
  ProtoWriter out(bytes);
  write(out);
  return bytes;
}

// The examples of the documentation of Protocol Buffers' encoding.
TEST(ProtoWriterTest, WritesIntegersInAsFewBytesAsTheyNeed) {
  EXPECT_EQ(written([](auto& out) { out.integer(1, 150); }), "\x08\x96\x01");
  EXPECT_EQ(written([](auto& out) { out.integer(1, 0); }), "\x08\0"s);
  EXPECT_EQ(written([](auto& out) { out.integer(16, 127); }), "\x80\x01\x7f");
  EXPECT_EQ(written([](auto& out) { out.integer(1, std::numeric_limits<std::uint64_t>::max()); }),
            "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtoWriterTest, WritesNegativeNumbersWith64Bits) {
  EXPECT_EQ(written([](auto& out) { out.signed_integer(1, -2); }),
            "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtoWriterTest, WritesTextsWithTheirLength) {
  EXPECT_EQ(written([](auto& out) { out.bytes(2, "testing"); }), "\x12\x07testing");
  EXPECT_EQ(written([](auto& out) { out.bytes(2, std::string(200, 'a')); }),
            "\x12\xc8\x01" + std::string(200, 'a'));
}

TEST(ProtoWriterTest, WritesFixedNumbersLowestByteFirst) {
  EXPECT_EQ(written([](auto& out) { out.fixed64(1, 0x0102030405060708); }),
            "\x09\x08\x07\x06\x05\x04\x03\x02\x01");
  EXPECT_EQ(written([](auto& out) { out.real(1, 1.0); }), "\x09\0\0\0\0\0\0\xf0\x3f"s);
}

TEST(ProtoWriterTest, WritesElementsOfPackedFieldsWithoutATag) {
  EXPECT_EQ(written([](auto& out) {
              out.element(3);
              out.element(270);
            }),
            "\x03\x8e\x02");
}

}  // namespace
}  // namespace tbtrace::wire
