#include "writers/events/pr_curve.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::writers {
namespace {

TEST(PrCurve, CountsAtEachThresholdWhatIsAboveIt) {
  const std::vector<std::uint8_t> labels = {1, 0, 1, 1, 0};
  const std::vector<float> predictions = {0.9F, 0.8F, 0.4F, 1, 0};
  const std::vector<float> curve = pr_curve(labels, predictions, {}, 3);  // at 0, 0.5 and 1
  const std::vector<float> expected = {3, 2, 1, 2,    1,        0, 0, 1,        2,
                                       0, 1, 2, 0.6F, 2.0F / 3, 1, 1, 2.0F / 3, 1.0F / 3};
  ASSERT_EQ(curve.size(), expected.size());
  for (std::size_t i = 0; i < curve.size(); ++i) EXPECT_FLOAT_EQ(curve[i], expected[i]) << i;
}

TEST(PrCurve, LeavesOutPredictionsThatAreNoProbabilities) {
  const std::vector<std::uint8_t> labels = {1, 1, 1, 1};
  const std::vector<float> predictions = {-0.1F, 1.5F, std::nanf(""), 0.5F};
  EXPECT_EQ(pr_curve(labels, predictions, {}, 127)[0], 1);
}

TEST(PrCurve, MatchesItsDefinitionOnRandomPredictions) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int round = 0; round < fixtures::random_rounds(200); ++round) {
    const std::size_t thresholds = 2 + random() % 20;
    const std::size_t count = random() % 40;
    std::vector<std::uint8_t> labels(count);
    std::vector<float> predictions(count);
    std::vector<float> weights(round % 2 == 0 ? count : 0);
    for (auto& label : labels) label = random() % 2;
    for (auto& prediction : predictions) prediction = uniform(random);
    for (auto& weight : weights) weight = static_cast<float>(random() % 5);
    const std::vector<float> curve = pr_curve(labels, predictions, weights, thresholds);
    for (std::size_t at = 0; at < thresholds; ++at) {
      double sums[2][2] = {};  // by label and by whether it is at the threshold or above
      for (std::size_t i = 0; i < count; ++i) {
        const float scaled = predictions[i] * static_cast<float>(thresholds - 1);
        const bool above = std::floor(scaled) >= static_cast<float>(at);
        sums[labels[i]][above] += weights.empty() ? 1 : static_cast<double>(weights[i]);
      }
      EXPECT_FLOAT_EQ(curve[at], static_cast<float>(sums[1][1]));
      EXPECT_FLOAT_EQ(curve[thresholds + at], static_cast<float>(sums[0][1]));
      EXPECT_FLOAT_EQ(curve[2 * thresholds + at], static_cast<float>(sums[0][0]));
      EXPECT_FLOAT_EQ(curve[3 * thresholds + at], static_cast<float>(sums[1][0]));
      const double all = sums[1][1] + sums[0][1];
      EXPECT_FLOAT_EQ(curve[4 * thresholds + at],
                      static_cast<float>(all > 0 ? sums[1][1] / all : 0));
    }
  }
}

}  // namespace
}  // namespace tbtrace::writers
