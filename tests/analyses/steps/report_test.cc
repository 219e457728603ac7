// A step breakdown as a report, and that real recordings add up.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/report.h>
#include <tbtrace/steps.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;

StepBreakdown two_steps() {
  StepBreakdown breakdown;
  breakdown.devices = {0};
  breakdown.busy_ns = {30};
  breakdown.memory_devices = {{DeviceType::cpu, -1}, {DeviceType::cuda, 2}, {DeviceType{77}, 0}};
  StepTime step;
  step.name = "ProfilerStep#4";
  step.number = 4;
  step.start_ns = 100;
  step.end_ns = 200;
  step.host_start_ns = 90;
  step.host_end_ns = 195;
  step.role_ns = {20, 0, 0, 0, 10, 0, 30, 40};
  step.phase_ns = {50, 30, 10, 0};
  step.launched = 2;
  step.busy_ns = {20};
  step.peak_memory_bytes = {std::nullopt, 4096, std::nullopt};
  breakdown.steps.push_back(step);
  step.name = "ProfilerStep#5";
  step.number = 5;
  step.start_ns = 200;
  step.end_ns = 301;
  step.role_ns = {10, 0, 0, 0, 10, 0, 30, 51};
  step.launched = 1;
  step.busy_ns = {10};
  step.peak_memory_bytes = {std::nullopt, 512, 7};
  breakdown.steps.push_back(step);
  return breakdown;
}

/// A trace of rank 3.
Trace trace_of_rank() {
  TraceBuilder builder;
  builder.set_metadata("distributedInfo", R"({"rank": 3, "world_size": 8})");
  return fixtures::finished(builder);
}

constexpr std::size_t kOutlier = 23;  // its column

TEST(StepReport, SaysHowManyStepsAreLeftOut) {
  StepBreakdown breakdown = two_steps();
  EXPECT_TRUE(steps_report(trace_of_rank(), breakdown)->notes.empty());
  breakdown.dropped_steps = 1;
  EXPECT_THAT(steps_report(trace_of_rank(), breakdown)->notes,
              ElementsAre("1 of 3 steps is left out, at the end: kernels of it may be missing."));
  breakdown.dropped_steps = 3;
  EXPECT_THAT(
      steps_report(trace_of_rank(), breakdown)->notes,
      ElementsAre("3 of 5 steps are left out, at the end: kernels of them may be missing."));
}

TEST(StepReport, HasARowPerStepAndTheirMeans) {
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, two_steps());
  EXPECT_EQ(
      table_csv(report.table),
      "name,number,step,rank,start_ns,duration_ns,kernel_ns,memcpy_ns,memset_ns,communication_ns,"
      "runtime_ns,data_loader_ns,cpu_op_ns,other_ns,host_duration_ns,forward_ns,backward_ns,"
      "optimizer_ns,data_ns,"
      "unphased_ns,gpu_utilization,peak_memory_bytes,launched,outlier,idle_ns,"
      "idle_causes,kind,requests,tokens\r\n"
      "ProfilerStep#4,4,4,3,100,100,20,0,0,0,10,0,30,40,105,50,30,10,0,15,0.2,4096,2,false,,,,,\r\n"
      "ProfilerStep#5,5,5,3,200,101,10,0,0,0,10,0,30,51,105,50,30,10,0,15,0.09900990099009901,512,"
      "1,"
      "false,,,,,\r\n");
  const std::map<std::string, Cell> totals(report.totals.begin(), report.totals.end());
  EXPECT_EQ(std::get<double>(totals.at("duration_ns")), 100.5);
  EXPECT_EQ(std::get<double>(totals.at("kernel_ns")), 15);
  EXPECT_EQ(std::get<double>(totals.at("unphased_ns")), 15);
  EXPECT_EQ(std::get<double>(totals.at("peak_memory_bytes")), 2304);
  EXPECT_EQ(std::get<std::int64_t>(totals.at("duration_min_ns")), 100);
  EXPECT_EQ(std::get<std::int64_t>(totals.at("duration_max_ns")), 101);
  EXPECT_NEAR(std::get<double>(totals.at("duration_std_ns")), 0.7071, 0.0001);
}

TEST(StepReport, PeopleSeeTheDurationOnTheHostIfPhasesAddUpToAnotherOne) {
  const Trace trace = trace_of_rank();
  const std::vector<std::string> shown = steps_report(trace, two_steps())->shown;
  EXPECT_EQ(std::ranges::count(shown, "host_duration_ns"), 1);
  StepBreakdown same = two_steps();
  for (StepTime& step : same.steps) {
    step.host_start_ns = step.start_ns;
    step.host_end_ns = step.end_ns;
  }
  EXPECT_EQ(std::ranges::count(steps_report(trace, same)->shown, "host_duration_ns"), 0);
}

TEST(StepReport, HasTheMeansOfTheBreakdownToTheLastDigit) {
  StepBreakdown breakdown;
  breakdown.steps.resize(19);
  StepTime& step = breakdown.steps.front();
  step.end_ns = 915;
  step.host_end_ns = 915;
  step.phase_ns = {100, 17, 3, 0};
  step.role_ns = {0, 0, 0, 0, 0, 0, 915, 0};
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, breakdown);
  const std::map<std::string, Cell> totals(report.totals.begin(), report.totals.end());
  for (const auto& [key, mean, sum] : std::vector<std::tuple<std::string, double, double>>{
           {"duration_ns", breakdown.mean_duration_ns(), 915},
           {"host_duration_ns", breakdown.mean_host_duration_ns(), 915},
           {"cpu_op_ns", breakdown.mean_ns(StepRole::cpu_op), 915},
           {"forward_ns", breakdown.mean_ns(StepPhase::forward), 100},
           {"unphased_ns", breakdown.mean_unphased_ns(), 795}}) {
    EXPECT_EQ(mean, sum / 19) << key;
    EXPECT_EQ(std::get<double>(totals.at(key)), sum / 19) << key;
  }
}

TEST(StepReport, HasOnlyTheChosenSteps) {
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, two_steps(), StepRange{5, 9});
  ASSERT_EQ(report.table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(report.table.rows[0][0]), "ProfilerStep#5");
}

TEST(StepReport, OfStepsThatDoNotExistFails) {
  const Trace trace = trace_of_rank();
  const Result<AnalysisReport> report = steps_report(trace, two_steps(), StepRange{7, 7});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message(), "cannot select step 7: the trace has steps 4 to 5");
}

TEST(StepReport, AStepMuchLongerThanTheOthersIsAnOutlier) {
  StepBreakdown breakdown;
  for (const std::int64_t duration : {1000, 1010, 990, 1090, 1500}) {
    StepTime step;
    step.end_ns = duration;
    breakdown.steps.push_back(step);
  }
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, breakdown);
  std::vector<bool> outliers;
  for (const std::vector<Cell>& row : report.table.rows) {
    outliers.push_back(std::get<bool>(row[kOutlier]));
  }
  EXPECT_THAT(outliers, ElementsAre(false, false, false, false, true));
}

TEST(StepReport, NoneOfAFewStepsIsAnOutlier) {
  StepBreakdown breakdown;
  for (const std::int64_t duration : {1000, 2000}) {
    StepTime step;
    step.end_ns = duration;
    breakdown.steps.push_back(step);
  }
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, breakdown);
  for (const std::vector<Cell>& row : report.table.rows)
    EXPECT_FALSE(std::get<bool>(row[kOutlier]));
}

TEST(StepReport, AWholeTraceHasNoNumber) {
  StepBreakdown breakdown;
  StepTime step;
  step.name = "[all]";
  EXPECT_TRUE(step.is_whole_trace());
  EXPECT_FALSE(breakdown.has_steps());
  breakdown.steps.push_back(step);
  EXPECT_FALSE(breakdown.has_steps());
  breakdown.why_no_steps = "Why.";
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, breakdown);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(report.table.rows[0][1]));
  EXPECT_THAT(report.notes, ElementsAre("Why."));
  const Result<AnalysisReport> chosen = steps_report(trace, breakdown, StepRange{0, 0});
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().message(), "cannot select step 0: the trace has no steps. Why.");
}

TEST(StepReport, HasNoRowsWithoutSteps) {
  const Trace trace = trace_of_rank();
  const AnalysisReport report = *steps_report(trace, StepBreakdown());
  EXPECT_TRUE(report.table.rows.empty());
  EXPECT_EQ(std::get<std::uint64_t>(report.totals.front().second), 0U);
}

TEST(StepReport, NamesAllRolesAndPhases) {
  std::vector<std::string> names;
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    names.emplace_back(step_role_name(static_cast<StepRole>(role)));
  }
  EXPECT_THAT(names, ElementsAre("kernel", "memcpy", "memset", "communication", "runtime",
                                 "data_loader", "cpu_op", "other"));
  names.clear();
  for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
    names.emplace_back(step_phase_name(static_cast<StepPhase>(phase)));
  }
  EXPECT_THAT(names, ElementsAre("forward", "backward", "optimizer", "data"));
}

TEST(StepBreakdown, AddsUpOnRecordings) {
  namespace fs = std::filesystem;
  const fs::path data = TBTRACE_TEST_DATA;
  std::size_t steps = 0;
  for (const fs::path& folder : {data, data / "../../examples/traces"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".json") && !name.ends_with(".json.gz")) continue;
      SCOPED_TRACE(name);
      const Result<Trace> trace = read_trace(entry.path().string());
      if (!trace.ok()) continue;  // not a trace
      for (const StepTime& step : step_breakdown(*trace).steps) {
        std::int64_t sum = 0;
        for (const std::int64_t part : step.role_ns) sum += part;
        EXPECT_EQ(sum, step.duration_ns());
        EXPECT_GE(step.unphased_ns(), 0);
        ++steps;
      }
    }
  }
  EXPECT_GT(steps, 8u);
}

TEST(StepBreakdown, KnowsTheMemoryOfAnExample) {
  const Result<Trace> trace =
      read_trace(TBTRACE_TEST_DATA "/../../examples/traces/encoder_memory.json.gz");
  ASSERT_TRUE(trace.ok());
  const StepBreakdown breakdown = step_breakdown(*trace);
  ASSERT_THAT(breakdown.memory_devices, ElementsAre(StepMemoryDevice{DeviceType::cpu, -1}));
  ASSERT_FALSE(breakdown.steps.empty());
  for (const StepTime& step : breakdown.steps) EXPECT_GT(step.peak_memory_bytes[0], 0);
}

}  // namespace
}  // namespace tbtrace
