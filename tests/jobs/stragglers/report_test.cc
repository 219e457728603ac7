#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/job_analysis.h>
#include <tbtrace/summary.h>

#include "jobs/made_records.h"

namespace tbtrace {
namespace {

using fixtures::add_collective;
using fixtures::group_of;
using fixtures::record_of;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two ranks with ten all-reduces; the first of rank 0 has no counterpart.
std::vector<RankRecord> two_ranks() {
  const ProcessGroup world = group_of("0", {0, 1});
  std::vector<RankRecord> records = {record_of(0), record_of(1)};
  for (int number = 0; number < 11; ++number) {
    for (RankRecord& record : records) {
      if (number == 0 && *record.rank == 1) continue;
      add_collective(record, CollectiveKind::all_reduce, world, number * 1'000'000,
                     number * 1'000'000 + 100'000, number);
    }
  }
  return records;
}

TEST(JobReports, HaveARowPerCollectiveAndPerRank) {
  const JobAnalysis job = analyse_job(two_ranks());
  const AnalysisReport rows = collectives_report(job);
  EXPECT_THAT(rows.table.rows, SizeIs(10));
  EXPECT_EQ(rows.totals[1], (std::pair<std::string, Cell>("unmatched", std::uint64_t{1})));
  EXPECT_THAT(rows.notes, Contains(HasSubstr("unmatched: 1 record: other ranks of the group")));
  EXPECT_THAT(job_ranks_report(job).table.rows, SizeIs(2));
  EXPECT_THAT(clocks_report(job).table.rows, SizeIs(2));
  const AnalysisReport stragglers = stragglers_report(job);
  EXPECT_THAT(stragglers.table.rows, IsEmpty());
  EXPECT_THAT(stragglers.notes, Contains(HasSubstr("have no steps with collectives")));
}

TEST(JobReports, PartsAreThoseOfTheWhole) {
  const JobAnalysis job = analyse_job(two_ranks());
  const std::vector<CollectiveTimes> times = collective_times(job.collectives, job.clocks);
  ASSERT_EQ(times.size(), job.times.size());
  EXPECT_EQ(times[3].start_ns, job.times[3].start_ns);
  EXPECT_EQ(find_stragglers(job.collectives, job.clocks, times).why_not_compared,
            job.stragglers.why_not_compared);
  EXPECT_TRUE(stragglers_of(two_ranks()).has_value());
  EXPECT_FALSE(stragglers_of({two_ranks().front()}).has_value());
}

TEST(JobReports, ClockErrorsGrowWithTheDistanceFromTheMiddle) {
  RankClock clock;
  clock.error_ns = 3'000;
  clock.drift_error_ppm = 4;
  EXPECT_DOUBLE_EQ(clock.error_at_ns(0), 3'000);
  EXPECT_DOUBLE_EQ(clock.error_at_ns(1'000'000'000), 5'000);
}

TEST(JobReports, AStragglerIsAFindingOfItsRank) {
  std::vector<TraceSummary> summaries(2);
  summaries[0].run.identity.rank = 0;
  summaries[1].run.identity.rank = 1;
  StragglerResult result;
  Straggler& one = result.stragglers.emplace_back();
  one.rank = 1;
  one.cause = StragglerCause::input;
  one.excess_per_step_ns = 1'000'000;
  one.share = 0.2;
  one.steps = {1, 2};
  one.recorded_steps = 4;
  add_straggler_findings(summaries, result);
  EXPECT_THAT(summaries[0].findings, IsEmpty());
  ASSERT_THAT(summaries[1].findings, SizeIs(1));
  EXPECT_EQ(summaries[1].findings[0].id, "straggler");
  EXPECT_DOUBLE_EQ(summaries[1].findings[0].share, 0.1);
  EXPECT_EQ(summaries[1].findings[0].gain_ns, 500'000);
}

/// A rank with communication that nothing hides, as findings() say it.
TraceSummary with_communication(std::int64_t rank, std::int64_t exposed_ns) {
  TraceSummary summary;
  summary.run.identity.rank = rank;
  Finding& finding = summary.findings.emplace_back();
  finding.id = "exposed_communication";
  finding.remedy =
      "use fewer ranks; how much of it is waiting, the traces of all ranks tell "
      "(tbtrace summary FOLDER)";
  finding.evidence = {{"communication without computation", exposed_ns, "ns", ""}};
  finding.share = finding.own_share = 0.3;
  return summary;
}

TEST(JobReports, SayHowMuchOfExposedCommunicationIsWaiting) {
  const auto remedy_with = [](std::int64_t wait_ns) {
    std::vector<TraceSummary> summaries = {with_communication(0, 1'000'000)};
    StragglerResult result;
    result.waits = {
        {.rank = 0, .collectives = 10, .exposed_wait_ns = wait_ns, .known_exposed_ns = 1'000'000}};
    result.pauses = {{.rank = 3, .step = 7}};
    add_straggler_findings(summaries, result);
    EXPECT_EQ(summaries[0].findings[0].evidence.back().value,
              Cell(static_cast<double>(wait_ns) / 1e6));
    return summaries[0].findings[0].remedy;
  };
  EXPECT_EQ(remedy_with(100'000), "use fewer ranks");
  EXPECT_EQ(remedy_with(600'000),
            "most of it waits for ranks that come later: rank 3 in step 7; use fewer ranks");
  EXPECT_EQ(remedy_with(900'000), "most of it waits for ranks that come later: rank 3 in step 7");
}

TEST(JobReports, SayNothingOfWaitsThatAreNotKnown) {
  std::vector<TraceSummary> summaries = {with_communication(0, 1'000'000)};
  StragglerResult result;
  result.waits = {
      {.rank = 0, .collectives = 10, .exposed_wait_ns = 10'000, .known_exposed_ns = 300'000}};
  const Finding before = summaries[0].findings[0];
  add_straggler_findings(summaries, result);
  EXPECT_EQ(summaries[0].findings[0].remedy, before.remedy);
  EXPECT_THAT(summaries[0].findings[0].evidence, SizeIs(1));
}

TEST(JobReports, NameTheBubblesOfAPipeline) {
  std::vector<TraceSummary> summaries = {with_communication(0, 1'000'000)};
  StragglerResult result;
  result.waits = {{.rank = 0,
                   .collectives = 10,
                   .exposed_wait_ns = 900'000,
                   .bubble_ns = 900'000,
                   .steps_ns = 3'000'000}};
  EXPECT_EQ(bubble_text(result.waits),
            "bubbles of the pipeline: ranks wait in sends and receives and compute nothing for "
            "30.0 % of their steps, from 30.0 % (rank 0) to 30.0 % (rank 0)");
  add_straggler_findings(summaries, result);
  EXPECT_THAT(summaries[0].findings[0].title, HasSubstr("bubbles"));
  EXPECT_EQ(summaries[0].findings[0].remedy, "use fewer ranks") << "that of sends and receives";
  EXPECT_EQ(bubble_text({}), "");
}

TEST(JobReports, APauseIsAFindingOfItsRank) {
  std::vector<TraceSummary> summaries(2);
  summaries[1].run.identity.rank = 1;
  StragglerResult result;
  result.compared_steps = 10;
  result.pauses = {{.rank = 1,
                    .step = 15,
                    .place = 5,
                    .excess_ns = 2'000'000'000,
                    .share = 0.9,
                    .is_silent = true}};
  add_straggler_findings(summaries, result);
  EXPECT_THAT(summaries[0].findings, IsEmpty());
  ASSERT_THAT(summaries[1].findings, SizeIs(1));
  EXPECT_EQ(summaries[1].findings[0].id, "pause");
  EXPECT_EQ(summaries[1].findings[0].gain_ns, 200'000'000);
  EXPECT_EQ(summaries[1].findings[0].evidence[0].event, "in step 15, number 6 of 10");
  EXPECT_THAT(summaries[1].findings[0].remedy, HasSubstr("garbage collection"));
}

TEST(RankWaits, HaveAShareOfBubblesIfTheyAndStepsAreKnown) {
  RankWaits waits;
  EXPECT_EQ(waits.bubble_share(), std::nullopt);
  waits.bubble_ns = 30;
  waits.steps_ns = 120;
  EXPECT_EQ(waits.bubble_share(), 0.25);
}

TEST(JobNames, AreStable) {
  EXPECT_EQ(matched_by_name(MatchedBy::pair), "pair");
  EXPECT_EQ(unmatched_reason_name(UnmatchedReason::times_contradict), "times_contradict");
  EXPECT_THAT(std::string(unmatched_reason_text(UnmatchedReason::no_other_rank)),
              HasSubstr("add the traces of all ranks"));
  EXPECT_EQ(straggler_cause_name(StragglerCause::garbage_collection), "garbage_collection");
  EXPECT_THAT(std::string(straggler_remedy(StragglerCause::network)), HasSubstr("links"));
  EXPECT_EQ(element_bytes("BFloat16"), 2);
  EXPECT_EQ(element_bytes("Unheard"), std::nullopt);
  EXPECT_TRUE(ends_together(CollectiveKind::barrier));
  EXPECT_FALSE(ends_together(CollectiveKind::broadcast));
}

}  // namespace
}  // namespace tbtrace
