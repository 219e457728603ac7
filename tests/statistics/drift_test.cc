#include "statistics/drift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/random_runs.h"

namespace tbtrace::statistics {
namespace {

using Means = std::vector<double>;

// scipy 1.17.1: stats.kendalltau(range(len(x)), x, method='exact').pvalue,
// stats.theilslopes(log(x), range(len(x))).slope
TEST(Drift, AgreesWithScipy) {
  const std::optional<Drift> rising = drift_of(Means{5.1, 5.0, 5.3, 5.2, 5.6, 5.5, 5.9, 5.8});
  ASSERT_TRUE(rising);
  EXPECT_TRUE(rising->exact);
  EXPECT_NEAR(rising->p_value, 0.014136904761904762, 1e-11);
  EXPECT_NEAR(drift_of(Means{3, 1, 2, 4, 5, 7, 6, 8, 10, 9, 12, 11})->p_value,
              1.6342325370103148e-05, 1e-14);
  const std::optional<Drift> six = drift_of(Means{3, 1, 2, 4, 5, 6});
  EXPECT_NEAR(six->p_value, 0.05555555555555555, 1e-10);
  EXPECT_NEAR(std::log1p(six->change_per_run), 0.2231435513142097, 1e-9);
}

TEST(Drift, FallsAsItRises) {
  const Means rising = {1, 2, 3, 4, 5, 6};
  const Means falling(rising.rbegin(), rising.rend());
  EXPECT_NEAR(drift_of(rising)->p_value, 2.0 / 720, 1e-12);
  EXPECT_EQ(drift_of(falling)->p_value, drift_of(rising)->p_value);
  EXPECT_LT(drift_of(falling)->change_per_run, 0);
}

TEST(DriftWithin, IsTheShareOfOrdersThatAreAsFarFromEven) {
  const Means base = {1, 3, 2, 4};
  const Means now = {15, 16, 17};
  const auto distance = [](const Means& one, const Means& two) {
    int rising = 0;
    for (const Means* side : {&one, &two}) {
      for (std::size_t later = 1; later < side->size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
          rising += (*side)[later] > (*side)[earlier] ? 1 : -1;
        }
      }
    }
    return std::abs(rising);
  };
  int orders = 0;
  int as_far = 0;
  Means one = {1, 2, 3, 4};
  do {
    Means two = now;
    do {
      ++orders;
      as_far += distance(one, two) >= distance(base, now);
    } while (std::ranges::next_permutation(two).found);
  } while (std::ranges::next_permutation(one).found);
  EXPECT_EQ(orders, 144);
  EXPECT_NEAR(drift_within(base, now)->p_value, static_cast<double>(as_far) / orders, 1e-10);
}

TEST(DriftWithin, ChangeBetweenSidesIsNoDrift) {
  const Means base = {10, 12, 11, 13, 12.5, 10.5};
  const Means now = {110, 112, 111, 113, 112.5, 110.5};
  EXPECT_GT(drift_within(base, now)->p_value, 0.1);
  Means both = base;
  both.insert(both.end(), now.begin(), now.end());
  EXPECT_LT(drift_of(both)->p_value, 0.01);
}

TEST(Drift, EqualMeansHaveTheNormalDistribution) {
  const std::optional<Drift> flat = drift_of(Means(8, 5.0));
  ASSERT_TRUE(flat);
  EXPECT_FALSE(flat->exact);
  EXPECT_EQ(flat->p_value, 1);
  EXPECT_EQ(flat->change_per_run, 0);
  // S = 26; variance (8*7*21 - 2 * 2*1*9) / 18 = 190 / 3; 2 * norm.sf(25 / sqrt(190 / 3))
  EXPECT_NEAR(drift_of(Means{1, 1, 2, 3, 3, 4, 5, 6})->p_value, 0.0016809, 1e-6);
}

TEST(Drift, OrdersAreCloseToTheNormalDistribution) {
  RandomRuns random(31);
  constexpr int kRuns = 50;
  for (int round = 0; round < 50; ++round) {
    const Means means = random.means(kRuns, 0.05);
    int rising = 0;
    for (std::size_t later = 1; later < kRuns; ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        rising += means[later] > means[earlier] ? 1 : -1;
      }
    }
    const double variance = kRuns * (kRuns - 1) * (2.0 * kRuns + 5) / 18;
    const double normal = std::erfc((std::abs(rising) - 1) / std::sqrt(2 * variance));
    const std::optional<Drift> exact = drift_of(means);
    EXPECT_TRUE(exact->exact);
    EXPECT_NEAR(exact->p_value, normal, 0.002);
    Means tied = means;
    tied.push_back(tied.back());
    EXPECT_FALSE(drift_of(tied)->exact);
  }
}

TEST(Drift, RarelySaidWithoutOne) {
  RandomRuns random(32);
  int said = 0;
  for (int round = 0; round < 2000; ++round) {
    said += drift_of(random.means(10, 0.08, true))->p_value < 0.01;
  }
  EXPECT_LE(said, 30);
  EXPECT_GE(said, 5);
}

TEST(Drift, NeedsSixRunsAndPositiveMeans) {
  EXPECT_FALSE(drift_of({}));
  EXPECT_FALSE(drift_of(Means{1, 2, 3, 4, 5}));
  EXPECT_TRUE(drift_within(Means{1, 2, 3}, Means{4, 5, 6}));
  EXPECT_FALSE(drift_within(Means{1, 2, 3}, Means{4, 5}));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(drift_of(Means{1, 2, 3, bad, 5, 6}));
  }
  const std::optional<Drift> singles = drift_within(Means{1}, Means{1, 2, 4, 3, 9});
  ASSERT_TRUE(singles);
  EXPECT_GE(singles->p_value, 0);
}

}  // namespace
}  // namespace tbtrace::statistics
