// What a trace of chosen steps has, and that figures of it add up.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/operators.h>
#include <tbtrace/steps.h>
#include <tbtrace/summary.h>

#include "analyses/steps/step_rows.h"

namespace tbtrace {
namespace {

class TraceOfSteps : public analyses::StepRows {
 protected:
  void SetUp() override {
    fixtures::add(
        builder_,
        {.category = "python_function", .name = "train.py(1): main", .start = 0, .duration = 4000});
    for (int number = 1; number <= 4; ++number) {
      const std::int64_t start = (number - 1) * 1000;
      step(number, start, 1000);
      op(start + 10, 200, "aten::mm", number);
      launch(start + 20, 5, number);
      work(start + 900, 400, number);  // ends 300 after its step
      op(start + 600, 100, "aten::add");
    }
  }

  static const OperatorRow* row(const OperatorSummary& summary, const std::string& key) {
    for (const OperatorRow& each : summary.rows()) {
      if (each.key == key) return &each;
    }
    return nullptr;
  }
};

TEST_F(TraceOfSteps, CutsWhatIsOpenAtTheEdges) {
  const Trace whole = fixtures::finished(builder_);
  const Trace part = *trace_of_steps(whole, {2, 3});
  ASSERT_EQ(part.steps().size(), 2U);
  EXPECT_EQ(part.steps().front().number, 2);
  std::vector<std::string> frames;
  for (const EventId event : part.by_start()) {
    if (part.kind(event) != EventKind::python_function) continue;
    frames.emplace_back(part.name(event));
    EXPECT_EQ(part.events().start_ns(event), 1000);
    EXPECT_EQ(part.events().end_ns(event), 3000);
  }
  EXPECT_EQ(frames, std::vector<std::string>{"train.py(1): main"});
  EXPECT_EQ(part.window_start_ns(), whole.window_start_ns());
}

TEST_F(TraceOfSteps, RowsAndTheRestAddUpToTheTotals) {
  const Trace whole = fixtures::finished(builder_);
  const OperatorSummary summary = exact_operator_summary(*trace_of_steps(whole, {2, 3}));
  EXPECT_EQ(summary.window_ns(), 2000);
  std::int64_t cpu = 0;
  std::int64_t device = 0;
  for (const OperatorRow& each : summary.rows()) {
    cpu += each.self_cpu_time_total.ns;
    if (each.device_type == DeviceType::cpu) device += each.self_device_time_total.ns;
  }
  EXPECT_EQ(cpu, 2000);
  EXPECT_EQ(device, 800);
  EXPECT_EQ(device, summary.self_device_time_total().ns);
  EXPECT_EQ(row(summary, "aten::mm")->count, 2);
  EXPECT_EQ(row(summary, "aten::mm")->self_device_time_total.ns, 800);
  EXPECT_EQ(row(summary, "[unattributed]")->self_device_time_total.ns, 0);
}

/// The kernel of a step runs on into the next one.
TEST_F(TraceOfSteps, HasTheActivitiesOfTheStepsOnly) {
  const Trace whole = fixtures::finished(builder_);
  const Trace part = *trace_of_steps(whole, {2, 2});
  std::vector<std::int64_t> kernels;
  for (const EventId event : part.by_start()) {
    if (part.kind(event) == EventKind::kernel) kernels.push_back(part.events().start_ns(event));
  }
  EXPECT_EQ(kernels, std::vector<std::int64_t>{1900});
}

TEST_F(TraceOfSteps, SummaryHasTheFiguresOfTheTables) {
  const Trace whole = fixtures::finished(builder_);
  const StepRange steps = {2, 3};
  const Result<TraceSummary> summary = summary_of_steps(whole, steps);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->run.steps, steps);
  EXPECT_EQ(summary->steps.steps.size(), 2U);
  const std::vector<GpuUse> gpus = *gpu_use(whole, {.steps = steps});
  ASSERT_EQ(summary->gpus.size(), 1U);
  EXPECT_EQ(summary->gpus.front().window_ns, gpus.front().window_ns);
  EXPECT_EQ(summary->gpus.front().idle_ns, gpus.front().idle_ns);
  EXPECT_EQ(summary->kernels.all.total_ns, 800);
  EXPECT_EQ(summary->self_device_time_total_ns, 800);
}

TEST_F(TraceOfSteps, AreNamedInWords) {
  EXPECT_EQ(steps_text({3, 3}), "step 3");
  EXPECT_EQ(steps_text({3, 5}), "steps 3 to 5");
}

TEST_F(TraceOfSteps, FailsForStepsThatTheTraceLacks) {
  const Trace whole = fixtures::finished(builder_);
  EXPECT_FALSE(trace_of_steps(whole, {7, 9}).ok());
  EXPECT_EQ(trace_of_steps(whole, {7, 9}).status().message(),
            "cannot select steps 7 to 9: the trace has steps 1 to 4");
}

}  // namespace
}  // namespace tbtrace
