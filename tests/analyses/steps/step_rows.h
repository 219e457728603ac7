// Small recordings with steps that can be worked out by hand, for whichever figures are made of
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {

/// Rows with short names; times in ns.
class StepRows : public testing::Test {
 protected:
  void step(int number, std::int64_t start, std::int64_t duration) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "ProfilerStep#" + std::to_string(number),
                             .start = start,
                             .duration = duration});
  }
  void open_step(int number, std::int64_t start, std::int64_t duration) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "ProfilerStep#" + std::to_string(number),
                             .start = start,
                             .duration = duration,
                             .is_unfinished = true});
  }
  void op(std::int64_t start, std::int64_t duration, std::string_view name = "aten::mm",
          std::int64_t id = 0, std::int64_t thread = 1) {
    fixtures::add(
        builder_,
        {.name = name, .start = start, .duration = duration, .thread = thread, .external_id = id});
  }
  void launch(std::int64_t start, std::int64_t duration, std::int64_t correlation,
              std::string_view category = "cuda_runtime") {
    fixtures::add(builder_, {.category = category,
                             .name = "launch",
                             .start = start,
                             .duration = duration,
                             .correlation = correlation});
  }
  void work(std::int64_t start, std::int64_t duration, std::int64_t correlation = 0,
            std::string_view category = "kernel", std::int64_t id = 0, std::int64_t device = 0) {
    fixtures::add(builder_, {.category = category,
                             .name = "gemm",
                             .start = start,
                             .duration = duration,
                             .thread = 7,
                             .process = device,
                             .external_id = id,
                             .correlation = correlation});
  }
  void memory(std::int64_t time, std::int64_t total, std::int16_t type = 1, std::int16_t id = 0) {
    MemoryRecord record;
    record.time_ns = time;
    record.bytes = 1;
    record.total_allocated_bytes = total;
    record.device_type = DeviceType{type};
    record.device_id = id;
    record.track = fixtures::track(builder_, 1, 1);
    builder_.add_memory(record);
  }

  TraceBuilder builder_;
};

/// Each step's name, start and end.
inline std::vector<std::string> windows(const StepBreakdown& breakdown) {
  std::vector<std::string> texts;
  for (const StepTime& step : breakdown.steps) {
    texts.push_back(step.name + " " + std::to_string(step.start_ns) + "-" +
                    std::to_string(step.end_ns));
  }
  return texts;
}

//                       kernel copy fill comm call load  op  other
using StepParts = std::array<std::int64_t, kStepRoles>;

}  // namespace tbtrace::analyses
