#include "trace/nearest_range.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;

TEST(NearestRanges, AreTheRangeItselfOrOneAroundIt) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.name = "x", .start = 0, .duration = 100});
  const EventId middle = add(builder, {.name = "y", .start = 10, .duration = 50});
  const EventId inner = add(builder, {.name = "x", .start = 20, .duration = 10});
  const EventId innermost = add(builder, {.name = "y", .start = 22, .duration = 2});
  const EventId alone = add(builder, {.name = "y", .start = 200, .duration = 2});
  const EventId kernel = add(builder, {.category = "kernel", .name = "x", .start = 1});
  const Trace trace = finished(builder);
  const Column<EventId> nearest =
      nearest_ranges(trace, [&](EventId event) { return trace.name(event) == "x"; });
  EXPECT_EQ(entry_of(nearest, outer), outer);
  EXPECT_EQ(entry_of(nearest, middle), outer);
  EXPECT_EQ(entry_of(nearest, inner), inner);
  EXPECT_EQ(entry_of(nearest, innermost), inner);
  EXPECT_EQ(entry_of(nearest, alone), EventId::none);
  EXPECT_EQ(entry_of(nearest, kernel), EventId::none) << "it is not a host range";
  EXPECT_EQ(entry_of(nearest, EventId::none), EventId::none);
}

TEST(NearestRanges, OfPythonAreNotMadeWithoutFrames) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "aten::mm", .duration = 5});
  const Trace trace = finished(builder);
  EXPECT_TRUE(nearest_python_frames(trace).empty());
  EXPECT_EQ(entry_of(nearest_python_frames(trace), op), EventId::none);
}

}  // namespace
}  // namespace tbtrace
