#include "recorder/log/row_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tbtrace::recorder {
namespace {

/// Of a size that chunks are no multiple of.
struct Odd {
  std::uint64_t number = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint64_t again = 0;

  bool operator==(const Odd&) const = default;
};

constexpr std::size_t kOfAChunk = kChunkBytes / sizeof(Odd);

Odd odd(std::uint64_t number) {
  return {.number = number,
          .a = static_cast<std::uint32_t>(number * 7),
          .b = static_cast<std::uint32_t>(number / 3),
          .again = ~number};
}

template <typename Row>
std::vector<Row> rows_of(const RowList<Row>& list) {
  return {list.begin(), list.end()};
}

TEST(RowList, HasWhatWasAdded) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, kOfAChunk - 1, kOfAChunk, kOfAChunk + 1, 5 * kOfAChunk}) {
    RowList<Odd> list;
    std::vector<Odd> expected;
    for (std::size_t row = 0; row < count; ++row) {
      list.push_back(odd(row));
      expected.push_back(odd(row));
    }
    ASSERT_EQ(list.size(), count);
    EXPECT_EQ(list.empty(), count == 0);
    EXPECT_TRUE(rows_of(list) == expected) << count;
    for (std::size_t row = 0; row < count; ++row) ASSERT_EQ(list[row], expected[row]) << row;
  }
}

TEST(RowList, RowsOfAllSizesLieApart) {
  struct Large {
    std::uint8_t bytes[1000];
  };
  RowList<std::uint8_t> small;
  RowList<Large> large;
  for (std::size_t row = 0; row < 2 * kChunkBytes; ++row) {
    small.push_back(static_cast<std::uint8_t>(row % 251));
  }
  for (std::size_t row = 0; row < 2000; ++row) {
    Large rows = {};
    std::fill_n(rows.bytes, sizeof rows.bytes, static_cast<std::uint8_t>(row % 253));
    large.push_back(rows);
  }
  for (std::size_t row = 0; row < small.size(); ++row) ASSERT_EQ(small[row], row % 251) << row;
  for (std::size_t row = 0; row < large.size(); ++row) {
    ASSERT_TRUE(std::all_of(large[row].bytes, large[row].bytes + sizeof(Large),
                            [row](std::uint8_t byte) { return byte == row % 253; }))
        << row;
  }
}

TEST(RowList, RowsStayWhereTheyAre) {
  RowList<Odd> list;
  list.push_back(odd(1));
  const Odd* const first = &list[0];
  for (std::size_t row = 0; row < 3 * kOfAChunk; ++row) list.push_back(odd(row));
  EXPECT_EQ(&list[0], first);
  list[0] = odd(5);
  EXPECT_EQ(*list.begin(), odd(5));
}

TEST(RowList, CopiesAreTheirOwn) {
  RowList<Odd> list = {odd(1), odd(2)};
  RowList<Odd> copy = list;
  copy[0] = odd(8);
  copy.push_back(odd(9));
  EXPECT_THAT(rows_of(list), testing::ElementsAre(odd(1), odd(2)));
  EXPECT_THAT(rows_of(copy), testing::ElementsAre(odd(8), odd(2), odd(9)));
  list = copy;
  EXPECT_THAT(rows_of(list), testing::ElementsAre(odd(8), odd(2), odd(9)));
}

TEST(RowList, WhatWasMovedFromIsEmptyAndTakesRowsAgain) {
  RowList<Odd> list = {odd(1), odd(2)};
  RowList<Odd> moved = std::move(list);
  EXPECT_THAT(rows_of(moved), testing::ElementsAre(odd(1), odd(2)));
  EXPECT_EQ(list.size(), 0U);  // NOLINT(bugprone-use-after-move)
  list.push_back(odd(3));
  EXPECT_THAT(rows_of(list), testing::ElementsAre(odd(3)));
  moved = std::move(list);
  EXPECT_THAT(rows_of(moved), testing::ElementsAre(odd(3)));
}

TEST(RowList, GivesItsChunksBack) {
  const Odd* of_the_first = nullptr;
  {
    RowList<Odd> list = {odd(1)};
    of_the_first = &list[0];
  }
  const RowList<Odd> list = {odd(2)};
  EXPECT_EQ(&list[0], of_the_first);
}

#ifndef TBTRACE_SANITIZED
/// For a process of its own.
bool keeps_its_rows_without_memory() {
  RowList<Odd> list;
  list.push_back(odd(0));
  rlimit before = {};
  ::getrlimit(RLIMIT_AS, &before);
  rlimit tight = before;
  tight.rlim_cur = std::size_t{1} << 20;  // less than there is already
  ::setrlimit(RLIMIT_AS, &tight);
  std::size_t failures = 0;
  while (failures < 2 && list.size() < 100 * kOfAChunk) {
    try {
      list.push_back(odd(list.size()));
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  ::setrlimit(RLIMIT_AS, &before);
  const std::size_t had = list.size();
  while (list.size() < had + kOfAChunk) list.push_back(odd(list.size()));
  for (std::size_t row = 0; row < list.size(); ++row) {
    if (list[row] != odd(row)) return false;
  }
  return failures == 2;
}

TEST(RowListDeathTest, WithoutMemoryRowsStayWhatTheyWere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(keeps_its_rows_without_memory() ? 0 : 1), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace tbtrace::recorder
