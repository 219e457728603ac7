#include "statistics/robust_line.h"

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::statistics {
namespace {

TEST(RobustLine, FindsALine) {
  std::vector<LinePoint> points;
  for (int x = 0; x < 10; ++x) points.push_back({double(x), 3 + 2.0 * x});
  const std::optional<RobustLine> line = robust_line(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 2, 1e-9);
  EXPECT_NEAR(line->at(0), 3, 1e-9);
  EXPECT_NEAR(line->scatter, 0, 1e-9);
}

TEST(RobustLine, OutliersDoNotMoveIt) {
  std::vector<LinePoint> points;
  for (int x = 0; x < 100; ++x) {
    points.push_back({double(x), 5 + 0.1 * x + (x % 2 == 0 ? 0.5 : -0.5) + (x % 5 == 0 ? 1e6 : 0)});
  }
  const std::optional<RobustLine> line = robust_line(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 0.1, 0.01);
  EXPECT_NEAR(line->at(0), 5, 0.5);
}

TEST(RobustLine, NeedsThreeFinitePoints) {
  EXPECT_FALSE(robust_line(std::vector<LinePoint>{{0, 0}, {1, 1}}));
  EXPECT_FALSE(robust_line(
      std::vector<LinePoint>{{0, 0}, {1, 1}, {2, std::numeric_limits<double>::infinity()}}));
  const std::optional<RobustLine> one_place =
      robust_line(std::vector<LinePoint>{{1, 4}, {1, 5}, {1, 6}});
  ASSERT_TRUE(one_place);
  EXPECT_EQ(one_place->slope, 0);
  EXPECT_EQ(one_place->middle_y, 5);
}

/// Of normal errors, 95 % of the intervals have the true value; with 400 draws, at least 92 %.
TEST(RobustLine, IntervalsHaveTheTrueLine) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, 3);
  const int rounds = fixtures::random_rounds(400);
  int with_slope = 0;
  int with_middle = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<LinePoint> points;
    for (int x = 0; x < 30; ++x) points.push_back({double(x), 10 + 0.5 * x + error(random)});
    const RobustLine line = *robust_line(points);
    with_slope += std::abs(line.slope - 0.5) <= line.slope_error ? 1 : 0;
    with_middle += std::abs(line.middle_y - (10 + 0.5 * line.middle_x)) <= line.middle_error;
  }
  EXPECT_GE(with_slope, rounds * 92 / 100);
  EXPECT_GE(with_middle, rounds * 92 / 100);
}

}  // namespace
}  // namespace tbtrace::statistics
