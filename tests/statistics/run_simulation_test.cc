// What the rule promises, on made-up runs.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/random_runs.h"
#include "statistics/verdict.h"
#include "statistics/welch.h"

namespace tbtrace::statistics {
namespace {

TEST(EqualRuns, RarelyAlarm) {
  constexpr int kRounds = 2000;
  for (const double noise : {0.08, 0.008}) {
    for (const std::size_t runs : {5U, 10U}) {
      for (const bool is_heavy : {false, true}) {
        RandomRuns random(11);
        int alarms = 0;
        for (int round = 0; round < kRounds; ++round) {
          const std::vector<double> base = random.means(runs, noise, is_heavy);
          const std::vector<double> now = random.means(runs, noise, is_heavy);
          const Verdict verdict = verdict_of(compare_runs(base, now));
          alarms += verdict == Verdict::slower || verdict == Verdict::faster;
        }
        EXPECT_LE(alarms, kRounds * 4 / 1000) << noise << ' ' << runs << ' ' << is_heavy;
      }
    }
  }
}

TEST(EqualRuns, RarelyAlarmWithUnequalNumbersOfRuns) {
  constexpr int kRounds = 2000;
  RandomRuns random(17);
  int alarms = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<double> base = random.means(20, 0.08);
    const Verdict verdict = verdict_of(compare_runs(base, random.means(3, 0.08)));
    alarms += verdict == Verdict::slower || verdict == Verdict::faster;
  }
  EXPECT_LE(alarms, kRounds * 4 / 1000);
}

TEST(EqualRuns, AreCalledTheSameIfTheyHardlyVary) {
  RandomRuns random(12);
  int same = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<double> base = random.means(10, 0.003);
    same += verdict_of(compare_runs(base, random.means(10, 0.003))) == Verdict::same;
  }
  EXPECT_GE(same, 180);
}

TEST(Resolvable, IsFoundInTheRunsItWasSaidOf) {
  constexpr int kRounds = 1000;
  for (const double noise : {0.08, 0.008}) {
    RandomRuns random(13);
    int found = 0;
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<double> base = random.means(10, noise);
      const std::vector<double> now = random.means(10, noise);
      const double effect = compare_runs(base, now).inference->resolvable;
      found += verdict_of(compare_runs(base, scaled(now, 1 + effect))) == Verdict::slower;
    }
    EXPECT_GE(found, kRounds * 85 / 100) << noise;
    EXPECT_LE(found, kRounds * 95 / 100) << noise;
  }
}

TEST(Resolvable, IsFoundInOtherRuns) {
  constexpr int kRounds = 1000;
  for (const std::size_t runs : {5U, 10U}) {
    RandomRuns random(16);
    std::vector<double> effects;
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<double> base = random.means(runs, 0.02);
      effects.push_back(compare_runs(base, random.means(runs, 0.02)).inference->resolvable);
    }
    std::ranges::nth_element(effects, effects.begin() + kRounds / 2);
    const double effect = effects[kRounds / 2];
    int found = 0;
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<double> base = random.means(runs, 0.02);
      const std::vector<double> now = scaled(random.means(runs, 0.02), 1 + effect);
      found += verdict_of(compare_runs(base, now)) == Verdict::slower;
    }
    EXPECT_GE(found, kRounds * 85 / 100) << runs;
    EXPECT_LE(found, kRounds * 95 / 100) << runs;
  }
}

TEST(RunsNeeded, FindTheEffect) {
  RandomRuns random(15);
  const std::size_t runs = runs_needed(0.03, 0.008).value();
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    const std::vector<double> base = random.means(runs, 0.008);
    const std::vector<double> now = scaled(random.means(runs, 0.008), 1.03);
    found += verdict_of(compare_runs(base, now)) == Verdict::slower;
  }
  EXPECT_GE(found, 500 * 85 / 100) << runs;
}

}  // namespace
}  // namespace tbtrace::statistics
