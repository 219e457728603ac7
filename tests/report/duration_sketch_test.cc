#include "report/duration_sketch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::report {
namespace {

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();

void expect_within_one_percent(std::int64_t value, std::int64_t duration) {
  const auto exact = static_cast<long double>(duration);
  // A value is a whole number, half of one away at most from what is exactly within 1 %.
  ASSERT_LE(std::fabs(static_cast<long double>(value) - exact), exact / 100 + 0.5L)
      << duration << " stands as " << value;
}

TEST(DurationSketch, ValueOfABucketIsWithinOnePercentOfWhatIsInIt) {
  for (std::int64_t ns = 1; ns < 200'000; ++ns) {
    const std::uint32_t bucket = DurationSketch::bucket_of(ns);
    ASSERT_LT(bucket, DurationSketch::bucket_count());
    ASSERT_NO_FATAL_FAILURE(expect_within_one_percent(DurationSketch::value_of(bucket), ns));
    ASSERT_GE(bucket, DurationSketch::bucket_of(ns - 1));
  }
  for (std::int64_t ns = kLongest; ns > 200'000; ns -= ns / 257) {
    const std::uint32_t bucket = DurationSketch::bucket_of(ns);
    ASSERT_LT(bucket, DurationSketch::bucket_count());
    ASSERT_NO_FATAL_FAILURE(expect_within_one_percent(DurationSketch::value_of(bucket), ns));
  }
}

TEST(DurationSketch, DurationsOfUpToFiftyNanosecondsAreExact) {
  for (std::int64_t ns = 1; ns <= 50; ++ns) {
    EXPECT_EQ(DurationSketch::value_of(DurationSketch::bucket_of(ns)), ns);
  }
}

TEST(DurationSketch, NegativeDurationsAndNoneAreInTheFirstBucket) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{-1}, -kLongest - 1}) {
    EXPECT_EQ(DurationSketch::bucket_of(ns), 0U);
  }
  EXPECT_EQ(DurationSketch::value_of(0), 0);
}

TEST(DurationSketch, PercentilesAreThoseOfTheSortedDurations) {
  std::mt19937_64 random(7);
  for (int round = 0; round < fixtures::random_rounds(300); ++round) {
    std::vector<std::int64_t> durations;
    DurationSketch sketch;
    const std::size_t count = 1 + random() % 200;
    for (std::size_t number = 0; number < count; ++number) {
      durations.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 62)));
      sketch.add(durations.back());
    }
    std::sort(durations.begin(), durations.end());
    for (const int percent : {1, 50, 90, 99, 100}) {
      const auto rank =
          static_cast<std::size_t>(std::ceil(static_cast<double>(count) * percent / 100.0 - 1e-9));
      const std::int64_t exact = durations[std::max<std::size_t>(rank, 1) - 1];
      ASSERT_NO_FATAL_FAILURE(expect_within_one_percent(sketch.percentile(percent), exact))
          << percent << " % of " << count;
    }
  }
}

TEST(DurationSketch, SketchOfPartsIsThatOfTheWholeInAnyOrder) {
  std::mt19937_64 random(11);
  for (int round = 0; round < fixtures::random_rounds(200); ++round) {
    DurationSketch whole;
    std::vector<DurationSketch> parts(1 + random() % 5);
    for (std::size_t number = 0; number < random() % 60; ++number) {
      const auto ns = static_cast<std::int64_t>(random() % 3000);
      whole.add(ns);
      parts[random() % parts.size()].add(ns);
    }
    std::shuffle(parts.begin(), parts.end(), random);
    DurationSketch sum;
    for (const DurationSketch& part : parts) sum.add(part);
    ASSERT_TRUE(std::ranges::equal(sum.counts(), whole.counts()));
  }
}

TEST(DurationSketch, WithoutDurationsPercentilesAreZero) {
  EXPECT_EQ(DurationSketch().percentile(99), 0);
}

}  // namespace
}  // namespace tbtrace::report
