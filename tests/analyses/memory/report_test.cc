#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/memory.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

/// An operator with a hostile name that allocates, and another allocation that is freed.
Trace trace() {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "a\"\\\n\xff", .start = 10, .duration = 10});
  const auto record = [&](std::int64_t time, std::int64_t address, std::int64_t bytes,
                          std::int64_t total) {
    MemoryRecord row;
    row.time_ns = time;
    row.bytes = bytes;
    row.total_allocated_bytes = total;
    row.device_type = DeviceType::cuda;
    row.device_id = 0;
    row.track = fixtures::track(builder, 1, 1);
    builder.add_memory(row);
    builder.add_memory_argument(Argument::address, address);
    builder.add_memory_argument(Argument::total_reserved, 1000);
  };
  record(5, 1, 30, 130);
  record(15, 2, 70, 200);
  record(25, 1, -30, 170);
  return fixtures::finished(builder);
}

TEST(UnknownMemory, SaysWhyIfRecordsHaveNoAddress) {
  MemoryUse use;
  EXPECT_EQ(unknown_memory_text(use), "");
  use.without_address = 3;
  EXPECT_EQ(unknown_memory_text(use), "") << "nothing is held by it";
  use.devices.emplace_back().alive.push_back(
      {.source = {.op = DeviceMemory::kUnknown}, .bytes = 5});
  EXPECT_TRUE(unknown_memory_text(use).starts_with("[unknown]: 3 memory records have no address"));
  use.without_address = 0;
  EXPECT_EQ(unknown_memory_text(use), "");
}

AnalysisReport report(MemoryView view) { return *memory_report(trace(), {.view = view}); }

TEST(MemoryReport, AliveIsJsonWhateverTheNames) {
  const AnalysisReport peaks = report(MemoryView::peak);
  ASSERT_EQ(peaks.table.rows.size(), 1u);
  const Json& alive = std::get<Json>(peaks.table.rows[0].back());
  simdjson::dom::parser parser;
  simdjson::dom::array holders;
  ASSERT_EQ(parser.parse(alive.text).get(holders), simdjson::SUCCESS) << alive.text;
  std::int64_t sum = 0;
  for (const simdjson::dom::element holder : holders) sum += std::int64_t{holder["bytes"]};
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(std::string_view(holders.at(0)["operator"]), "[before the recording]");
  EXPECT_FALSE(bool{holders.at(0)["category_estimated"]});
  EXPECT_EQ(std::string_view(holders.at(1)["operator"]), "a\"\\\n\xef\xbf\xbd");
  EXPECT_TRUE(bool{holders.at(1)["category_estimated"]});
}

TEST(MemoryReport, EachViewHasItsRows) {
  EXPECT_EQ(report(MemoryView::alive).table.rows.size(), 3u);
  EXPECT_EQ(report(MemoryView::curve).table.rows.size(), 3u);
  EXPECT_EQ(report(MemoryView::allocations).table.rows.size(), 2u);
  for (const MemoryView view :
       {MemoryView::peak, MemoryView::alive, MemoryView::curve, MemoryView::allocations}) {
    const AnalysisReport found = report(view);
    EXPECT_EQ(found.schema, "tbtrace.memory/1");
    for (const auto& row : found.table.rows) EXPECT_EQ(row.size(), found.table.columns.size());
  }
}

}  // namespace
}  // namespace tbtrace
