#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/lines.h>

#include "analyses/attribution/frame_rows.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines_of(const LineTable& table) {
  std::vector<std::string> lines;
  for (const LineRow& row : table.lines) {
    lines.push_back(row.file + " " + row.function + " " + std::to_string(row.self_cpu_time_ns));
  }
  return lines;
}

TEST(LineTable, WhatLibrariesDidCountsForTheOwnLineThatCalled) {
  TraceBuilder builder;
  add_frame(builder, "train.py(20): <module>", 0, 100);
  add_frame(builder, "transformers/trainer.py(9): train", 10, 80);
  add_frame(builder, "train.py(4): loss", 20, 50);
  add_frame(builder, "accelerate/utils.py(2): inner", 30, 30);
  add_frame(builder, "logging/__init__.py(1720): getEffectiveLevel", 80, 5);
  const LineTable table = *line_table(fixtures::finished(builder), {.libraries = false});
  EXPECT_THAT(lines_of(table), ElementsAre("train.py loss 50", "train.py <module> 50"));
  EXPECT_EQ(table.lines[1].calls, 1U);
  EXPECT_EQ(table.unattributed.self_cpu_time_ns, 0);
}

TEST(LineTable, WaitsOfOtherThreadsAreInNoRow) {
  TraceBuilder builder;
  fixtures::add(builder,
                {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 100});
  add_frame(builder, "train.py(4): loss", 20, 50);
  add_frame(builder, "queue.py(180): get", 30, 20);
  add_frame(builder, "train.py(8): monitor", 0, 90, 2);
  add_frame(builder, "threading.py(327): wait", 10, 80, 2);
  const Trace trace = fixtures::finished(builder);
  for (const bool libraries : {false, true}) {
    const LineTable table = *line_table(trace, {.libraries = libraries});
    EXPECT_EQ(table.waiting_ns, 80);
    EXPECT_EQ(table.total.cpu_time_total_ns, 100 + 10);
    EXPECT_EQ(table.unattributed.self_cpu_time_ns, 50);
  }
  EXPECT_THAT(lines_of(*line_table(trace, {.libraries = false})),
              ElementsAre("train.py loss 50", "train.py monitor 10"));
}

}  // namespace
}  // namespace tbtrace::analyses
