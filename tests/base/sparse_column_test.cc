#include "base/sparse_column.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

TEST(SparseColumn, HasNoValuesWithoutRows) {
  const SparseColumn<double> column;
  EXPECT_FALSE(column.is_marked(0));
  EXPECT_EQ(column.value(1000), 0.0);
}

TEST(SparseColumn, StartsWithDefaultValues) {
  SparseColumn<int> column(65);
  column.mark(64);
  column.settle();
  EXPECT_TRUE(column.is_marked(64));
  EXPECT_FALSE(column.is_marked(63));
  EXPECT_EQ(column[64], 0);
  column[64] = 7;
  EXPECT_EQ(column.value(64), 7);
  EXPECT_EQ(column.value(0), 0);
}

TEST(SparseColumn, AgreesWithAMap) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(50u); ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t rows = 1 + random() % 1000;
    SparseColumn<std::uint64_t> column(rows);
    std::map<std::size_t, std::uint64_t> expected;
    for (std::size_t count = random() % (2 * rows); count > 0; --count) {
      const std::size_t row = random() % rows;
      expected[row] = 0;
      column.mark(row);
    }
    column.settle();
    for (auto& [row, value] : expected) {
      value = random();
      column[row] = value;
    }
    for (std::size_t row = 0; row < rows + 100; ++row) {
      const auto found = expected.find(row);
      ASSERT_EQ(column.is_marked(row), found != expected.end()) << row << " of " << rows;
      ASSERT_EQ(column.value(row), found == expected.end() ? 0 : found->second) << row;
    }
  }
}

}  // namespace
}  // namespace tbtrace
