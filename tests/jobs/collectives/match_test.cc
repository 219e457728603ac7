#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/collectives.h>

#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"
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

constexpr CollectiveKind kAllReduce = CollectiveKind::all_reduce;

std::uint64_t unmatched(const JobCollectives& job, UnmatchedReason reason) {
  return job.unmatched[static_cast<std::size_t>(reason)];
}

/// `rank:number` of each member.
std::vector<std::string> members(const JobCollectives& job, const MatchedCollective& one) {
  std::vector<std::string> all;
  for (const CollectiveMember& member : one.members) {
    all.push_back(std::to_string(job.ranks[member.rank].rank) + ":" +
                  std::to_string(member.collective));
  }
  return all;
}

TEST(MatchCollectives, GroupAndSequenceTell) {
  const ProcessGroup world = group_of("0", {0, 1});
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  add_collective(zero, kAllReduce, world, 10, 20, 7);
  add_collective(zero, kAllReduce, world, 30, 40, 8);
  add_collective(one, kAllReduce, world, 1030, 1040, 8);  // 7 was before its recording
  const JobCollectives job = match_collectives({one, zero});
  ASSERT_THAT(job.collectives, SizeIs(1));
  EXPECT_THAT(members(job, job.collectives[0]), ElementsAre("0:1", "1:0"));
  EXPECT_EQ(job.collectives[0].by, MatchedBy::sequence);
  EXPECT_EQ(unmatched(job, UnmatchedReason::missing_on_ranks), 1);
  EXPECT_EQ(job.unmatched_total(), 1);
}

TEST(MatchCollectives, GroupsOfOneNameWithOtherRanksAreOtherGroups) {
  std::vector<RankRecord> records;
  for (const std::int64_t rank : {0, 1, 2, 3}) {
    records.push_back(record_of(rank));
    const ProcessGroup group = rank < 2 ? group_of("tp", {0, 1}) : group_of("tp", {2, 3});
    add_collective(records.back(), kAllReduce, group, 10, 20, 1);
  }
  const JobCollectives job = match_collectives(std::move(records));
  ASSERT_THAT(job.collectives, SizeIs(2));
  EXPECT_THAT(members(job, job.collectives[0]), ElementsAre("0:0", "1:0"));
  EXPECT_THAT(members(job, job.collectives[1]), ElementsAre("2:0", "3:0"));
}

TEST(MatchCollectives, OtherOperationsUnderOneNumberAreCounted) {
  const ProcessGroup world = group_of("0", {0, 1});
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  add_collective(zero, kAllReduce, world, 10, 20, 7);
  add_collective(one, CollectiveKind::all_gather, world, 10, 20, 7);
  add_collective(zero, kAllReduce, world, 30, 40, 8).bytes = 64;
  add_collective(one, kAllReduce, world, 30, 40, 8).bytes = 128;
  const JobCollectives job = match_collectives({zero, one});
  EXPECT_THAT(job.collectives, IsEmpty());
  EXPECT_EQ(unmatched(job, UnmatchedReason::ranks_disagree), 4);
}

TEST(MatchCollectives, SizesOfAllToAllMayDiffer) {
  const ProcessGroup world = group_of("0", {0, 1});
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  add_collective(zero, CollectiveKind::all_to_all, world, 10, 20, 7).bytes = 64;
  add_collective(one, CollectiveKind::all_to_all, world, 10, 20, 7).bytes = 128;
  EXPECT_THAT(match_collectives({zero, one}).collectives, SizeIs(1));
}

TEST(MatchCollectives, WithoutSequenceTheOrderTellsIfCountsAgree) {
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  for (const std::int64_t start : {10, 30}) {
    add_collective(zero, kAllReduce, {}, start, start + 5).bytes = 64;
    add_collective(one, kAllReduce, {}, start, start + 5).bytes = 64;
  }
  add_collective(zero, kAllReduce, {}, 50, 55).bytes = 128;  // rank 1 has none of this size
  JobCollectives job = match_collectives({zero, one});
  ASSERT_THAT(job.collectives, SizeIs(2));
  EXPECT_THAT(members(job, job.collectives[1]), ElementsAre("0:1", "1:1"));
  EXPECT_EQ(job.collectives[1].by, MatchedBy::order);
  EXPECT_EQ(unmatched(job, UnmatchedReason::missing_on_ranks), 1);

  add_collective(one, kAllReduce, {}, 60, 65).bytes = 64;
  job = match_collectives({zero, one});
  EXPECT_THAT(job.collectives, IsEmpty());
  EXPECT_EQ(unmatched(job, UnmatchedReason::counts_differ), 5);
}

TEST(MatchCollectives, StepsDivideWhatOrderTells) {
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  for (const std::int64_t step : {1, 2, 3}) {
    add_collective(zero, kAllReduce, {}, 10 * step, 10 * step + 5).step = step;
    // The recording of rank 1 began later.
    if (step > 1) add_collective(one, kAllReduce, {}, 10 * step, 10 * step + 5).step = step;
  }
  const JobCollectives job = match_collectives({zero, one});
  ASSERT_THAT(job.collectives, SizeIs(2));
  EXPECT_THAT(members(job, job.collectives[0]), ElementsAre("0:1", "1:0"));
  EXPECT_EQ(unmatched(job, UnmatchedReason::missing_on_ranks), 1);
}

TEST(MatchCollectives, MessagesArePairs) {
  const ProcessGroup pipeline = group_of("pp", {0, 1, 2});
  RankRecord zero = record_of(0);
  RankRecord one = record_of(1);
  add_collective(zero, CollectiveKind::send, pipeline, 10, 20, 5).peer = 1;
  add_collective(zero, CollectiveKind::send, pipeline, 30, 40, 5).peer = 1;
  add_collective(one, CollectiveKind::receive, pipeline, 5, 20, 9).peer = 0;
  add_collective(one, CollectiveKind::receive, pipeline, 25, 40, 9).peer = 0;
  add_collective(one, CollectiveKind::send, pipeline, 50, 60, 9).peer = 2;  // has no trace
  add_collective(one, CollectiveKind::send, pipeline, 70, 80, 9);           // says no peer
  const JobCollectives job = match_collectives({zero, one});
  ASSERT_THAT(job.collectives, SizeIs(2));
  EXPECT_THAT(members(job, job.collectives[0]), ElementsAre("0:0", "1:0"));
  EXPECT_THAT(members(job, job.collectives[1]), ElementsAre("0:1", "1:1"));
  EXPECT_EQ(job.collectives[0].by, MatchedBy::pair);
  EXPECT_EQ(unmatched(job, UnmatchedReason::no_other_rank), 1);
  EXPECT_EQ(unmatched(job, UnmatchedReason::unknown_peer), 1);
}

TEST(MatchCollectives, InAGroupOfTwoThePeerIsKnown) {
  const ProcessGroup pair = group_of("pp", {3, 7});
  RankRecord three = record_of(3);
  RankRecord seven = record_of(7);
  add_collective(three, CollectiveKind::send, pair, 10, 20);
  add_collective(seven, CollectiveKind::receive, pair, 5, 20);
  EXPECT_THAT(match_collectives({three, seven}).collectives, SizeIs(1));
}

TEST(MatchCollectives, RanksComeFromFileNamesIfFilesDoNotSayThem) {
  RankRecord first = record_of(0);
  RankRecord second = record_of(0);
  first.rank = second.rank = {};
  first.path = "job/rank-11.json.gz";
  second.path = "job/rank-3.json.gz";
  JobCollectives job = match_collectives({first, second});
  ASSERT_THAT(job.ranks, SizeIs(2));
  EXPECT_EQ(job.ranks[0].rank, 3);
  EXPECT_EQ(job.ranks[1].rank, 11);
  ASSERT_THAT(job.notes, SizeIs(1));
  EXPECT_THAT(job.notes[0], HasSubstr("file names"));

  first.path = "a.json";
  second.path = "b.json";
  job = match_collectives({second, first});
  EXPECT_EQ(job.ranks[0].rank, 0);
  EXPECT_EQ(job.ranks[0].record.path, "a.json");
  EXPECT_THAT(job.notes[0], HasSubstr("order of the file names"));
}

TEST(MatchCollectives, RecordingsOfOneRankFollowEachOther) {
  const ProcessGroup world = group_of("0", {0, 1});
  RankRecord early = record_of(0, 0, 100);
  RankRecord late = record_of(0, 100, 200);
  RankRecord other = record_of(1, 0, 200);
  early.path = "b.json";
  late.path = "a.json";
  add_collective(early, kAllReduce, world, 10, 20, 1);
  add_collective(late, CollectiveKind::broadcast, world, 110, 120, 2);
  add_collective(other, kAllReduce, world, 10, 20, 1);
  add_collective(other, CollectiveKind::broadcast, world, 110, 120, 2);
  JobCollectives job = match_collectives({late, other, early});
  EXPECT_THAT(job.ranks, SizeIs(2));
  ASSERT_THAT(job.collectives, SizeIs(2));
  EXPECT_THAT(members(job, job.collectives[1]), ElementsAre("0:1", "1:1"));
  EXPECT_EQ(job.part(job.collectives[1].members[0]).start_ns, 110);
  EXPECT_FALSE(job.repeats_ranks);

  late.start_ns = 50;
  job = match_collectives({late, other, early});
  EXPECT_THAT(job.collectives, SizeIs(1));
  EXPECT_TRUE(job.repeats_ranks);
  ASSERT_THAT(job.notes, SizeIs(1));
  EXPECT_THAT(job.notes[0], HasSubstr("a.json was recorded at the same time as b.json"));
}

/// Every record is matched or counted, and a match has all recorded ranks of the group: compared
/// with a search that looks at all pairs of records.
TEST(MatchCollectives, AgreesWithASearchOfAllPairs) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(200U); ++seed) {
    fixtures::RandomChoices random(seed);
    const std::vector<ProcessGroup> groups = {group_of("0", {0, 1, 2, 3}), group_of("1", {0, 1}),
                                              group_of("1", {2, 3}), group_of("2", {1, 2})};
    std::vector<RankRecord> records;
    std::uint64_t count = 0;
    const std::int64_t ranks = 2 + random.below(3);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      records.push_back(record_of(rank));
      for (std::int64_t number = 0; number < 12; ++number) {
        const ProcessGroup& group = groups[static_cast<std::size_t>(number % 4)];
        const bool is_member = std::ranges::find(group.ranks, rank) != group.ranks.end();
        if (!is_member || random.below(6) == 0) continue;  // some records are lost
        add_collective(records.back(), kAllReduce, group, 10 * number, 10 * number + 5, number / 4);
        ++count;
      }
    }
    const JobCollectives job = match_collectives(records);

    std::set<std::set<std::pair<std::int64_t, std::size_t>>> expected;
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      for (std::size_t number = 0; number < records[rank].collectives.size(); ++number) {
        const RankCollective& part = records[rank].collectives[number];
        const ProcessGroup& group = records[rank].groups[part.group];
        std::set<std::pair<std::int64_t, std::size_t>> same;
        for (std::size_t other = 0; other < records.size(); ++other) {
          for (std::size_t at = 0; at < records[other].collectives.size(); ++at) {
            const RankCollective& candidate = records[other].collectives[at];
            if (records[other].groups[candidate.group] == group &&
                candidate.sequence == part.sequence) {
              same.emplace(static_cast<std::int64_t>(other), at);
            }
          }
        }
        const auto recorded = static_cast<std::size_t>(
            std::ranges::count_if(group.ranks, [&](std::int64_t one) { return one < ranks; }));
        if (recorded > 1 && same.size() == recorded) expected.insert(same);
      }
    }
    std::set<std::set<std::pair<std::int64_t, std::size_t>>> found;
    std::uint64_t matched = 0;
    for (const MatchedCollective& one : job.collectives) {
      std::set<std::pair<std::int64_t, std::size_t>> same;
      for (const CollectiveMember& member : one.members) {
        same.emplace(job.ranks[member.rank].rank, member.collective);
      }
      matched += same.size();
      found.insert(same);
    }
    EXPECT_EQ(found, expected) << "seed " << seed;
    EXPECT_EQ(matched + job.unmatched_total(), count) << "seed " << seed;
  }
}

TEST(BusBandwidthFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::all_to_all, 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::send, 2), 1);
}

TEST(Names, OfAGroupAreWhatIsKnownOfIt) {
  ProcessGroup group = group_of("1", {0, 2});
  EXPECT_EQ(group_text(group), "1 [0, 2]");
  group.description = "mesh_tp";
  EXPECT_EQ(group_text(group), "mesh_tp 1 [0, 2]");
  EXPECT_EQ(group_text({}), "");
}

TEST(Names, OfAMessageIsSendWhateverItsKernelIsCalled) {
  std::vector<RankRecord> records = {record_of(0), record_of(1)};
  const ProcessGroup world = group_of("0", {0, 1});
  add_collective(records[0], CollectiveKind::send, world, 10, 20).peer = 1;
  add_collective(records[1], CollectiveKind::receive, world, 12, 20).peer = 0;
  for (RankRecord& record : records) {
    add_collective(record, CollectiveKind::all_reduce, world, 30, 40, 7);
  }
  const JobCollectives job = match_collectives(records);
  ASSERT_EQ(job.collectives.size(), 2U);
  EXPECT_EQ(job.name(job.collectives[0]), "send");
  EXPECT_EQ(job.name(job.collectives[1]), "all_reduce");
}

TEST(MatchCollectives, AProcessWithoutDeviceWorkIsNotARank) {
  const auto job_with = [](bool have_ranks, bool have_work) {
    std::vector<RankRecord> records;
    for (const std::int64_t rank : {0, 1}) {
      RankRecord& record = records.emplace_back(record_of(rank));
      add_collective(record, kAllReduce, {}, 10, 20);
      record.rank.reset();
      if (!have_ranks) record.path = "worker" + std::to_string(rank) + ".json";
      if (have_work) record.device = rank;
    }
    RankRecord& front_end = records.emplace_back(record_of(2));
    front_end.path = "front_end.json";
    front_end.rank.reset();
    return match_collectives(std::move(records));
  };
  for (const bool have_ranks : {true, false}) {
    const JobCollectives job = job_with(have_ranks, true);
    EXPECT_THAT(job.ranks, SizeIs(2));
    EXPECT_THAT(job.collectives, SizeIs(1));
    EXPECT_THAT(job.notes, testing::Contains(HasSubstr("front_end.json has no device work")));
  }
  EXPECT_THAT(job_with(true, false).ranks, SizeIs(3)) << "nobody has device work";
}

}  // namespace
}  // namespace tbtrace
