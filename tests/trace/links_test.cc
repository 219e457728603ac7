#include "trace/links.h"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"
#include "trace/call_tree.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::add_arrow_end;
using fixtures::finished;

/// The links of a trace with one piece of work.
DeviceLink only_link(const Trace& trace) {
  EXPECT_EQ(links_of(trace).device_work().size(), 1u);
  return links_of(trace).device_work().front();
}

TEST(Links, FindsTheLaunchByCorrelation) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime", .start = 0, .duration = 2, .correlation = 6});
  const EventId launch =
      add(builder, {.category = "cuda_runtime", .start = 5, .duration = 2, .correlation = 7});
  const EventId kernel = add(
      builder, {.category = "kernel", .start = 50, .duration = 9, .process = 0, .correlation = 7});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).activity, kernel);
  EXPECT_EQ(only_link(trace).launch, launch);
  EXPECT_EQ(trace.links().launch_by_correlation, 1u);
  EXPECT_EQ(trace.links().launch_by_flow, 0u);
}

TEST(Links, TakesKernelsCopiesAndFillsAsWorkAndNothingElse) {
  TraceBuilder builder;
  for (const std::string_view category :
       {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation", "cpu_op"}) {
    add(builder, {.category = category, .duration = 1, .process = 0, .correlation = 3});
  }
  const Trace trace = finished(builder);
  EXPECT_EQ(links_of(trace).device_work().size(), 3u);
  EXPECT_EQ(trace.links().launch_unknown, 3u);
}

// Three of four kernels are more than half, but their times are not those of another clock.
TEST(Links, WorkThatHasLostItsTimesIsMisplacedHoweverMuchItIs) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  TraceBuilder builder;
  add(builder, {.start = kSecond, .duration = 100});
  add(builder, {.category = "kernel", .start = kSecond + 50, .duration = 9, .process = 0});
  for (int kernel = 0; kernel < 3; ++kernel) {
    add(builder, {.category = "kernel", .start = 0, .duration = 0, .process = 0});
  }
  const Trace trace = finished(builder);
  EXPECT_EQ(links_of(trace).placed_work().size(), 1u);
  EXPECT_EQ(links_of(trace).misplaced().size(), 3u);
  EXPECT_EQ(trace.window_start_ns(), kSecond);
}

// Between the first and the last of them, most have lost their times: the others do not show how
// busy the device was.
TEST(Links, WorkAmongEventsThatHaveLostTheirTimesIsMisplaced) {
  constexpr std::int64_t kStart = 2'000'000'000;
  TraceBuilder builder;
  const auto kernel = [&](std::int64_t start) {
    add(builder, {.category = "kernel", .start = start, .duration = 9, .process = 0});
  };
  for (int number = 0; number < 40; ++number) kernel(kStart + 10 * number);
  kernel(0);
  kernel(0);
  kernel(kStart + 900);
  kernel(0);
  const Trace trace = finished(builder);
  EXPECT_EQ(links_of(trace).placed_work().size(), 40u);
  EXPECT_EQ(trace.window_end_ns(), kStart + 399);
}

TEST(Links, GivesAllKernelsOfAGraphTheirOneLaunch) {
  TraceBuilder builder;
  const EventId launch =
      add(builder, {.category = "cuda_runtime", .name = "cudaGraphLaunch", .correlation = 40});
  for (int kernel = 0; kernel < 1000; ++kernel) {
    add(builder, {.category = "kernel", .start = 100 + kernel, .process = 0, .correlation = 40});
  }
  const Trace trace = finished(builder);
  for (const DeviceLink& link : links_of(trace).device_work()) EXPECT_EQ(link.launch, launch);
  EXPECT_EQ(trace.links().launch_by_correlation, 1000u);
}

TEST(Links, TakesTheFirstOfSeveralLaunchesWithOneCorrelation) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_driver", .start = 8, .correlation = 5});
  const EventId first = add(builder, {.category = "cuda_runtime", .start = 3, .correlation = 5});
  add(builder, {.category = "kernel", .start = 20, .process = 0, .correlation = 5});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).launch, first);
  EXPECT_EQ(trace.links().launch_by_correlation, 1u);
}

TEST(Links, TakesNoCorrelationForNone) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime", .start = 3, .correlation = 0});
  add(builder, {.category = "kernel", .start = 20, .process = 0, .correlation = 0});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).launch, EventId::none);
  EXPECT_EQ(trace.links().launch_unknown, 1u);
}

TEST(Links, FollowsTheArrowWhereTheCorrelationLeadsNowhere) {
  TraceBuilder builder;
  const EventId launch = add(builder, {.category = "cuda_runtime", .start = 10, .correlation = 1});
  const EventId kernel = add(builder, {.category = "kernel",
                                       .start = 30,
                                       .duration = 4,
                                       .thread = 7,
                                       .process = 0,
                                       .correlation = 2});
  add_arrow_end(builder, 99, true, 1, 1, 10);
  add_arrow_end(builder, 99, false, 0, 7, 30);
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).activity, kernel);
  EXPECT_EQ(only_link(trace).launch, launch);
  EXPECT_EQ(trace.links().launch_by_flow, 1u);
  EXPECT_EQ(trace.links().launch_by_correlation, 0u);
}

TEST(Links, PrefersTheCorrelationToTheArrow) {
  TraceBuilder builder;
  const EventId right = add(builder, {.category = "cuda_runtime", .start = 10, .correlation = 1});
  add(builder, {.category = "cuda_runtime", .start = 20, .correlation = 2});
  add(builder, {.category = "kernel", .start = 30, .thread = 7, .process = 0, .correlation = 1});
  add_arrow_end(builder, 99, true, 1, 1, 20);
  add_arrow_end(builder, 99, false, 0, 7, 30);
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).launch, right);
}

TEST(Links, NeedsBothEndsOfAnArrowAtTheStartsOfTheirRows) {
  const auto launch_found = [](std::int64_t from, std::int64_t to, std::int64_t stream,
                               FlowEnd::Type type = FlowEnd::Type::launch) {
    TraceBuilder builder;
    add(builder, {.category = "cuda_runtime", .start = 10});
    add(builder, {.category = "kernel", .start = 30, .thread = 7, .process = 0});
    builder.add_flow({.id = 4,
                      .time_ns = from,
                      .track = fixtures::track(builder, 1, 1),
                      .type = type,
                      .start = true});
    builder.add_flow({.id = 4,
                      .time_ns = to,
                      .track = fixtures::track(builder, 0, stream),
                      .type = type,
                      .start = false});
    const Trace trace = finished(builder);
    return only_link(trace).launch != EventId::none;
  };
  EXPECT_TRUE(launch_found(10, 30, 7));
  EXPECT_FALSE(launch_found(11, 30, 7));
  EXPECT_FALSE(launch_found(10, 31, 7));
  EXPECT_FALSE(launch_found(10, 30, 8));
  EXPECT_FALSE(launch_found(10, 30, 7, FlowEnd::Type::forward_backward));
}

TEST(Links, NeedsTheStartOfAnArrow) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime", .start = 10});
  add(builder, {.category = "kernel", .start = 30, .thread = 7, .process = 0});
  add_arrow_end(builder, 3, true, 1, 1, 10);
  add_arrow_end(builder, 4, false, 0, 7, 30);
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).launch, EventId::none);
}

TEST(Links, FindsTheOperatorByTheExternalIdOfTheWork) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 0, .duration = 5, .external_id = 17});
  add(builder, {.start = 100, .duration = 50, .external_id = 18});
  add(builder, {.category = "cuda_runtime", .start = 110, .external_id = 18, .correlation = 3});
  add(builder,
      {.category = "kernel", .start = 200, .process = 0, .external_id = 17, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).op, op) << "the id of the work comes before that of its launch";
  EXPECT_EQ(trace.links().operator_by_external_id, 1u);
}

TEST(Links, FindsTheOperatorByTheExternalIdOfTheLaunch) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 0, .duration = 5, .external_id = 17});
  add(builder, {.category = "cuda_runtime", .start = 110, .external_id = 17, .correlation = 3});
  add(builder, {.category = "kernel", .start = 200, .process = 0, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).op, op);
  EXPECT_EQ(trace.links().operator_by_external_id, 1u);
}

TEST(Links, GivesNoWorkToRowsWithTheExternalId0) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "request", .start = 0, .duration = 50});
  add(builder, {.name = "aten::relu", .start = 60, .duration = 9, .external_id = 3});
  add(builder, {.category = "kernel", .name = "lost", .start = 5, .duration = 3, .thread = 7});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).op, EventId::none);
}

TEST(Links, LetsAnExternalIdNameAnAnnotationButNoOtherRange) {
  for (const std::string_view category : {"cpu_op", "user_annotation", "python_function"}) {
    TraceBuilder builder;
    const EventId named = add(builder, {.category = category, .duration = 5, .external_id = 17});
    add(builder, {.category = "kernel", .start = 200, .process = 0, .external_id = 17});
    const Trace trace = finished(builder);
    EXPECT_EQ(only_link(trace).op, category == "python_function" ? EventId::none : named);
  }
}

TEST(Links, FallsBackToTheOperatorAroundTheLaunch) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .start = 0, .duration = 100});
  const EventId outer = add(builder, {.start = 5, .duration = 80});
  add(builder, {.category = "user_annotation", .start = 8, .duration = 60});
  add(builder, {.category = "python_function", .start = 9, .duration = 50});
  add(builder, {.category = "cuda_runtime", .start = 10, .duration = 5, .correlation = 3});
  add(builder, {.category = "kernel", .start = 200, .process = 0, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).op, outer) << "an operator comes before an annotation inside it";
  EXPECT_EQ(trace.links().operator_by_containment, 1u);
}

TEST(Links, FallsBackToTheInnermostAnnotationWithoutAnOperator) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .start = 0, .duration = 100});
  const EventId inner = add(builder, {.category = "user_annotation", .start = 5, .duration = 50});
  add(builder, {.category = "python_function", .start = 6, .duration = 40});
  add(builder, {.category = "cuda_runtime", .start = 10, .duration = 5, .correlation = 3});
  add(builder, {.category = "kernel", .start = 200, .process = 0, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_EQ(only_link(trace).op, inner);
}

TEST(Links, LooksForContainmentOnTheLaunchingThreadOnly) {
  TraceBuilder builder;
  add(builder, {.start = 0, .duration = 100, .thread = 1});
  add(builder,
      {.category = "cuda_runtime", .start = 10, .duration = 5, .thread = 2, .correlation = 3});
  add(builder, {.category = "kernel", .start = 50, .process = 0, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_NE(only_link(trace).launch, EventId::none);
  EXPECT_EQ(only_link(trace).op, EventId::none);
  EXPECT_EQ(trace.links().operator_unknown, 1u);
}

TEST(Links, FallsBackToContainmentForAnIdThatNamesNothing) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 0, .duration = 100, .external_id = 17});
  add(builder, {.category = "cuda_runtime", .start = 10, .external_id = 404, .correlation = 3});
  add(builder,
      {.category = "kernel", .start = 50, .process = 0, .external_id = 405, .correlation = 3});
  const Trace trace = finished(builder);
  EXPECT_TRUE(trace.links().external_ids_valid);
  EXPECT_EQ(only_link(trace).op, op);
  EXPECT_EQ(trace.links().operator_by_containment, 1u);
}

/// A trace of `all` launches, in `repeated` of which the External id is the correlation.
bool ids_are_valid(int repeated, int all) {
  TraceBuilder builder;
  for (int launch = 1; launch <= all; ++launch) {
    const int id = launch <= repeated ? launch : launch + 1000;
    add(builder, {.category = "cuda_runtime", .external_id = id, .correlation = launch});
  }
  const Trace trace = finished(builder);
  return trace.links().external_ids_valid;
}

TEST(Links, DropsExternalIdsThatRepeatTheCorrelationInNineOfTenRows) {
  EXPECT_TRUE(ids_are_valid(0, 0)) << "nothing speaks against them";
  EXPECT_TRUE(ids_are_valid(0, 10));
  EXPECT_TRUE(ids_are_valid(8, 10));
  EXPECT_FALSE(ids_are_valid(9, 10));
  EXPECT_FALSE(ids_are_valid(10, 10));
  EXPECT_FALSE(ids_are_valid(1, 1));
  EXPECT_TRUE(ids_are_valid(899, 1000));
  EXPECT_FALSE(ids_are_valid(900, 1000));
}

TEST(Links, AsksOnlyRowsWithBothIdsWhetherTheyAreValid) {
  TraceBuilder builder;
  add(builder, {.external_id = 5, .correlation = 5});  // an operator says nothing about launches
  add(builder, {.category = "cuda_runtime", .external_id = 7, .correlation = 7});
  for (int row = 0; row < 20; ++row) {
    add(builder, {.category = "cuda_runtime", .external_id = 0, .correlation = 100 + row});
    add(builder, {.category = "kernel", .process = 0, .external_id = 100 + row});
  }
  const Trace trace = finished(builder);
  EXPECT_FALSE(trace.links().external_ids_valid);
}

TEST(Links, UsesContainmentWhereTheExternalIdsAreNotValid) {
  TraceBuilder builder;
  const EventId around = add(builder, {.start = 0, .duration = 100, .external_id = 2});
  add(builder, {.start = 200, .duration = 100, .external_id = 1});  // named by the broken id
  add(builder, {.category = "cuda_runtime", .start = 10, .external_id = 1, .correlation = 1});
  add(builder,
      {.category = "kernel", .start = 50, .process = 0, .external_id = 1, .correlation = 1});
  const Trace trace = finished(builder);
  EXPECT_FALSE(trace.links().external_ids_valid);
  EXPECT_EQ(only_link(trace).op, around);
  EXPECT_EQ(trace.links().operator_by_external_id, 0u);
  EXPECT_EQ(trace.links().operator_by_containment, 1u);
}

/// How much of three kernels with one External id is over the limit if so many operators bear it.
std::uint64_t work_over_limit(std::size_t operators, std::int64_t id_of_work = 7) {
  TraceBuilder builder;
  for (std::size_t op = 0; op < operators; ++op) {
    add(builder, {.start = static_cast<std::int64_t>(op), .external_id = 7});
  }
  for (int kernel = 0; kernel < 3; ++kernel) {
    add(builder, {.category = "kernel", .process = 0, .external_id = id_of_work});
  }
  const Trace trace = finished(builder);
  return trace.links().work_over_operator_limit;
}

TEST(Links, CountsWorkThatMoreOperatorsBearThanGetIt) {
  EXPECT_EQ(work_over_limit(1), 0u);
  EXPECT_EQ(work_over_limit(LinkReport::kMostOperators), 0u);
  EXPECT_EQ(work_over_limit(LinkReport::kMostOperators + 1), 3u);
  EXPECT_EQ(work_over_limit(LinkReport::kMostOperators + 1, 8), 0u) << "nobody asks for that id";
}

TEST(Links, ReportsTimeOfWorkThatNothingLaunched) {
  TraceBuilder builder;
  add(builder, {.duration = 5, .external_id = 17});
  add(builder, {.category = "cuda_runtime", .start = 50, .correlation = 3});
  add(builder, {.category = "kernel", .duration = 1000, .process = 0, .correlation = 3});
  add(builder, {.category = "kernel", .duration = 200, .process = 0, .external_id = 17});
  add(builder, {.category = "kernel", .duration = 30, .process = 0, .correlation = 404});
  add(builder, {.category = "gpu_memset", .duration = 4, .process = 0});
  const Trace trace = finished(builder);
  const LinkReport& report = trace.links();
  EXPECT_EQ(report.linked_ns, 1200) << "a launch is enough, an operator too";
  EXPECT_EQ(report.unlinked_ns, 34);
  EXPECT_EQ(report.launch_by_correlation, 1u);
  EXPECT_EQ(report.launch_unknown, 3u);
  EXPECT_EQ(report.operator_by_external_id, 1u);
  EXPECT_EQ(report.operator_unknown, 3u);
}

}  // namespace
}  // namespace tbtrace
