#include "analyses/operators/row_index.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

struct Entry {
  std::uint32_t row;
  int value;
};

TEST(RowIndex, FindsNothingWhereThereIsNothing) {
  const RowIndex<Entry> index({}, 200);
  EXPECT_TRUE(index.of(0).empty());
  EXPECT_TRUE(index.of(199).empty());
}

TEST(RowIndex, FindsWhatAScanFinds) {
  std::mt19937 random(3);
  for (int round = 0; round < fixtures::random_rounds(300); ++round) {
    const std::size_t rows = 1 + random() % 400;
    std::vector<Entry> entries;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (auto count = random() % 8; count > 5; --count) {
        entries.push_back({row, static_cast<int>(entries.size())});
      }
    }
    const RowIndex<Entry> index(entries, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<int> expected;
      for (const Entry& entry : entries) {
        if (entry.row == row) expected.push_back(entry.value);
      }
      std::vector<int> found;
      for (const Entry& entry : index.of(row)) found.push_back(entry.value);
      ASSERT_EQ(found, expected) << row << " of " << rows;
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
