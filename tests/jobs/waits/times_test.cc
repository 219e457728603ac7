#include <optional>
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
using testing::IsEmpty;
using testing::SizeIs;

constexpr CollectiveKind kOfAllRanks = CollectiveKind::all_reduce;

JobAnalysis job_of(std::vector<RankRecord> records, int collectives) {
  // Clocks need a few collectives; rank 1 is 1000 us ahead.
  const ProcessGroup world = group_of("0", {0, 1, 2});
  for (RankRecord& record : records) {
    const std::int64_t ahead = *record.rank == 1 ? 1'000'000 : 0;
    for (int number = 0; number < collectives; ++number) {
      const std::int64_t start = 10'000'000 + number * 1'000'000;
      add_collective(record, kOfAllRanks, world, start + ahead, start + ahead + 100'000, number);
    }
  }
  return analyse_job(std::move(records));
}

TEST(CollectiveTimes, LastArrivalDividesWaitAndTransfer) {
  const ProcessGroup world = group_of("first", {0, 1, 2});
  std::vector<RankRecord> records = {record_of(0), record_of(1), record_of(2)};
  add_collective(records[0], kOfAllRanks, world, 100'000, 400'000, 0).bytes = 1'000'000;
  add_collective(records[1], kOfAllRanks, world, 1'300'000, 1'400'000, 0).bytes = 1'000'000;
  add_collective(records[2], kOfAllRanks, world, 250'000, 400'000, 0).bytes = 1'000'000;
  const JobAnalysis job = job_of(std::move(records), 20);
  const CollectiveTimes& times = job.times.front();
  EXPECT_EQ(times.start_ns, 100'000);
  EXPECT_EQ(times.duration_ns, 300'000);
  EXPECT_THAT(times.wait_ns, ElementsAre(200'000, 0, 50'000));
  EXPECT_EQ(times.wait_max_ns, 200'000);
  EXPECT_EQ(times.transfer_ns, 100'000);
  EXPECT_EQ(times.last_rank, 1);
  EXPECT_EQ(times.exposed_ns, (300'000 + 100'000 + 150'000) / 3);
  EXPECT_DOUBLE_EQ(*times.algorithm_bandwidth_bytes_per_s, 1e10);
  EXPECT_DOUBLE_EQ(*times.bus_bandwidth_bytes_per_s, 1e10 * 4 / 3);
  EXPECT_EQ(job.waits[0].wait_ns, 200'000);
  EXPECT_EQ(job.waits[1].late_count, 1);
  EXPECT_EQ(job.waits[0].collectives, 21);
}

TEST(CollectiveTimes, ExposedWaitIsTheWaitWithoutComputation) {
  const ProcessGroup world = group_of("first", {0, 1, 2});
  std::vector<RankRecord> records = {record_of(0), record_of(1), record_of(2)};
  add_collective(records[0], kOfAllRanks, world, 100'000, 400'000, 0);
  records[0].exposed.back() = {180'000, 400'000};  // it computed until then
  add_collective(records[1], kOfAllRanks, world, 1'300'000, 1'400'000, 0);
  add_collective(records[2], kOfAllRanks, world, 250'000, 400'000, 0);
  const JobAnalysis job = job_of(std::move(records), 20);
  EXPECT_EQ(job.waits[0].wait_ns, 200'000);
  EXPECT_EQ(job.waits[0].exposed_wait_ns, 120'000);
}

TEST(CollectiveTimes, TheLastRankIsUnknownWithinTheClocksError) {
  const ProcessGroup world = group_of("first", {0, 1, 2});
  std::vector<RankRecord> records = {record_of(0), record_of(1), record_of(2)};
  add_collective(records[0], kOfAllRanks, world, 100'000, 400'000, 0);
  add_collective(records[1], kOfAllRanks, world, 1'300'000, 1'400'000, 0);
  add_collective(records[2], kOfAllRanks, world, 300'000, 400'000, 0);  // as late as rank 1
  const JobAnalysis job = job_of(std::move(records), 20);
  EXPECT_EQ(job.times.front().last_rank, std::nullopt);
  EXPECT_EQ(job.times.front().wait_max_ns, 200'000);
}

TEST(CollectiveTimes, WithoutClocksPartsThatEndTogetherTell) {
  const ProcessGroup world = group_of("first", {0, 1, 2});
  std::vector<RankRecord> records = {record_of(0), record_of(1), record_of(2)};
  add_collective(records[0], kOfAllRanks, world, 100'000, 400'000, 0);
  add_collective(records[1], kOfAllRanks, world, 1'300'000, 1'400'000, 0);
  add_collective(records[2], kOfAllRanks, world, 250'000, 400'000, 0);
  add_collective(records[0], CollectiveKind::broadcast, world, 500'000, 600'000, 1);
  add_collective(records[1], CollectiveKind::broadcast, world, 1'500'000, 1'500'001, 1);
  add_collective(records[2], CollectiveKind::broadcast, world, 500'000, 600'000, 1);
  const JobAnalysis job = job_of(std::move(records), 0);
  ASSERT_THAT(job.times, SizeIs(2));
  EXPECT_THAT(job.times[0].wait_ns, ElementsAre(200'000, 0, 50'000));
  EXPECT_EQ(job.times[0].transfer_ns, 100'000);
  EXPECT_EQ(job.times[0].last_rank, std::nullopt);
  EXPECT_THAT(job.times[1].wait_ns, IsEmpty());
  EXPECT_EQ(job.times[1].transfer_ns, std::nullopt);
  EXPECT_EQ(job.times[1].duration_ns, 100'000);
}

TEST(CollectiveTimes, ARankWithoutATraceMayHaveBeenTheLast) {
  const ProcessGroup world = group_of("first", {0, 1, 2, 3});  // there is no trace of rank 3
  std::vector<RankRecord> records = {record_of(0), record_of(1), record_of(2)};
  add_collective(records[0], kOfAllRanks, world, 100'000, 400'000, 0).bytes = 1'000'000;
  add_collective(records[1], kOfAllRanks, world, 1'300'000, 1'400'000, 0).bytes = 1'000'000;
  add_collective(records[2], kOfAllRanks, world, 250'000, 400'000, 0).bytes = 1'000'000;
  const JobAnalysis job = job_of(std::move(records), 20);
  EXPECT_EQ(job.times.front().wait_max_ns, 200'000);
  EXPECT_EQ(job.times.front().transfer_ns, std::nullopt);
  EXPECT_EQ(job.times.front().last_rank, std::nullopt);
  EXPECT_EQ(job.times.front().bus_bandwidth_bytes_per_s, std::nullopt);
}

}  // namespace
}  // namespace tbtrace
