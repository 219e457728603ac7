// A step breakdown as a table, and that real recordings add up.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/step_breakdown.h>
#include <tbtrace/writers.h>

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
  step.role_ns = {20, 0, 0, 0, 10, 0, 30, 40};
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

TEST(StepTable, HasARowAStepAndTheirAverage) {
  EXPECT_EQ(
      table_csv(two_steps().table()),
      "step,number,start_ns,end_ns,duration_ns,kernel_ns,memcpy_ns,memset_ns,communication_ns,"
      "runtime_ns,data_loader_ns,cpu_op_ns,other_ns,launched,device_0_utilization,"
      "cpu_peak_memory_bytes,cuda_2_peak_memory_bytes,type77_0_peak_memory_bytes\r\n"
      "ProfilerStep#4,4,100,200,100,20,0,0,0,10,0,30,40,2,0.2,,4096,\r\n"
      "ProfilerStep#5,5,200,301,101,10,0,0,0,10,0,30,51,1,0.09900990099009901,,512,7\r\n"
      "[average],,,,100.5,15,0,0,0,10,0,30,45.5,1.5,0.14925373134328357,,4096,7\r\n");
}

TEST(StepTable, HasNoAverageOfNothing) {
  const Table table = StepBreakdown().table();
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.columns.size(), 5 + kStepRoles + 1);
}

TEST(StepTable, NamesAllRoles) {
  std::vector<std::string> names;
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    names.emplace_back(step_role_name(static_cast<StepRole>(role)));
  }
  EXPECT_THAT(names, ElementsAre("kernel", "memcpy", "memset", "communication", "runtime",
                                 "data_loader", "cpu_op", "other"));
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
      if (!trace.ok()) continue;  // inputs that are none
      for (const StepTime& step : step_breakdown(*trace).steps) {
        std::int64_t sum = 0;
        for (const std::int64_t part : step.role_ns) sum += part;
        EXPECT_EQ(sum, step.duration_ns());
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
