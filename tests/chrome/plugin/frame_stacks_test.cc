#include "chrome/plugin/frame_stacks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"
#include "trace/nearest_range.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;

EventId add_frame(TraceBuilder& builder, std::string_view name, std::int64_t start,
                  std::int64_t duration, std::uint8_t flags = Events::kPythonFrame) {
  EventRow row;
  row.start_ns = start;
  row.duration_ns = duration;
  row.name = builder.intern(name);
  row.track = fixtures::track(builder, 1, 1);
  row.category = builder.category(builder.intern("python_function"));
  row.flags = flags;
  return builder.add_event(row);
}

TEST(FrameStacks, AreTheFramesAroundInnermostFirst) {
  TraceBuilder builder;
  add_frame(builder, "main.py(9): main", 0, 100);
  add_frame(builder, "a.py(1): f", 10, 50);
  add(builder, {.name = "aten::linear", .start = 15, .duration = 30});
  const EventId op = add(builder, {.name = "aten::mm", .start = 20, .duration = 5});
  const EventId other = add(builder, {.name = "aten::mm", .start = 70, .duration = 5});
  const EventId outside = add(builder, {.name = "aten::mm", .start = 170, .duration = 5});
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  EXPECT_EQ(stacks.json(op), R"("a.py(1): f;main.py(9): main")");
  EXPECT_EQ(stacks.json(other), R"("main.py(9): main")");
  EXPECT_EQ(stacks.json(outside), "");
  EXPECT_EQ(stacks.json(op), R"("a.py(1): f;main.py(9): main")") << "also from the cache";
}

TEST(FrameStacks, AreNoneWithoutFrames) {
  TraceBuilder builder;
  add_frame(builder, "gc", 0, 100, 0);  // the garbage collector's rows are no frames
  const EventId op = add(builder, {.start = 20, .duration = 5});
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  EXPECT_EQ(stacks.json(op), "");
}

TEST(FrameStacks, OfHostileNamesAreOneString) {
  TraceBuilder builder;
  add_frame(builder, "a;b\"\\\n\x01", 0, 100);
  const EventId op = add(builder, {.start = 20, .duration = 5});
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  EXPECT_EQ(stacks.json(op), R"("a,b\"\\\n\u0001")");
}

TEST(FrameStacks, HaveAtMostAHundredFrames) {
  TraceBuilder builder;
  for (int depth = 0; depth < 300; ++depth) {
    add_frame(builder, std::to_string(depth), depth, 1000 - 2 * depth);
  }
  const EventId op = add(builder, {.start = 350, .duration = 5});
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  const std::string_view json = stacks.json(op);
  EXPECT_EQ(std::count(json.begin(), json.end(), ';'), 99);
  EXPECT_TRUE(json.starts_with("\"299;298;"));
  EXPECT_TRUE(json.ends_with(";200\""));
}

TEST(FrameStacks, StayRightWhenThereAreTooManyToKeep) {
  TraceBuilder builder;
  const std::string padding(50'000, 'p');
  for (int frame = 0; frame < 60; ++frame) {
    add_frame(builder, std::to_string(frame) + padding, frame * 10, 10);
  }
  std::vector<EventId> ops;
  for (int frame = 0; frame < 60; ++frame) {
    ops.push_back(add(builder, {.start = frame * 10 + 1, .duration = 5}));
  }
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  for (int time = 0; time < 2; ++time) {
    for (int frame = 0; frame < 60; ++frame) {
      EXPECT_EQ(stacks.json(ops[static_cast<std::size_t>(frame)]),
                '"' + std::to_string(frame) + padding + '"');
    }
  }
}

TEST(FrameStacks, OfOperatorsInADeepNestAreFoundInOneStep) {
  constexpr std::int64_t kDeep = 400'000;  // going up from every operator takes minutes
  TraceBuilder builder;
  add_frame(builder, "main", 0, 5 * kDeep);
  std::vector<EventId> ops;
  for (std::int64_t depth = 1; depth <= kDeep; ++depth) {
    ops.push_back(add(builder, {.start = depth, .duration = 5 * kDeep - 2 * depth}));
  }
  for (std::int64_t number = 0; number < 2 * kDeep; ++number) {
    ops.push_back(add(builder, {.start = kDeep + 1 + number, .duration = 1}));
  }
  const Trace trace = finished(builder);
  const Column<EventId> frames = nearest_python_frames(trace);
  FrameStacks stacks(trace, frames);
  for (const EventId op : ops) ASSERT_EQ(stacks.json(op), "\"main\"");
}

}  // namespace
}  // namespace tbtrace::chrome
