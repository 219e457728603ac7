#include "base/id_column.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

constexpr std::int64_t kLargestNarrow = std::numeric_limits<std::uint32_t>::max();

TEST(IdColumn, RowsWithoutAValueAreZero) {
  IdColumn column;
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column[0], 0);
  EXPECT_EQ(column[1000000], 0);
  column.set(3, 8);
  EXPECT_FALSE(column.empty());
  EXPECT_EQ(column[2], 0);
  EXPECT_EQ(column[3], 8);
  EXPECT_EQ(column[4], 0);
}

TEST(IdColumn, ZerosTakeNoMemory) {
  IdColumn column;
  for (std::size_t row = 0; row < 100; ++row) column.set(row, 0);
  EXPECT_TRUE(column.empty());
}

TEST(IdColumn, ValuesSurviveTheFirstWideOne) {
  for (const std::int64_t wide :
       {kLargestNarrow + 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    IdColumn column;
    column.set(0, 1);
    column.set(2, kLargestNarrow);
    column.set(5, wide);
    column.set(6, 4);
    column.set(9, 0);
    const std::vector<std::int64_t> expected = {1, 0, kLargestNarrow, 0, 0, wide, 4, 0, 0, 0};
    for (std::size_t row = 0; row < expected.size(); ++row) EXPECT_EQ(column[row], expected[row]);
  }
}

TEST(IdColumn, TheFirstValueMayBeWide) {
  IdColumn column;
  column.set(2, -5);
  EXPECT_FALSE(column.empty());
  EXPECT_EQ(column[0], 0);
  EXPECT_EQ(column[2], -5);
}

TEST(IdColumn, AgreesWithAMap) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(50u); ++seed) {
    std::mt19937_64 random(seed);
    IdColumn column;
    std::map<std::size_t, std::int64_t> expected;
    std::size_t row = 0;
    const bool any_wide = random() % 2 == 0;
    for (int round = 0; round < 500; ++round, row += 1 + random() % 3) {
      auto value = static_cast<std::int64_t>(random() & 0xffffffff);
      if (random() % 3 == 0) value = 0;
      if (any_wide && random() % 50 == 0) value = static_cast<std::int64_t>(random());
      column.set(row, value);
      expected[row] = value;
    }
    for (std::size_t at = 0; at < row + 10; ++at) {
      const auto found = expected.find(at);
      ASSERT_EQ(column[at], found == expected.end() ? 0 : found->second) << seed << ' ' << at;
    }
  }
}

}  // namespace
}  // namespace tbtrace
