#include <optional>
#include <utility>
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

/// A step in which collectives are exposed for so long.
RankStep step_of(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns,
                 std::int64_t exposed_ns) {
  RankStep step = {.number = number, .start_ns = start_ns, .end_ns = end_ns};
  step.time_ns[static_cast<std::size_t>(RankTime::communication)] = exposed_ns;
  step.time_ns[static_cast<std::size_t>(RankTime::compute)] = end_ns - start_ns - exposed_ns;
  return step;
}

/// Ranks 0 and 1 with one collective in each of two steps; rank 1 arrives last.
std::vector<RankRecord> waiting_ranks() {
  const ProcessGroup world = group_of("0", {0, 1});
  std::vector<RankRecord> records = {record_of(0), record_of(1)};
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 1000;
    add_collective(records[0], CollectiveKind::all_reduce, world, at + 400, at + 1000, step).step =
        step;
    add_collective(records[1], CollectiveKind::all_reduce, world, at + 900, at + 1000, step).step =
        step;
    records[0].steps.push_back(step_of(step, at, at + 1000, 600));
    records[1].steps.push_back(step_of(step, at, at + 1000, 100));
  }
  return records;
}

TEST(StepWaits, AreTheExposedPartBeforeTheLastArrival) {
  const JobAnalysis job = analyse_job(waiting_ranks());
  EXPECT_THAT(step_waits(job.collectives, job.times),
              ElementsAre(ElementsAre(500, 500), ElementsAre(0, 0)));
}

TEST(StepWaits, CountTimeInWhichTheRankComputesForNothing) {
  std::vector<RankRecord> records = waiting_ranks();
  records[0].exposed[0] = {600, 1000};  // it computes from 400 to 600
  const JobAnalysis job = analyse_job(std::move(records));
  EXPECT_THAT(step_waits(job.collectives, job.times).front(), ElementsAre(300, 500));
}

TEST(StepWaits, CountTwoCollectivesAtOnceOnce) {
  std::vector<RankRecord> records = waiting_ranks();
  const ProcessGroup other = group_of("1", {0, 1});
  add_collective(records[0], CollectiveKind::all_gather, other, 500, 1000, 0).step = 0;
  add_collective(records[1], CollectiveKind::all_gather, other, 900, 1000, 0).step = 0;
  const JobAnalysis job = analyse_job(std::move(records));
  EXPECT_THAT(step_waits(job.collectives, job.times).front(), ElementsAre(500, 500));
}

TEST(StepWaits, OfMessagesAreTheBubblesOfAPipeline) {
  std::vector<RankRecord> records = waiting_ranks();
  EXPECT_EQ(analyse_job(records).waits[0].bubble_ns, std::nullopt);
  const ProcessGroup pair = group_of("1", {0, 1});
  RankCollective& receive = add_collective(records[0], CollectiveKind::receive, pair, 100, 350, 0);
  receive.step = 0;
  receive.peer = 1;
  RankCollective& send = add_collective(records[1], CollectiveKind::send, pair, 300, 350, 0);
  send.step = 0;
  send.peer = 0;
  // Clocks need more in common.
  for (std::int64_t number = 2; number < 20; ++number) {
    for (RankRecord& record : records) {
      add_collective(record, CollectiveKind::all_reduce, group_of("0", {0, 1}), number * 1000,
                     number * 1000 + 100, number);
    }
  }
  const JobAnalysis job = analyse_job(std::move(records));
  EXPECT_THAT(step_waits(job.collectives, job.times, StepWaits::messages),
              ElementsAre(ElementsAre(200, 0), ElementsAre(0, 0)));
  EXPECT_THAT(step_waits(job.collectives, job.times).front(), ElementsAre(600, 500));
  EXPECT_EQ(job.waits[0].bubble_ns, 200);
  EXPECT_EQ(job.waits[0].steps_ns, 2000);
  EXPECT_EQ(job.waits[1].bubble_ns, 0);
}

}  // namespace
}  // namespace tbtrace
