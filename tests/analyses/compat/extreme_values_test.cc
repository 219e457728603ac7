// Figures of other tools of traces whose numbers are as large as files may say.
#include <cstdint>

#include <gtest/gtest.h>

#include <tbtrace/compat.h>

#include "analyses/compat/plugin/memory.h"
#include "fixtures/extreme_trace.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

void expect_steps(const Trace& trace) {
  const StepBreakdown breakdown =
      *step_breakdown(trace, Figures::plugin, {.keep_tail_steps = true, .infer_steps = true});
  for (const StepTime& step : breakdown.steps) {
    for (const std::int64_t busy : step.busy_ns) {
      ASSERT_GE(busy, 0);
      ASSERT_LE(busy, step.duration_ns());
    }
  }
  ASSERT_EQ(steps_report(trace, breakdown)->table.rows.empty(), breakdown.steps.empty());
}

TEST(ExtremeValues, FiguresOfOtherToolsTakeThem) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(2000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = fixtures::ExtremeTrace(seed).make();
    const OperatorSummary operators = *operator_summary(trace, Figures::plugin);
    ASSERT_TRUE(operators.report().ok());
    ASSERT_TRUE(operators.table().ok());
    ASSERT_TRUE(operators.json().ok());
    ASSERT_NO_FATAL_FAILURE(expect_steps(trace));
    ASSERT_LE(plugin_memory(trace).events.size(), trace.memory().size());
    ASSERT_TRUE(gpu_report(trace, Figures::plugin).ok());
    ASSERT_TRUE(kernels_report(trace, Figures::plugin).ok());
    ASSERT_TRUE(kernels_report(trace, Figures::plugin, {.group_by = KernelGrouping::launch}).ok());
  }
}

}  // namespace
}  // namespace tbtrace::analyses
