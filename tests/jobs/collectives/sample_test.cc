// Records that are bounded: what stays, and what is said of ranks then.
#include "jobs/collectives/sample.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/job_analysis.h>

#include "jobs/made_records.h"

namespace tbtrace::jobs {
namespace {

using fixtures::add_collective;
using fixtures::group_of;
using fixtures::record_of;

constexpr std::int64_t kStep = 100'000;  // ns

/// A rank that takes part in `count` all-reduces of a group of all, and a late one in each third.
RankRecord rank_of_many(std::int64_t rank, std::int64_t ranks, std::int64_t count,
                        bool has_sequence = true) {
  std::vector<std::int64_t> all;
  for (std::int64_t one = 0; one < ranks; ++one) all.push_back(one);
  RankRecord record = record_of(rank, 0, (count + 1) * kStep);
  record.world_size = ranks;
  const ProcessGroup group = group_of("0", std::move(all));
  for (std::int64_t number = 0; number < count; ++number) {
    const std::int64_t late = number % 3 == rank % 3 ? 5'000 : 0;
    RankCollective& part = add_collective(
        record, CollectiveKind::all_reduce, group, number * kStep + late,
        number * kStep + 50'000 + number % 7, has_sequence ? std::optional(number) : std::nullopt);
    part.bytes = 4096 * (1 + number % 5);
    part.step = number / 100;
  }
  return record;
}

std::vector<RankRecord> job_of_many(std::int64_t count, bool has_sequence) {
  std::vector<RankRecord> records;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    records.push_back(rank_of_many(rank, 4, count, has_sequence));
  }
  return records;
}

TEST(RankSample, RecordsWithinTheLimitsStayAsTheyAre) {
  RankRecord record = rank_of_many(0, 4, 2000);
  limit_record(record);
  EXPECT_EQ(record.collectives.size(), 2000u);
  EXPECT_EQ(record.recordings, (std::vector<RankRecording>{{}}));
}

TEST(RankSample, AllRanksKeepTheSameCollectives) {
  for (const bool has_sequence : {true, false}) {
    std::vector<RankRecord> records = job_of_many(9000, has_sequence);
    std::set<std::vector<std::int64_t>> kept;
    for (RankRecord& record : records) {
      limit_record(record);
      EXPECT_EQ(record.collectives.size(), 2000u);
      EXPECT_EQ(record.recordings.front().left_out, 7000u);
      EXPECT_EQ(record.exposed.size(), 2000u);
      std::vector<std::int64_t> numbers;
      for (const RankCollective& part : record.collectives) {
        numbers.push_back(part.start_ns / kStep);
        EXPECT_EQ(record.exposed[part.first_exposed], (ExposedRange{part.start_ns, part.end_ns}));
      }
      kept.insert(std::move(numbers));
    }
    EXPECT_EQ(kept.size(), 1u) << has_sequence;
  }
}

TEST(RankSample, MatchesWhatAllRanksKept) {
  for (const bool has_sequence : {true, false}) {
    std::vector<RankRecord> records = job_of_many(9000, has_sequence);
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      limit_record(records[rank], {.collectives = 2000 - 300 * rank});
    }
    const JobCollectives job = match_collectives(std::move(records));
    EXPECT_EQ(job.collectives.size(), 1100u);
    EXPECT_EQ(job.unmatched_total(), 0u);
    EXPECT_EQ(job.recorded, 36'000u);
    EXPECT_EQ(job.left_out, 7000u + 7300 + 7600 + 7900);
    double stands_for = 0;
    for (const MatchedCollective& one : job.collectives) {
      EXPECT_EQ(one.members.size(), 4u);
      std::set<std::int64_t> starts;
      for (const CollectiveMember& member : one.members) {
        starts.insert(job.part(member).start_ns / kStep);
      }
      EXPECT_EQ(starts.size(), 1u);
      stands_for += one.stands_for;
    }
    EXPECT_NEAR(stands_for, 9000, 900);
  }
}

TEST(RankSample, ARankWithAllOfItsCollectivesIsComparedWithThoseThatOthersKept) {
  std::vector<RankRecord> records = job_of_many(3000, true);
  for (std::size_t rank = 1; rank < records.size(); ++rank) {
    limit_record(records[rank], {.collectives = 500});
  }
  const JobCollectives job = match_collectives(std::move(records));
  EXPECT_EQ(job.collectives.size(), 500u);
  EXPECT_EQ(job.unmatched_total(), 0u);
}

TEST(RankSample, DifferentNumbersOfEqualCollectivesAreStillFound) {
  std::vector<RankRecord> records = job_of_many(3000, false);
  // One more of a size that is in each step.
  RankCollective extra = records[2].collectives[0];
  extra.start_ns += 60'000;
  extra.end_ns += 10'000;
  extra.exposed_ranges = 0;
  records[2].collectives.insert(records[2].collectives.begin() + 1, extra);
  const std::uint64_t of_class = static_cast<std::uint64_t>(std::ranges::count_if(
      records[2].collectives,
      [&](const auto& part) { return part.step == extra.step && part.bytes == extra.bytes; }));
  for (RankRecord& record : records) limit_record(record, {.collectives = 1500});
  const JobCollectives job = match_collectives(std::move(records));
  const std::uint64_t unmatched =
      job.unmatched[static_cast<std::size_t>(UnmatchedReason::counts_differ)];
  EXPECT_GT(unmatched, 0u);
  EXPECT_LE(unmatched, 4 * of_class);
  EXPECT_EQ(job.unmatched_total(), unmatched);
}

TEST(RankSample, AMissingCollectiveIsCountedNotMatchedWithAnother) {
  std::vector<RankRecord> records = job_of_many(3000, true);
  records[1].collectives.erase(records[1].collectives.begin() + 100,
                               records[1].collectives.begin() + 200);
  for (RankRecord& record : records) limit_record(record, {.collectives = 1500});
  const JobCollectives job = match_collectives(std::move(records));
  const std::uint64_t missing =
      job.unmatched[static_cast<std::size_t>(UnmatchedReason::missing_on_ranks)];
  EXPECT_NEAR(static_cast<double>(missing), 3 * 50, 60);
  EXPECT_EQ(job.unmatched_total(), missing);
  for (const MatchedCollective& one : job.collectives) {
    EXPECT_EQ(job.part(one.members[0]).sequence, job.part(one.members[1]).sequence);
  }
}

TEST(RankSample, BothEndsOfAMessageStay) {
  std::vector<RankRecord> records = {record_of(0), record_of(1)};
  const ProcessGroup group = group_of("p", {0, 1});
  for (std::int64_t number = 0; number < 5000; ++number) {
    add_collective(records[0], CollectiveKind::send, group, number * kStep, number * kStep + 900)
        .peer = 1;
    add_collective(records[1], CollectiveKind::receive, group, number * kStep,
                   number * kStep + 1000)
        .peer = 0;
  }
  records[1].rank.reset();  // its name says it
  for (RankRecord& record : records) {
    limit_record(record, {.collectives = 1000});
    EXPECT_TRUE(record.recordings.front().has_messages);
  }
  const JobCollectives job = match_collectives(std::move(records));
  EXPECT_EQ(job.collectives.size(), 1000u);
  EXPECT_EQ(job.unmatched_total(), 0u);
}

TEST(RankSample, RecordingsOfARankAreMatchedOneByOne) {
  std::vector<RankRecord> records;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    for (std::int64_t window = 0; window < 2; ++window) {
      RankRecord record = rank_of_many(rank, 2, window == 0 ? 3000 : 700, false);
      const std::int64_t later = window * 10'000 * kStep;
      record.path += "." + std::to_string(window);
      record.start_ns += later;
      record.end_ns += later;
      for (RankCollective& part : record.collectives) {
        part.start_ns += later;
        part.end_ns += later;
        part.step.reset();
      }
      limit_record(record, {.collectives = 1000});
      records.push_back(std::move(record));
    }
  }
  const JobCollectives job = match_collectives(std::move(records));
  EXPECT_EQ(job.collectives.size(), 1700u);
  EXPECT_EQ(job.unmatched_total(), 0u);
  for (const MatchedCollective& one : job.collectives) {
    EXPECT_EQ(job.part(one.members[0]).start_ns / kStep, job.part(one.members[1]).start_ns / kStep);
  }
}

TEST(RankSample, ExposedRangesAreBoundedWithTheirCollectives) {
  RankRecord record = record_of(0);
  const ProcessGroup group = group_of("0", {0, 1});
  for (std::int64_t number = 0; number < 300; ++number) {
    RankCollective& part = add_collective(record, CollectiveKind::all_reduce, group, number * kStep,
                                          number * kStep + 1000, number);
    for (std::int64_t range = 0; range < 99; ++range) {
      record.exposed.push_back(
          {number * kStep + 1000 + 2 * range, number * kStep + 1001 + 2 * range});
    }
    part.exposed_ranges = 100;
    part.end_ns += 300;
  }
  limit_record(record, {.exposed_ranges = 1050});
  EXPECT_EQ(record.collectives.size(), 10u);
  EXPECT_EQ(record.exposed.size(), 1000u);
  EXPECT_EQ(record.recordings.front().left_out, 290u);
}

TEST(RankSample, TheKernelsThatTookLongestStayInAllSteps) {
  RankRecord record = record_of(0);
  for (std::int64_t step = 0; step < 3; ++step) {
    for (std::uint64_t key = 0; key < 100; ++key) {
      record.kernels.push_back({step, key, 1, static_cast<std::int64_t>(key) + 1});
    }
  }
  limit_record(record, {.kernel_sums = 31});
  EXPECT_EQ(record.kernels.size(), 30u);
  std::map<std::uint64_t, int> steps;
  for (const KernelSum& sum : record.kernels) ++steps[sum.key];
  EXPECT_EQ(steps.size(), 10u);
  EXPECT_EQ(steps.begin()->first, 90u);
  const RankRecording& recording = record.recordings.front();
  EXPECT_EQ(recording.left_out_kernels, 90u);
  EXPECT_EQ(recording.left_out_kernels_ns, 3 * 90 * 91 / 2);
  EXPECT_FALSE(recording.hash_limit.has_value());
}

TEST(RankSample, SaysWhatIsOfASample) {
  std::vector<RankRecord> records = job_of_many(3000, true);
  const AnalysisReport whole = collectives_report(analyse_job(records));
  for (RankRecord& record : records) limit_record(record, {.collectives = 100});
  const AnalysisReport sampled = collectives_report(analyse_job(std::move(records)));
  const auto fact = [](const AnalysisReport& report) {
    return std::ranges::find(report.facts, "sampled", [](const auto& one) { return one.first; })
        ->second;
  };
  EXPECT_TRUE(std::holds_alternative<std::monostate>(fact(whole)));
  EXPECT_EQ(std::get<Json>(fact(sampled)).text, R"({"collectives": 400, "recorded": 12000})");
  EXPECT_TRUE(std::ranges::any_of(sampled.notes, [](const std::string& note) {
    return note.starts_with("400 of 12000 collectives of the ranks are in these partials");
  }));
}

}  // namespace
}  // namespace tbtrace::jobs
