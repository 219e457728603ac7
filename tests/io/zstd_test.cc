#include "io/zstd.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/drained.h"
#include "fixtures/failing_source.h"
#include "fixtures/gzip_member.h"
#include "fixtures/zstd_frame.h"
#include "io/source.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::gzip_member;
using fixtures::skippable_frame;
using fixtures::zstd_frame;
using testing::HasSubstr;

Drained unpack_zstd(std::string_view bytes, std::size_t buffer_size = 4096) {
  Result<std::unique_ptr<ByteSource>> source = decompressed(memory_source(bytes));
  if (!source.ok()) return {"", source.status()};
  return drain(**source, buffer_size);
}

/// Text of several blocks, each of 128 KiB.
std::string long_text() {
  std::string text;
  std::uint32_t number = 1;
  while (text.size() < 700'000) {
    number = number * 1664525 + 1013904223;
    text += "aten::op" + std::to_string(number) + " ";
  }
  return text;
}

TEST(ZstdSource, ReadsFramesOfAnyKind) {
  const std::string text = long_text();
  for (const bool says_size : {true, false}) {
    for (const std::size_t buffer : {1000, 65536, 1 << 20}) {
      const std::string frame = zstd_frame(text, {.says_size = says_size});
      const Drained drained = unpack_zstd(frame, buffer);
      EXPECT_TRUE(drained.end.ok()) << drained.end.message();
      EXPECT_TRUE(drained.text == text) << drained.text.size();
    }
  }
  EXPECT_EQ(unpack_zstd(zstd_frame("")).text, "");
  EXPECT_TRUE(unpack_zstd(zstd_frame("")).end.ok());
}

TEST(ZstdSource, FramesAreOneText) {
  const std::string file = skippable_frame("ignored") + zstd_frame("one ") + zstd_frame("") +
                           skippable_frame("") + zstd_frame("two", {.checksum = false});
  for (const std::size_t buffer : {1, 4096}) {
    const Drained drained = unpack_zstd(file + std::string(100, '\0'), buffer);
    EXPECT_TRUE(drained.end.ok()) << drained.end.message();
    EXPECT_EQ(drained.text, "one two");
  }
}

TEST(ZstdSource, WhatFollowsIsSaid) {
  const Drained drained = unpack_zstd(zstd_frame("text") + "more text");
  EXPECT_EQ(drained.text, "text");
  EXPECT_THAT(drained.end.message(), HasSubstr("zstd data is followed by something else"));
}

TEST(ZstdSource, ACutFileGivesItsStart) {
  const std::string text = long_text();
  const std::string file = zstd_frame("first ") + zstd_frame(text);
  const std::string all = "first " + text;
  std::size_t longest = 0;
  for (std::size_t size = 4; size < file.size(); size += 1 + size / 50) {
    const Drained drained = unpack_zstd(std::string_view(file).substr(0, size));
    // After a whole frame nothing says that another one was there.
    if (size != zstd_frame("first ").size()) {
      EXPECT_EQ(drained.end.code(), StatusCode::unreadable_input) << size;
    }
    EXPECT_TRUE(std::string_view(all).starts_with(drained.text)) << size;
    longest = std::max(longest, drained.text.size());
  }
  EXPECT_GT(longest, std::size_t{500'000}) << "blocks before the cut are read";
}

TEST(ZstdSource, BlocksBeforeDamageAreRead) {
  const std::string text = long_text();
  std::string file = zstd_frame(text);
  const std::size_t at = file.size() * 3 / 4;
  for (std::size_t byte = at; byte < at + 40; ++byte) file[byte] = '\xff';
  const Drained drained = unpack_zstd(file, 1 << 20);
  EXPECT_FALSE(drained.end.ok());
  EXPECT_THAT(drained.end.message(),
              HasSubstr("is damaged; everything before the damage was read"));
  EXPECT_GE(drained.text.size(), std::size_t{2 * 128 * 1024});
  EXPECT_TRUE(text.starts_with(drained.text.substr(0, 2 * 128 * 1024)));
}

TEST(ZstdSource, AWrongChecksumIsDamage) {
  std::string file = zstd_frame("a text");
  file.back() = static_cast<char>(file.back() ^ 1);
  const Drained drained = unpack_zstd(file);
  EXPECT_EQ(drained.text, "a text");
  EXPECT_THAT(drained.end.message(), HasSubstr("zstd data is damaged"));
}

TEST(ZstdSource, ALargeWindowIsRefused) {
  EXPECT_TRUE(unpack_zstd(zstd_frame("text", {.window_log = 27})).end.ok());
  const Drained drained = unpack_zstd(zstd_frame("text", {.window_log = 30}));
  EXPECT_EQ(drained.text, "");
  EXPECT_THAT(drained.end.message(), HasSubstr("window of more than 128 MiB"));
  EXPECT_THAT(drained.end.message(), HasSubstr("zstd -d --long=31"));
}

TEST(ZstdSource, AFailedReadEndsIt) {
  const std::string file = zstd_frame(long_text());
  auto failing = std::make_unique<fixtures::FailingSource>(file, file.size() / 2);
  Result<std::unique_ptr<ByteSource>> source = decompressed(std::move(failing));
  ASSERT_TRUE(source.ok());
  const Drained drained = drain(**source);
  EXPECT_FALSE(drained.end.ok());
  EXPECT_THAT(drained.end.message(), testing::Not(HasSubstr("zstd")));
  EXPECT_FALSE(drained.text.empty());
}

TEST(Layers, AreReadOneInTheOther) {
  EXPECT_EQ(unpack_zstd(gzip_member(gzip_member("text"))).text, "text");
  EXPECT_EQ(unpack_zstd(gzip_member(zstd_frame("text"))).text, "text");
  EXPECT_EQ(unpack_zstd(zstd_frame(gzip_member(zstd_frame("text")))).text, "text");
}

TEST(Layers, AreBounded) {
  std::string file = "text";
  for (int layer = 0; layer < kMostLayers; ++layer) file = gzip_member(file);
  EXPECT_EQ(unpack_zstd(file).text, "text");
  const Drained drained = unpack_zstd(zstd_frame(file));
  EXPECT_EQ(drained.text, "");
  EXPECT_EQ(drained.end.code(), StatusCode::unreadable_input);
  EXPECT_THAT(drained.end.message(), HasSubstr("compressed more than 4 times"));
}

}  // namespace
}  // namespace tbtrace::io
