#include "recorder/window/text_arena.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

TEST(TextArena, TextsOfAnyLengthStayWhereTheyAre) {
  TextArena arena;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::string, std::string_view>> texts;
    for (std::size_t number = 0; number < 300; ++number) {
      // From nothing to more than a block, most of them short.
      const std::size_t size = number % 50 == 49 ? 70'000 + number : number * 3;
      std::string text(size,
                       static_cast<char>('a' + (number + static_cast<std::size_t>(round)) % 26));
      const std::string_view kept = arena.put(std::string_view(text));
      texts.emplace_back(std::move(text), kept);
    }
    for (const auto& [text, kept] : texts) ASSERT_EQ(kept, text);
    arena.clear();
  }
}

TEST(TextArena, NumbersAndTimesAreExact) {
  TextArena arena;
  EXPECT_EQ(arena.put(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(arena.put(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(arena.put_microseconds(0), "0.000");
  EXPECT_EQ(arena.put_microseconds(1'007), "1.007");
  EXPECT_EQ(arena.put_microseconds(12'345'670), "12345.670");
  EXPECT_EQ(arena.put_microseconds(std::numeric_limits<std::int64_t>::max()),
            "9223372036854775.807");
}

}  // namespace
}  // namespace tbtrace::recorder
