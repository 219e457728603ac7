#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "fixtures/drained.h"
#include "fixtures/failing_source.h"
#include "fixtures/gzip_member.h"
#include "io/source.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::FailingSource;
using fixtures::gzip_member;
using fixtures::in_pieces;
using testing::HasSubstr;

std::unique_ptr<ByteSource> inflated_source(std::unique_ptr<ByteSource> raw) {
  Result<std::unique_ptr<ByteSource>> source = decompressed(std::move(raw));
  EXPECT_TRUE(source.ok()) << source.status().message();
  return *std::move(source);
}

Drained unpack(std::string_view bytes, std::size_t buffer_size = 4096) {
  return drain(*inflated_source(memory_source(bytes)), buffer_size);
}

std::string words(std::size_t size) {
  std::string text;
  for (std::size_t number = 0; text.size() < size; ++number) {
    text += "aten::op" + std::to_string(number * number % 1009) + " ";
  }
  text.resize(size);
  return text;
}

TEST(GzipSource, ReadsWhatGzipWrote) {
  // gzip -9 hello.txt, of 2020-01-02.
  constexpr std::array<unsigned char, 39> kFile = {
      0x1f, 0x8b, 0x08, 0x08, 0xa5, 0x5d, 0x0d, 0x5e, 0x02, 0x03, 0x68, 0x65, 0x6c,
      0x6c, 0x6f, 0x2e, 0x74, 0x78, 0x74, 0x00, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57,
      0xc8, 0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};
  const Drained drained = unpack({reinterpret_cast<const char*>(kFile.data()), kFile.size()});
  EXPECT_TRUE(drained.end.ok()) << drained.end.message();
  EXPECT_EQ(drained.text, "hello hello hello hello\n");
}

TEST(GzipSource, LeavesOtherBytesAlone) {
  for (const std::string_view text : {"", "\x1f", "{}", "plain text", "\x1f\x8a\x08", "[1]"}) {
    const Drained drained = unpack(text);
    EXPECT_TRUE(drained.end.ok());
    EXPECT_EQ(drained.text, text);
  }
}

TEST(GzipSource, EveryLevelAndBufferGivesTheText) {
  const std::string text = words(30000);
  for (const int level : {0, 1, 6, 9}) {
    const std::string file = gzip_member(text, {.level = level});
    for (const std::size_t size : {1, 2, 17, 1000, 65536}) {
      const Drained drained = unpack(file, size);
      EXPECT_TRUE(drained.end.ok()) << level << ' ' << size << ' ' << drained.end.message();
      EXPECT_EQ(drained.text, text) << level << ' ' << size;
    }
  }
}

TEST(GzipSource, SkipsAllOptionalFieldsOfTheHeader) {
  for (int which = 0; which < 16; ++which) {
    const std::string file = gzip_member("the text", {.extra = which & 1 ? "XXextra" : "",
                                                      .name = which & 2 ? "trace.json" : "",
                                                      .comment = which & 4 ? "a comment" : "",
                                                      .header_crc = (which & 8) != 0});
    for (const std::size_t piece : {1, 4096}) {
      const Drained drained = drain(*inflated_source(in_pieces(file, piece)));
      EXPECT_TRUE(drained.end.ok()) << which << ' ' << piece << ' ' << drained.end.message();
      EXPECT_EQ(drained.text, "the text") << which;
    }
  }
}

TEST(GzipSource, JoinsMembers) {
  const std::string first = words(5000);
  const std::string second = words(70000);
  const std::string file = gzip_member(first) + gzip_member("") + gzip_member("") +
                           gzip_member(second, {.level = 0, .name = "n"}) + gzip_member("end");
  for (const std::size_t piece : {1, 7, 64, 4096}) {
    for (const std::size_t size : {1, 5, 4096}) {
      const Drained drained = drain(*inflated_source(in_pieces(file, piece)), size);
      EXPECT_TRUE(drained.end.ok()) << drained.end.message();
      EXPECT_EQ(drained.text, first + second + "end") << piece << ' ' << size;
    }
  }
}

// A member may end at any place of the input buffer of 64 KiB, its trailer too.
TEST(GzipSource, MembersMayEndAroundTheEndOfTheInputBuffer) {
  constexpr std::size_t kInput = std::size_t{64} << 10;
  const std::string second = gzip_member("the second member");
  for (std::size_t end = kInput - 20; end <= kInput + 20; ++end) {
    const std::size_t overhead = gzip_member("", {.name = "n"}).size() - 1;
    const std::string name(end - overhead - 3, 'x');
    const std::string first = gzip_member("abc", {.name = name});
    const Drained drained = unpack(first + second);
    EXPECT_TRUE(drained.end.ok()) << first.size() << ' ' << drained.end.message();
    EXPECT_EQ(drained.text, "abcthe second member") << first.size();
  }
}

TEST(GzipSource, AnEmptyMemberIsAnEmptyText) {
  for (const std::size_t size : {1, 4096}) {
    const Drained drained = unpack(gzip_member(""), size);
    EXPECT_TRUE(drained.end.ok());
    EXPECT_EQ(drained.text, "");
  }
}

TEST(GzipSource, PaddingOfZerosIsNoDamage) {
  const std::string file = gzip_member("text");
  for (const std::size_t padding : {1, 7, 512, 200000}) {
    for (const std::size_t piece : {1000, 4096}) {
      const Drained drained =
          drain(*inflated_source(in_pieces(file + std::string(padding, '\0'), piece)));
      EXPECT_TRUE(drained.end.ok()) << padding;
      EXPECT_EQ(drained.text, "text");
    }
  }
}

TEST(GzipSource, OtherBytesAfterAMemberAreAFailure) {
  const std::string file = gzip_member("text");
  for (const std::string tail : {"x", "\n", "\x1f", "\x1f\x8b", "\x1f\x8c\x08", "{\"a\": 1}"}) {
    for (const std::string& padding : {std::string(), std::string(100, '\0')}) {
      const Drained drained = unpack(file + padding + tail);
      EXPECT_EQ(drained.text, "text");
      EXPECT_EQ(drained.end.code(), StatusCode::unreadable_input) << tail;
    }
  }
  EXPECT_THAT(unpack(file + "x").end.message(), HasSubstr("followed by something else"));
}

TEST(GzipSource, AFailureIsGivenAgain) {
  const std::unique_ptr<ByteSource> source =
      inflated_source(in_pieces(gzip_member("text") + "x", 5));
  EXPECT_EQ(drain(*source).text, "text");
  const Drained again = drain(*source);
  EXPECT_EQ(again.text, "");
  EXPECT_FALSE(again.end.ok());
}

TEST(GzipSource, AFailureOfTheFileComesAfterItsText) {
  const std::string text = words(20000);
  const std::string file = gzip_member(text, {.level = 0});
  for (const std::size_t good : {std::size_t{7}, std::size_t{40}, std::size_t{9000}, file.size()}) {
    const Drained drained =
        drain(*inflated_source(std::make_unique<FailingSource>(file, good, 1000)));
    EXPECT_EQ(drained.end.message(), "the cable was pulled");
    EXPECT_EQ(drained.text, text.substr(0, drained.text.size()));
    EXPECT_GE(drained.text.size() + 50, good);
  }
}

TEST(GzipSource, CountsCompressedBytes) {
  const std::string file = gzip_member(std::string(500000, 'x'));
  const std::unique_ptr<ByteSource> source = inflated_source(memory_source(file));
  EXPECT_EQ(source->total(), file.size());
  EXPECT_EQ(drain(*source).text.size(), 500000U);
  EXPECT_EQ(source->position(), file.size());
}

TEST(GzipSource, ABombIsStreamedThroughABuffer) {
  constexpr std::size_t kMember = std::size_t{8} << 20;
  constexpr std::size_t kMembers = 8;
  const std::string member = gzip_member(std::string(kMember, '\0'), {.level = 9});
  std::string file;
  for (std::size_t number = 0; number < kMembers; ++number) file += member;
  rusage before = {};
  ::getrusage(RUSAGE_SELF, &before);
  const std::unique_ptr<ByteSource> source = inflated_source(memory_source(file));
  std::vector<char> buffer(std::size_t{64} << 10);
  std::size_t total = 0;
  for (;;) {
    const Result<std::size_t> got = source->read(buffer);
    ASSERT_TRUE(got.ok());
    if (*got == 0) break;
    total += *got;
  }
  rusage after = {};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(total, kMember * kMembers);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 4096) << "KiB";
}

}  // namespace
}  // namespace tbtrace::io
