#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>

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

std::string folded(const Trace& trace, const std::string& weight = "self_cpu_time_total") {
  const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
  return stacks.ok() ? folded_stacks(*stacks) : stacks.status().message();
}

fixtures::ChromeEvent with_stack(std::string_view name, std::string_view start,
                                 std::string_view duration, std::string_view stack) {
  return op(name, start, duration).arg("Call stack", fixtures::in_quotes(stack));
}

TEST(FlameGraph, WeighsEachStackByItsSelfTime) {
  TraceBuilder builder;
  add(builder,
      {.category = "python_function", .name = "main.py(3): f", .start = 0, .duration = 100});
  add(builder, {.name = "aten::linear", .start = 10, .duration = 60});
  add(builder, {.name = "aten::mm", .start = 20, .duration = 40});
  add(builder, {.name = "aten::linear", .start = 200, .duration = 7});
  EXPECT_EQ(folded(finished(builder)),
            "aten::linear 7\n"
            "main.py(3): f 40\n"
            "main.py(3): f;aten::linear 20\n"
            "main.py(3): f;aten::linear;aten::mm 40\n");
}

TEST(FlameGraph, HasNoIdleTime) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 5});
  add(builder, {.name = "f", .start = 100, .duration = 5});
  add(builder, {.category = "kernel", .name = "lost", .start = 5, .duration = 3, .thread = 7});
  EXPECT_EQ(folded(finished(builder)), "f 10\n");
}

TEST(FlameGraph, LabelsOfCudaGraphsAreFramesAboveTheirKernels) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "decode", .start = 0, .duration = 90});
  add(builder, {.category = "cuda_runtime", .start = 10, .duration = 5, .correlation = 1});
  const auto replayed = [&](std::string_view label, std::int64_t start, std::int64_t correlation) {
    const EventId kernel = add(builder, {.category = "kernel",
                                         .name = "gemm",
                                         .start = start,
                                         .duration = 10,
                                         .thread = 7,
                                         .process = 0,
                                         .correlation = correlation});
    builder.add_argument(kernel, Argument::graph_node_id, std::int64_t{3});
    if (!label.empty()) builder.add_argument(kernel, Argument::label, builder.intern(label));
  };
  replayed("mlp", 20, 1);
  replayed("mlp", 30, 1);
  replayed("attention", 40, 1);
  replayed("", 50, 1);
  replayed("mlp", 60, 2);
  const Trace trace = finished(builder);
  EXPECT_EQ(folded(trace, "self_device_time_total"),
            "[unattributed];mlp;gemm 10\n"
            "decode;attention;gemm 10\n"
            "decode;gemm 10\n"
            "decode;mlp;gemm 20\n");
  const StackTree in_order =
      *flame_graph(trace, {.weight = "self_device_time_total", .in_time_order = true});
  EXPECT_EQ(in_order.total(), 50);
}

TEST(FlameGraph, UnlinkedDeviceTimeIsUnattributed) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 100});
  add(builder,
      {.category = "cuda_runtime", .name = "launch", .start = 20, .duration = 5, .correlation = 9});
  const auto work = [&](std::string_view category, std::string_view name, std::int64_t start,
                        std::int64_t duration, std::int64_t correlation) {
    add(builder, {.category = category,
                  .name = name,
                  .start = start,
                  .duration = duration,
                  .thread = 7,
                  .correlation = correlation});
  };
  work("kernel", "gemm", 60, 10, 9);
  work("kernel", "gemm", 100, 900, 8);  // its launch is not in the file
  work("kernel", "lost", 1000, 80, 0);
  work("gpu_memcpy", "Memcpy HtoD", 1100, 10, 7);
  work("gpu_user_annotation", "forward", 0, 5000, 0);  // is not device work
  const Trace trace = finished(builder);
  const char* const expected =
      "[unattributed];Memcpy HtoD 10\n"
      "[unattributed];gemm 900\n"
      "[unattributed];lost 80\n"
      "aten::mm;gemm 10\n";
  EXPECT_EQ(folded(trace, "self_device_time_total"), expected);
  EXPECT_EQ(flame_graph(trace, {.weight = "self_device_time_total"})->total(), 1000);
  EXPECT_EQ(folded(trace), "aten::mm 95\naten::mm;launch 5\n");
}

TEST(FlameGraph, PicturesShowUnattributedDeviceTime) {
  TraceBuilder builder;
  add(builder, {.category = "kernel", .name = "lost", .start = 5, .duration = 3, .thread = 7});
  const auto stacks = flame_graph(finished(builder), {.weight = "self_device_time_total"});
  const std::string svg = *flame_graph_svg(*stacks);
  EXPECT_THAT(svg,
              testing::HasSubstr("<title>[unattributed]\n3 ns, 100.00 % of all; self 0</title>"));
  EXPECT_THAT(svg,
              testing::HasSubstr("<title>lost\n3 ns, 100.00 % of all; all of it self</title>"));
}

TEST(FlameGraph, JoinsThreadsAndSteps) {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#1", .start = 0, .duration = 5});
  add(builder, {.category = "user_annotation",
                .name = "ProfilerStep#2",
                .start = 5,
                .duration = 5,
                .thread = 2});
  EXPECT_EQ(folded(finished(builder)), "ProfilerStep* 10\n");
}

TEST(FlameGraph, PutsKernelsUnderTheirOperators) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "aten::mm", .start = 10, .duration = 50, .external_id = 3});
  add(builder,
      {.category = "cuda_runtime", .name = "launch", .start = 20, .duration = 5, .correlation = 9});
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = 60,
                .duration = 70,
                .thread = 7,
                .correlation = 9});
  const Trace trace = finished(builder);
  EXPECT_EQ(folded(trace, "self_device_time_total"), "outer;aten::mm;gemm 70\n");
  EXPECT_EQ(folded(trace, "self_cuda_time_total"), "outer;aten::mm;gemm 70\n");
  EXPECT_EQ(folded(trace, "self_xpu_time_total"), "outer;aten::mm;gemm 70\n");
}

TEST(FlameGraph, WeighsWhatTheHostAllocated) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 100});
  const auto allocate = [&](std::int64_t bytes, std::int16_t device, bool failed) {
    MemoryRecord record;
    record.time_ns = 10;
    record.bytes = bytes;
    record.device_type = DeviceType{device};
    record.out_of_memory = failed;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  };
  allocate(64, 0, false);
  allocate(36, 0, false);
  allocate(-64, 0, false);  // freed
  allocate(1000, 1, false);
  allocate(1000, 0, true);
  const Trace trace = finished(builder);
  EXPECT_EQ(folded(trace, "cpu_memory"), "f 100\n");
  EXPECT_EQ(flame_graph(trace, {.weight = "cpu_memory"})->unit(), "bytes");
  EXPECT_EQ(flame_graph(trace)->unit(), "ns");
}

TEST(FlameGraph, NamesWhatHasNoName) {
  TraceBuilder builder;
  add(builder, {.name = "", .start = 0, .duration = 5});
  EXPECT_EQ(folded(finished(builder)), "(no name) 5\n");
}

TEST(FlameGraph, FailsForAWeightThatIsNone) {
  TraceBuilder builder;
  const auto stacks = flame_graph(finished(builder), {.weight = "speed"});
  ASSERT_FALSE(stacks.ok());
  EXPECT_EQ(stacks.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(stacks.status().message(), testing::HasSubstr("'speed'"));
  EXPECT_EQ(check_flame_graph_options({.weight = "speed"}).message(), stacks.status().message());
  EXPECT_TRUE(check_flame_graph_options({.weight = "cpu_memory"}).ok());
}

Trace with_passing_frames() {
  TraceBuilder builder;
  const auto call = [&](std::string_view name, std::int64_t start, std::int64_t duration) {
    add(builder,
        {.category = "python_function", .name = name, .start = start, .duration = duration});
  };
  call("train.py(3): main", 0, 100);
  call("torch/nn/modules/module.py(1518): _wrapped_call_impl", 10, 40);
  call("torch/nn/modules/module.py(1527): _call_impl", 15, 30);
  call("net.py(7): forward", 20, 10);
  call("<built-in function f of X object at 0x7f01>", 60, 5);
  call("<built-in function f of X object at 0x7f02>", 70, 5);
  return finished(builder);
}

TEST(FlameGraph, FramesThatOnlyPassOnGiveTheirTimeToTheirCaller) {
  const Trace trace = with_passing_frames();
  EXPECT_EQ(folded(trace),
            "train.py(3): main 80\n"
            "train.py(3): main;<built-in function f of X object> 10\n"
            "train.py(3): main;net.py(7): forward 10\n");
  const Result<StackTree> all = flame_graph(trace, {.all_frames = true});
  EXPECT_THAT(folded_stacks(*all),
              testing::HasSubstr("_wrapped_call_impl;torch/nn/modules/module.py(1527): _call_impl "
                                 "20\n"));
  EXPECT_THAT(folded_stacks(*all), testing::HasSubstr("X object at 0x7f01> 5\n"));
  EXPECT_EQ(all->total(), flame_graph(trace)->total());
}

TEST(FlameGraph, AFrameThatPassesOnStaysIfNothingCallsIt) {
  TraceBuilder builder;
  add(builder, {.category = "python_function",
                .name = "torch/nn/modules/module.py(1): _call_impl",
                .start = 0,
                .duration = 9});
  add(builder, {.name = "aten::mm", .start = 1, .duration = 4});
  EXPECT_EQ(folded(finished(builder)),
            "torch/nn/modules/module.py(1): _call_impl 5\n"
            "torch/nn/modules/module.py(1): _call_impl;aten::mm 4\n");
}

TEST(FlameGraph, ThreadsAreChosenByIdNameOrPartOfTheName) {
  const Trace trace = read(trace_text({op("a", "0", "10"), op("b", "0", "20").with("tid", "77"),
                                       op("thread_name", "0")
                                           .with("ph", "\"M\"")
                                           .with("tid", "77")
                                           .arg("name", "\"thread 77 (loader)\"")}));
  const auto of = [&](std::string thread) {
    const Result<StackTree> stacks = flame_graph(trace, {.thread = std::move(thread)});
    return stacks.ok() ? folded_stacks(*stacks) : stacks.status().message();
  };
  EXPECT_EQ(of("77"), "b 20000\n");
  EXPECT_EQ(of("thread 77 (loader)"), "b 20000\n");
  EXPECT_EQ(of("loader"), "b 20000\n");
  EXPECT_EQ(of("other"), "cannot select thread 'other': the trace has 1, thread 77 (loader)");
}

TEST(FlameGraph, TellsThatStepsAreMissing) {
  const Result<StackTree> stacks = flame_graph(with_passing_frames(), {.steps = StepRange{4, 5}});
  EXPECT_EQ(stacks.status().message(), "cannot select steps 4 to 5: the trace has no steps");
}

TEST(FlameGraph, InTimeOrderEachCallHasItsNode) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  for (const std::int64_t start : {50, 10, 30}) {
    add(builder, {.name = start == 30 ? "b" : "a", .start = start, .duration = start / 10});
  }
  const Result<StackTree> stacks = flame_graph(finished(builder), {.in_time_order = true});
  std::vector<std::pair<std::string_view, std::int64_t>> nodes;
  for (StackTree::Node node = 1; node < stacks->size(); ++node) {
    nodes.emplace_back(stacks->frame(node), stacks->self(node));
  }
  EXPECT_THAT(nodes, testing::ElementsAre(testing::Pair("outer", 91), testing::Pair("a", 1),
                                          testing::Pair("b", 3), testing::Pair("a", 5)));
}

TEST(FlameGraph, InTimeOrderFramesOfCallStacksAreJoinedWhereNothingComesBetween) {
  const Trace trace = read(
      trace_text({with_stack("a", "0", "10", "f;main;"), with_stack("b", "20", "10", "f;main;"),
                  op("plain", "40", "10"), with_stack("c", "60", "10", "f;main;")}));
  const Result<StackTree> stacks = flame_graph(trace, {.in_time_order = true});
  std::vector<std::string_view> frames;
  for (StackTree::Node node = 1; node < stacks->size(); ++node) {
    frames.push_back(stacks->frame(node));
  }
  EXPECT_THAT(frames, testing::ElementsAre("main", "f", "a", "b", "plain", "main", "f", "c"));
}

std::vector<std::string> frames_in_time_order(const Trace& trace, FlameGraphOptions options) {
  options.in_time_order = true;
  const Result<StackTree> stacks = flame_graph(trace, options);
  if (!stacks.ok()) return {stacks.status().message()};
  std::vector<std::string> frames;
  for (StackTree::Node node = 1; node < stacks->size(); ++node) {
    frames.emplace_back(stacks->frame(node));
  }
  return frames;
}

TEST(FlameGraph, InTimeOrderFramesOfCallStacksAreNotSplitByRangesThatAreNotInThePicture) {
  const auto on_other_thread = [](std::string_view name, std::string_view start) {
    return op(name, start, "10").with("tid", "7");
  };
  const Trace trace = read(trace_text({
      with_stack("a", "0", "10", "f;main;"),
      on_other_thread("other", "15"),
      with_stack("b", "20", "10", "f;main;"),
  }));
  EXPECT_THAT(frames_in_time_order(trace, {.thread = "1"}),
              testing::ElementsAre("main", "f", "a", "b"));
}

TEST(FlameGraph, InTimeOrderDeviceWorkIsByItsOwnStart) {
  TraceBuilder builder;
  const auto launch = [&](std::string_view name, std::int64_t start, std::int64_t correlation) {
    add(builder, {.name = name, .start = start, .duration = 10});
    add(builder, {.category = "cuda_runtime",
                  .name = "launch",
                  .start = start + 2,
                  .duration = 5,
                  .correlation = correlation});
  };
  const auto kernel = [&](std::string_view name, std::int64_t start, std::int64_t correlation) {
    add(builder, {.category = "kernel",
                  .name = name,
                  .start = start,
                  .duration = 5,
                  .thread = 7,
                  .correlation = correlation});
  };
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder,
      {.category = "cuda_runtime", .name = "launch", .start = 1, .duration = 1, .correlation = 1});
  launch("early", 10, 2);
  launch("late", 80, 3);
  kernel("k_outer", 50, 1);
  kernel("k_early", 60, 2);
  kernel("k_late", 20, 3);  // the device's clock is behind
  add(builder, {.name = "after", .start = 200, .duration = 10});
  add(builder, {.category = "cuda_runtime",
                .name = "launch",
                .start = 201,
                .duration = 1,
                .correlation = 4});
  kernel("k_after", 210, 4);
  kernel("lost", 150, 99);
  kernel("lost", 300, 98);
  EXPECT_THAT(frames_in_time_order(finished(builder), {.weight = "self_device_time_total"}),
              testing::ElementsAre("outer", "early", "k_outer", "k_early", "late", "k_late",
                                   "[unattributed]", "lost", "after", "k_after", "lost"));
}

TEST(FlameGraph, OnlyNamesOfPythonFunctionsLoseAddresses) {
  TraceBuilder builder;
  add(builder, {.category = "python_function", .name = " at 0x7f", .start = 0, .duration = 100});
  add(builder, {.category = "python_function", .name = "f at 0x7f", .start = 0, .duration = 50});
  add(builder, {.name = "f at 0x7f", .start = 10, .duration = 20});
  EXPECT_EQ(folded(finished(builder)),
            "(no name) 50\n"
            "(no name);f 30\n"
            "(no name);f;f at 0x7f 20\n");
}

TEST(FlameGraph, TakesTheStacksOfOperatorsWhereThereAreNoFrames) {
  const Trace trace = read(trace_text({with_stack("a", "0", "10", "f;main;")}));
  EXPECT_EQ(folded(trace), "main;f;a 10000\n");
}

TEST(FlameGraph, DoesNotRepeatTheFramesOfTheOperatorAround) {
  const Trace trace = read(
      trace_text({with_stack("a", "0", "10", "f;main;"), with_stack("b", "2", "4", "g;f;main;"),
                  with_stack("c", "3", "1", "g;f;main;")}));
  EXPECT_EQ(folded(trace),
            "main;f;a 6000\n"
            "main;f;a;g;b 3000\n"
            "main;f;a;g;b;c 1000\n");
}

TEST(FlameGraph, LeavesOutAStackThatDoesNotContinueTheOneAround) {
  // Such as a backward pass, which carries the stack of its forward pass.
  const Trace trace = read(trace_text(
      {with_stack("a", "0", "10", "f;main;"), with_stack("b", "2", "4", "elsewhere;other;more;")}));
  EXPECT_EQ(folded(trace), "main;f;a 6000\nmain;f;a;b 4000\n");
}

TEST(FlameGraph, LooksThroughRangesWithoutAStack) {
  const Trace trace = read(trace_text({with_stack("a", "0", "10", "f;main;"), op("plain", "1", "8"),
                                       with_stack("b", "2", "4", "g;f;main;")}));
  EXPECT_EQ(folded(trace),
            "main;f;a 2000\n"
            "main;f;a;plain 4000\n"
            "main;f;a;plain;g;b 4000\n");
}

TEST(FlameGraph, TakesFramesOfPythonWhereTheFileHasThem) {
  const Trace trace = read(trace_text({op("main", "0", "10").with("cat", "\"python_function\""),
                                       with_stack("a", "2", "4", "f;main;")}));
  EXPECT_EQ(folded(trace), "main 6000\nmain;a 4000\n");
}

/// Two steps of 100 ns. The kernel of the first one runs in the second.
Trace two_steps() {
  TraceBuilder builder;
  using fixtures::add;
  add(builder, {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 100});
  add(builder, {.name = "aten::mm", .start = 10, .duration = 50, .external_id = 5});
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 20,
                .duration = 10,
                .correlation = 7});
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#2", .start = 100, .duration = 100});
  add(builder, {.name = "aten::add", .start = 120, .duration = 20, .external_id = 6});
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 125,
                .duration = 5,
                .correlation = 8});
  add(builder, {.name = "AddBackward0", .start = 150, .duration = 20, .thread = 2});
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = 90,
                .duration = 60,
                .thread = 7,
                .process = 0,
                .correlation = 7});
  add(builder, {.category = "kernel",
                .name = "add",
                .start = 190,
                .duration = 40,
                .thread = 7,
                .process = 0,
                .correlation = 8});
  return fixtures::finished(builder);
}

TEST(FlameGraph, OfAStepIsTheStepOnTheHostAndWhatItLaunched) {
  const Trace trace = two_steps();
  const std::string weight = "self_device_time_total";
  const std::optional<StepRange> first = StepRange{1, 1};
  EXPECT_EQ(folded_stacks(*flame_graph(trace, {.steps = first})),
            "ProfilerStep* 50\n"
            "ProfilerStep*;aten::mm 40\n"
            "ProfilerStep*;aten::mm;cudaLaunchKernel 10\n");
  EXPECT_EQ(folded_stacks(*flame_graph(trace, {.weight = weight, .steps = first})),
            "ProfilerStep*;aten::mm;gemm 60\n");
  EXPECT_EQ(folded_stacks(*flame_graph(trace, {.weight = weight, .steps = StepRange{2, 2}})),
            "ProfilerStep*;aten::add;add 40\n");
  EXPECT_EQ(flame_graph(trace, {.steps = StepRange{1, 2}})->total(),
            flame_graph(trace, {})->total());
}

TEST(FlameGraph, ByThreadHasAFrameForEachThread) {
  const Trace trace = two_steps();
  EXPECT_EQ(folded_stacks(*flame_graph(trace, {.steps = StepRange{2, 2}, .by_thread = true})),
            "thread 1;ProfilerStep* 80\n"
            "thread 1;ProfilerStep*;aten::add 15\n"
            "thread 1;ProfilerStep*;aten::add;cudaLaunchKernel 5\n"
            "thread 2;AddBackward0 20\n");
  for (const char* weight : {"self_cpu_time_total", "self_device_time_total"}) {
    for (const bool in_time_order : {false, true}) {
      const FlameGraphOptions options = {
          .weight = weight, .by_thread = true, .in_time_order = in_time_order};
      EXPECT_EQ(flame_graph(trace, options)->total(),
                flame_graph(trace, {.weight = weight})->total());
    }
  }
}

TEST(FlameGraph, ByThreadNamesTheProcessWhereThreadsHaveOneName) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "a", .duration = 10});
  fixtures::add(builder, {.name = "b", .duration = 20, .process = 2});
  fixtures::add(builder, {.name = "c", .duration = 30, .thread = 3, .process = 2});
  EXPECT_EQ(folded_stacks(*flame_graph(fixtures::finished(builder), {.by_thread = true})),
            "process 1, thread 1;a 10\nprocess 2, thread 1;b 20\nthread 3;c 30\n");
}

}  // namespace
}  // namespace tbtrace
