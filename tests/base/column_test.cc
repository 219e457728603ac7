#include "base/column.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;

TEST(Column, StartsEmptyWithoutMemory) {
  const Column<int> column;
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column.size(), 0U);
  EXPECT_EQ(column.data(), nullptr);
  EXPECT_EQ(column.begin(), column.end());
  EXPECT_TRUE(column.view().empty());
}

TEST(Column, KeepsWhatWasPushed) {
  Column<int> column;
  column.push_back(3);
  column.push_back(1);
  column.push_back(2);
  EXPECT_THAT(column.view(), ElementsAre(3, 1, 2));
  EXPECT_EQ(column.back(), 2);
  column[1] = 7;
  EXPECT_EQ(column[1], 7);
}

TEST(Column, PushingAnOwnValueSurvivesTheMove) {
  Column<std::uint64_t> column;
  column.push_back(42);
  while (column.size() < 10000) column.push_back(column[0]);
  for (const std::uint64_t value : column) EXPECT_EQ(value, 42U);
}

TEST(Column, ResizingFillsOnlyWhatIsNew) {
  Column<int> column;
  column.resize(2, 5);
  column.resize(4, 6);
  EXPECT_THAT(column.view(), ElementsAre(5, 5, 6, 6));
  column.resize(1, 9);
  EXPECT_THAT(column.view(), ElementsAre(5));
  column.resize(1, 9);
  column.resize(3, 8);
  EXPECT_THAT(column.view(), ElementsAre(5, 8, 8));
}

TEST(Column, ExtendingGivesTheNewPlaces) {
  Column<int> column;
  column.push_back(1);
  int* place = column.extend(2);
  place[0] = 2;
  place[1] = 3;
  column.extend(0);
  EXPECT_THAT(column.view(), ElementsAre(1, 2, 3));
}

TEST(Column, AppendsSpans) {
  Column<int> column;
  column.append({});
  EXPECT_TRUE(column.empty());
  const std::array<int, 3> values = {1, 2, 3};
  column.append(values);
  column.append(std::span(values).first(1));
  EXPECT_THAT(column.view(), ElementsAre(1, 2, 3, 1));
}

TEST(Column, ClearingKeepsTheMemoryAndReleasingDoesNot) {
  Column<int> column;
  column.resize(100, 1);
  const int* before = column.data();
  column.clear();
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column.data(), before);
  column.release();
  EXPECT_EQ(column.data(), nullptr);
  column.push_back(4);
  EXPECT_THAT(column.view(), ElementsAre(4));
}

TEST(Column, ReservedRoomIsNotMoved) {
  Column<int> column;
  column.reserve(1000);
  column.push_back(0);
  const int* before = column.data();
  while (column.size() < 1000) column.push_back(1);
  EXPECT_EQ(column.data(), before);
  column.reserve(10);
  EXPECT_EQ(column.data(), before);
}

TEST(Column, MovesInsteadOfCopying) {
  Column<int> first;
  first.push_back(1);
  const int* data = first.data();
  Column<int> second(std::move(first));
  EXPECT_EQ(second.data(), data);
  Column<int> third;
  third.push_back(9);
  third = std::move(second);
  EXPECT_THAT(third.view(), ElementsAre(1));
  third.swap(third);
  EXPECT_THAT(third.view(), ElementsAre(1));
}

TEST(Column, RefusesSizesThatOverflow) {
  Column<std::uint64_t> column;
  EXPECT_THROW(column.reserve(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
  column.push_back(1);
  EXPECT_THAT(column.view(), ElementsAre(1U));
}

TEST(Column, AgreesWithAVector) {
  std::mt19937 random(1);
  Column<std::uint32_t> column;
  std::vector<std::uint32_t> expected;
  for (int round = 0; round < fixtures::random_rounds(20000); ++round) {
    const std::uint32_t value = random();
    switch (random() % 8) {
      case 0: {
        const std::size_t size = random() % 300;
        column.resize(size, value);
        expected.resize(size, value);
        break;
      }
      case 1: {
        const std::vector<std::uint32_t> some(random() % 20, value);
        column.append(some);
        expected.insert(expected.end(), some.begin(), some.end());
        break;
      }
      case 2:
        if (random() % 50 == 0) {
          column.release();
          expected.clear();
        }
        break;
      default:
        column.push_back(value);
        expected.push_back(value);
    }
    ASSERT_EQ(column.size(), expected.size());
  }
  EXPECT_EQ(std::vector<std::uint32_t>(column.begin(), column.end()), expected);
}

}  // namespace
}  // namespace tbtrace
