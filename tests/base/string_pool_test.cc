#include "base/string_pool.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

TEST(StringPool, StartsWithTheEmptyString) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(pool[0], "");
  EXPECT_EQ(pool.intern(""), 0U);
  EXPECT_EQ(pool.size(), 1U);
}

TEST(StringPool, NumbersStringsInOrderOfAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.intern("b"), 1U);
  EXPECT_EQ(pool.intern("a"), 2U);
  EXPECT_EQ(pool.intern("b"), 1U);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool[2], "a");
}

TEST(StringPool, KeepsAnyBytes) {
  StringPool pool;
  const std::string zero(1, '\0');
  const std::string zeros(2, '\0');
  const std::uint32_t first = pool.intern(zero);
  EXPECT_NE(first, pool.intern(zeros));
  EXPECT_NE(first, 0U);
  EXPECT_EQ(pool[first], zero);
  EXPECT_EQ(pool[pool.intern("\xff\xfe")], "\xff\xfe");
}

TEST(StringPool, DoesNotKeepTheCallersBytes) {
  StringPool pool;
  std::string text = "gone";
  const std::uint32_t number = pool.intern(text);
  text = "else";
  EXPECT_EQ(pool[number], "gone");
}

TEST(StringPool, ViewsStayWhereTheyAre) {
  StringPool pool;
  const std::string_view early = pool[pool.intern("early")];
  for (int number = 0; number < 100000; ++number) pool.intern("name " + std::to_string(number));
  EXPECT_EQ(early.data(), pool[pool.intern("early")].data());
  const StringPool moved = std::move(pool);
  EXPECT_EQ(early.data(), moved[1].data());
}

// Sizes on both sides of a quarter of a chunk and of a chunk, with short ones between them.
TEST(StringPool, LongStringsDoNotDisturbShortOnes) {
  StringPool pool;
  std::vector<std::string> expected = {""};
  for (const std::size_t size : {16383, 16384, 16385, 65535, 65536, 65537, 200000, 3, 65000}) {
    for (const char letter : {'a', 'b', 'c'}) {
      expected.emplace_back(size, letter);
      expected.push_back(letter + std::to_string(size));
    }
  }
  for (std::size_t number = 0; number < expected.size(); ++number) {
    EXPECT_EQ(pool.intern(expected[number]), number);
  }
  for (std::size_t number = 0; number < expected.size(); ++number) {
    EXPECT_EQ(pool[static_cast<std::uint32_t>(number)], expected[number]);
    EXPECT_EQ(pool.intern(expected[number]), number);
  }
}

TEST(StringPool, AgreesWithAMap) {
  std::mt19937 random(1);
  StringPool pool;
  std::map<std::string, std::uint32_t> expected = {{"", 0}};
  for (int round = 0; round < fixtures::random_rounds(100000); ++round) {
    std::string text(random() % (round % 1000 == 0 ? 30000 : 4), '\0');
    for (char& c : text) c = static_cast<char>(random() % 40);
    const auto number = static_cast<std::uint32_t>(expected.size());
    const std::uint32_t right = expected.try_emplace(text, number).first->second;
    ASSERT_EQ(pool.intern(text), right);
    ASSERT_EQ(pool.size(), expected.size());
  }
  for (const auto& [text, number] : expected) EXPECT_EQ(pool[number], text);
}

}  // namespace
}  // namespace tbtrace
