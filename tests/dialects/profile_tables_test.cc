#include "dialects/profile_tables.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::dialects {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string operators_of(const Trace& trace) {
  return operator_markdown(operator_summary(trace, {.figures = Figures::exact}), 50);
}
std::string memory_of(const Trace& trace) {
  return memory_markdown(operator_summary(trace, {.figures = Figures::exact}), 50);
}

TEST(ProfileTables, AreEmptyWithoutAnythingForThem) {
  TraceBuilder builder;
  const Trace nothing = finished(builder);
  EXPECT_EQ(operators_of(nothing), "");
  EXPECT_EQ(kernel_markdown(nothing, 50), "");
  EXPECT_EQ(memory_of(nothing), "");
  EXPECT_EQ(step_markdown(step_breakdown(nothing), 50), "");
}

TEST(ProfileTables, HaveOperatorsByTheirOwnTime) {
  TraceBuilder builder;
  add(builder, {.name = "aten::linear", .start = 0, .duration = 10'000'000});
  add(builder, {.name = "aten::addmm", .start = 1'000'000, .duration = 7'500'000});
  add(builder, {.name = "aten::addmm", .start = 22'500'000, .duration = 2'500'000});
  EXPECT_EQ(operators_of(finished(builder)),
            "| Name | Calls | Self CPU ms | Self CPU % | CPU total ms |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            "| `[idle]` | 1 | 12.5 | 50 | 12.5 |\n"
            "| `aten::addmm` | 2 | 10 | 40 | 10 |\n"
            "| `aten::linear` | 1 | 2.5 | 10 | 10 |\n");
}

TEST(ProfileTables, HaveKernelsByTheirTime) {
  TraceBuilder builder;
  for (const std::int64_t duration : {2'000, 4'000, 6'500}) {
    add(builder, {.category = "kernel", .name = "gemm", .start = duration, .duration = duration});
  }
  add(builder, {.category = "kernel", .name = "relu", .start = 0, .duration = 12'500});
  EXPECT_EQ(kernel_markdown(finished(builder), 50),
            "| Kernel | Calls | Total ms | % | Mean us | Min us | Max us |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            "| `gemm` | 3 | 0.013 | 50 | 4.167 | 2 | 6.5 |\n"
            "| `relu` | 1 | 0.013 | 50 | 12.5 | 12.5 | 12.5 |\n");
}

TEST(ProfileTables, HaveStepsInTheirOrder) {
  TraceBuilder builder;
  for (const int step : {1, 2, 3}) {
    const std::string name = "ProfilerStep#" + std::to_string(step);
    add(builder, {.category = "user_annotation",
                  .name = name,
                  .start = step * 10'000'000,
                  .duration = 9'000'000});
  }
  const std::string steps = step_markdown(step_breakdown(finished(builder)), 2);
  EXPECT_THAT(steps, HasSubstr("| `ProfilerStep#1` | 9 | 9 |"));
  EXPECT_THAT(steps, HasSubstr("| `ProfilerStep#2` | 9 | 9 |"));
  EXPECT_THAT(steps, Not(HasSubstr("ProfilerStep#3")));
  EXPECT_THAT(steps, EndsWith("\n1 more rows are not shown.\n"));
}

TEST(ProfileTables, EndWithHowMuchIsLeftOut) {
  TraceBuilder builder;
  for (int row = 0; row < 60; ++row) {
    const std::string name = "op" + std::to_string(row);
    add(builder, {.name = name, .start = row * 10'000, .duration = 1'000 + row});
    add(builder, {.category = "kernel", .name = name, .start = row * 10'000, .duration = 5'000});
  }
  const Trace trace = finished(builder);
  const std::string operators = operators_of(trace);
  EXPECT_THAT(operators, HasSubstr("| `[unattributed]` | 0 | 0 | 0 | 0 | 0.3 | 100 |"));
  EXPECT_THAT(operators, EndsWith("\n12 more rows are not shown.\n")) << "and [idle]";
  EXPECT_THAT(kernel_markdown(trace, 50), EndsWith("\n10 more rows are not shown.\n"));
}

TEST(ProfileTables, HoldWhatNoNumberHoldsTheSumOf) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 62) - 1;
  TraceBuilder builder;
  for (const char* const name : {"one", "two", "three"}) {
    add(builder, {.category = "kernel", .name = name, .start = -kLong, .duration = kLong});
    add(builder, {.category = "kernel", .name = name, .start = 0, .duration = kLong});
  }
  for (const std::int16_t device : {0, 1}) {
    MemoryRecord record;
    record.bytes = std::numeric_limits<std::int64_t>::max();
    record.device_type = device;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  }
  const Trace trace = finished(builder);
  EXPECT_THAT(kernel_markdown(trace, 50), HasSubstr("| 33.33 |"));
  EXPECT_THAT(operators_of(trace), HasSubstr("`[unattributed]`"));
  EXPECT_THAT(memory_of(trace), HasSubstr("`[unattributed]`"));
}

// TensorBoard's Markdown shows a backslash in code, and does not part a cell there.
TEST(ProfileTables, HaveNamesAsCode) {
  TraceBuilder builder;
  add(builder, {.name = "a|b\\|<script>`x`\n", .start = 0, .duration = 1'000});
  EXPECT_THAT(operators_of(finished(builder)), HasSubstr("| ``a|b\\|<script>`x` `` | 1 |"));
}

}  // namespace
}  // namespace tbtrace::dialects
