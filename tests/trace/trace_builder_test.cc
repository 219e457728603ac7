#include "trace/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;

TEST(TraceBuilder, KeepsEventsInTheOrderOfTheFile) {
  TraceBuilder builder;
  const EventId late = add(builder, {.name = "late", .start = 50, .duration = 7});
  const EventId early =
      add(builder, {.name = "early", .start = 20, .external_id = -4, .correlation = 1LL << 40});
  const Trace trace = finished(builder);
  ASSERT_EQ(trace.events().size(), 2u);
  EXPECT_EQ(index(late), 0u);
  EXPECT_EQ(trace.name(late), "late");
  EXPECT_EQ(trace.events().start_ns(late), 50);
  EXPECT_EQ(trace.events().duration_ns(late), 7);
  EXPECT_EQ(trace.events().end_ns(late), 57);
  EXPECT_EQ(trace.external_id(late), 0);
  EXPECT_EQ(trace.external_id(early), -4);
  EXPECT_EQ(trace.correlation(early), 1LL << 40);
  EXPECT_THAT(trace.by_start(), ElementsAre(early, late));
}

TEST(TraceBuilder, OrdersEqualStartsByRankThenAsInTheFile) {
  TraceBuilder builder;
  const EventId unranked = add(builder, {.start = 5});
  const EventId third = add(builder, {.start = 5, .rank = 30});
  const EventId first = add(builder, {.start = 5, .rank = 1});
  const EventId unranked_too = add(builder, {.start = 5});
  const EventId second = add(builder, {.start = 5, .rank = 2});
  const EventId before_all = add(builder, {.start = 4, .rank = 99});
  const EventId equal_rank = add(builder, {.start = 5, .rank = 2});
  const Trace trace = finished(builder);
  EXPECT_THAT(trace.by_start(),
              ElementsAre(before_all, first, second, equal_rank, third, unranked, unranked_too));
}

TEST(TraceBuilder, MakesATrackForEachPairOfProcessAndThread) {
  TraceBuilder builder;
  const StringId stream = builder.intern("stream 7");
  const TrackId number = builder.track({1, StringId::empty}, {7, StringId::empty});
  const TrackId text = builder.track({1, StringId::empty}, {0, stream});
  const TrackId swapped = builder.track({7, StringId::empty}, {1, StringId::empty});
  EXPECT_NE(number, text);
  EXPECT_NE(number, swapped);
  EXPECT_EQ(builder.track({1, StringId::empty}, {7, StringId::empty}), number);
  EXPECT_EQ(builder.track({1, StringId::empty}, {0, stream}), text);
  const Trace trace = finished(builder);
  ASSERT_EQ(trace.tracks().size(), 3u);
  EXPECT_EQ(trace.track(number).thread.number, 7);
  EXPECT_EQ(trace.string(trace.track(text).thread.text), "stream 7");
}

TEST(TraceBuilder, NamesTracksAndAllTracksOfAProcess) {
  TraceBuilder builder;
  const TrackKey process = {12, StringId::empty};
  const TrackId first = builder.track(process, {1, StringId::empty});
  builder.name_process(process, builder.intern("python"));
  builder.name_thread(first, builder.intern("main"));
  const TrackId later = builder.track(process, {2, StringId::empty});
  const TrackId other = builder.track({13, StringId::empty}, {1, StringId::empty});
  builder.name_process(process, builder.intern("python3"));
  const Trace trace = finished(builder);
  EXPECT_EQ(trace.string(trace.track(first).process_name), "python3") << "the last name counts";
  EXPECT_EQ(trace.string(trace.track(first).thread_name), "main");
  EXPECT_EQ(trace.string(trace.track(later).process_name), "python3");
  EXPECT_EQ(trace.track(later).thread_name, StringId::empty);
  EXPECT_EQ(trace.track(other).process_name, StringId::empty);
}

TEST(TraceBuilder, TakesTheWindowFromTheProfilersOwnSpan) {
  TraceBuilder builder;
  add(builder, {.start = 5, .duration = 1000});
  add(builder, {.category = "Trace", .name = "PyTorch Profiler (0)", .start = 10, .duration = 90});
  add(builder, {.category = "Trace", .name = "PyTorch Profiler (0)", .start = 0, .duration = 1});
  const Trace trace = finished(builder);
  EXPECT_TRUE(trace.has_window());
  EXPECT_EQ(trace.window_start_ns(), 10) << "the first of two";
  EXPECT_EQ(trace.window_end_ns(), 100);
}

TEST(TraceBuilder, TakesTheWindowFromAllEventsWithoutSuchASpan) {
  TraceBuilder builder;
  add(builder, {.start = 50, .duration = 1});
  add(builder, {.start = -20, .duration = 500});
  add(builder, {.category = "kernel", .start = 470, .duration = 30});
  add(builder, {.category = "Trace", .name = "somebody's span", .start = -900, .duration = 9000});
  // The name alone makes no span.
  add(builder, {.category = "cpu_op", .name = "PyTorch Profiler (0)", .start = 60, .duration = 1});
  const Trace trace = finished(builder);
  EXPECT_FALSE(trace.has_window());
  EXPECT_EQ(trace.window_start_ns(), -20);
  EXPECT_EQ(trace.window_end_ns(), 500);
}

TEST(TraceBuilder, HasAnEmptyWindowWithoutEvents) {
  TraceBuilder builder;
  const Trace trace = finished(builder);
  EXPECT_FALSE(trace.has_window());
  EXPECT_EQ(trace.window_start_ns(), 0);
  EXPECT_EQ(trace.window_end_ns(), 0);
  EXPECT_EQ(trace.events().size(), 0u);
  EXPECT_TRUE(trace.by_start().empty());
  EXPECT_EQ(trace.device(), std::nullopt);
}

TEST(TraceBuilder, FindsStepsOnTheHostByStart) {
  TraceBuilder builder;
  const auto annotation = [&](std::string_view category, std::string_view name,
                              std::int64_t start) {
    return add(builder, {.category = category, .name = name, .start = start, .duration = 5});
  };
  const EventId second = annotation("user_annotation", "ProfilerStep#11", 20);
  const EventId first = annotation("Operator", "ProfilerStep#10", 10);
  annotation("gpu_user_annotation", "ProfilerStep#10", 12);
  annotation("python_function", "ProfilerStep#10", 12);
  annotation("user_annotation", "ProfilerStep#", 30);
  annotation("user_annotation", "ProfilerStep#ten", 31);
  annotation("user_annotation", "ProfilerStep*", 32);
  annotation("user_annotation", "my ProfilerStep#1", 33);
  const Trace trace = finished(builder);
  ASSERT_EQ(trace.steps().size(), 2u);
  EXPECT_EQ(trace.steps()[0].number, 10);
  EXPECT_EQ(trace.steps()[0].event, first);
  EXPECT_EQ(trace.steps()[1].number, 11);
  EXPECT_EQ(trace.steps()[1].event, second);
}

std::optional<DeviceType> device_of(const std::vector<std::string_view>& categories) {
  TraceBuilder builder;
  for (const std::string_view category : categories) add(builder, {.category = category});
  return finished(builder).device();
}

TEST(TraceBuilder, KnowsTheDeviceByTheCategories) {
  EXPECT_EQ(device_of({"cpu_op", "user_annotation", "unheard_of"}), std::nullopt);
  EXPECT_EQ(device_of({"cpu_op", "kernel"}), DeviceType::cuda);
  EXPECT_EQ(device_of({"cuda_runtime"}), DeviceType::cuda);
  EXPECT_EQ(device_of({"Runtime"}), DeviceType::cuda);
  EXPECT_EQ(device_of({"mtia_ccp_events"}), DeviceType::mtia);
  EXPECT_EQ(device_of({"hpu_op"}), DeviceType::hpu);
}

TEST(TraceBuilder, KnowsTheMakeOfADeviceByTheCategoryThatOnlyItHas) {
  EXPECT_EQ(device_of({"kernel", "gpu_memcpy", "xpu_runtime"}), DeviceType::xpu);
  EXPECT_EQ(device_of({"xpu_runtime", "kernel", "gpu_memcpy"}), DeviceType::xpu);
  EXPECT_EQ(device_of({"kernel", "privateuse1_runtime"}), DeviceType::privateuse1);
  EXPECT_EQ(device_of({"kernel", "cuda_runtime"}), DeviceType::cuda);
}

TEST(TraceBuilder, GivesSharedCategoriesTheMakeThatWasFound) {
  for (const bool runtime_first : {false, true}) {
    TraceBuilder builder;
    if (runtime_first) add(builder, {.category = "xpu_runtime"});
    const EventId kernel = add(builder, {.category = "kernel"});
    const EventId copy = add(builder, {.category = "gpu_memcpy"});
    const EventId op = add(builder, {.category = "cpu_op"});
    const EventId launch = add(builder, {.category = "xpu_runtime"});
    const Trace trace = finished(builder);
    EXPECT_EQ(trace.category(kernel).device, DeviceType::xpu);
    EXPECT_EQ(trace.category(copy).device, DeviceType::xpu);
    EXPECT_EQ(trace.category(op).device, DeviceType::cpu);
    EXPECT_EQ(trace.category(launch).device, DeviceType::cpu) << "a launch runs on the host";
  }
}

TEST(TraceBuilder, KnowsADeviceThatWasListedButNotUsed) {
  const auto device_with = [](std::string_view properties) {
    TraceBuilder builder;
    add(builder, {.category = "cpu_op"});
    builder.set_metadata("deviceProperties", properties);
    return finished(builder).device();
  };
  EXPECT_EQ(device_with("[]"), std::nullopt);
  EXPECT_EQ(device_with(R"([{"id": 0, "name": "A100"}])"), DeviceType::cuda);
}

TEST(TraceBuilder, KeepsTheLastValueOfAMetadataKey) {
  TraceBuilder builder;
  builder.set_metadata("host_name", "\"a\"");
  builder.set_metadata("baseTimeNanoseconds", "5");
  builder.set_metadata("host_name", "\"b\"");
  builder.set_metadata("baseTimeNanoseconds", "1790857026000000000");
  const Trace trace = finished(builder);
  EXPECT_EQ(trace.metadata().size(), 2u);
  EXPECT_EQ(trace.metadata().at("host_name"), "\"b\"");
  EXPECT_EQ(trace.base_time_ns(), 1'790'857'026'000'000'000);
}

TEST(TraceBuilder, HasNoBaseTimeWhereItIsNoNumber) {
  TraceBuilder builder;
  builder.set_metadata("baseTimeNanoseconds", "[]");
  EXPECT_EQ(finished(builder).base_time_ns(), 0);
}

TEST(TraceBuilder, KeepsArgumentsByEvent) {
  TraceBuilder builder;
  const EventId bare = add(builder, {});
  const EventId op = add(builder, {});
  builder.add_argument(op, Argument::input_dims, builder.intern("[[2]]"));
  builder.add_argument(op, Argument::sequence_number, std::int64_t{390});
  builder.add_argument(op, Argument::occupancy, 12.5);
  builder.add_argument(op, Argument::grid, Dim3{4, 2, 1});
  const Trace trace = finished(builder);
  EXPECT_EQ(trace.argument(Argument::input_dims).size(), 1u);
  EXPECT_EQ(trace.argument_text(op, Argument::input_dims), "[[2]]");
  EXPECT_EQ(trace.argument_text(bare, Argument::input_dims), "");
  EXPECT_EQ(trace.argument(Argument::sequence_number).integer(op), 390);
  EXPECT_EQ(trace.argument(Argument::sequence_number).integer(bare), std::nullopt);
  EXPECT_EQ(trace.argument(Argument::occupancy).real(op), 12.5);
  EXPECT_EQ(trace.argument(Argument::grid).dim3(op), (Dim3{4, 2, 1}));
  EXPECT_TRUE(trace.argument(Argument::block).empty());
}

TEST(TraceBuilder, OrdersMemoryByTimeAndAsInTheFile) {
  TraceBuilder builder;
  builder.add_memory({.time_ns = 30, .bytes = 1});
  builder.add_memory({.time_ns = 10, .bytes = 2});
  builder.add_memory({.time_ns = 20, .bytes = 3});
  builder.add_memory({.time_ns = 10, .bytes = 4});
  const Trace trace = finished(builder);
  std::vector<std::int64_t> bytes;
  for (const MemoryRecord& record : trace.memory()) bytes.push_back(record.bytes);
  EXPECT_THAT(bytes, ElementsAre(2, 4, 3, 1));
}

TEST(TraceBuilder, TakesCategoriesBeyondTheLastNumberTogether) {
  TraceBuilder builder;
  constexpr std::size_t kMost = 65'535;
  for (std::size_t number = 0; number < kMost + 10; ++number) {
    add(builder, {.category = "category " + std::to_string(number), .duration = 1});
  }
  const EventId known = add(builder, {.category = "category 5"});
  const Trace trace = finished(builder);
  EXPECT_EQ(trace.events().size(), kMost + 11) << "no event is lost";
  EXPECT_EQ(trace.categories().size(), kMost);
  EXPECT_EQ(trace.string(trace.category(known).name), "category 5");
  ASSERT_EQ(trace.issues().size(), 2u);  // nobody knows who has so many
  EXPECT_EQ(trace.issues()[0].id, "too_many_categories");
  EXPECT_EQ(trace.issues()[0].count, 10u);
}

TEST(TraceBuilder, SaysHowManyThreadsItTakes) {
  static_assert(std::size_t{1} << TraceBuilder::kTrackBits == 16'777'216);
  const IssueRow& row = kIssueTable[static_cast<std::size_t>(IssueId::too_many_tracks)];
  EXPECT_NE(row.sentence.find(" 16,777,216 threads"), std::string_view::npos) << row.sentence;
}

}  // namespace
}  // namespace tbtrace
