// Each check has a trace that it finds something in, and one just below its threshold.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/checks.h>

#include "analyses/checks/made_checks.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using check_fixtures::described;
using check_fixtures::finding;
using check_fixtures::Launches;
using fixtures::add;
using fixtures::finished;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(TraceChecks, ASoundTraceHasNoFindings) {
  Launches made;
  made.launch(100);
  made.kernels(1, 100);
  EXPECT_TRUE(trace_checks(made.trace()).empty());
}

TEST(TraceChecks, ZeroDurations) {
  Launches above;
  above.launch(100);
  above.kernels(1, 98);
  above.kernel(99, 20, 0);
  above.kernel(100, 20, 0);
  EXPECT_EQ(described(above.trace(), "zero_durations"), "warning 2 gemm");
  Launches below;
  below.launch(100);
  below.kernels(1, 99);
  below.kernel(100, 20, 0);
  EXPECT_EQ(described(below.trace(), "zero_durations"), "info 1 gemm");
  TraceBuilder whole;
  add(whole, {.category = "kernel", .name = "gemm", .start = 3000, .duration = 0});
  add(whole, {.category = "kernel", .name = "gemm", .start = 4000, .duration = 1000});
  EXPECT_EQ(described(finished(whole), "zero_durations"), "info 1 gemm")
      << "times in whole microseconds";
  TraceBuilder none;
  add(none, {.category = "kernel", .name = "gemm", .start = 3000, .duration = 0});
  EXPECT_EQ(described(finished(none), "zero_durations"), "warning 1 gemm");
}

TEST(TraceChecks, MisplacedDeviceWork) {
  Launches made;
  made.launch(5);
  made.kernels(1, 3);
  made.kernel(4, -2 * kSecond);
  EXPECT_EQ(described(made.trace(), "misplaced_device_work"), "warning 1 gemm");
  Launches clock;
  clock.launch(5);
  for (std::int64_t of = 1; of <= 5; ++of) clock.kernel(of, -2 * kSecond);
  const Trace off = clock.trace();
  EXPECT_EQ(described(off, "misplaced_device_work"), "") << "the clock is off as a whole";
}

TEST(TraceChecks, StreamOverruns) {
  Launches made;
  made.launch(3);
  made.kernel(1, 20, 2'000'000);
  made.kernels(2, 3);
  EXPECT_EQ(described(made.trace(), "stream_overruns"), "warning 1 gemm");
}

TEST(TraceChecks, ClockJumps) {
  const auto with = [](std::int64_t gap) {
    TraceBuilder builder;
    add(builder, {.name = "aten::mm", .start = 5, .duration = 10});
    add(builder, {.name = "aten::t", .start = 6, .duration = 1});
    add(builder, {.name = "aten::add", .start = 15 + gap, .duration = 10});
    add(builder, {.category = "Trace", .name = "window", .start = 0, .duration = 2 * gap});
    return finished(builder);
  };
  EXPECT_EQ(described(with(600 * kSecond), "clock_jumps"), "warning 1 aten::add");
  EXPECT_EQ(described(with(600 * kSecond - 1), "clock_jumps"), "");
}

TEST(TraceChecks, UnrecordedDeviceWork) {
  const auto with = [](std::int64_t wait_ns, std::int64_t kernel_at) {
    TraceBuilder builder;
    add(builder, {.name = "aten::mm", .start = 0, .duration = 25'000'000});
    add(builder, {.category = "kernel",
                  .name = "gemm",
                  .start = 20'000'000,
                  .duration = 10,
                  .thread = 7,
                  .process = 0});
    add(builder, {.category = "kernel",
                  .name = "gemm",
                  .start = kernel_at,
                  .duration = 10,
                  .thread = 7,
                  .process = 0});
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaStreamSynchronize",
                  .start = 0,
                  .duration = wait_ns});
    return finished(builder);
  };
  EXPECT_EQ(described(with(1'000'020, 10), "unrecorded_device_work"),
            "warning 1 cudaStreamSynchronize");
  EXPECT_EQ(described(with(1'000'019, 10), "unrecorded_device_work"), "");
  EXPECT_EQ(described(with(9'000'000, 9'000'001), "unrecorded_device_work"), "")
      << "it may wait for what was launched before the recording";
  EXPECT_EQ(described(with(30'000'000, 10), "unrecorded_device_work"), "")
      << "no work follows: the recording ends";
}

TEST(TraceChecks, TimesOfZero) {
  const auto with = [](std::int64_t next, int others = 18) {
    TraceBuilder builder;
    add(builder, {.name = "aten::mm", .start = 0, .duration = 0});
    add(builder, {.name = "aten::t", .start = 0, .duration = 0});
    for (int other = 0; other < others; ++other) {
      add(builder, {.name = "aten::add", .start = next + 20 * other, .duration = 10});
    }
    return finished(builder);
  };
  EXPECT_EQ(described(with(kSecond), "times_of_zero"), "warning 2 aten::mm");
  EXPECT_EQ(described(with(kSecond, 17), "times_of_zero"), "error 2 aten::mm") << "over 10 %";
  EXPECT_EQ(described(with(kSecond - 1), "times_of_zero"), "");
  EXPECT_EQ(described(with(600 * kSecond), "clock_jumps"), "") << "they have a check of their own";
}

/// Steps with these numbers; a kernel is launched in those that are in `launching`.
Trace with_steps(const std::vector<std::int64_t>& numbers,
                 const std::vector<std::int64_t>& launching = {}) {
  TraceBuilder builder;
  std::int64_t at = 100;
  for (const std::int64_t number : numbers) {
    add(builder, {.category = "user_annotation",
                  .name = "ProfilerStep#" + std::to_string(number),
                  .start = at,
                  .duration = 90});
    if (std::find(launching.begin(), launching.end(), number) != launching.end()) {
      add(builder, {.category = "cuda_runtime",
                    .name = "cudaLaunchKernel",
                    .start = at + 1,
                    .duration = 1,
                    .correlation = at});
      add(builder, {.category = "kernel",
                    .name = "gemm",
                    .start = at + 3,
                    .duration = 1,
                    .thread = 7,
                    .process = 0,
                    .correlation = at});
    }
    at += 100;
  }
  return finished(builder);
}

TEST(TraceChecks, MissingSteps) {
  EXPECT_EQ(described(with_steps({2, 3, 4}), "missing_steps"), "");
  EXPECT_EQ(described(with_steps({2, 3, 7, 9}), "missing_steps"), "info 4 ProfilerStep#4")
      << "nothing was recorded between two steps";
  EXPECT_EQ(described(with_steps({INT64_MIN, INT64_MAX}), "missing_steps").substr(0, 24),
            "info 9223372036854775807");
}

TEST(TraceChecks, MissingStepsWhileThereAreOthersRanges) {
  const auto with_range = [](std::int64_t start, std::int64_t process) {
    TraceBuilder builder;
    for (const auto& [name, at] : {std::pair("ProfilerStep#2", 100), {"ProfilerStep#4", 300}}) {
      add(builder, {.category = "user_annotation", .name = name, .start = at, .duration = 90});
    }
    add(builder, {.name = "aten::mm", .start = start, .duration = 5, .process = process});
    return described(finished(builder), "missing_steps");
  };
  const std::string missing = "warning 1 ProfilerStep#3";
  const std::string paused = "info 1 ProfilerStep#3";
  EXPECT_EQ(with_range(189, 1), paused) << "in the step before";
  EXPECT_EQ(with_range(190, 1), missing);
  EXPECT_EQ(with_range(299, 1), missing);
  EXPECT_EQ(with_range(300, 1), paused) << "in the step after";
  EXPECT_EQ(with_range(250, 2), paused) << "of another process";
}

TEST(TraceChecks, StepsWithoutDeviceWork) {
  EXPECT_EQ(described(with_steps({1, 2, 3}, {1, 3}), "steps_without_device_work"),
            "warning 1 ProfilerStep#2");
  EXPECT_EQ(described(with_steps({1, 2, 3}, {1, 2}), "steps_without_device_work"),
            "info 1 ProfilerStep#3")
      << "a step that the end of the recording cut";
  EXPECT_EQ(described(with_steps({1, 2, 3}), "steps_without_device_work"), "");
}

TEST(TraceChecks, BatchesWithoutRequestsLaunchNothing) {
  const auto made = [](std::string_view second) {
    TraceBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const std::int64_t start = 100 * step;
      add(builder, {.category = "user_annotation",
                    .name = step == 1 ? second : "execute_context_0(0)_generation_4(4)",
                    .start = start,
                    .duration = 90});
      if (step == 1) continue;
      add(builder, {.category = "cuda_runtime",
                    .name = "cudaGraphLaunch",
                    .start = start + 5,
                    .duration = 5,
                    .correlation = 1 + step});
      add(builder, {.category = "kernel",
                    .name = "gemm",
                    .start = start + 20,
                    .duration = 20,
                    .thread = 7,
                    .process = 0,
                    .correlation = 1 + step});
    }
    return described(finished(builder), "steps_without_device_work");
  };
  EXPECT_EQ(made("execute_context_0(0)_generation_0(0)"), "");
  EXPECT_THAT(made("execute_context_0(0)_generation_3(3)"), testing::StartsWith("warning 1"));
}

TEST(TraceChecks, CompilationInSteps) {
  const auto made = [](std::int64_t compiled_ns, int compiling_steps) {
    TraceBuilder builder;
    for (int number = 0; number < 4; ++number) {
      const std::int64_t start = number * 10'000;
      add(builder, {.category = "user_annotation",
                    .name = "ProfilerStep#" + std::to_string(number),
                    .start = start,
                    .duration = 9'000});
      add(builder, {.name = "aten::mm", .start = start, .duration = 100});
      if (number >= compiling_steps) continue;
      add(builder, {.name = "compile_fx_inner (dynamo_timed)",
                    .start = start + 200,
                    .duration = compiled_ns});
    }
    return described(finished(builder), "compilation_in_steps");
  };
  EXPECT_EQ(made(8'000, 1), "warning 1 ProfilerStep#0");
  EXPECT_EQ(made(900, 1), "") << "a tenth of the step";
  EXPECT_EQ(made(8'000, 3), "") << "it does so in most steps";
}

TEST(TraceChecks, UnrecordedDevice) {
  const auto made = [](std::string_view op, bool has_calls) {
    TraceBuilder builder;
    add(builder, {.name = op, .start = 0, .duration = 1'000'000});
    add(builder, {.name = "aten::_local_scalar_dense", .start = 2'000'000, .duration = 62'400'000});
    if (has_calls) {
      add(builder, {.category = "cuda_runtime", .name = "cudaMalloc", .start = 10, .duration = 20});
    }
    return finished(builder);
  };
  EXPECT_EQ(described(made("aten::cudnn_convolution", false), "device_not_recorded"),
            "warning 1 aten::cudnn_convolution");
  EXPECT_EQ(described(made("aten::cudnn_convolution", true), "device_not_recorded"), "");
  EXPECT_EQ(described(made("aten::convolution", false), "device_not_recorded"), "");
  EXPECT_EQ(described(made("aten::_scaled_dot_product_flash_attention_for_cpu", false),
                      "device_not_recorded"),
            "");
  const std::vector<CheckFinding> of_mps = trace_checks(made("aten::_mps_convolution", false));
  const CheckFinding* const mps = finding(of_mps, "device_not_recorded");
  ASSERT_NE(mps, nullptr);
  EXPECT_NE(mps->cause.find("62.4 ms in aten::_local_scalar_dense"), std::string::npos);
  EXPECT_NE(mps->remedy.find("Instruments"), std::string::npos);
  EXPECT_EQ(mps->remedy.find("CUDA"), std::string::npos);
}

TEST(TraceChecks, UnrecordedOperators) {
  Launches kineto;
  kineto.launch(5);
  kineto.kernels(1, 5);
  const Trace trace = kineto.trace();
  EXPECT_EQ(described(trace, "operators_not_recorded"), "")
      << "another writer's, or with operators";
  TraceBuilder builder;
  builder.set_metadata("schemaVersion", "1");
  add(builder, {.category = "kernel", .name = "gemm", .start = 3000, .duration = 1000});
  EXPECT_EQ(described(finished(builder), "operators_not_recorded"), "warning 1 gemm");

  TraceBuilder graph;
  graph.set_metadata("schemaVersion", "1");
  add(graph, {.category = "cuda_runtime",
              .name = "cudaGraphLaunch",
              .start = 1000,
              .duration = 100,
              .correlation = 1});
  add(graph,
      {.category = "kernel", .name = "gemm", .start = 3000, .duration = 1000, .correlation = 1});
  EXPECT_EQ(described(finished(graph), "operators_not_recorded"), "")
      << "a loop that replays graphs runs no operators";
}

TEST(TraceChecks, NoEvents) {
  TraceBuilder builder;
  EXPECT_EQ(described(finished(builder), "no_events"), "error 1 ");
  EXPECT_EQ(described(with_steps({1}), "no_events"), "");
}

TEST(TraceChecks, EventLimit) {
  const auto with = [](int events) {
    TraceBuilder builder;
    for (int event = 0; event < events; ++event) {
      EventRow row;
      row.start_ns = event;
      row.name = builder.intern("op");
      row.track = fixtures::track(builder, 1, 1);
      row.category = builder.category(builder.intern("cpu_op"));
      builder.add_event(row);
    }
    return finished(builder);
  };
  EXPECT_EQ(described(with(1'000'000), "event_limit"), "warning 1 op");
  EXPECT_EQ(described(with(999'999), "event_limit"), "");
}

Trace with_member(std::string_view key, std::string_view json) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 1, .duration = 2});
  builder.set_metadata(key, json);
  return finished(builder);
}

TEST(TraceChecks, CountsOfTheRecording) {
  EXPECT_EQ(described(with_member("tbtrace_dropped_windows", "3"), "dropped_windows"),
            "warning 3 tbtrace_dropped_windows");
  EXPECT_EQ(described(with_member("tbtrace_dropped_windows", "0"), "dropped_windows"), "");
  EXPECT_EQ(described(with_member("tbtrace_lost_records", "\"4\""), "lost_records"),
            "error 4 tbtrace_lost_records");
  EXPECT_EQ(described(with_member("tbtrace_lost_records", "\"0\""), "lost_records"), "");
  EXPECT_EQ(described(with_member("tbtrace_unreadable_chunks", "2"), "damaged_parts"),
            "error 2 tbtrace_unreadable_chunks");
  EXPECT_EQ(described(with_member("tbtrace_unreadable_chunks", "0"), "damaged_parts"), "");
  EXPECT_EQ(described(with_member("tbtrace_lost_device_records", "5"), "lost_device_records"),
            "error 5 tbtrace_lost_device_records");
  EXPECT_EQ(described(with_member("tbtrace_lost_device_records", "0"), "lost_device_records"), "");
  EXPECT_EQ(
      described(with_member("tbtrace_device_tracing", "\"no driver\""), "device_tracing_failed"),
      "warning 1 no driver");
  EXPECT_EQ(described(with_member("tbtrace_device_tracing", "\"\""), "device_tracing_failed"), "");
}

TEST(TraceChecks, ADeviceThatWasRecordedInPartDidNotFail) {
  const auto trace = [](bool is_recovered) {
    TraceBuilder builder;
    add(builder, {.category = "kernel", .name = "gemm", .start = 3, .duration = 1, .thread = 7});
    builder.set_metadata("tbtrace_device_tracing", "\"ended early\"");
    if (is_recovered) builder.set_metadata("tbtrace_recovered", "{}");
    return finished(builder);
  };
  EXPECT_EQ(described(trace(false), "device_tracing_failed"), "");
  EXPECT_EQ(described(trace(false), "device_tracing_incomplete"), "warning 1 ended early");
  EXPECT_EQ(described(trace(true), "device_tracing_incomplete"), "info 1 ended early");
  EXPECT_EQ(described(with_member("tbtrace_device_tracing", "\"no driver\""),
                      "device_tracing_incomplete"),
            "");
}

TEST(TraceChecks, WhatKinetoLogged) {
  EXPECT_EQ(described(with_member("WARNING", R"(["W: Dropped 12 activity records"])"),
                      "lost_device_records"),
            "error 12 Dropped activity records");
  EXPECT_EQ(described(with_member("WARNING", R"(["W: Dropped 0 activity records"])"),
                      "lost_device_records"),
            "");
  const auto counts = [](std::string_view range, std::string_view stopped) {
    return with_member("INFO", "[\"Record counts: Out-of-range = " + std::string(range) +
                                   ", CUPTI stopped early? = " + std::string(stopped) + "\"]");
  };
  EXPECT_EQ(described(counts("1", "1"), "out_of_range_records"), "info 1 Out-of-range");
  EXPECT_EQ(described(counts("2", "1"), "out_of_range_records"), "warning 2 Out-of-range")
      << "more than the trace has events";
  EXPECT_EQ(described(counts("0", "1"), "stopped_early"), "error 1 CUPTI stopped early");
  EXPECT_EQ(described(counts("0", "0"), "stopped_early"), "");
  EXPECT_EQ(described(counts("0", "0"), "out_of_range_records"), "");
  EXPECT_EQ(described(with_member("ERROR", R"(["a \"b", "c"])"), "profiler_errors"),
            R"(info 2 a \"b)");
  EXPECT_EQ(described(with_member("ERROR", "[]"), "profiler_errors"), "");
}

TEST(TraceChecks, ProblemsOfTheReaderAreFindings) {
  const std::vector<CheckFinding> findings = trace_checks(fixtures::read(
      R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2})"));
  const CheckFinding* const found = finding(findings, "input_truncated");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, CheckSeverity::error);
  EXPECT_TRUE(found->example_offset.has_value());
  EXPECT_EQ(found->cause, "the file ends too early; everything before the cut was read");
  EXPECT_EQ(found->remedy, "record it or copy it again");
}

TEST(TraceChecks, AlarmsComeFirst) {
  Launches made;
  made.launch(100);
  made.kernels(1, 99);
  made.builder.set_metadata("tbtrace_lost_records", "1");
  const std::vector<CheckFinding> findings = trace_checks(made.trace());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].id, "lost_records");
  EXPECT_EQ(findings[1].severity, CheckSeverity::info);
}

TEST(TraceChecks, AReportHasARowPerFindingAndCountsSeverities) {
  Launches made;
  made.launch(100);
  made.kernels(1, 99);
  made.builder.set_metadata("tbtrace_lost_records", "1");
  const Trace trace = made.trace();
  const std::vector<CheckedInput> inputs = {checked_input("a.json", trace)};
  const AnalysisReport report = checks_report(inputs);
  EXPECT_EQ(report.table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(report.table.rows[0][0]), "a.json");
  EXPECT_EQ(std::get<std::uint64_t>(report.totals[0].second), 1u) << report.totals[0].first;
  EXPECT_EQ(std::get<std::uint64_t>(report.totals[2].second), 1u) << report.totals[2].first;
  EXPECT_EQ(report.source.links.launch_by_correlation, 99u);
  EXPECT_TRUE(has_error_or_warning(inputs));
  EXPECT_FALSE(has_error_or_warning(std::vector<CheckedInput>{{"b.json", {{.id = "x"}}}}))
      << "info only";
}

TEST(JobChecks, WindowsAreComparedInUnixTime) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 5, .duration = 10});
  builder.set_metadata("baseTimeNanoseconds", "1000");
  const CheckedTrace checked = checked_trace("a.json", finished(builder));
  EXPECT_EQ(checked.input, "a.json");
  EXPECT_EQ(checked.start_ns, 1005);
  EXPECT_EQ(checked.end_ns, 1015);
}

CheckedTrace of_rank(std::int64_t rank, std::int64_t start, std::string host = "a",
                     std::int64_t world_size = 3) {
  return {
      .input = "rank" + std::to_string(rank),
      .identity = {.rank = rank, .world_size = world_size, .host = std::move(host), .process = "7"},
      .start_ns = start,
      .end_ns = start + 10};
}

std::vector<std::string> of_job(const std::vector<CheckedTrace>& traces) {
  std::vector<std::string> rows;
  for (const CheckFinding& found : job_checks(traces)) {
    rows.push_back(found.id + " " + std::to_string(found.count) + " " + found.example);
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(JobChecks, Ranks) {
  EXPECT_EQ(of_job({of_rank(0, 1), of_rank(1, 1), of_rank(2, 1)}), Rows{});
  EXPECT_EQ(of_job({of_rank(0, 1), of_rank(2, 1)}), Rows{"missing_ranks 1 rank 1"});
  EXPECT_EQ(of_job({of_rank(0, 1), of_rank(1, 1)}), Rows{"missing_ranks 1 rank 2"});
  EXPECT_EQ(of_job({of_rank(1, 1)}), Rows{}) << "one trace says nothing about the others";
}

TEST(JobChecks, ARankTwice) {
  const std::vector<CheckedTrace> others = {of_rank(1, 1), of_rank(2, 1), of_rank(0, 1)};
  const auto with = [&](CheckedTrace more) {
    std::vector<CheckedTrace> traces = others;
    traces.push_back(std::move(more));
    return of_job(traces);
  };
  EXPECT_EQ(with(of_rank(0, 10)), Rows{"repeated_ranks 1 rank 0: rank0"});
  EXPECT_EQ(with(of_rank(0, 11)), Rows{}) << "the next window of the same process";
  EXPECT_EQ(with(of_rank(0, 11, "b")), Rows{"repeated_ranks 1 rank 0: rank0"});
}

TEST(JobChecks, DifferentWorldSizes) {
  EXPECT_EQ(of_job({of_rank(0, 1, "a", 2), of_rank(1, 1, "a", 4)}),
            Rows{"different_world_sizes 2 2 and 4"});
}

}  // namespace
}  // namespace tbtrace
