// The memory of lines of a recording that is counted by hand, and its rows.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/lines.h>

#include "analyses/attribution/frame_rows.h"
#include "fixtures/trace_rows.h"
#include "report/table_columns.h"
#include "report/totals.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {
namespace {

/// Two steps of 100 ns. In each `train` (line 9) calls `forward` (line 3), which allocates 100
/// bytes and keeps them, and 40 that `train` frees; the first step also frees 7 bytes from before.
class TwoSteps {
 public:
  Trace make(bool with_memory = true, bool with_addresses = true, bool with_gpu = false) {
    for (std::int64_t step = 0; step < 2; ++step) {
      const std::int64_t at = 100 * step;
      fixtures::add(builder_, {.category = "user_annotation",
                               .name = "ProfilerStep#" + std::to_string(step),
                               .start = at,
                               .duration = 100});
      add_frame(builder_, "train.py(9): train", at, 90);
      add_frame(builder_, "model.py(3): forward", at + 10, 40);
    }
    for (std::int64_t step = 0; step < 2 && with_memory; ++step) {
      const std::int64_t at = 100 * step;
      add(at + 20, 100, 1 + step, with_addresses);
      add(at + 30, 40, 9, with_addresses);
      add(at + 60, -40, 9, with_addresses);
    }
    if (with_memory) add(65, -7, 8, with_addresses);
    if (with_gpu) add(22, 5000, 1, with_addresses, DeviceType::cuda);
    return fixtures::finished(builder_);
  }

 private:
  void add(std::int64_t time, std::int64_t bytes, std::int64_t address, bool with_addresses,
           DeviceType device = DeviceType::cpu) {
    MemoryRecord record;
    record.time_ns = time;
    record.bytes = bytes;
    record.device_type = device;
    record.device_id = static_cast<std::int16_t>(device == DeviceType::cpu ? -1 : 0);
    record.track = fixtures::track(builder_, 1, 1);
    builder_.add_memory(record);
    if (with_addresses) builder_.add_memory_argument(Argument::address, address);
  }

  TraceBuilder builder_;
};

Cell cell(const AnalysisReport& report, std::size_t row, const char* column) {
  return report.table.rows[row][*report::column_named(report.table, column)];
}

TEST(LineMemory, IsThatOfTheLineAndOfWhatItCalled) {
  const LineMemory memory = *line_memory(TwoSteps().make());
  ASSERT_EQ(memory.devices.size(), 1U);
  const DeviceLineMemory& host = memory.devices[0];
  EXPECT_EQ(host.device, "cpu");
  ASSERT_EQ(host.lines.size(), 2U);
  const LineMemoryRow& forward = host.lines[0];
  EXPECT_EQ(forward.function, "forward");
  EXPECT_EQ(forward.self, (LineBytes{280, 0, 240})) << "at 130 ns, 100 + 100 + 40";
  EXPECT_EQ(forward.total, forward.self);
  EXPECT_EQ(forward.self.net_bytes(), 280);
  EXPECT_EQ(forward.self_growth_per_step_bytes, 100) << "what is never freed";
  EXPECT_EQ(forward.peak_bytes, 233) << "7 bytes from before the recording are free by then";
  const LineMemoryRow& train = host.lines[1];
  EXPECT_EQ(train.self, (LineBytes{0, 87, 0}));
  EXPECT_EQ(train.total, (LineBytes{280, 87, 240}));
  EXPECT_EQ(train.self_growth_per_step_bytes, 0);
  EXPECT_EQ(train.peak_bytes, 233);
  EXPECT_EQ(host.peak_bytes, 233);
  EXPECT_EQ(host.unknown_bytes, -7) << "what there was before is not recorded";
  EXPECT_EQ(host.total, (LineBytes{280, 87, 240}));
}

TEST(LineMemory, OfChosenStepsIsWhatTheirRangesDid) {
  const LineMemory memory = *line_memory(TwoSteps().make(), {.steps = StepRange{0, 0}});
  const DeviceLineMemory& host = memory.devices[0];
  ASSERT_EQ(host.lines.size(), 2U);
  EXPECT_EQ(host.lines[0].self, (LineBytes{140, 0, 140}));
  EXPECT_EQ(host.lines[0].peak_bytes, 140);
  EXPECT_EQ(host.lines[1].self, (LineBytes{0, 47, 0}));
  EXPECT_EQ(host.lines[0].self_growth_per_step_bytes, std::nullopt);
  EXPECT_FALSE(line_memory(TwoSteps().make(), {.steps = StepRange{7, 7}}).ok());
}

TEST(LineMemory, OfEachDeviceHasRowsOfItsOwn) {
  const AnalysisReport report = *lines_report(TwoSteps().make(true, true, true),
                                              {.view = LineView::memory, .libraries = true});
  ASSERT_EQ(report.table.rows.size(), 7U);
  EXPECT_EQ(cell(report, 0, "device"), Cell());
  EXPECT_EQ(cell(report, 0, "device_name"), Cell(std::string("cpu")));
  EXPECT_EQ(cell(report, 0, "self_net_bytes"), Cell(std::int64_t{280}));
  EXPECT_EQ(cell(report, 2, "file"), Cell(std::string("[unattributed]")));
  EXPECT_EQ(cell(report, 3, "file"), Cell(std::string("[unknown]")));
  EXPECT_EQ(cell(report, 3, "self_alive_at_peak_bytes"), Cell(std::int64_t{-7}));
  EXPECT_EQ(cell(report, 3, "self_allocated_bytes"), Cell());
  EXPECT_EQ(cell(report, 4, "device"), Cell(std::int64_t{0}));
  EXPECT_EQ(cell(report, 4, "device_name"), Cell(std::string("cuda:0")));
  EXPECT_EQ(cell(report, 4, "self_allocated_bytes"), Cell(std::int64_t{5000}));
  EXPECT_EQ(*report::total_named(report.totals, "cpu_allocated_bytes"), Cell(std::int64_t{280}));
  EXPECT_EQ(*report::total_named(report.totals, "device_peak_bytes"), Cell(std::int64_t{5000}));
  for (const std::vector<Cell>& row : report.table.rows) {
    EXPECT_EQ(row.size(), report.table.columns.size());
  }
}

TEST(LineMemory, WhatIsNotRecordedIsUnknown) {
  const AnalysisReport without =
      *lines_report(TwoSteps().make(true, false), {.view = LineView::memory, .libraries = true});
  EXPECT_EQ(cell(without, 0, "self_allocated_bytes"), Cell(std::int64_t{280}));
  EXPECT_EQ(cell(without, 0, "self_alive_at_peak_bytes"), Cell());
  EXPECT_EQ(cell(without, 0, "self_growth_per_step_bytes"), Cell());
  EXPECT_THAT(without.notes, testing::Contains(testing::HasSubstr("have no address")));

  const Trace nothing = TwoSteps().make(false);
  const AnalysisReport none = *lines_report(nothing, {.view = LineView::memory, .libraries = true});
  EXPECT_TRUE(none.table.rows.empty());
  EXPECT_EQ(*report::total_named(none.totals, "cpu_peak_bytes"), Cell());
  const AnalysisReport costs = *lines_report(nothing);
  EXPECT_EQ(cell(costs, 0, "cpu_memory_bytes"), Cell());
  EXPECT_EQ(*report::total_named(costs.totals, "cpu_memory_bytes"), Cell());
}

}  // namespace
}  // namespace tbtrace::analyses
