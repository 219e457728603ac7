// Averages against the list of events that they are made of, and small ones by hand.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/operators.h>

#include "analyses/random_recording.h"
#include "fixtures/chrome_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using analyses::RandomRecording;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

std::vector<std::string> first(std::vector<std::string> frames, int count) {
  if (frames.size() > static_cast<std::size_t>(count))
    frames.resize(static_cast<std::size_t>(count));
  return frames;
}

/// The row that an event belongs to, found by looking at all; a new one if there is none.
OperatorRow& row_for(const FunctionEvent& event, std::vector<OperatorRow>& rows,
                     const SummaryOptions& options) {
  OperatorRow wanted;
  wanted.key = event.key;
  wanted.device_type = event.device_type;
  wanted.is_user_annotation = event.is_user_annotation;
  wanted.is_async = event.is_async;
  wanted.has_cpu_parent = event.has_cpu_parent;
  if (options.group_by_overload_name) wanted.overload_name = event.overload_name;
  if (options.group_by_input_shape) wanted.input_shapes = event.input_shapes;
  if (options.group_by_stack_n > 0) wanted.stack = first(event.stack, options.group_by_stack_n);
  for (OperatorRow& row : rows) {
    const bool same = row.key == wanted.key && row.device_type == wanted.device_type &&
                      row.is_user_annotation == wanted.is_user_annotation &&
                      row.overload_name == wanted.overload_name &&
                      row.input_shapes == wanted.input_shapes && row.stack == wanted.stack;
    if (same) return row;
  }
  rows.push_back(wanted);
  return rows.back();
}

std::vector<OperatorRow> averages(const EventList& list, const SummaryOptions& options) {
  std::vector<OperatorRow> rows;
  for (const FunctionEvent& event : list) {
    if (event.is_python_function && !options.include_python_functions) continue;
    OperatorRow& row = row_for(event, rows, options);
    ++row.count;
    row.cpu_time_total.us += event.cpu_time_total.us;
    row.self_cpu_time_total.us += event.self_cpu_time_total.us;
    row.device_time_total.us += event.device_time_total.us;
    row.self_device_time_total.us += event.self_device_time_total.us;
    row.cpu_memory_usage_bytes += event.cpu_memory_usage_bytes;
    row.self_cpu_memory_usage_bytes += event.self_cpu_memory_usage_bytes;
    row.device_memory_usage_bytes += event.device_memory_usage_bytes;
    row.self_device_memory_usage_bytes += event.self_device_memory_usage_bytes;
  }
  return rows;
}

void expect_averages(std::span<const Trace* const> traces, const SummaryOptions& options) {
  const OperatorSummary summary = *operator_summary(traces, options, SameProcess::known);
  const std::vector<OperatorRow> expected = averages(*events(traces, SameProcess::known), options);
  ASSERT_EQ(summary.rows().size(), expected.size());
  for (std::size_t number = 0; number < expected.size(); ++number) {
    const OperatorRow& row = summary.rows()[number];
    const OperatorRow& wanted = expected[number];
    SCOPED_TRACE(wanted.key);
    ASSERT_EQ(row.key, wanted.key);
    ASSERT_EQ(row.overload_name, wanted.overload_name);
    ASSERT_EQ(row.input_shapes, wanted.input_shapes);
    ASSERT_EQ(row.stack, wanted.stack);
    ASSERT_EQ(row.device_type, wanted.device_type);
    ASSERT_EQ(row.is_user_annotation, wanted.is_user_annotation);
    ASSERT_EQ(row.is_async, wanted.is_async) << "as the first event has it";
    ASSERT_EQ(row.has_cpu_parent, wanted.has_cpu_parent) << "as the first event has it";
    ASSERT_EQ(row.count, wanted.count);
    // To the last bit: the table shows it.
    ASSERT_EQ(row.cpu_time_total.us, wanted.cpu_time_total.us);
    ASSERT_EQ(row.self_cpu_time_total.us, wanted.self_cpu_time_total.us);
    ASSERT_EQ(row.device_time_total.us, wanted.device_time_total.us);
    ASSERT_EQ(row.self_device_time_total.us, wanted.self_device_time_total.us);
    ASSERT_EQ(row.cpu_memory_usage_bytes, wanted.cpu_memory_usage_bytes);
    ASSERT_EQ(row.self_cpu_memory_usage_bytes, wanted.self_cpu_memory_usage_bytes);
    ASSERT_EQ(row.device_memory_usage_bytes, wanted.device_memory_usage_bytes);
    ASSERT_EQ(row.self_device_memory_usage_bytes, wanted.self_device_memory_usage_bytes);
  }
}

std::vector<std::string> keys_of(const Trace& trace, const SummaryOptions& options) {
  std::vector<std::string> keys;
  const OperatorSummary summary = operator_summary(trace, options);
  for (const OperatorRow& row : summary.rows()) keys.push_back(row.key);
  return keys;
}

TEST(OperatorSummary, PythonFunctionsAreInAveragesOfTorch213OrIfAskedFor) {
  // `Python GC` has the category of Python functions, but is none.
  const Trace trace = read(trace_text(
      {op("train.py(3): step", "0", "100").with("cat", "\"python_function\"").arg("Python id", "1"),
       op("Python GC", "10", "5").with("cat", "\"python_function\""), op("aten::mm", "20", "50")}));
  EXPECT_THAT(keys_of(trace, {}), ElementsAre("Python GC", "aten::mm"));
  const auto all = ElementsAre("train.py(3): step", "Python GC", "aten::mm");
  EXPECT_THAT(keys_of(trace, {.include_python_functions = true}), all);
  EXPECT_THAT(keys_of(trace, {.torch = TorchVersion::v2_13}), all);
  // Self times stay those of the whole tree.
  EXPECT_EQ(operator_summary(trace).self_cpu_time_total().ns, 55'000);
  EXPECT_EQ(operator_summary(trace, {.include_python_functions = true}).self_cpu_time_total().ns,
            100'000);
}

TEST(OperatorSummary, AddsUpTheEventsOfEachRowOnRandomTraces) {
  constexpr SummaryOptions kGroupings[] = {
      {},
      {.group_by_input_shape = true},
      {.group_by_stack_n = 1},
      {.group_by_stack_n = 5, .group_by_overload_name = true, .include_python_functions = true},
      {.group_by_input_shape = true, .group_by_stack_n = 2, .group_by_overload_name = true}};
  for (unsigned seed = 0; seed < fixtures::random_rounds(600u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace older = RandomRecording(seed, {.arguments = true}).make();
    const Trace newer = RandomRecording(seed + 100'000, {.arguments = true}).make();
    const Trace* traces[] = {&older, &newer};
    for (const SummaryOptions& options : kGroupings) {
      ASSERT_NO_FATAL_FAILURE(expect_averages({traces, 1 + seed % 2}, options));
    }
  }
}

TEST(OperatorSummary, HasRowsInTheOrderInWhichTheyAppear) {
  const OperatorSummary summary = operator_summary(
      read(trace_text({op("b", "10", "1"), op("a", "0", "2"), op("b", "20", "3")})));
  ASSERT_EQ(summary.rows().size(), 2u);
  EXPECT_EQ(summary.figures(), Figures::torch);
  EXPECT_EQ(summary.rows()[0].key, "a");
  EXPECT_EQ(summary.rows()[1].key, "b");
  EXPECT_EQ(summary.rows()[1].count, 2);
  EXPECT_EQ(summary.rows()[1].cpu_time_total.us, 4.0);
  EXPECT_EQ(summary.rows()[1].cpu_time_total.ns, 4000);
  EXPECT_EQ(summary.self_cpu_time_total().ns, 6000);
}

TEST(OperatorSummary, PutsTheNewestRecordingFirst) {
  const Trace older = read(trace_text({op("old")}));
  const Trace newer = read(trace_text({op("new")}));
  const Trace* traces[] = {&older, &newer};
  const OperatorSummary summary = *operator_summary(traces);
  EXPECT_EQ(summary.rows()[0].key, "new");
  EXPECT_EQ(summary.rows()[1].key, "old");
}

TEST(OperatorSummary, KeepsAnnotationsAndOperatorsOfOneNameApart) {
  const OperatorSummary summary = operator_summary(
      read(trace_text({op("f", "0", "1"), op("f", "5", "1").with("cat", "\"user_annotation\"")})));
  ASSERT_EQ(summary.rows().size(), 2u);
  EXPECT_FALSE(summary.rows()[0].is_user_annotation);
  EXPECT_TRUE(summary.rows()[1].is_user_annotation);
}

TEST(OperatorSummary, ShowsShapesAsTorchPrintsThem) {
  const auto shapes = [](std::string_view dims, std::string_view types) {
    const Trace trace =
        read(trace_text({op("a").arg("Input Dims", dims).arg("Input type", types)}));
    return operator_summary(trace, {.group_by_input_shape = true}).rows()[0].input_shapes;
  };
  EXPECT_EQ(shapes("[[2,3],[],[]]", R"(["float", "Scalar", ""])"), "[[2, 3], [], []]");
  EXPECT_EQ(shapes("[[[2, 3], [4]], [5]]", R"(["TensorList", "float"])"), "[[], [5]]");
}

TEST(OperatorSummary, CountsFlopsIfTheRecordingDid) {
  const auto flops = [](fixtures::Members before) {
    fixtures::ChromeText text;
    text.before = std::move(before);
    text.events = {op("aten::mm")
                       .arg("Input Dims", "[[2, 3], [3, 4]]")
                       .arg("Input type", R"(["float", "float"])"),
                   op("aten::mm", "50")
                       .arg("Input Dims", "[[1, 1], [1, 1]]")
                       .arg("Input type", R"(["float", "float"])")};
    return operator_summary(read(text.text())).rows()[0].flops;
  };
  EXPECT_EQ(flops({{"with_flops", "1"}}), 50u);  // 2 * 2 * 3 * 4 + 2
  EXPECT_EQ(flops({{"with_flops", "0"}}), 0u);
  EXPECT_EQ(flops({}), 0u);
}

TEST(OperatorSummary, KnowsWhatTheRecordingAskedFor) {
  const auto facts = [](fixtures::Members before, std::vector<fixtures::ChromeEvent> events) {
    fixtures::ChromeText text;
    text.before = std::move(before);
    text.events = std::move(events);
    return operator_summary(read(text.text())).data();
  };
  EXPECT_FALSE(facts({}, {op("a")}).profile_memory);
  EXPECT_TRUE(facts({{"profile_memory", "1"}}, {op("a")}).profile_memory);
  EXPECT_TRUE(facts({{"with_flops", "1"}}, {op("a")}).with_flops);
  EXPECT_EQ(facts({}, {op("a")}).use_device, std::nullopt);
  EXPECT_EQ(facts({}, {op("a").with("cat", "\"xpu_runtime\"")}).use_device, DeviceType::xpu);
  fixtures::ChromeEvent memory = op("[memory]").with("ph", "\"i\"").without("cat");
  EXPECT_TRUE(facts({}, {memory.arg("Bytes", "1")}).profile_memory)
      << "older files have records but do not say that they were asked for";
}

TEST(OperatorSummary, OfAnEmptyRecordingIsEmpty) {
  const OperatorSummary summary = operator_summary(read("[]"));
  EXPECT_TRUE(summary.rows().empty());
  EXPECT_EQ(*summary.table(), "");
}

TEST(OperatorSummary, KnowsTheKindOfEachRow) {
  const auto of = [](std::string_view category, std::string_view name, std::string_view start) {
    fixtures::ChromeEvent event = op(name, start, "1");
    return event.with("cat", fixtures::in_quotes(category));
  };
  std::string text = trace_text(
      {of("cpu_op", "aten::add", "0"), of("cpu_op", "ProfilerStep#1", "2"),
       of("user_annotation", "ProfilerStep#2", "4"), of("user_annotation", "forward", "6"),
       of("python_function", "f.py(1): f", "8").arg("Python id", "1"),
       of("cuda_runtime", "cudaLaunchKernel", "10"),
       of("overhead", "Activity Buffer Request", "12"), of("kernel", "gemm", "14").with("pid", "0"),
       of("gpu_memcpy", "Memcpy HtoD", "16").with("pid", "0"),
       of("cuda_sync", "Stream Sync", "18").with("pid", "0"),
       of("gpu_user_annotation", "on device", "20").with("pid", "0")});
  const Trace trace = read(text);
  const std::map<std::string, OperatorKind> expected = {
      {"aten::add", OperatorKind::op},
      {"ProfilerStep*", OperatorKind::annotation},
      {"forward", OperatorKind::annotation},
      {"f.py(1): f", OperatorKind::frame},
      {"cudaLaunchKernel", OperatorKind::other},
      {"Activity Buffer Request", OperatorKind::other},
      {"gemm", OperatorKind::kernel},
      {"Memcpy HtoD", OperatorKind::kernel},
      {"Stream Sync", OperatorKind::kernel},
      {"on device", OperatorKind::annotation},
      {"[idle]", OperatorKind::other},
      {"[unattributed]", OperatorKind::other}};
  std::size_t rows = 0;
  for (const Figures figures : {Figures::torch, Figures::exact, Figures::plugin}) {
    const OperatorSummary summary = *operator_summary(trace, figures);
    for (const OperatorRow& row : summary.rows()) {
      const std::string key = row.key.starts_with("ProfilerStep") ? "ProfilerStep*" : row.key;
      ASSERT_TRUE(expected.contains(key)) << key;
      EXPECT_EQ(row.kind, expected.at(key)) << key;
      ++rows;
    }
  }
  EXPECT_GT(rows, 20U);
  for (const FunctionEvent& event : events(trace)) EXPECT_EQ(event.kind, expected.at(event.key));
}

TEST(OperatorSummary, TotalsAreThoseOfAllRowsWhateverIsSelected) {
  const Trace trace = read(trace_text({op("a", "0", "4"), op("b", "10", "6")}));
  const OperatorSummary summary = operator_summary(trace);
  const TableOptions only_a = {.accepts_name = [](std::string_view name) { return name == "a"; }};
  const std::string text = *summary.table(only_a);
  EXPECT_NE(text.find("Self CPU time total: 10.000us"), std::string::npos) << text;
  EXPECT_NE(text.find("40.00%"), std::string::npos) << text;
  EXPECT_EQ(text.find(" b "), std::string::npos) << text;
  EXPECT_EQ(summary.report(only_a)->table.rows.size(), 1U);
  EXPECT_EQ(summary.count_rows(only_a).selected, 1U);
  EXPECT_EQ(summary.count_rows(only_a).all, 2U);
}

}  // namespace
}  // namespace tbtrace
