#include "jobs/collectives/iterations.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/made_records.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Iterations with these names, which end after each other by the times in `lengths`.
RankRecord recording(std::int64_t rank, const std::vector<std::uint64_t>& names,
                     const std::vector<std::int64_t>& lengths, std::int64_t start_ns = 0) {
  RankRecord record = fixtures::record_of(rank);
  std::int64_t at = start_ns;
  for (std::size_t number = 0; number < names.size(); ++number) {
    RankStep step = {.number = static_cast<std::int64_t>(number), .start_ns = at};
    step.end_ns = at += lengths[number % lengths.size()];
    step.name = names[number];
    record.steps.push_back(step);
  }
  return record;
}

struct Numbered {
  std::vector<std::int64_t> first;  // of each rank
  std::vector<std::string> notes;
};

Numbered numbered(const std::vector<RankRecord>& records) {
  std::map<std::int64_t, std::vector<RankRecord>> by_rank;
  for (const RankRecord& record : records) by_rank[*record.rank].push_back(record);
  Numbered result;
  jobs::number_iterations(by_rank, result.notes);
  for (const auto& [rank, recordings] : by_rank) {
    for (const RankRecord& record : recordings) {
      result.first.push_back(record.steps.front().number);
    }
  }
  return result;
}

constexpr std::int64_t kUsual = 1'000'000;

TEST(Iterations, AreNumberedByTheirNamesIfOnePlaceFits) {
  const Numbered result = numbered(
      {recording(0, {2, 3, 4, 5, 2}, {kUsual}), recording(1, {1, 1, 2, 3, 4, 5}, {kUsual})});
  EXPECT_THAT(result.first, ElementsAre(2, 0));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("rank 0 begins at 2")));
}

TEST(Iterations, OfEqualNamesAreNumberedByTheTimesBetweenTheirEnds) {
  const std::vector<std::uint64_t> names(9, 1);
  const std::vector<std::int64_t> lengths = {900'000, 1'300'000, 1'100'000, 700'000, 1'900'000,
                                             800'000, 1'000'000, 600'000,   500'000, 1'700'000};
  const std::vector<std::int64_t> later(lengths.begin() + 1, lengths.end());
  const Numbered result =
      numbered({recording(0, names, lengths), recording(1, names, later, 77'000'000)});
  EXPECT_THAT(result.first, ElementsAre(0, 1));
}

TEST(Iterations, ThatAreAllAlikeAreNumberedByTheClockOfOneHost) {
  const std::vector<std::uint64_t> names(9, 1);
  RankRecord one = recording(0, names, {kUsual});
  RankRecord other = recording(1, names, {kUsual}, 2 * kUsual + 10'000);
  one.host = other.host = "node";
  EXPECT_THAT(numbered({one, other}).first, ElementsAre(0, 2));
  other.host = "node2";  // equally many, so that they began with one request
  EXPECT_THAT(numbered({one, other}).first, ElementsAre(0, 0));
}

TEST(Iterations, HaveNoneInCommonIfNothingTells) {
  RankRecord one = recording(0, std::vector<std::uint64_t>(9, 1), {kUsual});
  RankRecord other = recording(1, std::vector<std::uint64_t>(7, 1), {kUsual}, 300'000);
  one.host = "node1";
  other.host = "node2";
  const Numbered result = numbered({one, other});
  EXPECT_THAT(result.first, ElementsAre(0, 9));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("do not tell which iterations of rank 1")));
}

TEST(Iterations, AreNumberedBySequencesOfCollectives) {
  std::vector<RankRecord> records = {recording(0, {1, 1, 1}, {kUsual}),
                                     recording(1, {2, 2}, {kUsual})};
  const ProcessGroup group = fixtures::group_of("0", {0, 1});
  for (std::int64_t step = 0; step < 3; ++step) {
    for (RankRecord& record : records) {
      const std::int64_t sequence = step + (record.rank == 1 ? 8 : 7);
      fixtures::add_collective(record, CollectiveKind::all_reduce, group, step, step + 1, sequence)
          .step = step;
    }
  }
  EXPECT_THAT(numbered(records).first, ElementsAre(0, 1));
}

TEST(Iterations, OfALaterRecordingFollowThoseOfTheEarlierOne) {
  const RankRecord earlier = recording(0, {1, 2, 3}, {kUsual});
  const RankRecord later = recording(0, {1, 2}, {kUsual}, 9 * kUsual);
  EXPECT_THAT(numbered({earlier, later}).first, ElementsAre(0, 3));
}

TEST(Iterations, WithNumbersOfTheJobStayAsTheyAre) {
  const Numbered result =
      numbered({recording(0, {0, 0, 0}, {kUsual}), recording(1, {0, 0}, {kUsual})});
  EXPECT_THAT(result.first, ElementsAre(0, 0));
  EXPECT_THAT(result.notes, IsEmpty());
}

}  // namespace
}  // namespace tbtrace
