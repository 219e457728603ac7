#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/tables.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Threads, AreBusyWhileARangeIsOpenAndTheBusiestComesFirst) {
  TraceBuilder builder;
  fixtures::add(builder, {.category = "user_annotation", .start = 80, .duration = 20, .thread = 2});
  fixtures::add(builder, {.name = "outer", .start = 0, .duration = 60, .thread = 1});
  fixtures::add(builder, {.name = "inner", .start = 10, .duration = 20, .thread = 1});
  fixtures::add(builder, {.category = "kernel", .start = 0, .duration = 100, .thread = 7});
  const AnalysisReport report = *make_table("threads", fixtures::finished(builder));
  ASSERT_THAT(report.table.rows, SizeIs(2));
  EXPECT_THAT(report.table.rows[0],
              ElementsAre(Cell(), std::string("1"), std::string("1"), Cell(), std::int64_t{60},
                          std::int64_t{40}, 0.6, std::uint64_t{2}, std::uint64_t{2}));
  EXPECT_THAT(report.table.rows[1],
              ElementsAre(Cell(), std::string("1"), std::string("2"), Cell(), std::int64_t{20},
                          std::int64_t{80}, 0.2, std::uint64_t{0}, std::uint64_t{1}));
  EXPECT_EQ(report.totals.front().second, Cell(std::int64_t{80}));
}

}  // namespace
}  // namespace tbtrace
