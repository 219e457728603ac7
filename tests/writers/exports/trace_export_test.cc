#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_export.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/trace_rows.h"
#include "fixtures/whole_file.h"
#include "trace/trace_builder.h"

namespace tbtrace {
namespace {

Trace small_trace() {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "op", .start = 0, .duration = 100});
  fixtures::add(
      builder,
      {.category = "kernel", .name = "k", .start = 10, .duration = 5, .thread = 7, .process = 0});
  return fixtures::finished(builder);
}

TEST(TraceExportTest, FormatsHaveNamesAndSuffixesOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> suffixes;
  for (const ExportFormatRow& row : export_formats()) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(suffixes.insert(row.suffix).second);
    EXPECT_TRUE(row.suffix.starts_with('.'));
    EXPECT_FALSE(row.summary.empty());
  }
}

TEST(TraceExportTest, WritesEveryFormatTheSameEachTime) {
  const fixtures::ScratchFolder folder;
  const Trace trace = small_trace();
  for (const ExportFormatRow& row : export_formats()) {
    const std::string path = folder.path("trace" + std::string(row.suffix));
    const Result<ExportReport> report = export_trace(trace, path, row.format);
    ASSERT_TRUE(report.ok()) << row.name;
    EXPECT_EQ(report->traces, 1U) << row.name;
    const std::string first = fixtures::read_whole_file(path);
    EXPECT_FALSE(first.empty()) << row.name;
    ASSERT_TRUE(export_trace(trace, path, row.format, true).ok()) << row.name;
    EXPECT_EQ(fixtures::read_whole_file(path), first) << row.name;
  }
}

TEST(TraceExportTest, KeepsAnExistingFile) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.pftrace");
  ASSERT_TRUE(export_trace(small_trace(), path, ExportFormat::perfetto).ok());
  const Result<ExportReport> again = export_trace(small_trace(), path, ExportFormat::perfetto);
  EXPECT_EQ(again.status().code(), StatusCode::output_exists);
}

TEST(TraceExportTest, LeavesNoFileUnlessItIsFinished) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.pftrace");
  {
    Result<TraceExport> file = TraceExport::create(path, ExportFormat::perfetto);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->add(small_trace(), "").ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TraceExportTest, AddsTracesOneAfterTheOther) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.pftrace");
  Result<TraceExport> file = TraceExport::create(path, ExportFormat::perfetto);
  ASSERT_TRUE(file.ok());
  for (const char* const rank : {"rank 0", "rank 1"}) {
    const Trace trace = small_trace();  // gone before the next
    ASSERT_TRUE(file->add(trace, rank).ok());
  }
  const Result<ExportReport> report = file->finish();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->traces, 2U);
  EXPECT_EQ(report->ranges, 4U);
  const std::string text = fixtures::read_whole_file(path);
  EXPECT_NE(text.find("rank 0: "), std::string::npos);
  EXPECT_NE(text.find("rank 1: "), std::string::npos);
}

TEST(TraceExportTest, CountsWhatAFormatHasNoPlaceFor) {
  std::istringstream text(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", "ts": 1, "dur": 5, "pid": 1,
          "tid": 1}, {"ph": "C", "name": "queue", "ts": 2, "pid": 1, "args": {"length": 3}},
          {"ph": "i", "s": "t", "name": "mark", "ts": 3, "pid": 1, "tid": 1}]})");
  const Trace trace = *read_trace(text);
  const fixtures::ScratchFolder folder;
  for (const ExportFormatRow& row : export_formats()) {
    const Result<ExportReport> report =
        export_trace(trace, folder.path(std::string(row.name)), row.format);
    ASSERT_TRUE(report.ok());
    const auto left_out = [&](const char* what) {
      const auto found = report->left_out.find(what);
      return found == report->left_out.end() ? 0 : found->second;
    };
    EXPECT_EQ(report->counter_values + left_out("values of counters and of memory"), 1U)
        << row.name;
    EXPECT_EQ(report->instants + left_out("instants"), 1U) << row.name;
  }
}

TEST(TraceExportTest, CountsFramesBelowAThousandAsTheOneAbove) {
  TraceBuilder builder;
  constexpr std::int64_t kDepth = 200'000;  // whole stacks of it would be 100 GB
  for (std::int64_t at = 0; at < kDepth; ++at) {
    fixtures::add(builder, {.name = "op", .start = at, .duration = 2 * (kDepth - at)});
  }
  const Trace trace = fixtures::finished(builder);
  const fixtures::ScratchFolder folder;
  for (const ExportFormat format : {ExportFormat::speedscope, ExportFormat::pprof}) {
    const Result<ExportReport> report = export_trace(trace, folder.path("deep"), format, true);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->ranges, std::uint64_t{kDepth});
    EXPECT_LT(report->bytes, 10'000'000U);
  }
}

TEST(TraceExportTest, PlacesATraceWithoutAWallClockAtTheStartOfTheFirst) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.gecko.json");
  Result<TraceExport> file = TraceExport::create(path, ExportFormat::firefox);
  ASSERT_TRUE(file.ok());
  for (const char* const clock : {R"("baseTimeNanoseconds": 1700000000000000000,)", ""}) {
    std::istringstream text(std::string(R"({)") + clock + R"("traceEvents": [{"ph": "X",
        "cat": "cpu_op", "name": "op", "ts": 2500, "dur": 5, "pid": 1, "tid": 1}]})");
    ASSERT_TRUE(file->add(*read_trace(text), clock).ok());
  }
  ASSERT_TRUE(file->finish().ok());
  const std::string json = fixtures::read_whole_file(path);
  const std::string_view start = R"("startTime":1700000000002.500000,)";
  const std::size_t first = json.find(start);
  ASSERT_NE(first, std::string::npos) << json;
  EXPECT_NE(json.find(start, first + 1), std::string::npos) << json;
}

TEST(TraceExportTest, FoldedStacksAreThoseOfTheFlameGraph) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "a;b", .start = 0, .duration = 100});
  fixtures::add(builder, {.name = "c\n", .start = 10, .duration = 30});
  fixtures::add(builder, {.name = "d", .start = 200, .duration = 7});
  fixtures::add(
      builder,
      {.category = "kernel", .name = "k", .start = 10, .duration = 5, .thread = 7, .process = 0});
  const Trace trace = fixtures::finished(builder);
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.folded");
  const Result<ExportReport> report = export_trace(trace, path, ExportFormat::folded);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(fixtures::read_whole_file(path), folded_stacks(*flame_graph(trace)));
  EXPECT_EQ(fixtures::read_whole_file(path), "a\\x3bb 70\na\\x3bb;c\\x0a 30\nd 7\n");
  EXPECT_EQ(report->ranges, 3U);
  EXPECT_EQ(report->left_out.at("ranges that are not in stacks of the host, such as kernels"), 1U);
  Result<TraceExport> file = TraceExport::create(path, ExportFormat::folded, true);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->add(trace, "rank 0").ok());
  ASSERT_TRUE(file->add(trace, "rank;1").ok());
  ASSERT_TRUE(file->finish().ok());
  EXPECT_EQ(fixtures::read_whole_file(path),
            "rank 0;a\\x3bb 70\nrank 0;a\\x3bb;c\\x0a 30\nrank 0;d 7\n"
            "rank\\x3b1;a\\x3bb 70\nrank\\x3b1;a\\x3bb;c\\x0a 30\nrank\\x3b1;d 7\n");
}

TEST(TraceExportTest, CompressesWhatEndsInGz) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("a.pftrace.gz");
  const Result<ExportReport> report = export_trace(small_trace(), path, ExportFormat::perfetto);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(fixtures::read_whole_file(path).starts_with("\x1f\x8b"));
}

}  // namespace
}  // namespace tbtrace
