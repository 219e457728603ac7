// What ranks are compared by, through a partial.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/checks.h>
#include <tbtrace/job_analysis.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/summary.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace_set.h>

#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "wire/partial_frame.h"

namespace tbtrace::partials {
namespace {

/// The traces of a small job.
TraceSet job_traces() {
  return *read_trace_set({std::string(TBTRACE_TEST_DATA) + "/slow_loader_job"},
                         {.threads = 1, .arguments = ArgumentSet::all()});
}

Partial job_partial() {
  const TraceSet traces = job_traces();
  std::optional<Partial> sum;
  for (const TraceOfSet& trace : traces) {
    Partial partial = *Partial::of(trace.trace, trace.path);
    if (!sum) {
      sum.emplace(std::move(partial));
    } else {
      EXPECT_TRUE(sum->merge(partial).ok());
    }
  }
  return *std::move(sum);
}

std::string json_of(const JobAnalysis& job) {
  std::string text;
  for (const AnalysisReport& report :
       {collectives_report(job), clocks_report(job), stragglers_report(job)}) {
    text += *report_text(report, {.format = TableFormat::json});
  }
  return text;
}

std::string message_of(const Partial& partial) {
  const std::string bytes = *partial_bytes(partial);
  return std::string(*wire::message_in_frame(bytes));
}

TEST(PartialRanks, AnswerAsTheTracesDo) {
  std::vector<RankRecord> records;
  const TraceSet traces = job_traces();
  for (const TraceOfSet& trace : traces) records.push_back(rank_record(trace.trace, trace.path));
  const std::string expected = json_of(analyse_job(std::move(records)));
  EXPECT_NE(expected.find("\"cause\": \"input\""), std::string::npos);
  const Partial partial = *parse_partial(*partial_bytes(job_partial()));
  EXPECT_EQ(json_of(analyse_job(*rank_records(partial))), expected);
  EXPECT_EQ(json_of(analyse_job(*take_rank_records(partial.copy()))), expected);
}

TEST(PartialRanks, AreTheTableCollectives) {
  const TableDescription& table = *tbtrace::table_named("collectives");
  EXPECT_EQ(table.in_partials, InPartials::of_job);
  const PartialParts parts = parts_for(table);
  EXPECT_EQ(parts, (PartialParts{false, false, false, false, false, false, true}));
  const Partial partial = job_partial();
  EXPECT_EQ(*report_text(*make_table(table, partial), {.format = TableFormat::json}),
            *report_text(collectives_report(analyse_job(*rank_records(partial))),
                         {.format = TableFormat::json}));
}

TEST(PartialRanks, OfAPartialWithoutThemAreAnError) {
  const TraceSet traces = job_traces();
  const Partial partial = *Partial::of(traces[0].trace, "rank0.json", {.parts = {.ranks = false}});
  const Status failure = rank_records(partial).status();
  EXPECT_EQ(failure.code(), StatusCode::invalid_argument);
  EXPECT_NE(failure.message().find("make it again from the traces"), std::string::npos);
  EXPECT_FALSE(take_rank_records(partial.copy()).ok());
  EXPECT_TRUE(partial_summaries(partial).empty());
}

TEST(PartialRanks, SummariesHaveWhatPartialsKnow) {
  const TraceSet traces = job_traces();
  std::vector<TraceSummary> expected;
  for (const TraceOfSet& trace : traces) expected.push_back(trace_summary(trace.trace, trace.path));
  const std::vector<TraceSummary> summaries = partial_summaries(job_partial());
  ASSERT_EQ(summaries.size(), expected.size());
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    const TraceSummary& one = summaries[at];
    EXPECT_TRUE(one.is_of_partial);
    EXPECT_EQ(one.run.input, expected[at].run.input);
    EXPECT_EQ(one.run.identity.rank, expected[at].run.identity.rank);
    EXPECT_EQ(one.run.identity.world_size, expected[at].run.identity.world_size);
    EXPECT_EQ(one.run.window_ns, expected[at].run.window_ns);
    EXPECT_EQ(one.steps.mean_duration_ns(), expected[at].steps.mean_duration_ns());
    ASSERT_EQ(one.gpus.size(), expected[at].gpus.size());
    EXPECT_EQ(one.gpus[0].exposed_communication_ns, expected[at].gpus[0].exposed_communication_ns);
    EXPECT_EQ(one.gpus[0].idle_host_wait_ns, expected[at].gpus[0].idle_host_wait_ns);
  }
}

TEST(PartialRanks, SummariesSayWhichProcessesDiedAndWhatWasLost) {
  const Trace trace = fixtures::read(
      R"({"tbtrace_recovered": {"process_id": 9, "host": "node3"}, "tbtrace_lost_records": 4,
      "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 1,
      "ts": 1, "dur": 2, "args": {"finished": "false"}}]})",
      {.arguments = ArgumentSet::all()});
  const std::vector<TraceSummary> summaries =
      partial_summaries(*Partial::of(trace, "dead.json", {}));
  ASSERT_EQ(summaries.size(), 1U);
  std::vector<std::string> ids;
  for (const CheckFinding& check : summaries[0].checks) ids.push_back(check.id);
  EXPECT_EQ(ids, (std::vector<std::string>{std::string(kRecoveredTrace), "lost_records"}));
  const std::string text = summary_text(summaries);
  EXPECT_EQ(text.find("This trace was recovered from a journal: process 9 on node3"), 0U) << text;
  EXPECT_NE(text.find("aten::mm"), std::string::npos) << text;
  EXPECT_NE(text.find("error: host records were lost"), std::string::npos) << text;
}

/// A changed message is refused, or it is another job that can be analysed.
TEST(PartialRanks, ChangedMessagesAreRefusedOrHarmless) {
  const TraceSet traces = job_traces();
  const PartialParts parts = parts_for(*tbtrace::table_named("collectives"));
  Partial sum = *Partial::of(traces[0].trace, traces[0].path, {.parts = parts});
  EXPECT_TRUE(sum.merge(*Partial::of(traces[1].trace, traces[1].path, {.parts = parts})).ok());
  const std::string message = message_of(sum);
  std::mt19937 random(11);
  std::size_t refused = 0;
  const unsigned rounds = fixtures::random_rounds(3000u);
  for (unsigned round = 0; round < rounds; ++round) {
    std::string changed = message;
    const unsigned changes = 1 + random() % 3;
    for (unsigned change = 0; change < changes; ++change) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    Result<Partial> partial = parse_partial(wire::framed_partial(changed));
    if (!partial.ok()) {
      ++refused;
      continue;
    }
    const std::string bytes = *partial_bytes(*partial);
    EXPECT_EQ(*partial_bytes(*parse_partial(bytes)), bytes);
    static_cast<void>(json_of(analyse_job(*take_rank_records(*std::move(partial)))));
  }
  EXPECT_GT(refused, rounds / 4);
}

}  // namespace
}  // namespace tbtrace::partials
