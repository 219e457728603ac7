// The document of a job's ranks: that its figures add up, what is left out, and the page around it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/ranks_view.h>

#include "fixtures/hostile_names.h"
#include "jobs/made_records.h"
#include "pages/written_view.h"

namespace tbtrace {
namespace {

using fixtures::add_collective;
using fixtures::group_of;
using fixtures::JsonTree;
using fixtures::record_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMs = 1'000'000;

/// Ranks compute for 10 ms, rank 1 for 12, then wait for each other and transfer for 1 ms.
std::vector<RankRecord> records_of(std::size_t ranks, std::int64_t steps,
                                   const std::string& host = "h") {
  std::vector<std::int64_t> numbers;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    numbers.push_back(static_cast<std::int64_t>(rank));
  const ProcessGroup world = group_of("0", numbers);
  std::vector<RankRecord> records;
  for (const std::int64_t rank : numbers) {
    RankRecord& record = records.emplace_back(record_of(rank));
    record.host = host;
    const std::int64_t own = rank == 1 ? 12 * kMs : 10 * kMs;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t begin = step * 13 * kMs;
      const std::int64_t end = begin + 13 * kMs;
      RankCollective& part =
          add_collective(record, CollectiveKind::all_reduce, world, begin + own, end, step);
      part.step = step;
      part.bytes = 1 << 20;
      RankStep& one = record.steps.emplace_back();
      one.number = step;
      one.start_ns = begin;
      one.end_ns = end;
      one.time_ns[static_cast<std::size_t>(RankTime::compute)] = own - kMs;
      one.time_ns[static_cast<std::size_t>(RankTime::launch)] = kMs;
      one.time_ns[static_cast<std::size_t>(RankTime::communication)] = 13 * kMs - own;
      one.activity = {{400, RankTime::compute}, {kActivityParts, RankTime::communication}};
    }
    record.end_ns = steps * 13 * kMs;
  }
  return records;
}

JsonTree document_of(std::vector<RankRecord> records, const RanksLimits& limits = {},
                     JobRemarks remarks = {}) {
  const RanksView view(analyse_job(std::move(records)), std::move(remarks));
  return pages::parsed(view.document(limits));
}

const JsonTree& table_of(const JsonTree& document, std::string_view name) {
  for (const JsonTree& table : document.find("tables")->items) {
    if (pages::member(table, "name") == name) return table;
  }
  return document;
}

/// The values of a column as texts.
std::string column_of(const JsonTree& table, std::string_view key) {
  for (const JsonTree& column : table.find("columns")->items) {
    if (pages::member(column, "key") == key) return pages::list_of(column, "values");
  }
  return "no column";
}

TEST(RanksView, SaysWhoHoldsUpTheJobAndWhatToDo) {
  const JsonTree document = document_of(records_of(3, 4), {}, {"rank 3 is missing"});
  const JsonTree& straggler = document.find("stragglers")->items.at(0);
  EXPECT_EQ(pages::member(straggler, "rank"), "1");
  EXPECT_EQ(pages::member(straggler, "cause"), "compute");
  EXPECT_THAT(pages::member(straggler, "remedy"), HasSubstr("amount of work"));
  EXPECT_THAT(pages::list_of(document, "sentences"), HasSubstr("rank 1 holds up the job"));
  EXPECT_EQ(pages::list_of(document, "remarks"), "rank 3 is missing");
  EXPECT_EQ(pages::member(document, "compared_steps"), "4");
}

TEST(RanksView, IsAViewOfJobsAndNotOneOfTraces) {
  EXPECT_EQ(ranks_view().name, "ranks");
  EXPECT_EQ(view_named(ranks_view().name), nullptr);
}

TEST(RanksView, RanksThatHoldUpTheJobAreTheFirstToLookAt) {
  const RanksView view(analyse_job(records_of(3, 4)), {});
  EXPECT_THAT(view.ranks_by_interest(), ::testing::SizeIs(3));
  EXPECT_EQ(view.ranks_by_interest().front(), 1);
}

TEST(RanksView, RecordingsAreOnTheClockOfTheReference) {
  std::vector<RankRecord> records = records_of(3, 6);
  RankRecord& ahead = records[2];
  ahead.start_ns += 1'000 * kMs;
  ahead.end_ns += 1'000 * kMs;
  for (RankCollective& part : ahead.collectives) {
    part.start_ns += 1'000 * kMs;
    part.end_ns += 1'000 * kMs;
  }
  const JsonTree document = document_of(std::move(records));
  const JsonTree& recordings = *document.find("recordings");
  EXPECT_EQ(pages::list_of(recordings, "reference"), "0 0 0");
  EXPECT_EQ(pages::list_of(recordings, "duration_ns"), "78000000 78000000 78000000");
  EXPECT_EQ(pages::list_of(recordings, "start_ns"), "0 0 0");
  EXPECT_EQ(pages::list_of(recordings, "end_ns"), "78000000 78000000 78000000");
  EXPECT_EQ(pages::list_of(recordings, "error_ns"), "0 0 0");
}

TEST(RanksView, ARankWhoseClockIsUnknownIsItsOwnReference) {
  const JsonTree document = document_of(records_of(3, 2));
  EXPECT_EQ(pages::list_of(*document.find("recordings"), "reference"), "0 1 2");
}

TEST(RanksView, MatchesHaveTheLongestCollectivesThatFit) {
  const JsonTree whole = document_of(records_of(3, 2));
  const JsonTree& matches = *whole.find("matches");
  EXPECT_EQ(pages::list_of(matches, "members"), "3 3");
  EXPECT_EQ(pages::list_of(matches, "ranks"), "0 1 2 0 1 2");
  EXPECT_EQ(pages::list_of(matches, "start_ns"),
            "10000000 12000000 10000000 23000000 25000000 23000000");
  EXPECT_EQ(pages::member(matches, "left_out"), "0");
  std::vector<RankRecord> records = records_of(3, 2);
  for (RankRecord& record : records) record.collectives[0].start_ns += kMs / 2;
  const JsonTree fewer_matches = document_of(std::move(records), {.matches = 5});
  EXPECT_EQ(pages::list_of(*fewer_matches.find("matches"), "start_ns"),
            "23000000 25000000 23000000");
  EXPECT_EQ(pages::member(*fewer_matches.find("matches"), "left_out"), "1");
}

TEST(RanksView, CellsHaveThePartsOfAStepWhichAddUpToIt) {
  const JsonTree document = document_of(records_of(3, 2));
  const JsonTree& cells = *document.find("cells");
  EXPECT_EQ(pages::list_of(cells, "ranks"), "0 1 2");
  EXPECT_EQ(pages::list_of(cells, "steps"), "0 1");
  EXPECT_EQ(pages::list_of(cells, "duration_ns"),
            "13000000 13000000 13000000 13000000 13000000 13000000");
  EXPECT_EQ(pages::list_of(cells, "compute_ns"),
            "9000000 9000000 11000000 11000000 9000000 9000000");
  EXPECT_EQ(pages::list_of(cells, "wait_ns"), "2000000 2000000 0 0 2000000 2000000");
  EXPECT_EQ(pages::list_of(cells, "transfer_ns"),
            "1000000 1000000 1000000 1000000 1000000 1000000");
  EXPECT_EQ(pages::list_of(cells, "launch_ns"), "1000000 1000000 1000000 1000000 1000000 1000000");
  EXPECT_EQ(pages::list_of(cells, "excess_ns"), "0 0 2000000 2000000 0 0");
  EXPECT_EQ(pages::list_of(cells, "start_ns"), "0 13000000 0 13000000 0 13000000");
}

TEST(RanksView, StartsOfStepsCountFromTheRecordingOfTheirRank) {
  std::vector<RankRecord> records = records_of(3, 2);
  records[1].start_ns = -5;
  const JsonTree document = document_of(std::move(records));
  EXPECT_EQ(pages::list_of(*document.find("cells"), "start_ns"),
            "0 13000000 5 13000005 0 13000000");
}

TEST(RanksView, TablesByRankAddUp) {
  const JsonTree document = document_of(records_of(3, 4));
  const JsonTree& ranks = table_of(document, "by_rank");
  EXPECT_EQ(column_of(ranks, "own_ns"), "10000000 12000000 10000000");
  EXPECT_EQ(column_of(ranks, "excess_ns"), "0 2000000 0");
  EXPECT_EQ(column_of(ranks, "wait_ns"), "2000000 0 2000000");
  const JsonTree& operations = table_of(document, "operations");
  EXPECT_EQ(column_of(operations, "count"), "4 4 4");
  EXPECT_EQ(column_of(operations, "wait_ns"), "8000000 0 8000000");
  EXPECT_EQ(column_of(operations, "transfer_ns"), "4000000 4000000 4000000");
  EXPECT_EQ(column_of(operations, "unmatched"), "0 0 0");
  const JsonTree& waits = table_of(document, "waits");
  EXPECT_EQ(column_of(waits, "made_wait_ns"), "0 0 0") << "the clocks are not known with four";
}

TEST(RanksView, AMatrixSaysWhoWaitsForWhom) {
  const JsonTree document = document_of(records_of(3, 8));
  const JsonTree& rows = *document.find("waits")->find("wait_ns");
  // By last rank, then for others, then unknown.
  std::vector<std::string> texts;
  for (const JsonTree& row : rows.items) {
    std::string text;
    for (const JsonTree& item : row.items) text += item.text + " ";
    texts.push_back(text);
  }
  EXPECT_THAT(texts, ElementsAre("0 16000000 0 0 0 ", "0 0 0 0 0 ", "0 16000000 0 0 0 "));
  EXPECT_EQ(column_of(table_of(document, "waits"), "made_wait_ns"), "0 32000000 0");
}

TEST(RanksView, RanksThatAreLeftOutOfTheMatrixCountAsOthers) {
  const RanksView view(analyse_job(records_of(6, 8)));
  const JsonTree document = pages::parsed(view.document({.matrix_ranks = 2}));
  const JsonTree& waits = *document.find("waits");
  EXPECT_EQ(pages::member(waits, "ranks_left_out"), "4");
  EXPECT_EQ(pages::list_of(waits, "ranks"), "0 1");
}

TEST(RanksView, CollectivesOfOneSizeAreOneRow) {
  const JsonTree table = table_of(document_of(records_of(3, 8)), "collectives");
  EXPECT_EQ(pages::member(table, "rows"), "1");
  EXPECT_EQ(column_of(table, "count"), "8");
  EXPECT_EQ(column_of(table, "wait_ns"), "32000000");
  EXPECT_EQ(column_of(table, "exposed_ns"), "56000000");
  EXPECT_EQ(column_of(table, "transfer_median_ns"), "1000000");
  EXPECT_EQ(column_of(table, "last_rank"), "1");
  EXPECT_EQ(column_of(table, "last_rank_count"), "8");
}

TEST(RanksView, CostliestCollectivesHaveTheirRanksInTheOrderOfArrival) {
  const JsonTree document = document_of(records_of(3, 8), {.collectives = 2});
  const JsonTree& list = *document.find("costliest");
  ASSERT_EQ(list.items.size(), 2);
  EXPECT_EQ(pages::list_of(list.items[0], "members"), "0 2 1");
  EXPECT_EQ(pages::list_of(list.items[0], "arrival_ns"), "0 0 2000000");
  EXPECT_EQ(pages::list_of(list.items[0], "wait_ns"), "2000000 2000000 0");
  EXPECT_EQ(pages::member(list.items[0], "exposed_ns"), "7000000");
}

TEST(RanksView, StepsBesideEachOtherBeginWithTheRankThatIsLate) {
  const JsonTree document = document_of(records_of(3, 8));
  const JsonTree& step = document.find("timelines")->items.at(0);
  EXPECT_EQ(pages::member(step, "why"), "latest");
  const JsonTree& line = step.find("ranks")->items.at(0);
  EXPECT_EQ(pages::member(line, "rank"), "1");
  EXPECT_EQ(pages::list_of(line, "activity"), "400 0 500 1");
  EXPECT_EQ(pages::list_of(line, "collective_start_ns"), "12000000");
  EXPECT_EQ(pages::list_of(line, "collective_wait_ns"), "0");
}

TEST(RanksView, WhatIsLeftOutOfCellsIsCountedAndTheLatestStepStays) {
  std::vector<RankRecord> records = records_of(40, 100);
  RankStep& late = records[7].steps[61];
  late.time_ns[static_cast<std::size_t>(RankTime::compute)] += 5 * kMs;
  late.time_ns[static_cast<std::size_t>(RankTime::communication)] -= 3 * kMs;
  late.end_ns += 2 * kMs;
  const JsonTree document = document_of(std::move(records), {.cells = 800});
  const JsonTree& cells = *document.find("cells");
  EXPECT_EQ(pages::member(cells, "ranks_left_out"), "0");
  EXPECT_EQ(pages::member(cells, "steps_left_out"), "80");
  EXPECT_THAT(" " + pages::list_of(cells, "steps") + " ", HasSubstr(" 61 "));
}

TEST(RanksView, OfVeryManyRanksSomeAreLeftOut) {
  const JsonTree document = document_of(records_of(40, 20), {.cells = 120});
  const JsonTree& cells = *document.find("cells");
  EXPECT_EQ(pages::member(cells, "ranks_left_out"), "30");
  EXPECT_THAT(" " + pages::list_of(cells, "ranks") + " ", HasSubstr(" 1 "));
}

TEST(RanksView, FewerLimitsEndAtTheLeast) {
  RanksLimits limits;
  for (int turn = 0; turn < 20; ++turn) limits = fewer(limits);
  EXPECT_EQ(fewer(limits), limits);
  EXPECT_GT(limits.cells, 0);
  EXPECT_LT(limits.cells, RanksLimits().cells);
}

TEST(RanksView, WithoutStepsItSaysWhyNobodyIsCompared) {
  std::vector<RankRecord> records = records_of(2, 3);
  for (RankRecord& record : records) record.steps.clear();
  const JsonTree document = document_of(std::move(records));
  EXPECT_NE(pages::member(document, "why_not_compared"), "-");
  EXPECT_EQ(document.find("timelines")->items.size(), 0);
  EXPECT_EQ(pages::list_of(*document.find("cells"), "steps"), "");
}

TEST(RanksView, NamesOfATraceAreTextsOnly) {
  for (const std::string_view name : fixtures::kHostileNames) {
    std::vector<RankRecord> records = records_of(2, 6, std::string(name));
    for (RankRecord& record : records) record.texts[record.collectives[0].name] = name;
    const std::string text = RanksView(analyse_job(std::move(records))).document();
    EXPECT_THAT(text, Not(HasSubstr("<"))) << name;
    pages::parsed(text);
  }
}

}  // namespace
}  // namespace tbtrace
