// A small file, damaged at every place: never a crash or a hang, and no wrong text passes for
// right.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "fixtures/drained.h"
#include "fixtures/gzip_member.h"
#include "io/source.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::gzip_member;

constexpr std::size_t kHeader = 10;  // RFC 1952, section 2.3, without optional fields
constexpr std::size_t kTrailer = 8;
constexpr std::size_t kStored = 5;  // RFC 1951, section 3.2.4: what comes before stored bytes

const std::string kText = "{\"traceEvents\": [{\"ph\": \"X\"}, {\"ph\": \"X\"}, {\"ph\": \"X\"}]}";

/// What comes out of a file; the failure may be that it is no gzip file any more.
Drained unpack_damaged(std::string_view bytes, std::size_t buffer_size = 4096) {
  Result<std::unique_ptr<ByteSource>> source = decompressed(memory_source(bytes));
  if (!source.ok()) return {"", source.status()};
  return drain(**source, buffer_size);
}

/// Time, flags of the compressor and system: bytes that mean nothing here.
bool is_free(std::size_t at) { return at >= 4 && at < kHeader; }

TEST(GzipDamage, AFileThatIsCutGivesItsStart) {
  for (const int level : {0, 1, 9}) {
    const std::string file = gzip_member(kText, {.level = level});
    for (std::size_t size = 2; size < file.size(); ++size) {
      for (const std::size_t buffer : {1, 4096}) {
        const Drained drained = unpack_damaged(std::string_view(file).substr(0, size), buffer);
        EXPECT_EQ(drained.end.code(), StatusCode::unreadable_input) << level << ' ' << size;
        EXPECT_EQ(drained.text, kText.substr(0, drained.text.size())) << level << ' ' << size;
        const bool only_trailer = size + kTrailer >= file.size();
        EXPECT_TRUE(drained.text == kText || !only_trailer) << level << ' ' << size;
      }
    }
  }
}

TEST(GzipDamage, StoredBytesBeforeACutAreAllThere) {
  const std::string file = gzip_member(kText, {.level = 0});
  for (std::size_t kept = 1; kept < kText.size(); ++kept) {
    const Drained drained =
        unpack_damaged(std::string_view(file).substr(0, kHeader + kStored + kept));
    EXPECT_EQ(drained.text, kText.substr(0, kept));
  }
}

TEST(GzipDamage, ACutInALaterMemberKeepsTheOnesBefore) {
  const std::string first = gzip_member("first");
  const std::string file = first + gzip_member("second");
  for (std::size_t size = first.size() + 1; size < file.size(); ++size) {
    const Drained drained = unpack_damaged(std::string_view(file).substr(0, size));
    EXPECT_FALSE(drained.end.ok()) << size;
    EXPECT_EQ(drained.text, std::string("firstsecond").substr(0, drained.text.size())) << size;
    EXPECT_GE(drained.text.size(), 5U) << size;
  }
}

TEST(GzipDamage, AChangedByteIsNoticedUnlessItMeansNothing) {
  for (const int level : {0, 9}) {
    const std::string file = gzip_member(kText, {.level = level});
    for (std::size_t at = 2; at < file.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        const Drained drained = unpack_damaged(damaged);
        if (is_free(at)) {
          EXPECT_TRUE(drained.end.ok()) << at << ' ' << change;
        }
        // Some changes of the flags or of the bits behind the last block mean nothing either.
        EXPECT_TRUE(!drained.end.ok() || drained.text == kText)
            << level << ' ' << at << ' ' << change;
      }
    }
  }
}

TEST(GzipDamage, StoredBytesBeforeAChangeAreRight) {
  const std::string file = gzip_member(kText, {.level = 0});
  const std::size_t first = kHeader + kStored;
  for (std::size_t at = first; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(~damaged[at]);
    const Drained drained = unpack_damaged(damaged);
    EXPECT_FALSE(drained.end.ok()) << at;
    const std::size_t right = std::min(at - first, kText.size());
    EXPECT_EQ(drained.text.substr(0, right), kText.substr(0, right)) << at;
  }
}

// A library may have inflated more than the buffer takes when it comes upon the damage.
TEST(GzipDamage, TheTextBeforeTheDamageDoesNotDependOnTheBuffer) {
  std::string text;
  for (int number = 0; number < 3000; ++number) text += std::to_string(number * number) + ' ';
  const std::string file = gzip_member(text, {.level = 1});
  std::size_t longest = 0;
  for (std::size_t at = kHeader; at < file.size(); at += 97) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(~damaged[at]);
    const Drained whole = unpack_damaged(damaged, 100000);
    longest = std::max(longest, whole.text.size());
    for (const std::size_t buffer : {1, 100, 4096}) {
      const Drained drained = unpack_damaged(damaged, buffer);
      EXPECT_EQ(drained.text.size(), whole.text.size()) << at << ' ' << buffer;
      EXPECT_EQ(drained.text, whole.text) << at << ' ' << buffer;
      EXPECT_EQ(drained.end.ok(), whole.end.ok()) << at << ' ' << buffer;
    }
  }
  EXPECT_GT(longest, text.size() / 2);
}

TEST(GzipDamage, ChecksumAndLengthAreChecked) {
  const std::string file = gzip_member(kText);
  for (std::size_t back = 1; back <= kTrailer; ++back) {
    std::string damaged = file;
    ++damaged[file.size() - back];
    const Drained drained = unpack_damaged(damaged);
    EXPECT_EQ(drained.text, kText);
    EXPECT_FALSE(drained.end.ok()) << back;
  }
}

TEST(GzipDamage, AnOptionalFieldWithoutEndIsAFailure) {
  const std::string file = gzip_member(kText, {.name = "a name"});
  const std::string head = file.substr(0, kHeader) + std::string(300000, 'n');
  const Drained drained = unpack_damaged(head);
  EXPECT_EQ(drained.text, "");
  EXPECT_FALSE(drained.end.ok());
}

TEST(GzipDamage, AMissingByteIsNoticed) {
  const std::string file = gzip_member("first") + gzip_member("second") + gzip_member("third");
  for (std::size_t from = 2; from + 1 < file.size(); ++from) {
    const Drained drained = unpack_damaged(file.substr(0, from) + file.substr(from + 1));
    EXPECT_FALSE(drained.end.ok()) << from;
  }
}

}  // namespace
}  // namespace tbtrace::io
