#include "writers/tables/torch_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/failing_sink.h"
#include "fixtures/hostile_names.h"

namespace tbtrace::writers {
namespace {

Duration us(double value) { return {value, static_cast<std::int64_t>(value * 1000)}; }

OperatorRow row_of(std::string_view key, std::int64_t count, double self, double total) {
  OperatorRow row;
  row.key = key;
  row.count = count;
  row.self_cpu_time_total = us(self);
  row.cpu_time_total = us(total);
  return row;
}

std::string table_of(const OperatorRows& rows, const TableOptions& options = {}) {
  report::StoredRows source(rows);
  const report::RowOrder order(rows.rows.size());
  return io::text_of([&](io::TextSink& out) { write_torch_table(source, order, options, out); });
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(lines.back().size() + 1);
  }
  return lines;
}

/// Cells of a line of a table whose columns are all twelve wide, without their blanks.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> cells;
  for (; line.size() >= 14; line.remove_prefix(14)) {
    std::string_view cell = line.substr(0, 12);
    cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    cells.emplace_back(cell);
  }
  return cells;
}

TEST(TorchTable, HasTorchsLayout) {
  OperatorRows rows;
  rows.rows = {row_of("aten::mm", 2, 3, 4), row_of("aten::t", 1, 1, 1)};
  EXPECT_EQ(table_of(rows),
            "------------  ------------  ------------  ------------  ------------  ------------  "
            "------------  \n"
            "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg  "
            "  # of Calls  \n"
            "------------  ------------  ------------  ------------  ------------  ------------  "
            "------------  \n"
            "    aten::mm        75.00%       3.000us       100.00%       4.000us       2.000us  "
            "           2  \n"
            "     aten::t        25.00%       1.000us        25.00%       1.000us       1.000us  "
            "           1  \n"
            "------------  ------------  ------------  ------------  ------------  ------------  "
            "------------  \n"
            "Self CPU time total: 4.000us\n");
}

TEST(TorchTable, LeavesOutWhatIsReadLastIfALineIsTooShort) {
  OperatorRows rows;
  rows.rows = {row_of(std::string(40, 'a'), 2, 10, 20)};
  const auto whole = lines(table_of(rows));
  EXPECT_EQ(lines(table_of(rows, {.width = 1000})), whole);
  const auto shown = lines(table_of(rows, {.width = 66, .how_to_show_all_columns = "ask"}));
  EXPECT_EQ(shown[1], "                                Name      Self CPU    # of Calls  ");
  EXPECT_EQ(shown[3], "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...      10.000us             2  ");
  EXPECT_EQ(shown.back(), "... and 4 more columns; ask");
  for (const std::string& line : shown) EXPECT_LE(line.size(), 66u);
}

TEST(TorchTable, OfNoRowsIsEmpty) { EXPECT_EQ(table_of({}), ""); }

TEST(TorchTable, ChoosesAUnitForEachTime) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 4, 999.9996, 1'000'000), row_of("b", 1, 0.0004, 999'999.9996)};
  const auto shown = cells(lines(table_of(rows))[3]);
  EXPECT_EQ(shown[2], "1000.000us") << "rounds after the unit is chosen, as torch does";
  EXPECT_EQ(shown[4], "1.000s");
  EXPECT_EQ(shown[5], "250.000ms");
  EXPECT_EQ(cells(lines(table_of(rows))[4])[4], "1000.000ms");
}

TEST(TorchTable, UsesOneUnitForAllIfTold) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 1500, 2500)};
  EXPECT_EQ(cells(lines(table_of(rows, {.time_unit = "us"}))[3])[2], "1500.000us");
  EXPECT_EQ(cells(lines(table_of(rows, {.time_unit = "s"}))[3])[4], "0.003s") << "0.0025 rounds";
  EXPECT_EQ(lines(table_of(rows, {.time_unit = "s"})).back(), "Self CPU time total: 0.002s");
  EXPECT_TRUE(check_time_unit("ms").ok());
  EXPECT_EQ(check_time_unit("min").message(), "unknown time unit 'min'; use s, ms or us");
}

TEST(TorchTable, HasNoShareOfNothing) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 0, 0)};
  EXPECT_EQ(cells(lines(table_of(rows))[3])[1], "NaN");
}

TEST(TorchTable, ShowsNoShareOfAnAsynchronousRow) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 0, 8), row_of("b", 1, 4, 4)};
  rows.rows[0].is_async = true;
  EXPECT_EQ(cells(lines(table_of(rows))[3])[3], "0");
  EXPECT_EQ(cells(lines(table_of(rows))[4])[3], "100.00%");
}

TEST(TorchTable, ShowsDeviceTimeOnceARowHasSome) {
  OperatorRows rows;
  rows.use_device = DeviceType::cuda;
  rows.rows = {row_of("aten::mm", 2, 4, 4), row_of("gemm", 1, 0, 0), row_of("shadow", 1, 0, 0)};
  EXPECT_EQ(table_of(rows).find("CUDA"), std::string::npos);
  rows.rows[0].device_time_total = us(6);
  rows.rows[0].self_device_time_total = us(6);
  rows.rows[1].self_device_time_total = us(6);
  rows.rows[1].device_type = DeviceType::cuda;
  rows.rows[2].self_device_time_total = us(9);
  rows.rows[2].device_type = DeviceType::cuda;
  rows.rows[2].is_user_annotation = true;
  const auto text = lines(table_of(rows));
  EXPECT_EQ(cells(text[1])[6], "Self CUDA");
  EXPECT_EQ(cells(text[3])[6], "6.000us");
  EXPECT_EQ(cells(text[3])[7], "100.00%") << "of the time of kernels alone";
  EXPECT_EQ(cells(text[3])[9], "3.000us");
  EXPECT_EQ(text.back(), "Self CUDA time total: 6.000us");
}

TEST(TorchTable, ShowsMemoryIfItWasRecorded) {
  OperatorRows rows;
  rows.profile_memory = true;
  rows.rows = {row_of("abcdefgh", 1, 1, 1)};
  rows.rows[0].cpu_memory_usage_bytes = 1023;
  rows.rows[0].self_cpu_memory_usage_bytes = -1536;
  EXPECT_EQ(cells(lines(table_of(rows))[3])[6], "1023 B");
  EXPECT_EQ(cells(lines(table_of(rows))[3])[7], "-1.50 KB");
  rows.rows[0].self_device_memory_usage_bytes = std::int64_t{3} << 30;
  EXPECT_EQ(table_of(rows).find("GB"), std::string::npos) << "there is no device";
  rows.use_device = DeviceType::xpu;
  EXPECT_EQ(cells(lines(table_of(rows))[1])[9], "Self XPU Mem");
  EXPECT_EQ(cells(lines(table_of(rows))[3])[9], "3.00 GB");
}

TEST(TorchTable, ScalesFlopsByTheSmallest) {
  OperatorRows rows;
  rows.with_flops = true;
  rows.rows = {row_of("abcdefgh", 1, 1, 1), row_of("b", 1, 1, 1), row_of("c", 1, 1, 1)};
  EXPECT_EQ(table_of(rows).find("FLOPs"), std::string::npos) << "nobody has any";
  rows.rows[0].flops = 2'500'000;
  rows.rows[1].flops = 1'000;
  const auto text = lines(table_of(rows));
  EXPECT_EQ(cells(text[1])[7], "Total KFLOPs");
  EXPECT_EQ(cells(text[3])[7], "2500.000");
  EXPECT_EQ(cells(text[4])[7], "1.000");
  EXPECT_EQ(cells(text[5])[7], "--");
  rows.rows[1].flops = 999;
  EXPECT_EQ(cells(lines(table_of(rows))[1])[7], "Total FLOPs");
}

TEST(TorchTable, NoLineIsLongerThanTheTerminal) {
  OperatorRows rows;
  rows.rows = {row_of(std::string(40, 'a'), 2, 10, 20)};
  rows.use_device = DeviceType::cuda;
  rows.rows[0].self_device_time_total = us(5);
  rows.rows[0].device_time_total = us(5);
  ASSERT_THAT(table_of(rows), testing::HasSubstr("CUDA time avg"));
  for (std::size_t width = 60; width < 250; ++width) {
    for (const std::string& line : lines(table_of(rows, {.width = width}))) {
      EXPECT_LE(line.size(), width);
    }
  }
}

TEST(TorchTable, PrintsAFrameALineAndABlankLine) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 1, 1)};
  rows.rows[0].stack = {"inner.py", "outer.py"};
  const auto text = lines(table_of(rows));
  EXPECT_EQ(text[1].substr(7 * 14), "Source Location  ");
  EXPECT_EQ(text[3].substr(7 * 14), "inner.py      ");
  EXPECT_EQ(text[4], std::string(7 * 14, ' ') + "outer.py      ");
  EXPECT_EQ(text[5], std::string(8 * 14, ' '));
}

// As torch 2.13 has it: the header names the source before the FLOPs, rows have them the other way.
TEST(TorchTable, SwapsTheHeadersOfSourceAndFlopsAsTorchDoes) {
  OperatorRows rows;
  rows.with_flops = true;
  rows.rows = {row_of("abcdefgh", 1, 1, 1)};
  rows.rows[0].stack = {"inner.py"};
  rows.rows[0].flops = 5000;
  const auto text = lines(table_of(rows));
  EXPECT_LT(text[1].find("Source Location"), text[1].find("Total KFLOPs"));
  EXPECT_GT(text[3].find("inner.py"), text[3].find("5.000"));
}

TEST(TorchTable, CutsNamesWithThreeDotsAndPathsAtTheFront) {
  OperatorRows rows;
  rows.rows = {row_of("aten::convolution", 1, 1, 1)};
  rows.rows[0].stack = {"/long/folder/name.py(3): f"};
  const auto cut = lines(table_of(rows, {.max_src_column_width = 12, .max_name_column_width = 12}));
  EXPECT_EQ(cells(cut[3])[0], "aten::con...");
  EXPECT_EQ(cut[3].substr(7 * 14), "....py(3): f  ");
  const auto whole = lines(table_of(
      rows, {.max_src_column_width = std::nullopt, .max_name_column_width = std::nullopt}));
  EXPECT_EQ(whole[3].substr(0, 23), "    aten::convolution  ");
  // From three characters before the limit on there are dots, though the name would fit.
  EXPECT_EQ(lines(table_of(rows, {.max_name_column_width = 20}))[3].substr(0, 22),
            "aten::convolution...  ");
}

TEST(TorchTable, HasBracketsWhereARowHasNoShapes) {
  OperatorRows rows;
  rows.grouped_by_shape = true;
  rows.rows = {row_of("abcdefgh", 1, 1, 1), row_of("b", 1, 1, 1)};
  rows.rows[0].input_shapes = "[[2, 3]]";
  EXPECT_EQ(cells(lines(table_of(rows))[3])[7], "[[2, 3]]");
  EXPECT_EQ(cells(lines(table_of(rows))[4])[7], "[]");
}

TEST(TorchTable, LimitsWhatItPrintsNotWhatItSums) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 1, 1), row_of("inner", 1, 2, 2), row_of("c", 1, 3, 3)};
  rows.rows[1].has_cpu_parent = true;
  const auto two = lines(table_of(rows, {.row_limit = 1}));
  EXPECT_EQ(two.size(), 6u);
  EXPECT_EQ(two.back(), "Self CPU time total: 6.000us");
  const std::string top = table_of(rows, {.row_limit = 2, .top_level_events_only = true});
  EXPECT_EQ(top.find("inner"), std::string::npos);
  EXPECT_NE(top.find("           c  "), std::string::npos) << "what is passed over is not counted";
  EXPECT_EQ(lines(top)[1], "This report only display top-level ops statistics");
  EXPECT_EQ(lines(top)[0], std::string(7 * 14 - 2, '='));
}

TEST(TorchTable, HasAHeaderUnderALine) {
  OperatorRows rows;
  rows.rows = {row_of("abcdefgh", 1, 1, 1)};
  const auto text = lines(table_of(rows, {.header = "mine"}));
  EXPECT_EQ(text[0], std::string(7 * 14 - 2, '='));
  EXPECT_EQ(text[1], "mine");
}

TEST(TorchTable, CountsCharactersAndLeavesThemAsTheyAre) {
  for (const std::string_view name : fixtures::kHostileNames) {
    OperatorRows rows;
    rows.rows = {row_of(name, 1, 1, 1)};
    const std::string text = table_of(rows);
    const std::size_t width = utf8_length(name) + 4;
    ASSERT_NE(text.find("\n    " + std::string(name) + "  "), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with(std::string(width, '-') + "  -")) << text;
  }
}

TEST(TorchTable, EndsAtAFailedWrite) {
  OperatorRows rows;
  rows.rows.assign(5000, row_of("aten::mm", 1, 1, 1));
  report::StoredRows source(rows);
  fixtures::SinkLog log;
  fixtures::FailingSink sink(log, 100'000);
  io::TextSink out(sink);
  write_torch_table(source, report::RowOrder(rows.rows.size()), {.row_limit = -1}, out);
  EXPECT_EQ(out.finish().message(), "the disk is full");
  EXPECT_EQ(log.writes_after_failure, 0);
}

}  // namespace
}  // namespace tbtrace::writers
