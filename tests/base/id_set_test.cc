#include "base/id_set.h"

#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

constexpr std::int64_t kLowestId = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighestId = std::numeric_limits<std::int64_t>::max();

TEST(IdSet, KnowsWhichIdsCameBefore) {
  struct Range {
    std::int64_t least;
    std::int64_t most;
  };
  // Dense, dense and far from 0, sparse, and all that there are.
  for (const auto& [least, most] :
       {Range{1, 1000}, Range{-100, 100}, Range{kHighestId - 500, kHighestId},
        Range{0, 1'000'000'000}, Range{kLowestId, kHighestId}, Range{7, 7}}) {
    IdSet seen(least, most, 2000);
    std::set<std::int64_t> expected;
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::int64_t> ids(least, most);
    for (int count = 0; count < 2000; ++count) {
      const std::int64_t id = count == 0 ? least : count == 1 ? most : ids(random);
      ASSERT_EQ(seen.insert(id), expected.insert(id).second) << id << " of " << least;
    }
  }
}

TEST(IdSet, TakesIdsWhereNoneWereExpected) {
  IdSet seen(kHighestId, kLowestId, 0);
  EXPECT_TRUE(seen.insert(3));
  EXPECT_FALSE(seen.insert(3));
}

}  // namespace
}  // namespace tbtrace
