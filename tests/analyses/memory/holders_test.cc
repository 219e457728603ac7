// Who held the peak: small holders on the CPU do not hide large ones on a GPU.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/memory.h>
#include <tbtrace/summary.h>

#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// 30 tensors of 8 bytes, each in a module of its own, then two of 1 MiB by an operator on the GPU.
Trace gates() {
  std::string rows;
  const auto add = [&](const std::string& row) { rows += (rows.empty() ? "" : ",\n") + row; };
  const auto memory = [&](int at, bool on_gpu, int bytes, int total) {
    add(R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":)" +
        std::to_string(at) + R"(,"args":{"Device Type":)" + (on_gpu ? "1" : "0") +
        R"(,"Device Id":)" + (on_gpu ? "0" : "-1") + R"(,"Addr":)" + std::to_string(at) +
        R"(,"Bytes":)" + std::to_string(bytes) + R"(,"Total Allocated":)" + std::to_string(total) +
        R"(,"Total Reserved":0}})");
  };
  for (int module = 0; module < 30; ++module) {
    add(R"({"ph":"X","cat":"python_function","name":"nn.Module: Gate_)" + std::to_string(module) +
        R"(","pid":1,"tid":1,"ts":)" + std::to_string(10 * module) +
        R"(,"dur":8,"args":{"Python id":)" + std::to_string(module + 1) +
        R"(,"Python module id":)" + std::to_string(module) + "}}");
    memory(10 * module + 2, false, 8, 8 * (module + 1));
  }
  add(R"({"ph":"X","cat":"cpu_op","name":"aten::empty","pid":1,"tid":1,"ts":400,"dur":50})");
  memory(410, true, 1 << 20, 1 << 20);
  memory(420, true, 1 << 20, 2 << 20);
  Result<Trace> trace = fixtures::try_read(
      R"({"profile_memory":1,"with_stack":1,"traceEvents":[)" + rows + "]}",
      {.threads = 1, .arguments = {ArgumentGroup::allocations, ArgumentGroup::python}});
  EXPECT_TRUE(trace.ok());
  return *std::move(trace);
}

TEST(MemoryHolders, TheLargestIsFirstOnWhateverDevice) {
  const AnalysisReport report = *memory_report(gates(), {.view = MemoryView::alive});
  ASSERT_EQ(report.table.rows.size(), 31U);
  EXPECT_EQ(report.table.rows[0][3], Cell(std::string("cuda:0")));
  EXPECT_EQ(report.table.rows[1][3], Cell(std::string("cpu")));
}

TEST(MemoryHolders, OfASummaryAreByOperatorAndTheHighestPeakIsFirst) {
  const TraceSummary summary = trace_summary(gates(), "trace.json");
  std::vector<std::pair<std::string, std::int64_t>> holders;
  for (const DevicePeak& device : summary.memory) {
    for (const MemoryHolder& holder : device.alive) {
      holders.emplace_back(device.device + " " + holder.source.op, holder.bytes);
    }
  }
  EXPECT_THAT(holders,
              ElementsAre(Pair("cuda:0 aten::empty", 2 << 20), Pair("cpu [unattributed]", 240)));
  EXPECT_EQ(summary.memory[1].alive[0].allocations, 30U);
  EXPECT_EQ(summary.memory[1].alive[0].source.module, "") << "they are in several modules";
}

}  // namespace
}  // namespace tbtrace
