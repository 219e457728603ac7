// What a trace says of the end of its process: foreign members, and the chains of open ranges.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/checks.h>
#include <tbtrace/findings.h>
#include <tbtrace/operators.h>
#include <tbtrace/recovered.h>

#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kBaseNs = 1'795'858'000'000'000'000;

std::string row(const std::string& name, int thread, int start_us, int duration_us, bool ends) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 9, "tid": )" +
         std::to_string(thread) + R"(, "ts": )" + std::to_string(start_us) + R"(, "dur": )" +
         std::to_string(duration_us) + R"(, "args": {)" + (ends ? "" : R"("finished": "false")") +
         "}}";
}

Trace trace_with(const std::string& member, const std::vector<std::string>& rows) {
  std::string text = R"({"baseTimeNanoseconds": )" + std::to_string(kBaseNs) + ", " + member +
                     (member.empty() ? "" : ", ") + R"("traceEvents": [)";
  for (const std::string& one : rows) text += (&one == rows.data() ? "" : ",\n") + one;
  return fixtures::read(text + "]}");
}

std::string sentence_of(const std::string& value) {
  const Trace trace = trace_with(R"("tbtrace_recovered": )" + value, {row("a", 1, 1000, 10, true)});
  const auto recovered = recovered_recording(trace);
  return recovered ? recovered_sentence(*recovered) : "not recovered";
}

TEST(RecoveredRecording, SaysWhatTheMemberSays) {
  const std::string begin = "This trace was recovered from a journal: ";
  EXPECT_EQ(sentence_of(R"({"process_id": 4711, "host": "node3", "last_sign_of_life_ns": )" +
                        std::to_string(kBaseNs + 1'000'000 + 12'345'400'000) +
                        R"(, "window_was_open": true, "lost_records": 0})"),
            begin +
                "process 4711 on node3 ended without closing its window, last sign of life "
                "12.345 s after the window's start");
  EXPECT_EQ(sentence_of(R"({"process_id": "4711", "window_was_open": false})"),
            begin + "process 4711 ended; the window had ended, but was not written");
  EXPECT_EQ(sentence_of(R"({"last_sign_of_life_ns": )" + std::to_string(kBaseNs) + "}"),
            begin + "its process ended, last sign of life 1.000 ms before the window's start");
  EXPECT_EQ(sentence_of("{}"), begin + "its process ended");
}

TEST(RecoveredRecording, ValuesOfOtherKindsAreUnknown) {
  const std::string unknown = "This trace was recovered from a journal: its process ended";
  EXPECT_EQ(sentence_of(R"({"process_id": -4, "host": 5, "last_sign_of_life_ns": "soon",
      "window_was_open": "yes", "lost_records": [1]})"),
            unknown);
  EXPECT_EQ(sentence_of(R"({"process_id": 99999999999999999999, "host": {"a": 1},
      "last_sign_of_life_ns": 1e300, "window_was_open": 1, "lost_records": -7})"),
            unknown);
  EXPECT_EQ(sentence_of(R"({"process_id": null, "host": null, "window_was_open": null})"), unknown);
  EXPECT_EQ(sentence_of(R"({"lost_records": 99999999999999999999, "a": [{}, "b"], "host": "old",
      "process_id": 5, "host": "node3"})"),
            "This trace was recovered from a journal: process 5 on node3 ended");
  for (const char* const value : {"null", "true", "5", R"("a text")", "[1, {}]"}) {
    EXPECT_EQ(sentence_of(value), "not recovered") << value;
  }
  EXPECT_THAT(sentence_of(R"({"host": ")" + std::string(100'000, 'h') + R"("})"),
              HasSubstr(std::string(80, 'h') + "... ended"));
  EXPECT_EQ(sentence_of(R"({"last_sign_of_life_ns": 9223372036854775807})"),
            unknown + ", last sign of life 7427514036.854 s after the window's start");
}

TEST(RecoveredRecording, NothingIsClaimedWithoutTheMember) {
  const Trace trace = trace_with("", {row("open", 1, 1000, 10, false)});
  EXPECT_FALSE(recovered_recording(trace).has_value());
  EXPECT_THAT(findings(trace), IsEmpty());
  EXPECT_THAT(trace_checks(trace), IsEmpty());
}

TEST(RecoveredRecording, ThreadsHaveTheRangesThatHoldTheInnermostOne) {
  const Trace trace =
      trace_with(R"("tbtrace_recovered": {"process_id": 9})",
                 {row("ended", 1, 0, 100, true), row("outer", 1, 0, 100, false),
                  row("inner", 1, 0, 100, false), row("stopped early", 1, 10, 20, false),
                  row("innermost", 1, 50, 50, false), row("later", 2, 60, 40, false),
                  row("all ended", 3, 90, 10, true)});
  const RecoveredRecording recovered = recovered_recording(trace).value();
  ASSERT_EQ(recovered.threads.size(), 2u);
  EXPECT_EQ(recovered.threads[0].thread, "thread 2");
  EXPECT_THAT(recovered.threads[0].ranges, ElementsAre("later"));
  EXPECT_EQ(recovered.threads[0].open_ns, 40'000);
  EXPECT_EQ(recovered.threads[1].thread, "thread 1");
  EXPECT_THAT(recovered.threads[1].ranges, ElementsAre("outer", "inner", "innermost"));
  EXPECT_EQ(unfinished_chain(recovered.threads[1]), "`outer` > `inner` > `innermost`");
  EXPECT_EQ(recovered.threads[1].start_ns, 50'000);
  EXPECT_EQ(recovered.unfinished_ranges, 5u);
  EXPECT_THAT(recovered_remedy(recovered), StartsWith("look first at the innermost ranges"));
  RecoveredRecording other = recovered;
  other.lost_records = 3;
  EXPECT_THAT(recovered_remedy(other), StartsWith("records were lost, so ranges that seem"));
  other.window_was_open = false;
  EXPECT_THAT(recovered_remedy(other), StartsWith("the window had ended before"));
  EXPECT_EQ(recovered.threads_left_out, 0u);
}

TEST(RecoveredRecording, FiveThreadsAndTwelveRangesAreShown) {
  std::vector<std::string> rows;
  for (int thread = 1; thread <= 8; ++thread) rows.push_back(row("t", thread, thread, 100, false));
  for (int depth = 0; depth < 30; ++depth) {
    rows.push_back(row("d" + std::to_string(depth), 9, 20 + depth, 980 - depth, false));
  }
  const RecoveredRecording recovered =
      recovered_recording(trace_with(R"("tbtrace_recovered": {})", rows)).value();
  ASSERT_EQ(recovered.threads.size(), 5u);
  EXPECT_EQ(recovered.threads_left_out, 4u);
  EXPECT_EQ(recovered.threads[4].thread, "thread 5");
  EXPECT_EQ(recovered.threads[0].ranges.size(), 12u);
  EXPECT_EQ(recovered.threads[0].ranges_left_out, 18u);
  EXPECT_THAT(unfinished_chain(recovered.threads[0]),
              HasSubstr("`d1` > `d2` > ... 18 more ... > `d21` > `d22`"));
  EXPECT_THAT(unfinished_chain(recovered.threads[0]), HasSubstr("`d29`"));
}

TEST(RecoveredRecording, LostRecordsAreAnErrorOfTheCheckAndTheRestAnInformation) {
  const std::vector<CheckFinding> checks = trace_checks(
      trace_with(R"("tbtrace_recovered": {"lost_records": 3})", {row("a", 1, 5, 7, false)}));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_THAT(checks[0].remedy, HasSubstr("3 records were lost"));
  EXPECT_EQ(checks[0].id, "recovered_trace");
  EXPECT_EQ(checks[0].severity, CheckSeverity::info);
  EXPECT_EQ(checks[0].example, "thread 1: `a`");
  EXPECT_EQ(checks[1].id, "lost_records");
  EXPECT_EQ(checks[1].severity, CheckSeverity::error);
  EXPECT_EQ(checks[1].count, 3u);
}

TEST(RecoveredRecording, WhatDidNotEndHasItsTimeInTheOperatorTable) {
  const auto self_us_of_hang = [](const char* member) {
    const Trace trace =
        trace_with(member, {row("before", 1, 0, 10, true), row("hang", 1, 20, 500, false),
                            row("aten::mm", 1, 30, 100, true)});
    const OperatorSummary summary = operator_summary(trace);
    for (const OperatorRow& row : summary.rows()) {
      if (row.key == "hang") return static_cast<double>(row.self_cpu_time_total.ns) / 1000.0;
    }
    return -1.0;
  };
  EXPECT_EQ(self_us_of_hang(R"("tbtrace_recovered": {})"), 400);
  EXPECT_EQ(self_us_of_hang(""), 0) << "torch's rule for a range whose end is not known";
}

TEST(RecoveredRecording, ALaunchThatDidNotEndNeedsNoKernel) {
  const Trace trace = trace_with(
      R"("tbtrace_recovered": {})",
      {R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1,
           "ts": 5, "dur": 9, "args": {"correlation": 1, "finished": "false"}})"});
  const std::vector<CheckFinding> checks = trace_checks(trace);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].id, "recovered_trace");
}

TEST(RecoveredRecording, TheFindingIsBeforeAllOthersWithoutAShare) {
  const std::vector<Finding> all =
      findings(trace_with(R"("tbtrace_recovered": {"process_id": 9})",
                          {row("enumerate(DataLoader)#_It.__next__", 1, 0, 100, true),
                           row("aten::mm", 1, 100, 50, false)}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "recovered_trace");
  EXPECT_TRUE(all[0].comes_first);
  EXPECT_TRUE(all[0].is_before(all[1]));
  EXPECT_FALSE(all[1].is_before(all[0]));
  EXPECT_STREQ(all[0].severity(), "warning");
  EXPECT_EQ(all[0].evidence.at(0).event, "thread 1: `aten::mm`");
  EXPECT_EQ(all[0].evidence.at(0).value, Cell(std::int64_t{50'000}));
  EXPECT_EQ(all[1].id, "data_loader_bound");
}

}  // namespace
}  // namespace tbtrace
