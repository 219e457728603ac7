#include "writers/events/histogram_buckets.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::writers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Bucket> buckets(const std::vector<double>& values, const std::vector<double>& edges,
                            std::size_t max_bins = 0) {
  return histogram_buckets<double>(values, edges, max_bins);
}

TEST(TensorflowEdges, AreThoseOfPython) {
  // numpy 1.24, torch 2.13: default_bins has 1549 edges, from -9.4e19 to 9.4e19.
  const auto edges = tensorflow_edges();
  EXPECT_EQ(edges.size(), 1549);
  EXPECT_EQ(edges[edges.size() / 2], 0);
  EXPECT_EQ(edges[edges.size() / 2 + 1], 1e-12);
  EXPECT_EQ(edges[edges.size() / 2 + 2], 1e-12 * 1.1);
  EXPECT_EQ(edges.front(), -edges.back());
  EXPECT_LT(edges.back(), 1e20);
}

TEST(HistogramBuckets, EndAtTheLeastAndTheGreatestValue) {
  EXPECT_THAT(buckets({1.5, 1.7, 2.5, 4.5}, {0, 1, 2, 3, 4, 5, 6}),
              ElementsAre(Bucket{1.5, 2, 2}, Bucket{2, 3, 1}, Bucket{3, 4, 0}, Bucket{4, 4.5, 1}));
}

TEST(HistogramBuckets, HaveTheirLeftEdgeAndTheLastTheRightToo) {
  EXPECT_THAT(buckets({0, 1, 2, 2}, {0, 1, 2}), ElementsAre(Bucket{0, 1, 1}, Bucket{1, 2, 3}));
}

TEST(HistogramBuckets, LeaveOutWhatIsOutsideTheEdges) {
  EXPECT_THAT(buckets({-5, 0.5, 7}, {0, 1, 2}), ElementsAre(Bucket{-5, 7, 1}));
  EXPECT_THAT(buckets({-5, 7}, {0, 1, 2}), IsEmpty());
}

TEST(HistogramBuckets, LeaveOutWhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(buckets({0.5, std::nan(""), kInfinity, -kInfinity}, {0, 1}),
              ElementsAre(Bucket{0.5, 0.5, 1}));
  EXPECT_THAT(buckets({std::nan("")}, {0, 1}), IsEmpty());
}

TEST(HistogramBuckets, AreJoinedIfThereAreTooMany) {
  // 7 buckets in groups of 7 / 3 = 2, as Python does it: 4 of them.
  EXPECT_THAT(buckets({0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7}, 3),
              ElementsAre(Bucket{0, 2, 2}, Bucket{2, 4, 2}, Bucket{4, 6, 2}, Bucket{6, 6, 1}));
}

TEST(HistogramBuckets, HoldEveryValueOnceOnRandomValues) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> size(0, 6);
  for (int round = 0; round < fixtures::random_rounds(50); ++round) {
    std::vector<double> values(1 + random() % 2000);
    for (double& value : values) value = random() % 3 == 0 ? -size(random) : size(random);
    const auto found = histogram_buckets<double>(values, tensorflow_edges(), round % 2 * 30);
    double before = -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const Bucket& bucket : found) {
      EXPECT_LE(before, bucket.left);
      EXPECT_LE(bucket.left, bucket.right);
      before = bucket.right;
      sum += bucket.count;
      double inside = 0;
      for (const double value : values) {
        const bool is_last = &bucket == &found.back();
        inside +=
            bucket.left <= value && (value < bucket.right || (is_last && value <= bucket.right));
      }
      EXPECT_EQ(bucket.count, inside);
    }
    EXPECT_EQ(sum, static_cast<double>(values.size()));
  }
}

TEST(BucketsOfCounts, LeaveEmptyOnesOutAtBothEnds) {
  const std::vector<double> limits = {1, 2, 3, 4, 5};
  EXPECT_THAT(buckets_of_counts(1.5, 3.5, limits, std::vector<double>{0, 2, 0, 1, 0}),
              ElementsAre(Bucket{1.5, 2, 2}, Bucket{2, 3, 0}, Bucket{3, 3.5, 1}));
  EXPECT_THAT(buckets_of_counts(0, 0, limits, std::vector<double>(5)), IsEmpty());
}

}  // namespace
}  // namespace tbtrace::writers
