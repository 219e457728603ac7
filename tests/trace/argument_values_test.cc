#include "trace/argument_values.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(ArgumentValues, OfNoRowsAreEmpty) {
  const ArgumentValues values;
  EXPECT_TRUE(values.empty());
  const ArgumentColumn column = values.view();
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column.size(), 0u);
  EXPECT_FALSE(column.has(std::size_t{0}));
  EXPECT_EQ(column.integer(std::size_t{1000}), std::nullopt);
  EXPECT_EQ(column.real(EventId{3}), std::nullopt);
  EXPECT_EQ(column.dim3(EventId{3}), std::nullopt);
  EXPECT_EQ(column.text(EventId{3}), StringId::empty);
}

TEST(ArgumentValues, AreFoundByTheirRow) {
  ArgumentValues values;
  values.set(3, std::int64_t{30});
  values.set(63, std::int64_t{-5});
  values.set(64, std::int64_t{0});
  values.set(1000, std::int64_t{7});
  const ArgumentColumn column = values.view();
  EXPECT_EQ(column.size(), 4u);
  EXPECT_EQ(column.integer(EventId{3}), 30);
  EXPECT_EQ(column.integer(EventId{63}), -5);
  EXPECT_EQ(column.integer(EventId{64}), 0) << "0 is a value";
  EXPECT_EQ(column.integer(EventId{1000}), 7);
  for (const std::size_t row : {0u, 2u, 4u, 62u, 65u, 128u, 999u, 1001u, 5000u}) {
    EXPECT_FALSE(column.has(row)) << row;
    EXPECT_EQ(column.integer(row), std::nullopt) << row;
  }
  std::vector<EventId> rows;
  column.for_each([&](EventId event) { rows.push_back(event); });
  EXPECT_THAT(rows, ElementsAre(EventId{3}, EventId{63}, EventId{64}, EventId{1000}));
}

TEST(ArgumentValues, KeepTheFirstValueOfARow) {
  ArgumentValues values;
  values.set(5, std::int64_t{1});
  values.set(5, std::int64_t{2});
  EXPECT_EQ(values.view().integer(EventId{5}), 1);
  EXPECT_EQ(values.view().size(), 1u);
}

TEST(ArgumentValues, SurviveTheFirstWideInteger) {
  for (const std::int64_t wide :
       {std::int64_t{1} << 31, kMin, kMax, -(std::int64_t{1} << 31) - 1}) {
    ArgumentValues values;
    values.set(0, std::int64_t{std::numeric_limits<std::int32_t>::min()});
    values.set(1, std::int64_t{std::numeric_limits<std::int32_t>::max()});
    values.set(2, wide);
    values.set(70, std::int64_t{4});
    const ArgumentColumn column = values.view();
    EXPECT_EQ(column.integer(EventId{0}), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(column.integer(EventId{1}), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(column.integer(EventId{2}), wide);
    EXPECT_EQ(column.integer(EventId{70}), 4);
    ArgumentValues first;
    first.set(9, wide);
    EXPECT_EQ(first.view().integer(EventId{9}), wide);
  }
}

TEST(ArgumentValues, HaveOneType) {
  ArgumentValues reals;
  reals.set(1, 2.5);
  EXPECT_EQ(reals.view().real(EventId{1}), 2.5);
  EXPECT_EQ(reals.view().integer(EventId{1}), std::nullopt);
  EXPECT_EQ(reals.view().text(EventId{1}), StringId::empty);
  ArgumentValues texts;
  texts.set(1, StringId{8});
  EXPECT_EQ(texts.view().text(EventId{1}), StringId{8});
  EXPECT_EQ(texts.view().real(EventId{1}), std::nullopt);
  ArgumentValues dims;
  dims.set(1, Dim3{1, 2, 3});
  EXPECT_EQ(dims.view().dim3(EventId{1}), (Dim3{1, 2, 3}));
  EXPECT_EQ(dims.view().integer(EventId{1}), std::nullopt);
}

TEST(ArgumentValues, CopyWhatAnotherRowHas) {
  ArgumentValues from;
  from.set(4, std::int64_t{40});
  from.set(9, kMax);
  ArgumentValues to;
  to.copy(0, from.view(), 9);
  to.copy(1, from.view(), 5);
  to.copy(2, from.view(), 4);
  EXPECT_EQ(to.view().size(), 2u);
  EXPECT_EQ(to.view().integer(EventId{0}), kMax);
  EXPECT_FALSE(to.view().has(EventId{1}));
  EXPECT_EQ(to.view().integer(EventId{2}), 40);
  ArgumentValues reals;
  reals.set(1, -0.5);
  ArgumentValues copy;
  copy.copy(1, reals.view(), 1);
  EXPECT_EQ(copy.view().real(EventId{1}), -0.5);
}

TEST(ArgumentValues, AgreeWithAMap) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    std::mt19937_64 random(seed);
    ArgumentValues values;
    std::map<std::size_t, std::int64_t> expected;
    const std::size_t gap = 1 + random() % 200;
    for (std::size_t row = random() % gap; row < 5000; row += 1 + random() % gap) {
      const auto value = static_cast<std::int64_t>(random()) >> (random() % 64);
      values.set(row, value);
      expected.emplace(row, value);
      if (random() % 500 == 0) values.expect(2.5, 10'000);
    }
    const ArgumentColumn column = values.view();
    ASSERT_EQ(column.size(), expected.size());
    std::map<std::size_t, std::int64_t> found;
    column.for_each([&](EventId event) { found.emplace(index(event), *column.integer(event)); });
    ASSERT_EQ(found, expected) << seed;
    for (std::size_t row = 0; row < 5100; ++row) ASSERT_EQ(column.has(row), expected.contains(row));
  }
}

TEST(ArgumentSet, HoldsArgumentsAndGroups) {
  const ArgumentSet some = {Argument::grid, Argument::total_reserved};
  EXPECT_TRUE(some.contains(Argument::grid));
  EXPECT_TRUE(some.contains(Argument::total_reserved));
  EXPECT_FALSE(some.contains(Argument::block));
  const ArgumentSet launches = {ArgumentGroup::launches};
  EXPECT_TRUE(launches.contains(Argument::occupancy));
  EXPECT_FALSE(launches.contains(Argument::input_dims));
  EXPECT_TRUE((some | launches).contains(Argument::occupancy));
  EXPECT_FALSE((launches - some).contains(Argument::grid));
  EXPECT_TRUE(launches.contains_any(some));
  EXPECT_FALSE(ArgumentSet{Argument::stream}.contains_any(some));
  EXPECT_EQ(ArgumentSet::all() - ArgumentSet::all(), ArgumentSet{});
  EXPECT_EQ(ArgumentSet{Argument::stream}.bits(), std::uint64_t{1} << index(Argument::stream));
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    EXPECT_TRUE(ArgumentSet::all().contains(static_cast<Argument>(row)));
  }
}

TEST(ArgumentRows, HaveNamesAndKeysOfTheirOwn) {
  std::map<std::string_view, int> names;
  std::map<std::string_view, int> keys;
  for (const ArgumentRow& row : kArgumentRows) {
    EXPECT_EQ(++names[row.name], 1) << row.name;
    EXPECT_FALSE(row.keys[0].empty()) << row.name;
    for (const std::string_view key : row.keys) {
      if (key.empty()) continue;
      EXPECT_EQ(++keys[key], 1) << key;
    }
  }
  EXPECT_EQ(argument_row(Argument::external_id).name, "external_id");
  EXPECT_EQ(argument_row(Argument::total_reserved).name, "total_reserved");
}

}  // namespace
}  // namespace tbtrace
