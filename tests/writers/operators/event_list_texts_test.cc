// Event lists that are written as they are made.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using fixtures::op;
using fixtures::read;
using fixtures::read_whole_file;
using fixtures::ScratchFolder;
using fixtures::trace_text;

constexpr TableFormat kFormats[] = {TableFormat::text, TableFormat::csv, TableFormat::json,
                                    TableFormat::markdown};

/// `a` of 9 us with `b` of 4 us in it, then `b` of 2 us.
Trace three_ranges() {
  return read(trace_text({op("a", "0", "9"), op("b", "1", "4"), op("b", "20", "2")}));
}

std::string written(const std::vector<const Trace*>& traces, TableFormat format,
                    const TableOptions& options = {.row_limit = -1}) {
  std::ostringstream stream;
  const Status status = write_events(traces, stream, format, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return stream.str();
}

/// The names in the first column of a CSV text.
std::string names(const std::string& csv) {
  std::istringstream lines(csv);
  std::string names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) names += line.substr(0, line.find(',')) + " ";
  return names;
}

TEST(WriteEvents, HasTheRowsThatAreAskedForInTheirOrder) {
  const Trace trace = three_ranges();
  const auto csv = [&](const TableOptions& options) {
    return names(written({&trace}, TableFormat::csv, options));
  };
  EXPECT_EQ(csv({.row_limit = -1}), "a b b ");
  EXPECT_EQ(csv({.sort_by = "key", .row_limit = -1}), "b b a ");
  EXPECT_EQ(csv({.row_limit = 2}), "a b ");
  EXPECT_EQ(csv({.row_limit = -1, .top_level_events_only = true}), "a b ");
}

TEST(WriteEvents, HasTheNewestRecordingFirst) {
  const Trace older = read(trace_text({op("old", "0", "9"), op("inner", "1", "2")}));
  const Trace newer = read(trace_text({op("new", "0", "9"), op("inner", "1", "2")}));
  const std::string csv = written({&older, &newer}, TableFormat::csv);
  EXPECT_EQ(names(csv), "new inner old inner ");
  EXPECT_NE(csv.find("inner,,1,1000,3000,2,,2000,"), std::string::npos)
      << "parents are rows of the joined list\n"
      << csv;
}

TEST(WriteEvents, WritesWhatTheListInMemoryHas) {
  const Trace trace = three_ranges();
  const EventList list = events(trace);
  EXPECT_EQ(written({&trace}, TableFormat::text), *list.table({.row_limit = -1}));
  EXPECT_EQ(written({&trace}, TableFormat::csv), table_csv(*list.report()));
  EXPECT_EQ(written({&trace}, TableFormat::markdown), table_markdown(*list.report()));
  EXPECT_EQ(written({&trace}, TableFormat::json), *list.json());
}

TEST(WriteEvents, MakesAFileThatIsNotReplacedUnasked) {
  const Trace trace = three_ranges();
  const Trace* traces[] = {&trace};
  for (const TableFormat format : kFormats) {
    const ScratchFolder folder;
    const std::string path = folder.path("out");
    ASSERT_TRUE(write_events(traces, path, format).ok());
    EXPECT_EQ(read_whole_file(path), written({&trace}, format));
    EXPECT_EQ(write_events(traces, path, format).code(), StatusCode::output_exists);
    EXPECT_TRUE(write_events(traces, path, format, {}, true).ok());
    EXPECT_EQ(folder.names(), std::vector<std::string>{"out"});
  }
}

TEST(WriteEvents, FindsAWrongOptionBeforeAnythingIsWritten) {
  const Trace trace = three_ranges();
  const Trace* traces[] = {&trace};
  const ScratchFolder folder;
  for (const TableFormat format : kFormats) {
    std::ostringstream stream;
    EXPECT_EQ(write_events(traces, stream, format, {.sort_by = "speed"}).code(),
              StatusCode::invalid_argument);
    EXPECT_EQ(stream.str(), "");
    EXPECT_EQ(write_events(traces, folder.path("out"), format, {.sort_by = "speed"}).code(),
              StatusCode::invalid_argument);
  }
  std::ostringstream stream;
  EXPECT_EQ(write_events(traces, stream, TableFormat::text, {.time_unit = "min"}).code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(stream.str(), "");
  EXPECT_TRUE(write_events(traces, stream, TableFormat::csv, {.time_unit = "min"}).ok())
      << "only text has units";
  EXPECT_TRUE(folder.names().empty());
}

TEST(WriteEvents, TellsThatAStreamFailed) {
  const Trace trace = three_ranges();
  const Trace* traces[] = {&trace};
  for (const TableFormat format : kFormats) {
    std::ostringstream stream;
    stream.setstate(std::ios::badbit);
    EXPECT_EQ(write_events(traces, stream, format).code(), StatusCode::unwritable_output);
  }
}

TEST(WriteEvents, WritesTheSelectedRowsAndCountsThem) {
  const Trace trace = three_ranges();
  const Trace* traces[] = {&trace};
  const EventList list = events(trace);
  for (const TableFormat format : kFormats) {
    TableOptions options = {.row_limit = 1,
                            .accepts_name = [](std::string_view name) { return name == "b"; }};
    std::ostringstream stream;
    RowCounts counts;
    ASSERT_TRUE(write_events(traces, stream, format, options, &counts).ok());
    EXPECT_EQ(counts.selected, 2U);
    EXPECT_EQ(counts.all, 3U);
    EXPECT_NE(stream.str(), written({&trace}, format));
    if (format == TableFormat::csv) {
      EXPECT_EQ(stream.str(), table_csv(*list.report(options)));
      EXPECT_EQ(names(stream.str()), "b ");
    }
    if (format == TableFormat::text) {
      EXPECT_EQ(stream.str(), *list.table(options));
    }
    options.kinds = {OperatorKind::frame};
    ASSERT_TRUE(write_events(traces, stream, format, options, &counts).ok());
    EXPECT_EQ(counts.selected, 0U);
  }
}

TEST(WriteEvents, NamesTheStepThatWasOpen) {
  const Trace trace = read(trace_text(
      {op("ProfilerStep#4", "0", "10").with("cat", "\"user_annotation\""), op("a", "1", "2"),
       op("b", "10", "2"), op("ProfilerStep#5", "20", "10").with("cat", "\"user_annotation\""),
       op("c", "25", "50")}));
  std::vector<std::optional<std::int64_t>> steps;
  for (const FunctionEvent& event : events(trace)) steps.push_back(event.step);
  EXPECT_EQ(steps, (std::vector<std::optional<std::int64_t>>{4, 4, std::nullopt, 5, 5}));
  EXPECT_NE(written({&trace}, TableFormat::json).find("\"step\": null"), std::string::npos);
}

TEST(WriteEvents, WritesNothingOfDifferentProcesses) {
  const Trace one = fixtures::read(fixtures::trace_text({fixtures::op("a")}));
  const Trace two = fixtures::read(fixtures::trace_text({fixtures::op("a").with("pid", "9")}));
  const std::vector<const Trace*> traces = {&one, &two};
  std::ostringstream stream;
  EXPECT_EQ(write_events(traces, stream, TableFormat::csv).code(), StatusCode::invalid_argument);
  EXPECT_EQ(stream.str(), "");
  const Result<std::string> stacks = exported_stacks(traces, "self_cpu_time_total");
  EXPECT_EQ(stacks.status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(write_exported_stacks(traces, stream, "self_cpu_time_total").code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tbtrace
