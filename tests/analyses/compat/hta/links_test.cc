#include "analyses/compat/hta/links.h"

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;

EventId add_activity(TraceBuilder& builder, std::int64_t correlation) {
  const EventId event =
      add(builder, {.category = "kernel", .start = 50, .duration = 1, .correlation = correlation});
  builder.add_argument(event, Argument::stream, std::int64_t{7});
  return event;
}

TEST(HtaLinks, AnActivityHasTheLastHostRowOfTheFile) {
  TraceBuilder builder;
  const EventId first = add(builder, {.category = "cuda_runtime", .start = 9, .correlation = 3});
  const EventId last = add(builder, {.category = "cpu_op", .start = 2, .correlation = 3});
  const EventId activity = add_activity(builder, 3);
  const Trace trace = finished(builder);
  const HtaLinks links(trace);
  EXPECT_EQ(links.host_row(activity), last) << "whatever its category and start";
  EXPECT_TRUE(links.has_activity(first));
  EXPECT_TRUE(links.has_activity(last));
  EXPECT_EQ(links.host_row(last), EventId::none) << "a host row has no launch";
  EXPECT_FALSE(links.has_activity(activity));
}

TEST(HtaLinks, RowsWithoutACorrelationHaveNone) {
  TraceBuilder builder;
  const EventId host = add(builder, {.category = "cuda_runtime", .start = 1});
  const EventId activity = add_activity(builder, 0);
  const EventId other = add_activity(builder, 4);
  const Trace trace = finished(builder);
  const HtaLinks links(trace);
  EXPECT_FALSE(links.has_activity(host));
  EXPECT_EQ(links.host_row(activity), EventId::none);
  EXPECT_EQ(links.host_row(other), EventId::none);
}

}  // namespace
}  // namespace tbtrace::analyses
