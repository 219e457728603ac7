#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/clocks.h>

#include "jobs/made_records.h"

namespace tbtrace {
namespace {

using fixtures::add_collective;
using fixtures::group_of;
using fixtures::record_of;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSince = 1'760'000'000'000'000'000;

/// A clock that shows a true time plus offset and drift.
struct MadeClock {
  std::int64_t offset_ns = 0;
  double drift_ppm = 0;

  std::int64_t shows(std::int64_t true_ns) const {
    return kSince + true_ns + offset_ns +
           std::llround(static_cast<double>(true_ns) * drift_ppm * 1e-6);
  }
};

class ClocksTest : public testing::Test {
 protected:
  explicit ClocksTest(std::vector<MadeClock> clocks = {}) : clocks_(std::move(clocks)) {
    for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
      records_.push_back(record_of(static_cast<std::int64_t>(rank), kSince));
    }
  }

  void use(std::vector<MadeClock> clocks) {
    clocks_ = std::move(clocks);
    records_.clear();
    for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
      records_.push_back(record_of(static_cast<std::int64_t>(rank), kSince));
    }
  }

  /// `count` collectives of a group, `every_ns` apart, with ends up to 2 us late on each rank.
  void run(CollectiveKind kind, const std::vector<std::int64_t>& ranks, int count,
           std::int64_t every_ns) {
    const ProcessGroup group = group_of("g" + std::to_string(groups_++), ranks);
    std::uniform_int_distribution<std::int64_t> late(0, 2'000);
    std::uniform_int_distribution<std::int64_t> early(10'000, 500'000);
    for (int number = 0; number < count; ++number) {
      const std::int64_t end = 1'000'000 + number * every_ns;
      for (const std::int64_t rank : ranks) {
        const MadeClock& clock = clocks_[static_cast<std::size_t>(rank)];
        add_collective(records_[static_cast<std::size_t>(rank)], kind, group,
                       clock.shows(end - early(random_)), clock.shows(end + late(random_)), number);
      }
    }
  }

  std::vector<RankClock> align() {
    job_ = match_collectives(records_);
    return align_clocks(job_);
  }

  /// How far an aligned time of a rank is from the first rank's clock at that instant.
  double error_of(const RankClock& clock, std::size_t rank, std::int64_t true_ns,
                  std::size_t reference = 0) const {
    return std::abs(static_cast<double>(clock.aligned_ns(clocks_[rank].shows(true_ns)) -
                                        clocks_[reference].shows(true_ns)));
  }

  std::vector<MadeClock> clocks_;
  std::vector<RankRecord> records_;
  JobCollectives job_;
  std::mt19937 random_{5};
  int groups_ = 0;
};

TEST_F(ClocksTest, OffsetAndDriftAreFound) {
  use({{}, {900'000'000, 40}, {-1'000'000'000, -50}});
  run(CollectiveKind::all_reduce, {0, 1, 2}, 200, 100'000'000);  // 20 s
  const std::vector<RankClock> clocks = align();
  for (std::size_t rank = 1; rank < 3; ++rank) {
    EXPECT_TRUE(clocks[rank].is_known);
    EXPECT_EQ(clocks[rank].reference, 0);
    EXPECT_EQ(clocks[rank].collectives, 200);
    // The drift is of the rank's own time.
    EXPECT_NEAR(clocks[rank].drift_ppm, clocks_[rank].drift_ppm, clocks[rank].drift_error_ppm);
    EXPECT_LT(clocks[rank].drift_error_ppm, 0.1);
    EXPECT_LT(clocks[rank].error_ns, 2'000);
    for (const std::int64_t at : {0LL, 10'000'000'000LL, 20'000'000'000LL}) {
      EXPECT_LT(error_of(clocks[rank], rank, at), 1'000);
    }
  }
}

TEST_F(ClocksTest, LateEndsOfSomeCollectivesDoNotMoveThem) {
  use({{}, {300'000, 0}});
  run(CollectiveKind::all_reduce, {0, 1}, 60, 1'000'000);
  for (std::size_t number = 0; number < 60; number += 4) {
    records_[1].collectives[number].end_ns += 5'000'000;
  }
  const std::vector<RankClock> clocks = align();
  EXPECT_LT(error_of(clocks[1], 1, 30'000'000), 2'000);
}

TEST_F(ClocksTest, FewerThanFiveCollectivesLeaveAClockUnknown) {
  use({{}, {300'000, 0}});
  run(CollectiveKind::all_reduce, {0, 1}, 4, 1'000'000);
  const std::vector<RankClock> clocks = align();
  EXPECT_FALSE(clocks[0].is_known);
  EXPECT_FALSE(clocks[1].is_known);
  EXPECT_EQ(clock_error_ns(clocks[0], 0, clocks[1], 0), std::nullopt);
}

TEST_F(ClocksTest, BroadcastsDoNotCount) {
  use({{}, {300'000, 0}});
  run(CollectiveKind::broadcast, {0, 1}, 50, 1'000'000);
  EXPECT_FALSE(align()[1].is_known);
}

TEST_F(ClocksTest, RanksBetweenConnectOthers) {
  use({{}, {200'000'000, 10}, {-700'000'000, 20}, {5'000, 0}});
  run(CollectiveKind::all_reduce, {0, 1}, 100, 50'000'000);
  run(CollectiveKind::all_gather, {1, 2}, 100, 50'000'000);
  const std::vector<RankClock> clocks = align();
  EXPECT_EQ(clocks[2].reference, 0);
  EXPECT_LT(error_of(clocks[2], 2, 2'500'000'000), 2'000);
  EXPECT_GT(clocks[2].error_ns, clocks[1].error_ns);
  EXPECT_FALSE(clocks[3].is_known);  // nothing connects it
  EXPECT_TRUE(clock_error_ns(clocks[1], 0, clocks[2], 0).has_value());
  EXPECT_EQ(clock_error_ns(clocks[3], 0, clocks[2], 0), std::nullopt);
}

TEST_F(ClocksTest, MessagesInBothDirectionsConnectRanks) {
  use({{}, {400'000'000, 0}});
  const ProcessGroup group = group_of("pp", {0, 1});
  for (int number = 0; number < 40; ++number) {
    const std::int64_t end = 1'000'000 + number * 2'000'000;
    const auto message = [&](std::size_t from, std::size_t to, std::int64_t at) {
      // The receive ends 4 us after the send.
      RankCollective& sent =
          add_collective(records_[from], CollectiveKind::send, group,
                         clocks_[from].shows(at - 50'000), clocks_[from].shows(at));
      sent.peer = static_cast<std::int64_t>(to);
      RankCollective& received =
          add_collective(records_[to], CollectiveKind::receive, group,
                         clocks_[to].shows(at - 60'000), clocks_[to].shows(at + 4'000));
      received.peer = static_cast<std::int64_t>(from);
    };
    message(0, 1, end);
    message(1, 0, end + 1'000'000);
  }
  const std::vector<RankClock> clocks = align();
  ASSERT_TRUE(clocks[1].is_known);
  EXPECT_LT(error_of(clocks[1], 1, 40'000'000), 500);
  EXPECT_GE(clocks[1].error_ns, 4'000);  // half of what is between the two bounds
}

TEST_F(ClocksTest, MatchesByOrderThatTimesContradictAreTakenBack) {
  use({{}, {100'000, 0}});
  std::uniform_int_distribution<std::int64_t> apart(0, 400'000);
  // Two groups of one rank each, as far as tbtrace knows: their collectives have nothing in common.
  for (int number = 0; number < 50; ++number) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::int64_t start = number * 1'000'000 + apart(random_);
      add_collective(records_[rank], CollectiveKind::all_reduce, {}, clocks_[rank].shows(start),
                     clocks_[rank].shows(start + 30'000));
    }
  }
  const std::vector<RankClock> clocks = align();
  EXPECT_THAT(job_.collectives, IsEmpty());
  EXPECT_EQ(job_.unmatched[static_cast<std::size_t>(UnmatchedReason::times_contradict)], 100);
  EXPECT_FALSE(clocks[1].is_known);
}

/// gloo's ranges end when the host is done with its part, so they may end as far apart as they
/// began.
TEST_F(ClocksTest, MatchesByOrderInAKnownGroupMayEndApart) {
  use({{}, {100'000, 0}});
  std::uniform_int_distribution<std::int64_t> apart(0, 400'000);
  for (int number = 0; number < 50; ++number) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::int64_t start = number * 5'000'000 + apart(random_);
      add_collective(records_[rank], CollectiveKind::all_reduce, group_of("0", {0, 1}),
                     clocks_[rank].shows(start), clocks_[rank].shows(start + 2'000'000));
    }
  }
  const std::vector<RankClock> clocks = align();
  EXPECT_THAT(job_.collectives, SizeIs(50));
  ASSERT_TRUE(clocks[1].is_known);
  EXPECT_GT(clocks[1].error_ns, 50'000);  // which the clock's error says
}

TEST_F(ClocksTest, MatchesByOrderThatEndTogetherStay) {
  use({{}, {100'000, 0}});
  std::uniform_int_distribution<std::int64_t> apart(0, 400'000);
  for (int number = 0; number < 50; ++number) {
    const std::int64_t end = number * 1'000'000 + 500'000;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      add_collective(records_[rank], CollectiveKind::all_reduce, {},
                     clocks_[rank].shows(end - 30'000 - apart(random_)), clocks_[rank].shows(end));
    }
  }
  EXPECT_TRUE(align()[1].is_known);
  EXPECT_THAT(job_.collectives, SizeIs(50));
}

}  // namespace
}  // namespace tbtrace
