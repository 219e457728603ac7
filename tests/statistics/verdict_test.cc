#include "statistics/verdict.h"

#include <limits>

#include <gtest/gtest.h>

namespace tbtrace::statistics {
namespace {

TEST(VerdictOf, TakesTheWholeInterval) {
  EXPECT_EQ(verdict_of(0.011, 0.05), Verdict::slower);
  EXPECT_EQ(verdict_of(-0.05, -0.011), Verdict::faster);
  EXPECT_EQ(verdict_of(-0.004, 0.009), Verdict::same);
  EXPECT_EQ(verdict_of(0.002, 0.009), Verdict::same);
  EXPECT_EQ(verdict_of(0.009, 0.05), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(-0.05, 0.05), Verdict::inconclusive);
}

TEST(VerdictOf, MinimumEffectItselfDoesNotMatter) {
  EXPECT_EQ(verdict_of(0.01, 0.05), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(-0.05, -0.01), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(-0.01, 0.01), Verdict::same);
}

TEST(VerdictOf, MinimumEffectOfZero) {
  const DecisionRule rule{.min_effect = 0};
  EXPECT_EQ(verdict_of(0, 0, rule), Verdict::same);
  EXPECT_EQ(verdict_of(1e-9, 1e-9, rule), Verdict::slower);
  EXPECT_EQ(verdict_of(-1e-9, 1e-9, rule), Verdict::inconclusive);
}

TEST(VerdictOf, IsInconclusiveForNaN) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(verdict_of(kNaN, kNaN), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(0.5, kNaN), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(kNaN, -0.5), Verdict::inconclusive);
}

TEST(DecisionRule, HasLimits) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(DecisionRule{}.is_valid());
  for (const double level : {0.4, 1.0, -1.0, kNaN}) {
    EXPECT_FALSE(DecisionRule{.level = level}.is_valid());
  }
  for (const double effect : {-0.01, 1.0, kNaN}) {
    EXPECT_FALSE(DecisionRule{.min_effect = effect}.is_valid());
  }
  for (const double power : {0.4, 1.0, kNaN}) {
    EXPECT_FALSE(DecisionRule{.power = power}.is_valid());
  }
}

TEST(NameOf, Verdicts) {
  EXPECT_EQ(name_of(Verdict::slower), "slower");
  EXPECT_EQ(name_of(Verdict::faster), "faster");
  EXPECT_EQ(name_of(Verdict::same), "same");
  EXPECT_EQ(name_of(Verdict::inconclusive), "inconclusive");
}

}  // namespace
}  // namespace tbtrace::statistics
