// The plugin's operator table on small recordings that can be worked out by hand.
#include "analyses/compat/plugin/operators.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

OperatorSummary plugin(const Trace& trace, bool by_shape = false) {
  return *operator_summary(trace, Figures::plugin, {.group_by_input_shape = by_shape});
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

ChromeEvent of(std::string_view category, std::string_view name, std::string_view start,
               std::string_view duration) {
  return op(name, start, duration).with("cat", in_quotes(category));
}

ChromeEvent launch(std::string_view id, std::string_view correlation, std::string_view start,
                   std::string_view duration, std::string_view category = "cuda_runtime") {
  return of(category, "cudaLaunchKernel", start, duration)
      .arg("External id", id)
      .arg("correlation", correlation);
}

ChromeEvent kernel(std::string_view correlation, std::string_view start,
                   std::string_view duration) {
  return of("kernel", "gemm", start, duration)
      .with("pid", "0")
      .with("tid", "7")
      .arg("correlation", correlation);
}

TEST(PluginOperators, TakeCallsOfTheRuntimeFromSelfTime) {
  const OperatorSummary summary = plugin(
      read(trace_text({op("outer", "0", "100"), op("aten::mm", "10", "50").arg("External id", "3"),
                       launch("3", "9", "20", "5"), kernel("9", "70", "30")})));
  EXPECT_EQ(summary.figures(), Figures::plugin);
  EXPECT_EQ(row(summary, "aten::mm").cpu_time_total.us, 50.0);
  EXPECT_EQ(row(summary, "aten::mm").self_cpu_time_total.us, 45.0);
  EXPECT_EQ(row(summary, "aten::mm").self_device_time_total.us, 30.0);
  EXPECT_EQ(row(summary, "outer").self_cpu_time_total.us, 50.0);
  EXPECT_EQ(row(summary, "outer").device_time_total.us, 30.0);
  EXPECT_EQ(row(summary, "outer").self_device_time_total.us, 0.0);
  EXPECT_EQ(summary.self_device_time_total().ns, 30'000);
}

TEST(PluginOperators, CountAllKernelsOfALaunchAlsoThoseBeforeIt) {
  const OperatorSummary summary = plugin(read(
      trace_text({kernel("9", "1", "2"), op("aten::mm", "10", "50").arg("External id", "3"),
                  launch("3", "9", "20", "5"), kernel("9", "70", "30"), kernel("9", "200", "8")})));
  EXPECT_EQ(row(summary, "aten::mm").device_time_total.us, 40.0);
}

TEST(PluginOperators, DoNotSeeCallsOfTheDriver) {
  const OperatorSummary summary = plugin(
      read(trace_text({op("aten::mm", "10", "50").arg("External id", "3"),
                       launch("3", "9", "20", "5", "cuda_driver"), kernel("9", "70", "30")})));
  EXPECT_EQ(row(summary, "aten::mm").device_time_total.us, 0.0);
  EXPECT_EQ(row(summary, "aten::mm").self_cpu_time_total.us, 50.0);
}

TEST(PluginOperators, AreGroupedByOverloadsAndStacksToo) {
  const Trace trace = read(trace_text(
      {op("aten::add.Tensor", "0", "10").arg("Call stack", "\"f.py(1): g;main.py(2): h\""),
       op("aten::add.Tensor", "20", "5").arg("Call stack", "\"f.py(1): other;main.py(2): h\""),
       op("aten::add.Scalar", "30", "3")}));
  const auto summary = [&](const SummaryOptions& options) {
    return *operator_summary(trace, Figures::plugin, options);
  };
  EXPECT_THAT(keys(summary({})), ElementsAre("aten::add.Tensor", "aten::add.Scalar"));
  const OperatorSummary overloads = summary({.group_by_overload_name = true});
  EXPECT_EQ(row(overloads, "aten::add.Tensor").overload_name, "Tensor");
  EXPECT_EQ(row(overloads, "aten::add.Tensor").count, 2);
  EXPECT_EQ(row(overloads, "aten::add.Scalar").overload_name, "Scalar");
  const OperatorSummary stacks = summary({.group_by_stack_n = 1});
  ASSERT_EQ(stacks.rows().size(), 3u);
  EXPECT_THAT(stacks.rows()[0].stack, ElementsAre("f.py(1): g"));
  EXPECT_EQ(stacks.rows()[0].cpu_time_total.us, 10.0);
  EXPECT_THAT(stacks.rows()[1].stack, ElementsAre("f.py(1): other"));
  EXPECT_EQ(stacks.rows()[1].cpu_time_total.us, 5.0);
  EXPECT_THAT(stacks.rows()[2].stack, testing::IsEmpty());
}

TEST(PluginOperators, DropARangeThatCrossesAnother) {
  const OperatorSummary summary =
      plugin(read(trace_text({op("a", "0", "10"), op("crossing", "5", "10"), op("b", "6", "2")})));
  EXPECT_THAT(keys(summary), testing::UnorderedElementsAre("a", "b"));
  EXPECT_EQ(row(summary, "a").self_cpu_time_total.us, 8.0);
}

TEST(PluginOperators, OfOneThreadIdAreInOneTreeWhateverTheProcess) {
  const OperatorSummary summary =
      plugin(read(trace_text({op("a", "0", "10"), op("b", "2", "5").with("pid", "2")})));
  EXPECT_EQ(row(summary, "a").self_cpu_time_total.us, 5.0);
}

TEST(PluginOperators, OfThreadsWithoutANumberAreLost) {
  EXPECT_THAT(keys(plugin(read(trace_text({op("a"), op("b").with("tid", "\"main\"")})))),
              ElementsAre("a"));
}

TEST(PluginOperators, MergeAnOnlyChildOfTheSameName) {
  const OperatorSummary summary = plugin(read(trace_text(
      {op("f", "0", "100").arg("External id", "1"), op("f", "10", "50").arg("External id", "2"),
       op("g", "20", "10"), launch("1", "8", "1", "1"), launch("2", "9", "12", "4"),
       kernel("8", "200", "7"), kernel("9", "210", "30")})));
  EXPECT_EQ(row(summary, "f").count, 1);
  EXPECT_EQ(row(summary, "f").self_cpu_time_total.us, 86.0);  // 100 - 10 - 4
  EXPECT_EQ(row(summary, "f").device_time_total.us, 30.0) << "the inner one's launches";
}

TEST(PluginOperators, AreNeitherStepsNorDataLoadingNorOptimizers) {
  const std::vector<std::string_view> others = {
      "ProfilerStep#3",        "enumerate(DataLoader)#_SingleProcess.__next__",
      "enumerate(DataPipe)#x", "Optimizer.step#SGD.step",
      "DataParallel.forward",  "DistributedDataParallel.forward",
      "Optimizer.zero_grad#x"};
  for (const std::string_view name : others) {
    EXPECT_THAT(keys(plugin(read(trace_text({op(name, "0", "10"), op("a", "2", "5")})))),
                ElementsAre("a"))
        << name;
  }
  EXPECT_THAT(keys(plugin(read(trace_text(
                  {op("enumerate(DataLoader)#x"), of("user_annotation", "mine", "0", "9")})))),
              ElementsAre("enumerate(DataLoader)#x"));
}

TEST(PluginOperators, LoseTimeToCommunicationInThem) {
  const auto self = [](std::string_view name) {
    return row(plugin(
                   read(trace_text({op("a", "0", "10"), of("user_annotation", name, "2", "5")}))),
               "a")
        .self_cpu_time_total.us;
  };
  EXPECT_EQ(self("nccl:all_reduce"), 5.0);
  EXPECT_EQ(self("gloo:broadcast"), 5.0);
  EXPECT_EQ(self("nccl:send"), 10.0);
  EXPECT_EQ(self("mpi:all_reduce"), 10.0);
  EXPECT_EQ(self("mine"), 10.0);
}

TEST(PluginOperators, AreSortedByTheirOwnTime) {
  const std::vector<ChromeEvent> host = {op("short", "0", "1"), op("long", "10", "9"),
                                         op("middle", "20", "5").arg("External id", "3")};
  EXPECT_THAT(keys(plugin(read(trace_text(host)))), ElementsAre("long", "middle", "short"));
  std::vector<ChromeEvent> device = host;
  device.push_back(launch("3", "9", "21", "1"));
  device.push_back(kernel("9", "30", "2"));
  EXPECT_THAT(keys(plugin(read(trace_text(device)))), ElementsAre("middle", "short", "long"))
      << "by time on the device if there is one; equal ones as they were met";
}

TEST(PluginOperators, AreGroupedByShapesAsThePluginWritesThem) {
  const auto with_dims = [](std::string_view start, std::string_view dims) {
    return op("a", start, "5").arg("Input Dims", dims);
  };
  const OperatorSummary summary =
      plugin(read(trace_text({with_dims("0", "[[2,3], []]"), with_dims("10", "[[2, 3],[]]"),
                              op("a", "20", "5")})),
             true);
  ASSERT_EQ(summary.rows().size(), 2u);
  EXPECT_EQ(summary.rows()[0].input_shapes, "[[2, 3], []]");
  EXPECT_EQ(summary.rows()[0].count, 2);
  EXPECT_EQ(summary.rows()[1].input_shapes, "[]");
}

TEST(PluginOperators, KeepRawNames) {
  EXPECT_THAT(keys(plugin(read(trace_text({op("aten::add.Tensor"), op("_Z3foov", "50")})))),
              ElementsAre("aten::add.Tensor", "_Z3foov"));
}

ChromeEvent module(std::string_view name, std::string_view start, std::string_view duration) {
  return of("python_function", name, start, duration)
      .arg("Python id", "1")
      .arg("Python module id", "0");
}

/// A module with a forward operator, and its backward pass on another thread; an arrow ties them.
std::vector<ChromeEvent> training(bool with_arrow) {
  std::vector<ChromeEvent> events = {
      of("user_annotation", "ProfilerStep#1", "0", "1000"),
      module("nn.Module: Linear_0", "10", "100"),
      op("aten::linear", "20", "50"),
      op("autograd::engine::evaluate_function: AddmmBackward0", "300", "80").with("tid", "2"),
      op("AddmmBackward0", "310", "60").with("tid", "2"),
      op("aten::mm", "320", "20").with("tid", "2")};
  for (const bool start : {true, false}) {
    ChromeEvent arrow;
    arrow.with("ph", start ? "\"s\"" : "\"f\"").with("id", "5").with("cat", "\"fwdbwd\"");
    arrow.with("name", "\"fwdbwd\"").with("pid", "1").with("tid", start ? "1" : "2");
    arrow.with("ts", start ? "20" : "310");
    if (with_arrow) events.push_back(arrow);
  }
  return events;
}

TEST(PluginOperators, OfABackwardPassStayInTheTableUnderTheirModule) {
  const auto expected = testing::UnorderedElementsAre(
      "aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0",
      "aten::mm");
  EXPECT_THAT(keys(plugin(read(trace_text(training(false))))), expected);
  const OperatorSummary with_arrow = plugin(read(trace_text(training(true))));
  EXPECT_THAT(keys(with_arrow), expected);
  EXPECT_EQ(row(with_arrow, "AddmmBackward0").self_cpu_time_total.us, 40.0);
}

TEST(PluginOperators, OfABackwardPassThatNoArrowTiesAreLostWhereOthersAreTied) {
  std::vector<ChromeEvent> events = training(true);
  events.push_back(
      op("autograd::engine::evaluate_function: ViewBackward0", "500", "80").with("tid", "2"));
  // The plugin puts a pass that has no arrow of its own nowhere.
  const std::vector<std::string> found = keys(plugin(read(trace_text(events))));
  EXPECT_THAT(
      found, testing::Not(testing::Contains("autograd::engine::evaluate_function: ViewBackward0")));
  EXPECT_THAT(found, testing::Contains("aten::mm"));
}

TEST(PluginOperators, OfSeveralRecordingsAreJoined) {
  const Trace first = read(trace_text({op("a", "0", "5")}));
  const Trace second = read(trace_text({op("a", "0", "7")}));
  const Trace* traces[] = {&first, &second};
  const OperatorSummary summary = *operator_summary(traces, Figures::plugin);
  ASSERT_EQ(summary.rows().size(), 1u);
  EXPECT_EQ(summary.rows()[0].count, 2);
  EXPECT_EQ(summary.rows()[0].cpu_time_total.us, 12.0);
}

}  // namespace
}  // namespace tbtrace::analyses
