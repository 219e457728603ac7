#include "chrome/rows/reader_times.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::chrome {
namespace {

/// Numbers of any size.
class RandomTimes {
 public:
  std::int64_t any() {
    const std::uint64_t bits = random_();
    return static_cast<std::int64_t>(bits >> random_() % 64) * (random_() % 2 == 0 ? 1 : -1);
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::mt19937_64 random_{1};
};

double parsed_us(std::int64_t ns) {
  const std::string text = std::to_string(ns) + "e-3";
  return std::strtod(text.c_str(), nullptr);
}

TEST(ReaderTimes, AreThoseOfTheText) {
  RandomTimes times;
  for (int round = 0; round < fixtures::random_rounds(300'000); ++round) {
    const std::int64_t ns = times.any();
    ASSERT_EQ(read_us(ns), parsed_us(ns)) << ns;
  }
  // Halfway between two doubles, and beside it.
  for (std::int64_t half = (std::int64_t{1} << 53) + 1; half > 0 && half < 9'200'000'000'000'000;
       half += 2 * (1 + times.below(10'000'000'000))) {
    for (std::int64_t off = -1; off <= 1; ++off) {
      ASSERT_EQ(read_us(half * 1000 + off), parsed_us(half * 1000 + off)) << half << ' ' << off;
    }
  }
  for (const std::int64_t ns :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(read_us(ns), parsed_us(ns));
  }
}

TEST(ReaderTimes, OfEndsAreRoundedSums) {
  EXPECT_GT(read_end_us(100, 300), read_us(300));
  EXPECT_EQ(read_end_us(0, 300), read_us(300));
  constexpr std::int64_t kEpoch = 1'790'857'026'000'000'000;  // doubles are 250 ns apart
  EXPECT_EQ(read_end_us(kEpoch + 100, kEpoch + 200), read_us(kEpoch));
}

TEST(ReaderTimes, LastEndIsTheLastOneThatFits) {
  RandomTimes times;
  constexpr std::int64_t kBases[] = {0, 5'000'000'001, 1'790'857'026'123'456'789};
  for (int round = 0; round < fixtures::random_rounds(30'000); ++round) {
    const std::int64_t start_ns = kBases[round % 3] + times.below(1000);
    const std::int64_t end_ns = start_ns + times.below(2000);
    const std::int64_t other_ns = start_ns + times.below(3000) - 500;
    const double limit_us = read_us(other_ns);
    std::int64_t expected = end_ns;
    while (expected > start_ns && read_end_us(start_ns, expected) > limit_us) --expected;
    ASSERT_EQ(last_end_ns(start_ns, end_ns, limit_us), expected) << start_ns << ' ' << end_ns;
  }
}

}  // namespace
}  // namespace tbtrace::chrome
