#include "statistics/block_bootstrap.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/random_runs.h"

namespace tbtrace::statistics {
namespace {

using Steps = std::vector<std::int64_t>;

/// x = 0; x = phi * x + noise, rounded, with a linear congruential generator for the noise: the
/// same in Python.
Steps simple_series(std::size_t count, double correlation) {
  std::int64_t state = 1;
  double value = 0;
  Steps steps;
  for (std::size_t step = 0; step < count; ++step) {
    state = (state * 1103515245 + 12345) % (std::int64_t{1} << 31);
    value = correlation * value + static_cast<double>(state / 65536 % 2001 - 1000);
    steps.push_back(1'000'000 + static_cast<std::int64_t>(std::nearbyint(value * 10)));
  }
  return steps;
}

// Python's arch (Sheppard): optimal_block_length(x)['circular']
// is 15.19..., 10.71..., 41.54..., 11.29..., and 0.71... for the series without correlation,
// where the cube root is 5.
TEST(BlockLength, AgreesWithArch) {
  EXPECT_EQ(block_length(simple_series(100, 0.8)), 16U);
  EXPECT_EQ(block_length(simple_series(400, 0.6)), 11U);
  EXPECT_EQ(block_length(simple_series(1000, 0.9)), 42U);
  EXPECT_EQ(block_length(simple_series(1000, -0.5)), 12U);
  EXPECT_EQ(block_length(simple_series(100, 0)), 5U);
}

TEST(BlockLength, ExtremeValues) {
  EXPECT_EQ(block_length({}), 1U);
  EXPECT_EQ(block_length(Steps{7}), 1U);
  EXPECT_EQ(block_length(Steps{7, 8}), 1U);
  EXPECT_EQ(block_length(Steps(1000, 7)), 10U);
  Steps extreme(64, std::numeric_limits<std::int64_t>::max());
  extreme[3] = 1;
  EXPECT_GE(block_length(extreme), 4U);
  Steps alternating;
  for (int step = 0; step < 64; ++step) alternating.push_back(1 + step % 2);
  EXPECT_LE(block_length(alternating), 22U);
}

/// The same on every machine, to the last bit.
TEST(DescribeSteps, HasTheSameBits) {
  const Steps base = simple_series(80, 0.6);
  const Steps now = simple_series(120, 0.3);
  const std::optional<StepInterval> found = describe_steps(base, now);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->change, -0x1.a73562e7648p-12);
  EXPECT_EQ(found->low, -0x1.c05b1c75b51p-9);
  EXPECT_EQ(found->high, 0x1.73e324317d6p-9);
  EXPECT_EQ(describe_steps(base, now), found);
  EXPECT_NE(describe_steps(base, now, {.seed = 2})->low, found->low);
}

TEST(DescribeSteps, CoversAsOftenAsItsLevelSays) {
  struct Row {
    std::size_t steps;
    double correlation, least, most;
  };
  constexpr int kRounds = 300;
  for (const Row& row : {Row{30, 0, 0.93, 1}, Row{80, 0.3, 0.9, 0.98}, Row{200, 0.6, 0.88, 0.97}}) {
    RandomRuns random(41);
    int covered = 0;
    for (int round = 0; round < kRounds; ++round) {
      const Steps base = random.steps(row.steps, row.correlation);
      const Steps now = random.steps(row.steps, row.correlation);
      const auto found = describe_steps(base, now, {.samples = 399});
      covered += found->low <= 0 && found->high >= 0;
    }
    EXPECT_GE(covered, kRounds * row.least) << row.steps;
    EXPECT_LE(covered, kRounds * row.most) << row.steps;
  }
}

TEST(DescribeSteps, EqualStepsHaveAnIntervalWithoutWidth) {
  const std::optional<StepInterval> found = describe_steps(Steps(30, 100), Steps(40, 150));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->change, 0.5);
  EXPECT_EQ(found->low, 0.5);
  EXPECT_EQ(found->high, 0.5);
}

TEST(DescribeSteps, LongestDurationsDoNotOverflow) {
  const Steps longest(50, std::numeric_limits<std::int64_t>::max());
  const std::optional<StepInterval> found = describe_steps(longest, Steps(30, 1));
  ASSERT_TRUE(found);
  EXPECT_GE(found->low, -1);
  EXPECT_LE(found->high, 0);
}

TEST(DescribeSteps, NeedsThirtyStepsAndPositiveDurations) {
  const Steps enough(30, 5);
  EXPECT_TRUE(describe_steps(enough, enough));
  EXPECT_FALSE(describe_steps(Steps(29, 5), enough));
  EXPECT_FALSE(describe_steps(enough, {}));
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}}) {
    Steps steps = enough;
    steps[4] = bad;
    EXPECT_FALSE(describe_steps(enough, steps));
    EXPECT_FALSE(describe_steps(steps, enough));
  }
  for (const double level : {0.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(describe_steps(enough, enough, {.level = level}));
  }
  EXPECT_FALSE(describe_steps(enough, enough, {.samples = 98}));
  EXPECT_FALSE(describe_steps(enough, enough, {.samples = 100'001}));
  EXPECT_TRUE(describe_steps(enough, enough, {.level = 0.9999999, .samples = 99}));
}

}  // namespace
}  // namespace tbtrace::statistics
