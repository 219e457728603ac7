#include "base/id_map.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

TEST(IdMap, FindsNothingAtFirst) {
  const IdMap map;
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.find(0), IdMap::kNone);
  EXPECT_EQ(map.find(-1), IdMap::kNone);
}

TEST(IdMap, KeepsTheFirstRowOfAnId) {
  IdMap map;
  EXPECT_EQ(map.insert(7, 1), std::make_pair(1U, true));
  EXPECT_EQ(map.insert(7, 2), std::make_pair(1U, false));
  EXPECT_EQ(map.find(7), 1U);
  EXPECT_EQ(map.size(), 1U);
}

TEST(IdMap, ReplacesARowAndTellsTheOneBefore) {
  IdMap map;
  EXPECT_EQ(map.replace(7, 1), IdMap::kNone);
  EXPECT_EQ(map.replace(7, 2), 1U);
  EXPECT_EQ(map.find(7), 2U);
  EXPECT_EQ(map.size(), 1U);
}

TEST(IdMap, TakesAnyId) {
  IdMap map(3);
  std::uint32_t row = 0;
  for (const std::int64_t id :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max(),
        std::int64_t{-7046029254386353131}}) {  // hashes to 0
    EXPECT_TRUE(map.insert(id, row).second);
    EXPECT_EQ(map.find(id), row);
    ++row;
  }
}

TEST(IdMap, AgreesWithAMap) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(20u); ++seed) {
    std::mt19937_64 random(seed);
    const int shift = static_cast<int>(random() % 60);
    const std::size_t range = 1 + random() % 20000;
    IdMap map(random() % 100);
    std::map<std::int64_t, std::uint32_t> expected;
    for (std::uint32_t round = 0; round < 20000; ++round) {
      const auto id = static_cast<std::int64_t>(random() % range << shift);
      if (random() % 4 == 0) {
        const auto found = expected.find(id);
        ASSERT_EQ(map.replace(id, round), found == expected.end() ? IdMap::kNone : found->second);
        expected[id] = round;
      } else {
        const auto [entry, added] = expected.try_emplace(id, round);
        ASSERT_EQ(map.insert(id, round), std::make_pair(entry->second, added));
      }
      ASSERT_EQ(map.size(), expected.size());
    }
    for (std::size_t number = 0; number < range; ++number) {
      const auto id = static_cast<std::int64_t>(number << shift);
      const auto found = expected.find(id);
      ASSERT_EQ(map.find(id), found == expected.end() ? IdMap::kNone : found->second);
    }
  }
}

}  // namespace
}  // namespace tbtrace
