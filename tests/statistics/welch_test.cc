#include "statistics/welch.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/random_runs.h"

namespace tbtrace::statistics {
namespace {

using Means = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Relative, for results that keep 32 binary digits.
void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * std::abs(expected));
}

// Student's sleep data, Biometrika 6 (1908); R's documentation of `sleep` prints for
// t.test(extra ~ group): t = -1.8608, df = 17.776, p-value = 0.07939, 95 percent confidence
// interval -3.3654832 to 0.2054832, means 0.75 and 2.33. Here these are the logarithms.
TEST(CompareRuns, SleepData) {
  Means one = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  Means two = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  for (Means* side : {&one, &two}) {
    for (double& mean : *side) mean = std::exp(mean);
  }
  const Comparison result = compare_runs(one, two, {.level = 0.95});
  ASSERT_TRUE(result.inference);
  EXPECT_EQ(result.method, Method::welch);
  EXPECT_NEAR(std::log1p(result.change), 2.33 - 0.75, 1e-9);
  EXPECT_NEAR(std::log1p(result.inference->low), -0.2054832, 1e-7);
  EXPECT_NEAR(std::log1p(result.inference->high), 3.3654832, 1e-7);
  EXPECT_NEAR(result.inference->p_value, 0.07939, 1e-5);
  EXPECT_NEAR(*result.inference->degrees, 17.776, 1e-3);
  EXPECT_NEAR(1.58 / result.inference->standard_error, 1.8608, 1e-4);
}

const Means kBase = {101.2, 99.8, 100.5, 102.1, 98.9, 100.0};
const Means kNew = {104.1, 103.0, 105.9, 102.2, 104.8};

// scipy 1.17.1: w = stats.ttest_ind(log(new), log(base), equal_var=False); w.df, w.pvalue,
// expm1(w.confidence_interval(.99)), expm1(mean(log(new)) - mean(log(base)))
TEST(CompareRuns, AgreesWithScipy) {
  const Comparison result = compare_runs(kBase, kNew, {.level = 0.99});
  ASSERT_TRUE(result.inference);
  expect_close(result.change, 0.03565719578397521);
  expect_close(result.inference->low, 0.008709000611587386);
  expect_close(result.inference->high, 0.06332532626239162);
  expect_close(result.inference->p_value, 0.002187948393922094);
  expect_close(result.inference->standard_error, 0.007751592033333444);
  expect_close(*result.inference->degrees, 7.644553552843541);
}

/// The same with every compiler and on every machine, to the last bit.
TEST(CompareRuns, HasTheSameBits) {
  const Comparison result = compare_runs(kBase, kNew);
  EXPECT_EQ(result.change, 0x1.241a8f38p-5);
  EXPECT_EQ(result.inference->low, 0x1.f01831c6p-10);
  EXPECT_EQ(result.inference->high, 0x1.21035c62p-4);
  EXPECT_EQ(result.inference->p_value, 0x1.1ec75d98p-9);
  EXPECT_EQ(result.inference->p_beyond, 0x1.a02dcc28p-7);
  EXPECT_EQ(result.inference->resolvable, 0x1.de60728p-5);
}

TEST(CompareRuns, KnownNoise) {
  const DecisionRule rule{.level = 0.95};
  const Comparison result = compare_runs(Means{100}, Means{103}, rule, 0.01);
  ASSERT_TRUE(result.inference);
  EXPECT_EQ(result.method, Method::known_noise);
  EXPECT_FALSE(result.inference->degrees);
  EXPECT_FALSE(result.noise);
  const double error = std::sqrt(2 * std::log1p(1e-4));
  expect_close(result.change, 0.03);
  expect_close(result.inference->standard_error, error);
  expect_close(result.inference->low, 1.03 * std::exp(-1.959963984540054 * error) - 1);
  // norm.isf(.025) + norm.isf(.1)
  expect_close(result.inference->resolvable,
               1.01 * std::exp((1.959963984540054 + 1.2815515655446004) * error) - 1);
}

TEST(CompareRuns, SaysIfRunsVaryMoreThanTheKnownNoise) {
  EXPECT_TRUE(compare_runs(kBase, kNew, {}, 0.002).noise_exceeded);
  EXPECT_FALSE(compare_runs(kBase, kNew, {}, 0.01).noise_exceeded);
  EXPECT_TRUE(compare_runs(kBase, kNew, {}, 0).noise_exceeded);
  EXPECT_FALSE(compare_runs(Means{5, 5}, Means{6}, {}, 0).noise_exceeded);
  EXPECT_FALSE(compare_runs(kBase, kNew).noise_exceeded);
}

TEST(CompareRuns, OneSideServesBoth) {
  for (const auto& few : {Means{104}, Means{103, 105}}) {
    for (const bool is_new : {true, false}) {
      const Comparison result = is_new ? compare_runs(kBase, few) : compare_runs(few, kBase);
      ASSERT_TRUE(result.inference);
      EXPECT_EQ(result.method, Method::one_side);
      EXPECT_EQ(*result.inference->degrees, 5);
      const double spread = *compare_runs(kBase, Means{100}).noise;
      expect_close(result.inference->standard_error,
                   spread * std::sqrt(1.0 / 6 + 1.0 / static_cast<double>(few.size())));
    }
  }
}

TEST(CompareRuns, TooFewRuns) {
  for (const auto& [base, now] : {std::pair<Means, Means>{{}, {}},
                                  {{1}, {}},
                                  {{}, {1, 2}},
                                  {{1}, {2}},
                                  {{1, 2, 3, 4}, {2}}}) {
    const Comparison result = compare_runs(base, now);
    EXPECT_FALSE(result.inference);
    EXPECT_EQ(result.method, Method::none);
    EXPECT_EQ(result.undecided, Undecided::too_few_runs);
    EXPECT_EQ(verdict_of(result), Verdict::inconclusive);
  }
  expect_close(compare_runs(Means{100}, Means{110}).change, 0.1);
  EXPECT_EQ(compare_runs(Means{}, Means{110}, {}, 0.01).undecided, Undecided::too_few_runs);
}

TEST(CompareRuns, ValuesWithoutLogarithm) {
  for (const double value : {0.0, -1.0, kNaN, kInfinity, -kInfinity}) {
    const Comparison result = compare_runs(Means{1, 2, 3}, Means{1, value, 3});
    EXPECT_EQ(result.undecided, Undecided::bad_value);
    EXPECT_FALSE(result.inference);
    EXPECT_EQ(result.change, 0);
  }
}

TEST(CompareRuns, InvalidOptions) {
  EXPECT_EQ(compare_runs(kBase, kNew, {.level = 1}).undecided, Undecided::invalid_option);
  for (const double noise : {-0.01, 10.1, kNaN, kInfinity}) {
    const Comparison result = compare_runs(kBase, kNew, {}, noise);
    EXPECT_EQ(result.undecided, Undecided::invalid_option);
    EXPECT_FALSE(result.inference);
    EXPECT_GT(result.change, 0.03);
  }
}

TEST(CompareRuns, EqualValuesHaveAnIntervalWithoutWidth) {
  const Comparison equal = compare_runs(Means{0.7, 0.7, 0.7}, Means{0.7, 0.7});
  ASSERT_TRUE(equal.inference);
  EXPECT_EQ(equal.change, 0);
  EXPECT_EQ(equal.noise, 0);
  EXPECT_EQ(equal.inference->low, 0);
  EXPECT_EQ(equal.inference->high, 0);
  EXPECT_EQ(equal.inference->p_value, 1);
  EXPECT_EQ(equal.inference->p_beyond, 1);
  EXPECT_EQ(*equal.inference->degrees, 2);
  EXPECT_EQ(equal.inference->resolvable, 0.01);
  EXPECT_EQ(verdict_of(equal), Verdict::same);

  const Comparison more = compare_runs(Means{3, 3}, Means{4, 4});
  expect_close(more.change, 1.0 / 3);
  EXPECT_EQ(more.inference->p_value, 0);
  EXPECT_EQ(more.inference->p_beyond, 0);
  EXPECT_EQ(verdict_of(more), Verdict::slower);

  const Comparison little = compare_runs(Means{1000, 1000}, Means{1001, 1001});
  EXPECT_EQ(little.inference->p_beyond, 1);
  EXPECT_EQ(verdict_of(little), Verdict::same);
}

TEST(CompareRuns, OneSideWithoutVariance) {
  const Comparison result = compare_runs(Means{100, 100, 100}, Means{101, 104, 103});
  EXPECT_EQ(*result.inference->degrees, 2);
  EXPECT_GT(result.inference->standard_error, 0);
}

TEST(CompareRuns, ExtremeValuesStayFinite) {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  const DecisionRule kStrict{.level = 0.999999, .power = 0.999};
  for (const auto& base : {Means{kMost, kLeast}, Means{kLeast, kLeast}, Means{kMost, kMost, 1}}) {
    for (const auto& now : {Means{1, kLeast}, Means{kMost, kMost}, Means{kMost, kLeast, 1e9}}) {
      for (const auto& noise :
           {std::optional<double>(), std::optional<double>(10), std::optional<double>(1e-160)}) {
        const Comparison result = compare_runs(base, now, kStrict, noise);
        ASSERT_TRUE(result.inference);
        const Inference& found = *result.inference;
        for (const double value : {result.change, found.low, found.high, found.p_value,
                                   found.p_beyond, found.standard_error, found.resolvable}) {
          EXPECT_TRUE(std::isfinite(value));
        }
        EXPECT_LE(found.low, result.change);
        EXPECT_GE(found.high, result.change);
      }
    }
  }
}

TEST(CompareRuns, UnitDoesNotMatter) {
  const Comparison one = compare_runs(kBase, kNew);
  const Comparison other = compare_runs(scaled(kBase, 1024), scaled(kNew, 1024));
  EXPECT_EQ(one.change, other.change);
  EXPECT_EQ(one.inference->low, other.inference->low);
}

TEST(CompareRuns, PBeyondDecidesAsTheInterval) {
  RandomRuns random(5);
  const DecisionRule rule;
  int alarms = 0;
  for (int round = 0; round < 1000; ++round) {
    const Means base = random.means(4, 0.01);
    const Means now = scaled(random.means(5, 0.01), 1 + 0.1 * (random.uniform() - 0.5));
    const Comparison result = compare_runs(base, now, rule);
    const Verdict verdict = verdict_of(result, rule);
    const bool is_alarm = verdict == Verdict::slower || verdict == Verdict::faster;
    alarms += is_alarm;
    EXPECT_EQ(is_alarm, result.inference->p_beyond < 1 - rule.level);
  }
  EXPECT_GT(alarms, 100);
}

TEST(RunsNeeded, IsTheFirstNumberThatIsEnough) {
  const DecisionRule rule;
  const double error = std::sqrt(2 * std::log1p(1e-4));
  const double beyond = std::log(1.03 / 1.01);
  const auto power = [&](std::size_t runs) {
    const auto count = static_cast<double>(runs);
    const double critical = upper_quantile(2 * count - 2, 0.0015);
    return power_of(2 * count - 2, critical, beyond / error * std::sqrt(count));
  };
  const std::optional<std::size_t> runs = runs_needed(0.03, 0.01, rule);
  ASSERT_TRUE(runs);
  EXPECT_GE(power(*runs), 0.9);
  EXPECT_LT(power(*runs - 1), 0.9);
  EXPECT_EQ(*runs, 12U);
}

TEST(RunsNeeded, Extremes) {
  EXPECT_EQ(runs_needed(0.03, 0), 2U);
  EXPECT_EQ(runs_needed(1e300, 1e-300), 2U);
  EXPECT_FALSE(runs_needed(0.01, 0.01));  // as much as min_effect
  EXPECT_FALSE(runs_needed(-0.5, 0.01));
  EXPECT_FALSE(runs_needed(0.0101, 0.1));  // more than 10,000
  for (const double bad : {kNaN, kInfinity}) {
    EXPECT_FALSE(runs_needed(bad, 0.01));
    EXPECT_FALSE(runs_needed(0.03, bad));
  }
  EXPECT_FALSE(runs_needed(0.03, -1));
  EXPECT_FALSE(runs_needed(0.03, 0.01, {.power = 1}));
}

}  // namespace
}  // namespace tbtrace::statistics
