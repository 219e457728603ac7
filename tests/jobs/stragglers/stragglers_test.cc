#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/job_analysis.h>

#include "jobs/made_records.h"

namespace tbtrace {
namespace {

using fixtures::add_collective;
using fixtures::group_of;
using fixtures::record_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

/// What a rank does in a step beside waiting: by RankTime, in ns.
using Work = std::array<std::int64_t, kRankTimes>;

std::int64_t& of(Work& work, RankTime time) { return work[static_cast<std::size_t>(time)]; }

/// A job whose ranks compute, then wait for each other in an all-reduce of 500 us, step by step.
class MadeJob {
 public:
  MadeJob(std::size_t ranks, std::size_t steps) {
    std::uniform_int_distribution<std::int64_t> noise(-40 * kUs, 40 * kUs);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      work_.emplace_back();
      for (std::size_t step = 0; step < steps; ++step) {
        Work work = {};
        of(work, RankTime::compute) = 10 * kMs + noise(random_);
        of(work, RankTime::launch) = 200 * kUs;
        work_.back().push_back(work);
      }
      silent_.emplace_back(steps, 0);
      launch_interval_.emplace_back(steps, 15 * kUs);
    }
  }

  std::int64_t& at(std::size_t rank, std::size_t step, RankTime time) {
    return of(work_[rank][step], time);
  }
  void add_to_all_steps(std::size_t rank, RankTime time, std::int64_t ns) {
    for (Work& work : work_[rank]) of(work, time) += ns;
  }

  std::vector<std::vector<std::int64_t>> silent_;
  std::vector<std::vector<std::int64_t>> launch_interval_;

  StragglerResult stragglers() const {
    std::vector<RankRecord> records;
    std::vector<std::int64_t> ranks;
    for (std::size_t rank = 0; rank < work_.size(); ++rank) {
      ranks.push_back(static_cast<std::int64_t>(rank));
      records.push_back(record_of(ranks.back()));
    }
    std::int64_t begin = 0;
    for (std::size_t step = 0; step < work_.front().size(); ++step) {
      std::int64_t last = 0;
      std::vector<std::int64_t> arrivals;
      for (const std::vector<Work>& of_rank : work_) {
        std::int64_t own = 0;
        for (const std::int64_t ns : of_rank[step]) own += ns;
        arrivals.push_back(begin + own);
        last = std::max(last, arrivals.back());
      }
      const std::int64_t end = last + 500 * kUs;
      for (std::size_t rank = 0; rank < work_.size(); ++rank) {
        const auto number = static_cast<std::int64_t>(step + 10);
        add_collective(records[rank], CollectiveKind::all_reduce, group_of("0", ranks),
                       arrivals[rank], end, number)
            .step = number;
        RankStep one = {.number = number, .start_ns = begin, .end_ns = end};
        one.time_ns = work_[rank][step];
        of(one.time_ns, RankTime::communication) = end - arrivals[rank];
        one.kernels = 100;
        one.silent_ns = silent_[rank][step];
        one.launch_interval_ns = launch_interval_[rank][step];
        one.launch_intervals = 100;
        records[rank].steps.push_back(one);
      }
      begin = end;
    }
    return analyse_job(std::move(records)).stragglers;
  }

 private:
  std::vector<std::vector<Work>> work_;
  std::mt19937 random_{3};
};

TEST(Stragglers, NobodyInACleanJob) {
  for (const std::size_t ranks : {2U, 3U, 4U, 8U, 32U}) {
    const StragglerResult result = MadeJob(ranks, 8).stragglers();
    EXPECT_THAT(result.stragglers, IsEmpty()) << ranks << " ranks";
    EXPECT_EQ(result.compared_steps, 8);
    EXPECT_EQ(result.why_not_compared, "");
  }
}

TEST(Stragglers, WhatIsNotNamedIsLessThanWhatCanBeTold) {
  int unnamed = 0;
  for (const std::size_t ranks : {2U, 3U, 4U, 8U}) {
    for (std::int64_t tenths = 0; tenths <= 30; ++tenths) {
      MadeJob job(ranks, 4);
      job.add_to_all_steps(1, RankTime::input, tenths * kMs / 10);
      const StragglerResult result = job.stragglers();
      if (!result.stragglers.empty()) continue;
      ++unnamed;
      // The jobs have noise.
      EXPECT_LE(static_cast<double>(tenths) / 10 / 12.7, result.least_share + 0.01)
          << ranks << " ranks";
    }
  }
  EXPECT_GT(unnamed, 4);
}

TEST(Stragglers, TheCauseIsWhereTheTimeWent) {
  struct Case {
    RankTime time;
    StragglerCause cause;
  };
  for (const Case one : {Case{RankTime::compute, StragglerCause::compute},
                         Case{RankTime::input, StragglerCause::input},
                         Case{RankTime::memory, StragglerCause::memory},
                         Case{RankTime::garbage_collection, StragglerCause::garbage_collection},
                         Case{RankTime::copy, StragglerCause::unknown},
                         Case{RankTime::unknown, StragglerCause::unknown}}) {
    MadeJob job(4, 6);
    job.add_to_all_steps(2, one.time, 2 * kMs);
    const StragglerResult result = job.stragglers();
    ASSERT_THAT(result.stragglers, SizeIs(1)) << rank_time_name(one.time);
    const Straggler& straggler = result.stragglers[0];
    EXPECT_EQ(straggler.rank, 2);
    EXPECT_EQ(straggler.cause, one.cause) << rank_time_name(one.time);
    EXPECT_NEAR(static_cast<double>(straggler.excess_per_step_ns), 2e6, 1e5);
    EXPECT_THAT(straggler.steps, ElementsAre(10, 11, 12, 13, 14, 15));
    EXPECT_NEAR(straggler.share, 2.0 / 12.7, 0.01);
  }
}

TEST(Stragglers, OfTwoRanksTheSlowerOne) {
  MadeJob job(2, 6);
  job.add_to_all_steps(1, RankTime::compute, 2 * kMs);
  const StragglerResult result = job.stragglers();
  ASSERT_THAT(result.stragglers, SizeIs(1));
  EXPECT_EQ(result.stragglers[0].rank, 1);
}

TEST(Stragglers, TwoOfFour) {
  MadeJob job(4, 6);
  job.add_to_all_steps(1, RankTime::compute, 2 * kMs);
  job.add_to_all_steps(2, RankTime::input, 3 * kMs);
  const StragglerResult result = job.stragglers();
  ASSERT_THAT(result.stragglers, SizeIs(2));
  EXPECT_EQ(result.stragglers[0].rank, 2);
  EXPECT_EQ(result.stragglers[1].rank, 1);
}

TEST(Stragglers, OneDelayIsChance) {
  MadeJob job(8, 8);
  job.at(3, 4, RankTime::launch) += 5 * kMs;
  EXPECT_THAT(job.stragglers().stragglers, IsEmpty());
}

TEST(Stragglers, AnotherRankInEachStepIsNobody) {
  MadeJob job(8, 8);
  for (std::size_t step = 0; step < 8; ++step) job.at(step, step, RankTime::compute) += 3 * kMs;
  EXPECT_THAT(job.stragglers().stragglers, IsEmpty());
}

TEST(Stragglers, AThirdOfTheStepsIsEnough) {
  MadeJob job(8, 9);
  for (const std::size_t step : {2U, 3U, 4U}) job.at(5, step, RankTime::compute) += 2 * kMs;
  const StragglerResult result = job.stragglers();
  ASSERT_THAT(result.stragglers, SizeIs(1));
  EXPECT_THAT(result.stragglers[0].steps, ElementsAre(12, 13, 14));
}

TEST(Stragglers, LessThanTwoPercentIsNotWorthIt) {
  MadeJob job(8, 8);
  job.add_to_all_steps(3, RankTime::compute, 150 * kUs);
  EXPECT_THAT(job.stragglers().stragglers, IsEmpty());
}

TEST(Stragglers, LateLaunchesAreASlowHostIfItLaunchesSlower) {
  MadeJob slow(8, 8);
  slow.add_to_all_steps(3, RankTime::launch, 2 * kMs);
  for (std::int64_t& interval : slow.launch_interval_[3]) interval = 35 * kUs;
  ASSERT_THAT(slow.stragglers().stragglers, SizeIs(1));
  EXPECT_EQ(slow.stragglers().stragglers[0].cause, StragglerCause::launch);

  // It stops once a step, and nothing says why.
  MadeJob paused(8, 8);
  paused.add_to_all_steps(3, RankTime::launch, 2 * kMs);
  for (std::int64_t& silent : paused.silent_[3]) silent = 2 * kMs;
  ASSERT_THAT(paused.stragglers().stragglers, SizeIs(1));
  EXPECT_EQ(paused.stragglers().stragglers[0].cause, StragglerCause::unknown);

  // It is as fast as the others, and only behind them.
  MadeJob behind(8, 8);
  behind.add_to_all_steps(3, RankTime::launch, 2 * kMs);
  EXPECT_THAT(behind.stragglers().stragglers, IsEmpty());
}

TEST(Stragglers, TwoStepsAreTooFew) {
  const StragglerResult result = MadeJob(4, 2).stragglers();
  EXPECT_THAT(result.stragglers, IsEmpty());
  EXPECT_THAT(result.why_not_compared, HasSubstr("fewer than three steps"));
  EXPECT_THAT(straggler_lines(result), ElementsAre(HasSubstr("is not known")));
}

TEST(Stragglers, OnePauseIsAnEventOfItsRank) {
  for (const std::size_t ranks : {2U, 8U}) {
    MadeJob job(ranks, 10);
    job.at(1, 5, RankTime::launch) += 2000 * kMs;
    job.silent_[1][5] = 2000 * kMs;
    const StragglerResult result = job.stragglers();
    EXPECT_THAT(result.stragglers, IsEmpty());
    ASSERT_THAT(result.pauses, SizeIs(1)) << ranks;
    const Pause& pause = result.pauses[0];
    EXPECT_EQ(pause.rank, 1);
    EXPECT_EQ(pause.step, 15);
    EXPECT_EQ(pause.place, 5U);
    EXPECT_NEAR(static_cast<double>(pause.excess_ns), 2e9, 1e6);
    EXPECT_TRUE(pause.is_silent);
    EXPECT_LT(result.least_share, 0.1) << "the other steps can be compared";
    EXPECT_THAT(straggler_lines(result),
                ElementsAre("rank 1 held up the job once: 2.00 s longer in step 15 (number 6 of 10 "
                            "steps); its host recorded nothing meanwhile",
                            HasSubstr("in the other steps no rank holds up the job by more than")));
  }
}

TEST(Stragglers, APauseHasTheCauseOfItsTime) {
  MadeJob job(4, 10);
  job.at(2, 3, RankTime::input) += 300 * kMs;
  const StragglerResult result = job.stragglers();
  ASSERT_THAT(result.pauses, SizeIs(1));
  EXPECT_EQ(result.pauses[0].cause, StragglerCause::input);
  EXPECT_FALSE(result.pauses[0].is_silent);
  EXPECT_THAT(straggler_lines(result)[0], HasSubstr("it waits for its data"));
}

TEST(Stragglers, StepsThatAllDifferAreNoPauses) {
  MadeJob job(4, 8);
  for (std::size_t step = 0; step < 8; ++step) {
    job.at(step % 4, step, RankTime::compute) += static_cast<std::int64_t>(step + 5) * 8 * kMs;
  }
  EXPECT_THAT(job.stragglers().pauses, IsEmpty());
}

TEST(Stragglers, ALimitOfAWholeStepIsNone) {
  StragglerResult result;
  result.compared_steps = 10;
  result.least_share = 1763;
  EXPECT_THAT(straggler_lines(result),
              ElementsAre("whether a rank holds up the job cannot be told: the 10 compared steps "
                          "differ too much"));
}

/// One step of eight ranks with many all-reduces, of which some ranks are last in each.
StragglerResult of_one_step(const std::vector<std::int64_t>& late) {
  std::vector<RankRecord> records;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    ranks.push_back(rank);
    records.push_back(record_of(rank));
  }
  constexpr std::int64_t kCollectives = 40;
  for (std::int64_t number = 0; number < kCollectives; ++number) {
    const std::int64_t last = late[static_cast<std::size_t>(number) % late.size()];
    for (std::int64_t rank = 0; rank < 8; ++rank) {
      const std::int64_t start = number * kMs + (rank == last ? 500 * kUs : 100 * kUs);
      add_collective(records[static_cast<std::size_t>(rank)], CollectiveKind::all_reduce,
                     group_of("0", ranks), start, number * kMs + 600 * kUs, number)
          .step = 3;
    }
  }
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    RankStep step = {.number = 3, .start_ns = 0, .end_ns = kCollectives * kMs};
    const bool is_late = std::ranges::find(late, static_cast<std::int64_t>(rank)) != late.end();
    of(step.time_ns, RankTime::compute) = 4 * kMs;
    of(step.time_ns, RankTime::launch) = is_late ? 12 * kMs : 2 * kMs;
    of(step.time_ns, RankTime::communication) = kCollectives * kMs -
                                                of(step.time_ns, RankTime::compute) -
                                                of(step.time_ns, RankTime::launch);
    step.kernels = 100;
    records[rank].steps.push_back(step);
  }
  return analyse_job(std::move(records)).stragglers;
}

TEST(Stragglers, OfOneStepTheRanksThatCameLast) {
  const StragglerResult result = of_one_step({0, 6});
  EXPECT_THAT(result.why_not_compared, HasSubstr("fewer than three steps"));
  ASSERT_TRUE(result.late_arrivals);
  EXPECT_THAT(result.late_arrivals->ranks, ElementsAre(0, 6));
  EXPECT_EQ(result.late_arrivals->cause, StragglerCause::launch);
  EXPECT_THAT(straggler_lines(result),
              ElementsAre(HasSubstr("is not known"),
                          "ranks 0 and 6 came last in 40 of 40 collectives that ranks waited in, "
                          "mostly by late launches"));
  EXPECT_EQ(of_one_step({0, 1, 2, 3, 4, 5, 6, 7}).late_arrivals, std::nullopt)
      << "all ranks in turn";
}

/// Pairs of ranks exchange messages of one size; those of the slow ones take twice as long.
std::vector<Straggler> of_links(const std::function<bool(int from, int to)>& is_slow) {
  std::vector<RankRecord> records;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    records.push_back(record_of(rank));
    records.back().host = "node";
  }
  const ProcessGroup world = group_of("0", {0, 1, 2, 3});
  std::int64_t now = 0;
  for (std::int64_t step = 0; step < 6; ++step) {
    const std::int64_t begin = now;
    for (int from = 0; from < 4; ++from) {
      for (int to : {from + 1, from - 1}) {
        if (to < 0 || to > 3) continue;
        const std::int64_t end = now + (is_slow(from, to) ? 800 : 400) * kUs;
        const auto part = [&](int rank, CollectiveKind kind, int peer) {
          RankCollective& one =
              add_collective(records[static_cast<std::size_t>(rank)], kind, world, now, end);
          one.peer = peer;
          one.step = step;
          one.bytes = 1 << 20;
        };
        part(from, CollectiveKind::send, to);
        part(to, CollectiveKind::receive, from);
        now = end;
      }
    }
    for (RankRecord& record : records) {
      add_collective(record, CollectiveKind::all_reduce, world, now, now + 100 * kUs, step).step =
          step;
      RankStep one = {.number = step, .start_ns = begin, .end_ns = now + 100 * kUs};
      of(one.time_ns, RankTime::communication) = one.duration_ns();
      record.steps.push_back(one);
    }
    now += 100 * kUs;
  }
  return analyse_job(std::move(records)).stragglers.stragglers;
}

TEST(Stragglers, ARankWithSlowLinksToAllIsFound) {
  const std::vector<Straggler> found =
      of_links([](int from, int to) { return from == 1 || to == 1; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].cause, StragglerCause::network);
  EXPECT_EQ(found[0].peer, std::nullopt);
  EXPECT_NEAR(static_cast<double>(found[0].excess_per_step_ns), 4 * 400e3, 1e3);
}

TEST(Stragglers, OneSlowLinkHasTwoEnds) {
  const std::vector<Straggler> found =
      of_links([](int from, int to) { return from + to == 3 && from != 0 && to != 0; });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].peer, 2);
}

TEST(Stragglers, EquallySlowLinksAreNobodys) {
  EXPECT_THAT(of_links([](int, int) { return true; }), IsEmpty());
}

TEST(StragglerText, SaysWhoHowMuchAndWhy) {
  Straggler one;
  one.rank = 5;
  one.cause = StragglerCause::input;
  one.excess_per_step_ns = 3'270'000;
  one.share = 0.149;
  one.steps = {1, 2, 3};
  one.recorded_steps = 4;
  EXPECT_EQ(straggler_text(one),
            "rank 5 holds up the job: 3.27 ms (14.9 %) longer in 3 of 4 steps; it waits for its "
            "data");
  EXPECT_EQ(stragglers_json({{one}}),
            R"([{"rank": 5, "excess_per_step_ns": 3270000, "steps": [1, 2, 3], "cause": "input", )"
            R"("share": 0.149, "cause_ns": 0, "peer": null}])");
}

}  // namespace
}  // namespace tbtrace
