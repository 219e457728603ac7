// torch-tb-profiler's memory figures; its recorded answers are in tests/reference.
#include "analyses/compat/plugin/memory.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/memory.h>

#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

Trace trace_of(const std::string& events) {
  return fixtures::read(R"({"traceEvents": [)" + events + "]}",
                        {.threads = 1, .arguments = {ArgumentGroup::allocations}});
}

std::string record(const std::string& time, const std::string& device, const std::string& rest) {
  return R"({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + time +
         R"(, "args": {"Device Type": )" + device + R"(, "Device Id": 0, )" + rest + "}}";
}

TEST(PluginMemory, PairsByAddressWhateverTheDevice) {
  const PluginMemory memory =
      plugin_memory(trace_of(record("1", "0", R"("Addr": 5, "Bytes": 10)") + "," +
                             record("3", "1", R"("Addr": 5, "Bytes": -10)")));
  ASSERT_EQ(memory.events.size(), 1u);
  EXPECT_EQ(memory.events[0].device, "CPU");
  EXPECT_EQ(memory.events[0].freed_at_ns, 3000);
}

TEST(PluginMemory, AnAddressThatIsAllocatedTwiceIsListedOnce) {
  const PluginMemory memory =
      plugin_memory(trace_of(record("1", "1", R"("Addr": 5, "Bytes": 10)") + "," +
                             record("2", "1", R"("Addr": 6, "Bytes": 11)") + "," +
                             record("3", "1", R"("Addr": 5, "Bytes": 12)")));
  ASSERT_EQ(memory.events.size(), 2u);
  EXPECT_EQ(memory.events[0].bytes, 12) << "keeps the place of the first";
  EXPECT_EQ(memory.events[1].bytes, 11);
}

TEST(PluginMemory, OperatorsCountTheirOwnBytesAndThoseInside) {
  const PluginMemory memory = plugin_memory(trace_of(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 10},)"
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 2, "dur": 3},)" +
      record("3", "1", R"("Bytes": 10, "Addr": 1)") + "," +
      record("5", "1", R"("Bytes": -4, "Addr": 2)")));
  ASSERT_EQ(memory.rows.size(), 2u);
  EXPECT_EQ(memory.rows[0].op, "aten::empty");
  EXPECT_EQ(memory.rows[0].increase_bytes, 10);
  EXPECT_EQ(memory.rows[1].op, "aten::linear");
  EXPECT_EQ(memory.rows[1].increase_bytes, 6);
  EXPECT_EQ(memory.rows[1].self_increase_bytes, -4) << "an end is not part of its range";
  EXPECT_EQ(memory.rows[1].self_allocations, 0);
  EXPECT_EQ(memory.rows[1].allocations, 1);
  EXPECT_EQ(memory.events[0].op, "aten::linear (aten::empty)");
}

TEST(PluginMemory, EachViewHasItsRows) {
  const Trace trace = trace_of(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 10},)" +
      record("5", "1",
             R"("Bytes": 30, "Addr": 1, "Total Allocated": 130, "Total Reserved": 1000)") +
      "," +
      record("15", "1",
             R"("Bytes": 70, "Addr": 2, "Total Allocated": 200, "Total Reserved": 1000)") +
      "," +
      record("25", "1",
             R"("Bytes": -30, "Addr": 1, "Total Allocated": 170, "Total Reserved": 1000)"));
  const std::vector<std::pair<MemoryView, std::size_t>> rows_of = {
      {MemoryView::alive, 1}, {MemoryView::curve, 3}, {MemoryView::allocations, 2}};
  for (const auto& [view, rows] : rows_of) {
    const AnalysisReport found = *memory_report(trace, Figures::plugin, {.view = view});
    EXPECT_EQ(found.schema, "tbtrace.memory/1");
    EXPECT_EQ(found.table.rows.size(), rows);
    for (const auto& row : found.table.rows) EXPECT_EQ(row.size(), found.table.columns.size());
  }
}

}  // namespace
}  // namespace tbtrace::analyses
