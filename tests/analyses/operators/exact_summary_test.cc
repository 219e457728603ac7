// Small recordings whose exact figures can be worked out by hand.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;

OperatorSummary exact(const Trace& trace, const SummaryOptions& options = {}) {
  return exact_operator_summary(trace, options);
}

const OperatorRow& row(const OperatorSummary& summary, std::string_view key) {
  for (const OperatorRow& found : summary.rows()) {
    if (found.key == key) return found;
  }
  throw std::out_of_range(std::string(key));
}

std::vector<std::string> keys(const OperatorSummary& summary) {
  std::vector<std::string> keys;
  for (const OperatorRow& found : summary.rows()) keys.push_back(found.key);
  return keys;
}

TEST(ExactSummary, GivesEachInstantToTheInnermostRange) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "inner", .start = 20, .duration = 30});
  add(builder, {.name = "inner", .start = 60, .duration = 10});
  add(builder, {.name = "next", .start = 150, .duration = 50});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(summary.figures(), Figures::exact);
  EXPECT_EQ(summary.window_ns(), 200);
  EXPECT_EQ(row(summary, "outer").self_cpu_time_total.ns, 60);  // 100 - 30 - 10
  EXPECT_EQ(row(summary, "outer").cpu_time_total.ns, 100);
  EXPECT_EQ(row(summary, "inner").self_cpu_time_total.ns, 40);
  EXPECT_EQ(row(summary, "inner").count, 2);
  EXPECT_EQ(row(summary, "[idle]").self_cpu_time_total.ns, 50);  // 100 to 150
  EXPECT_EQ(row(summary, "inner").self_cpu_time_total.us, 0.04);
  EXPECT_TRUE(row(summary, "inner").has_cpu_parent);
  EXPECT_FALSE(row(summary, "outer").has_cpu_parent);
}

TEST(ExactSummary, LosesNothingWhereRangesOverlap) {
  TraceBuilder builder;
  add(builder, {.name = "first", .start = 0, .duration = 10});
  add(builder, {.name = "second", .start = 5, .duration = 15});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "first").self_cpu_time_total.ns, 5);
  EXPECT_EQ(row(summary, "first").cpu_time_total.ns, 10);
  EXPECT_EQ(row(summary, "second").self_cpu_time_total.ns, 15);
  EXPECT_EQ(row(summary, "[idle]").self_cpu_time_total.ns, 0);
}

TEST(ExactSummary, CountsNestedCallsOfARowOnceInItsTotal) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 100});
  add(builder, {.name = "g", .start = 10, .duration = 80});
  add(builder, {.name = "f", .start = 20, .duration = 40});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "f").count, 2);
  EXPECT_EQ(row(summary, "f").cpu_time_total.ns, 100);
  EXPECT_EQ(row(summary, "f").self_cpu_time_total.ns, 60);  // 100 - 80 + 40
}

TEST(ExactSummary, CountsACallThatOutlivesAnotherOfItsRowToItsEnd) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 10});
  add(builder, {.name = "f", .start = 5, .duration = 15});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "f").self_cpu_time_total.ns, 20);
  EXPECT_EQ(row(summary, "f").cpu_time_total.ns, 20);
}

TEST(ExactSummary, CountsCallsOnTwoThreadsTwice) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 100, .thread = 1});
  add(builder, {.name = "f", .start = 20, .duration = 30, .thread = 2});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "f").cpu_time_total.ns, 130);
  ASSERT_EQ(summary.threads().size(), 2u);
  EXPECT_EQ(summary.threads()[0].idle_ns, 0);
  EXPECT_EQ(summary.threads()[1].self_cpu_time_total_ns, 30);
  EXPECT_EQ(summary.threads()[1].idle_ns, 70);
  EXPECT_EQ(row(summary, "[idle]").count, 2) << "threads";
  EXPECT_EQ(summary.self_cpu_time_total().ns, 200) << "idle time is in the total";
}

TEST(ExactSummary, HasTheWindowOfAllThatWasRecorded) {
  TraceBuilder builder;
  add(builder, {.category = "Trace", .name = "PyTorch Profiler (0)", .start = 10, .duration = 90});
  add(builder, {.name = "f", .start = 5, .duration = 20});
  add(builder, {.category = "kernel", .start = 90, .duration = 40, .thread = 7, .process = 0});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(summary.window_ns(), 125);  // 5 to 130, though the profiler's own span is shorter
  ASSERT_EQ(summary.threads().size(), 1u) << "a stream is no thread";
  EXPECT_EQ(summary.threads()[0].idle_ns, 105);
}

TEST(ExactSummary, NamesItsThreads) {
  fixtures::ChromeEvent name;
  name.with("ph", "\"M\"").with("name", "\"thread_name\"").with("pid", "1").with("tid", "\"main\"");
  name.arg("name", "\"python\"");
  const OperatorSummary summary = exact(read(trace_text({op("a").with("tid", "\"main\""), name})));
  ASSERT_EQ(summary.threads().size(), 1u);
  EXPECT_EQ(summary.threads()[0].process, "1");
  EXPECT_EQ(summary.threads()[0].thread, "main");
  EXPECT_EQ(summary.threads()[0].name, "python");
}

TEST(ExactSummary, PutsWorkUnderItsOperatorAndTheRestUnderUnattributed) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "aten::mm", .start = 10, .duration = 50, .external_id = 3});
  add(builder, {.category = "cuda_runtime",
                .name = "launch",
                .start = 20,
                .duration = 5,
                .external_id = 3,
                .correlation = 9});
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = 60,
                .duration = 70,
                .thread = 7,
                .process = 0,
                .external_id = 3,
                .correlation = 9});
  add(builder, {.category = "kernel",
                .name = "lost",
                .start = 130,
                .duration = 11,
                .thread = 7,
                .process = 0});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "aten::mm").self_device_time_total.ns, 70);
  EXPECT_EQ(row(summary, "outer").self_device_time_total.ns, 0);
  EXPECT_EQ(row(summary, "outer").device_time_total.ns, 70);
  EXPECT_EQ(row(summary, "gemm").self_device_time_total.ns, 70);
  EXPECT_EQ(row(summary, "gemm").device_type, DeviceType::cuda);
  EXPECT_EQ(row(summary, "[unattributed]").self_device_time_total.ns, 11);
  EXPECT_EQ(row(summary, "[unattributed]").cpu_time_total.ns, 0);
  // 70 + 11 of the kernels' own rows, not of the operators' and [unattributed] as well.
  EXPECT_EQ(summary.self_device_time_total().ns, 81);
}

TEST(ExactSummary, DoesNotCountAnnotationsOnDevices) {
  TraceBuilder builder;
  add(builder, {.category = "kernel", .name = "gemm", .start = 0, .duration = 70, .thread = 7});
  add(builder,
      {.category = "gpu_user_annotation", .name = "step", .start = 0, .duration = 90, .thread = 7});
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_THAT(keys(summary), testing::ElementsAre("gemm", "[idle]", "[unattributed]"));
  EXPECT_EQ(summary.self_device_time_total().ns, 70);
}

TEST(ExactSummary, PutsMemoryUnderWhatRanAndTheRestUnderUnattributed) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "inner", .start = 10, .duration = 20});
  const auto allocate = [&](std::int64_t time, std::int64_t bytes, std::int16_t device) {
    MemoryRecord record;
    record.time_ns = time;
    record.bytes = bytes;
    record.device_type = DeviceType{device};
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  };
  allocate(15, 500, 0);
  allocate(20, 70, 1);
  allocate(50, -100, 0);
  allocate(200, 9, 0);
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_EQ(row(summary, "inner").self_cpu_memory_usage_bytes, 500);
  EXPECT_EQ(row(summary, "inner").self_device_memory_usage_bytes, 70);
  EXPECT_EQ(row(summary, "outer").self_cpu_memory_usage_bytes, -100);
  EXPECT_EQ(row(summary, "outer").cpu_memory_usage_bytes, 400);
  EXPECT_EQ(row(summary, "outer").device_memory_usage_bytes, 70);
  EXPECT_EQ(row(summary, "[unattributed]").self_cpu_memory_usage_bytes, 9);
}

TEST(ExactSummary, HasItsTwoRowsEvenForAnEmptyRecording) {
  TraceBuilder builder;
  const OperatorSummary summary = exact(finished(builder));
  EXPECT_THAT(keys(summary), testing::ElementsAre("[idle]", "[unattributed]"));
  EXPECT_EQ(summary.window_ns(), 0);
}

TEST(ExactSummary, GroupsByShapesOverloadsAndStacks) {
  const auto mm = [](std::string_view start, std::string_view dims, std::string_view stack) {
    return op("aten::mm.out", start, "1")
        .arg("Input Dims", dims)
        .arg("Input type", "[\"float\"]")
        .arg("Call stack", stack);
  };
  const Trace trace =
      read(trace_text({mm("1", "[[2, 3]]", "\"f;main;\""), mm("3", "[[2, 3]]", "\"g;main;\""),
                       mm("5", "[[4, 5]]", "\"f;main;\"")}));
  EXPECT_EQ(exact(trace).rows().size(), 3u) << "one, [idle] and [unattributed]";
  const OperatorSummary shapes = exact(trace, {.group_by_input_shape = true});
  ASSERT_EQ(shapes.rows().size(), 4u);
  EXPECT_EQ(shapes.rows()[0].input_shapes, "[[2, 3]]");
  EXPECT_EQ(shapes.rows()[0].count, 2);
  const OperatorSummary stacks = exact(trace, {.group_by_stack_n = 1});
  ASSERT_EQ(stacks.rows().size(), 4u);
  EXPECT_THAT(stacks.rows()[0].stack, testing::ElementsAre("f"));
  EXPECT_EQ(stacks.rows()[0].count, 2);
  EXPECT_EQ(exact(trace, {.group_by_overload_name = true}).rows()[0].overload_name, "out");
}

TEST(ExactSummary, CountsFlopsIfTheRecordingDid) {
  const auto summary = [](std::string_view with_flops) {
    fixtures::ChromeText text;
    text.before.emplace_back("with_flops", with_flops);
    text.events = {op("aten::mm")
                       .arg("Input Dims", "[[2, 3], [3, 4]]")
                       .arg("Input type", "[\"float\", \"float\"]")};
    return exact(read(text.text()));
  };
  EXPECT_EQ(row(summary("1"), "aten::mm").flops, 48u);  // 2 * 2 * 3 * 4
  EXPECT_EQ(row(summary("0"), "aten::mm").flops, 0u);
}

TEST(ExactSummary, JoinsRecordings) {
  const auto recording = [](std::int64_t duration) {
    TraceBuilder builder;
    add(builder, {.name = "f", .start = 0, .duration = duration});
    return finished(builder);
  };
  const Trace first = recording(10);
  const Trace second = recording(5);
  const Trace* traces[] = {&first, &second};
  const OperatorSummary summary = exact_operator_summary(traces);
  EXPECT_EQ(row(summary, "f").count, 2);
  EXPECT_EQ(row(summary, "f").self_cpu_time_total.ns, 15);
  EXPECT_EQ(summary.window_ns(), 15);
  EXPECT_EQ(summary.threads().size(), 2u);
}

}  // namespace
}  // namespace tbtrace
