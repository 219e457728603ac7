#include "statistics/false_discovery.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/random_runs.h"

namespace tbtrace::statistics {
namespace {

// The example of Benjamini and Hochberg (1995): at 0.05 the first four are rejected. Adjusted by
// scipy 1.17.1: stats.false_discovery_control(p)
TEST(FalseDiscovery, ExampleOfThePaper) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  const std::vector<double> expected = {0.0015,
                                        0.003,
                                        0.0095,
                                        0.035625,
                                        0.0603,
                                        0.06385714285714286,
                                        0.06385714285714286,
                                        0.0645,
                                        0.0765,
                                        0.486,
                                        0.5811818181818181,
                                        0.7148749999999999,
                                        0.7532307692307693,
                                        0.8132142857142857,
                                        1.0};
  const std::vector<double> adjusted = adjusted_p_values(p);
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(adjusted[k], expected[k], 1e-14);
  const std::vector<char> rejected = rejected_at(p, 0.05);
  EXPECT_EQ(std::ranges::count(rejected, 1), 4);
  EXPECT_EQ(rejected[3], 1);
}

/// The paper's own words: the largest k with p(k) <= k q / n; reject the k smallest.
std::vector<char> naively_rejected(const std::vector<double>& p, double q) {
  std::vector<double> sorted = p;
  std::ranges::sort(sorted);
  double limit = -1;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    const double line = static_cast<double>(k) * q / static_cast<double>(sorted.size());
    if (sorted[k - 1] <= line) limit = sorted[k - 1];
  }
  std::vector<char> rejected;
  for (const double one : p) rejected.push_back(one <= limit ? 1 : 0);
  return rejected;
}

TEST(FalseDiscovery, AgreesWithTheNaiveRule) {
  RandomRuns random(21);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> p(static_cast<std::size_t>(random.uniform() * 30));
    for (double& one : p) one = random.uniform() < 0.5 ? random.uniform() / 50 : random.uniform();
    if (p.size() > 3) p[1] = p[2];
    for (const double q : {0.01, 0.05, 0.3}) EXPECT_EQ(rejected_at(p, q), naively_rejected(p, q));
  }
}

TEST(FalseDiscovery, ExtremeValues) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(adjusted_p_values({}).empty());
  EXPECT_TRUE(rejected_at({}).empty());
  EXPECT_EQ(adjusted_p_values(std::vector<double>{0.02}), std::vector<double>{0.02});
  EXPECT_EQ(adjusted_p_values(std::vector<double>{0, kNaN, -1, 2}),
            (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(rejected_at(std::vector<double>{0, 1}, kNaN), (std::vector<char>{0, 0}));
}

}  // namespace
}  // namespace tbtrace::statistics
