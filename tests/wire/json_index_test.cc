#include "wire/json_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/json_positions.h"
#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::wire {
namespace {

using fixtures::json_parts;
using fixtures::json_positions;
using fixtures::random_rounds;
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

struct Indexed {
  IndexEnd end = IndexEnd::whole;
  Positions positions = {};
  bool is_utf8 = true;

  bool operator==(const Indexed&) const = default;
};

/// What build() finds, after a check of the entries after the last position.
Indexed indexed(JsonIndex& index, std::string_view text) {
  const PaddedText padded(text);
  const IndexEnd end = index.build(padded.view());
  if (end == IndexEnd::broken) return {.end = end};
  const std::uint32_t* last = index.positions();
  while (*last < text.size()) ++last;
  for (std::size_t number = 0; number < kJsonSentinels; ++number) {
    EXPECT_EQ(last[number], text.size()) << text;
  }
  return {end, Positions(index.positions(), last), index.is_utf8()};
}

Indexed indexed(std::string_view text) {
  JsonIndex index;
  return indexed(index, text);
}

Indexed expected(std::string_view text) {
  fixtures::JsonParts parts = json_parts(text);
  if (parts.end == IndexEnd::broken) return {.end = parts.end};
  return {parts.end, std::move(parts.positions), parts.is_utf8};
}

/// A backslash outside of strings: no JSON has one, and it may hide a quote.
bool has_bare_backslash(std::string_view text) {
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && !in_string) return true;
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      in_string = !in_string;
  }
  return false;
}

TEST(JsonIndex, FindsEveryPart) {
  EXPECT_THAT(indexed(R"({"a": [1, true], "b": "c"})").positions,
              ElementsAre(0, 1, 4, 6, 7, 8, 10, 14, 15, 17, 20, 22, 25));
}

TEST(JsonIndex, LooksPastEscapedQuotes) {
  EXPECT_THAT(indexed(R"(["a\"]", "\\", 3])").positions, ElementsAre(0, 1, 7, 9, 13, 15, 16));
}

TEST(JsonIndex, TakesSeveralValues) {
  EXPECT_THAT(indexed(R"( {} , {},)").positions, ElementsAre(1, 2, 4, 6, 7, 8));
}

TEST(JsonIndex, RefusesRawControlCharactersInStrings) {
  EXPECT_EQ(indexed("[\"line\nbreak\"]").end, IndexEnd::broken);
  EXPECT_EQ(indexed(std::string_view("[\"zero\0byte\"]", 13)).end, IndexEnd::broken);
  EXPECT_EQ(indexed("[\"line\nbreak\", \"open").end, IndexEnd::broken);
  EXPECT_EQ(indexed("[1,\n2]").end, IndexEnd::whole) << "between strings they are blanks";
}

TEST(JsonIndex, GivesThePartsBeforeAnOpenString) {
  EXPECT_EQ(indexed("[1, \"open"), (Indexed{IndexEnd::open_string, {0, 1, 2}}));
  EXPECT_EQ(indexed("[\"a\\\""), (Indexed{IndexEnd::open_string, {0}}));
  EXPECT_EQ(indexed("[\"open\n"), (Indexed{IndexEnd::open_string, {0}}))
      << "what is in the string is not looked at";
  EXPECT_EQ(indexed("[\"a\", \""), (Indexed{IndexEnd::open_string, {0, 1, 4}}));
  EXPECT_EQ(indexed("\"").end, IndexEnd::open_string);
}

TEST(JsonIndex, GivesThePartsOfTextThatIsNotUtf8) {
  EXPECT_EQ(indexed("[\"\xff\"]"), (Indexed{IndexEnd::whole, {0, 1, 4}, false}));
  EXPECT_EQ(indexed("[\"\xed\xa0\x80\"]"), (Indexed{IndexEnd::whole, {0, 1, 6}, false}));
  EXPECT_EQ(indexed("[1] \xe6\xbc"), (Indexed{IndexEnd::whole, {0, 1, 2, 4}, false}));
}

// Blocks of a file may be empty, also the first one that a thread gets.
TEST(JsonIndex, ATextWithoutPartsHasNoPositions) {
  for (const std::string text : {"", " ", "\n\n \t"}) {
    EXPECT_EQ(indexed(text), (Indexed{IndexEnd::whole, {}}));
  }
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
    EXPECT_EQ(indexed(index, text), (Indexed{IndexEnd::whole, expected}));
    EXPECT_EQ(indexed(index, text + '"'), (Indexed{IndexEnd::open_string, expected}));
  }
}

TEST(JsonIndex, MayBeMoved) {
  JsonIndex first;
  EXPECT_EQ(indexed(first, "[1]").end, IndexEnd::whole);
  JsonIndex second(std::move(first));
  EXPECT_THAT(indexed(second, "{}").positions, ElementsAre(0, 1));
}

TEST(JsonIndex, IgnoresThePadding) {
  for (const char filling : {'"', '\\', '{', '1', '\n', '\xff', '\0'}) {
    for (const std::string_view text : {"[1, \"a\"]", "12"}) {
      std::string padded(text);
      padded.append(kJsonPadding, filling);
      JsonIndex index;
      ASSERT_EQ(index.build(std::string_view(padded).substr(0, text.size())), IndexEnd::whole);
      EXPECT_EQ(index.positions()[json_positions(text)->size()], text.size());
    }
  }
}

// The library works on blocks of 64 bytes and carries strings, escapes and scalars across.
TEST(JsonIndex, AgreesWithTheReferenceAtEveryPlaceInABlock) {
  JsonIndex index;
  for (unsigned seed = 0; seed < random_rounds(60u); ++seed) {
    const std::string json = RandomJson(seed).value(4);
    for (std::size_t shift = 0; shift < 128; ++shift) {
      const std::string text = std::string(shift, ' ') + json;
      ASSERT_EQ(indexed(index, text), expected(text)) << text;
    }
  }
}

TEST(JsonIndex, RunsOfBackslashesAgreeWithTheReference) {
  JsonIndex index;
  for (std::size_t before = 0; before < 70; ++before) {
    for (std::size_t slashes = 0; slashes < 140; ++slashes) {
      const std::string text =
          "[\"" + std::string(before, 'x') + std::string(slashes, '\\') + "\", 1]";
      ASSERT_EQ(indexed(index, text), expected(text)) << before << ' ' << slashes;
    }
  }
}

TEST(JsonIndex, RandomTextsAgreeWithTheReference) {
  // Without form feeds and \x1a, which the library takes for a comma and a colon on some machines.
  constexpr std::string_view kLetters = "{}[],:\"\"\"\\\\ \n\t\r1truenull.-x\x01\x80\xc3\xa9";
  std::mt19937 random(1);
  JsonIndex index;
  int compared = 0;
  const int rounds = random_rounds(100000);
  for (int round = 0; round < rounds; ++round) {
    std::string text(random() % 200, ' ');
    const std::size_t letters = round % 2 == 0 ? kLetters.size() : kLetters.size() - 4;
    for (char& c : text) c = kLetters[random() % letters];
    const bool may_differ =
        has_bare_backslash(text) && json_parts(text).end == IndexEnd::open_string;
    if (may_differ) continue;
    ++compared;
    ASSERT_EQ(indexed(index, text), expected(text)) << text;
  }
  EXPECT_GT(compared, rounds / 4);
}

// A real text is cut anywhere.
TEST(JsonIndex, EveryStartOfAValidTextAgreesWithTheReference) {
  JsonIndex index;
  for (unsigned seed = 0; seed < random_rounds(200u); ++seed) {
    const std::string text = RandomJson(seed).value(4);
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const std::string_view part = std::string_view(text).substr(0, size);
      if (!json_parts(part).is_utf8) continue;  // cut within a character
      ASSERT_EQ(indexed(index, part), expected(part)) << part;
    }
  }
}

TEST(JsonIndex, TellsAnOpenStringThoughTheTextIsNotUtf8) {
  EXPECT_EQ(indexed("[\"\xff\", \"open"), (Indexed{IndexEnd::open_string, {0, 1, 4}, false}));
}

}  // namespace
}  // namespace tbtrace::wire
