#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/memory.h>

#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

std::string range(const std::string& category, const std::string& name, int start, int duration) {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(start) + R"(, "dur": )" +
         std::to_string(duration) + R"(, "args": {}},)";
}

/// `rest`: further members of `args`, each after a comma.
std::string record(int time, int address, std::int64_t bytes, const std::string& rest = "") {
  return R"({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + std::to_string(time) +
         R"(, "args": {"Device Type": 1, "Device Id": 0, "Addr": )" + std::to_string(address) +
         R"(, "Bytes": )" + std::to_string(bytes) + rest + "}},";
}

std::string totals(std::int64_t allocated, std::int64_t reserved) {
  return R"(, "Total Allocated": )" + std::to_string(allocated) + R"(, "Total Reserved": )" +
         std::to_string(reserved);
}

Trace trace_of(std::string events) {
  events.pop_back();
  return fixtures::read(R"({"traceEvents": [)" + events + "]}",
                        {.threads = 1, .arguments = {ArgumentGroup::allocations}});
}

std::vector<std::string> described(const DeviceMemory& device) {
  std::vector<std::string> rows;
  for (const MemoryHolder& holder : device.alive) {
    rows.push_back(holder.source.op + " " +
                   std::string(memory_category_key(holder.source.category)) + " " +
                   std::to_string(holder.bytes));
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(MemoryUse, AliveAtThePeakAddsUpToIt) {
  const MemoryUse use = *memory_use(trace_of(
      range("cpu_op", "aten::mm", 0, 10) + record(1, 100, 10, totals(1010, 2000)) +
      record(2, 200, 20, totals(1030, 2000)) + record(3, 900, -400, totals(630, 2000)) +
      range("cpu_op", "aten::add", 20, 10) + record(21, 300, 700, totals(1330, 3000)) +
      record(22, 100, -10, totals(1320, 3000)) + record(23, 200, -20, totals(1300, 3000))));
  ASSERT_EQ(use.devices.size(), 1u);
  const DeviceMemory& device = use.devices[0];
  EXPECT_EQ(device.device, "cuda:0");
  EXPECT_EQ(device.process, "1");
  EXPECT_EQ(device.totals, MemoryTotals::recorded);
  EXPECT_EQ(device.peak_bytes, 1330);
  EXPECT_EQ(device.peak_at_ns, 21'000);
  EXPECT_EQ(device.peak_reserved_bytes, 3000);
  EXPECT_EQ(device.fragmentation_bytes, 1670);
  EXPECT_EQ(described(device), (Rows{"aten::add unknown 700", "[before the recording] unknown 600",
                                     "aten::mm temporary 30"}));
}

TEST(MemoryUse, WhatNoRecordExplainsIsUnknown) {
  const MemoryUse use =
      *memory_use(trace_of(record(1, 100, 10, totals(10, 0)) + record(2, 200, 20, totals(500, 0))));
  EXPECT_EQ(described(use.devices[0]),
            (Rows{"[unknown] unknown 470", "[unattributed] unknown 30"}));
  EXPECT_EQ(use.devices[0].peak_reserved_bytes, std::nullopt) << "nothing was reserved";
}

TEST(MemoryUse, FreesOfOlderMemoryInASummedCurveAreUnknown) {
  const MemoryUse use = *memory_use(trace_of(record(1, 100, -40) + record(2, 200, 20)));
  const DeviceMemory& device = use.devices[0];
  EXPECT_EQ(device.totals, MemoryTotals::summed);
  EXPECT_EQ(device.peak_bytes, -20);
  EXPECT_EQ(described(device), (Rows{"[unattributed] unknown 20", "[unknown] unknown -40"}));
}

TEST(MemoryUse, AnAddressThatIsAllocatedTwiceLeavesTheFirstAllocationWithoutEnd) {
  const MemoryUse use =
      *memory_use(trace_of(record(1, 100, 10) + record(2, 100, 20) + record(3, 100, -20)));
  ASSERT_EQ(use.allocations.size(), 2u);
  EXPECT_EQ(use.allocations[0].end, AllocationEnd::unknown);
  EXPECT_EQ(use.allocations[0].freed_at_ns, std::nullopt);
  EXPECT_EQ(use.allocations[1].end, AllocationEnd::freed);
  EXPECT_EQ(use.allocations[1].freed_at_ns, 3000);
  EXPECT_EQ(described(use.devices[0]),
            (Rows{"[unattributed] temporary 20", "[unknown] unknown 10"}));
}

TEST(MemoryUse, FailedAllocationsAreCountedAndNotPartOfTheCurve) {
  std::string failed = record(2, 0, 1000, totals(10, 20));
  failed.replace(failed.find("[memory]"), 8, "[OutOfMemory]");
  const MemoryUse use = *memory_use(trace_of(record(1, 100, 10, totals(10, 20)) + failed));
  EXPECT_EQ(use.devices[0].out_of_memory, 1u);
  EXPECT_EQ(use.devices[0].curve.size(), 1u);
  EXPECT_EQ(use.allocations.size(), 1u);
  const MemoryUse only = *memory_use(trace_of(failed));
  EXPECT_EQ(only.devices[0].out_of_memory, 1u);
  EXPECT_TRUE(only.devices[0].curve.empty());
}

TEST(MemoryUse, GrowthIsTheMedianOverSteps) {
  std::string events;
  const int growth[] = {500, 30, 30, 0, 30};  // the first step allocates the optimizer's state
  for (int step = 0; step < 5; ++step) {
    events += range("user_annotation", "ProfilerStep#" + std::to_string(step), 100 * step, 90);
    if (growth[step] > 0) events += record(100 * step + 50, step + 1, growth[step]);
  }
  EXPECT_EQ(memory_use(trace_of(events))->devices[0].growth_per_step_bytes, 30);
  EXPECT_EQ(
      memory_use(trace_of(range("user_annotation", "ProfilerStep#0", 0, 90) + record(5, 1, 10)))
          ->devices[0]
          .growth_per_step_bytes,
      std::nullopt);
}

TEST(MemoryUse, AStepThatDidNotEndIsNotPartOfTheGrowth) {
  std::string events;
  for (int step = 0; step < 4; ++step) {
    std::string range_of_step =
        range("user_annotation", "ProfilerStep#" + std::to_string(step), 100 * step, 90);
    if (step == 3) {
      range_of_step.insert(range_of_step.rfind("}}"), R"("finished": "false")");
    }
    events += range_of_step + record(100 * step + 50, step + 1, step == 3 ? 5000 : 30);
  }
  const MemoryUse use = *memory_use(trace_of(events));
  EXPECT_EQ(use.devices[0].growth_per_step_bytes, 30);
  EXPECT_EQ(use.devices[0].step_end_bytes.size(), 3u);
}

TEST(MemoryUse, AStepsEndIsPartOfTheStep) {
  EXPECT_EQ(memory_use(trace_of(range("user_annotation", "ProfilerStep#0", 0, 10) +
                                range("user_annotation", "ProfilerStep#1", 10, 10) +
                                record(10, 1, 7) + record(20, 2, 5)))
                ->devices[0]
                .growth_per_step_bytes,
            5);
}

TEST(MemoryUse, WithoutRecordsThereAreNoDevices) {
  const MemoryUse use = *memory_use(trace_of(range("cpu_op", "aten::mm", 0, 10)));
  EXPECT_TRUE(use.devices.empty());
  EXPECT_TRUE(use.allocations.empty());
}

TEST(MemoryUse, ProcessesHaveDevicesOfTheirOwn) {
  std::string other = record(2, 100, 20);
  other.replace(other.find(R"("pid": 1)"), 8, R"("pid": 2)");
  const MemoryUse use = *memory_use(trace_of(record(1, 100, 10) + other));
  ASSERT_EQ(use.devices.size(), 2u);
  EXPECT_EQ(use.devices[0].peak_bytes, 10);
  EXPECT_EQ(use.devices[1].process, "2");
  EXPECT_EQ(use.devices[1].peak_bytes, 20);
}

}  // namespace
}  // namespace tbtrace
