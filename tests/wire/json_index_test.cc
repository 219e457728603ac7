#include "wire/json_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/json_positions.h"
#include "fixtures/random_json.h"

namespace tbtrace::wire {
namespace {

using fixtures::json_positions;
using fixtures::RandomJson;
using testing::ElementsAre;

using Positions = std::vector<std::uint32_t>;

/// A text in a block of its own with the padding and not a byte more, for the address sanitizer.
class PaddedText {
 public:
  explicit PaddedText(std::string_view text)
      : size_(text.size()), bytes_(std::make_unique<char[]>(text.size() + kJsonPadding)) {
    std::copy(text.begin(), text.end(), bytes_.get());
    std::fill_n(bytes_.get() + size_, kJsonPadding, '"');
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

/// What build() finds, after a check of the entries behind it.
std::optional<Positions> indexed(JsonIndex& index, std::string_view text) {
  const PaddedText padded(text);
  if (!index.build(padded.view())) return std::nullopt;
  const std::uint32_t* end = index.positions();
  while (*end < text.size()) ++end;
  for (std::size_t number = 0; number < kJsonSentinels; ++number) {
    EXPECT_EQ(end[number], text.size()) << text;
  }
  return Positions(index.positions(), end);
}

std::optional<Positions> indexed(std::string_view text) {
  JsonIndex index;
  return indexed(index, text);
}

TEST(JsonIndex, FindsEveryPart) {
  EXPECT_THAT(*indexed(R"({"a": [1, true], "b": "c"})"),
              ElementsAre(0, 1, 4, 6, 7, 8, 10, 14, 15, 17, 20, 22, 25));
}

TEST(JsonIndex, LooksPastEscapedQuotes) {
  EXPECT_THAT(*indexed(R"(["a\"]", "\\", 3])"), ElementsAre(0, 1, 7, 9, 13, 15, 16));
}

TEST(JsonIndex, TakesSeveralValues) {
  EXPECT_THAT(*indexed(R"( {} , {},)"), ElementsAre(1, 2, 4, 6, 7, 8));
}

TEST(JsonIndex, RefusesWhatIsNoTextOfJson) {
  EXPECT_EQ(indexed("[\"open"), std::nullopt);
  EXPECT_EQ(indexed("[\"a\\\""), std::nullopt);
  EXPECT_EQ(indexed("[\"line\nbreak\"]"), std::nullopt);
  EXPECT_EQ(indexed(std::string_view("[\"zero\0byte\"]", 13)), std::nullopt);
  EXPECT_EQ(indexed("[\"\xff\"]"), std::nullopt);
  EXPECT_EQ(indexed("[\"\xed\xa0\x80\"]"), std::nullopt);
  EXPECT_EQ(indexed("[1] \xe6\xbc"), std::nullopt);
}

// Blocks of a file may be empty, also the first one that a thread gets.
TEST(JsonIndex, ATextWithoutPartsIsRefused) {
  for (const std::string text : {"", " ", "\n\n \t"}) EXPECT_EQ(indexed(text), std::nullopt);
}

TEST(JsonIndex, IsBuiltAgainForTextsOfAllSizes) {
  JsonIndex index;
  for (const std::size_t count : {3, 1000, 2, 50000, 0, 49999}) {
    std::string text = "[";
    Positions expected = {0};
    for (std::size_t number = 0; number < count; ++number) {
      expected.push_back(static_cast<std::uint32_t>(text.size()));
      expected.push_back(static_cast<std::uint32_t>(text.size() + 1));
      text += "7,";
    }
    EXPECT_EQ(indexed(index, text), expected);
    EXPECT_EQ(indexed(index, text + '"'), std::nullopt);
  }
}

TEST(JsonIndex, MayBeMoved) {
  JsonIndex first;
  EXPECT_TRUE(indexed(first, "[1]").has_value());
  JsonIndex second(std::move(first));
  EXPECT_THAT(*indexed(second, "{}"), ElementsAre(0, 1));
}

TEST(JsonIndex, IgnoresThePadding) {
  for (const char filling : {'"', '\\', '{', '1', '\n', '\xff', '\0'}) {
    for (const std::string_view text : {"[1, \"a\"]", "12"}) {
      std::string padded(text);
      padded.append(kJsonPadding, filling);
      JsonIndex index;
      ASSERT_TRUE(index.build(std::string_view(padded).substr(0, text.size())));
      EXPECT_EQ(index.positions()[json_positions(text)->size()], text.size());
    }
  }
}

// The library works on blocks of 64 bytes and carries strings, escapes and scalars across.
TEST(JsonIndex, AgreesWithTheReferenceAtEveryPlaceInABlock) {
  JsonIndex index;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string json = RandomJson(seed).value(4);
    for (std::size_t shift = 0; shift < 128; ++shift) {
      const std::string text = std::string(shift, ' ') + json;
      ASSERT_EQ(indexed(index, text), json_positions(text)) << text;
    }
  }
}

TEST(JsonIndex, RunsOfBackslashesAgreeWithTheReference) {
  JsonIndex index;
  for (std::size_t before = 0; before < 70; ++before) {
    for (std::size_t slashes = 0; slashes < 140; ++slashes) {
      const std::string text =
          "[\"" + std::string(before, 'x') + std::string(slashes, '\\') + "\", 1]";
      ASSERT_EQ(indexed(index, text), json_positions(text)) << before << ' ' << slashes;
    }
  }
}

TEST(JsonIndex, RandomTextsAgreeWithTheReference) {
  // Without form feeds and \x1a, which the library takes for a comma and a colon on some machines.
  constexpr std::string_view kLetters = "{}[],:\"\"\"\\\\ \n\t\r1truenull.-x\x01\x80\xc3\xa9";
  std::mt19937 random(1);
  JsonIndex index;
  int refused = 0;
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    std::string text(random() % 200, ' ');
    const std::size_t letters = round % 2 == 0 ? kLetters.size() : kLetters.size() - 4;
    for (char& c : text) c = kLetters[random() % letters];
    const std::optional<Positions> expected = json_positions(text);
    refused += expected ? 0 : 1;
    ASSERT_EQ(indexed(index, text), expected) << text;
  }
  EXPECT_LT(refused, kRounds * 95 / 100);
}

}  // namespace
}  // namespace tbtrace::wire
