// The text of lines beside what they cost.
#include "report/source_column.h"

#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::report {
namespace {

AnalysisReport two_lines() {
  AnalysisReport report;
  report.table.columns = {"file", "line", "calls"};
  report.table.rows = {{std::string("train.py"), std::int64_t{2}, std::int64_t{7}},
                       {std::string("lost.py"), std::int64_t{1}, Cell()},
                       {std::string("lost.py"), std::int64_t{5}, Cell()},
                       {std::string("train.py"), std::int64_t{9}, Cell()},
                       {std::string("[unattributed]"), Cell(), Cell()}};
  report.shown = {"file", "line", "calls"};
  return report;
}

TEST(SourceColumn, HasTheTextOfEachLine) {
  const fixtures::ScratchFolder folder;
  fixtures::write_whole_file(folder.path("train.py"), "import torch\n  step()\n");
  const AnalysisReport report =
      *with_source(two_lines(), {{"source_root", std::string(folder.root())}});
  EXPECT_EQ(report.table.columns.back(), "source");
  EXPECT_THAT(report.shown, testing::ElementsAre("file", "line", "source", "calls"));
  EXPECT_EQ(report.table.rows[0].back(), Cell(std::string("step()")));
  for (const std::size_t row : {1U, 2U, 3U, 4U}) EXPECT_EQ(report.table.rows[row].back(), Cell());
  EXPECT_THAT(report.notes, testing::ElementsAre(testing::EndsWith("readable: lost.py.")))
      << "each file once, and not those that have fewer lines";
}

TEST(SourceColumn, IsThereOnlyIfAskedForAndFailsWithoutADirectory) {
  EXPECT_EQ(with_source(two_lines(), {})->table.columns.size(), 3U);
  EXPECT_FALSE(with_source(two_lines(), {{"source_root", std::string("/no/such/folder")}}).ok());
  EXPECT_FALSE(with_source(Status(StatusCode::invalid_argument, "no"), {}).ok());
}

TEST(SourceColumn, NamesSomeOfManyFilesThatAreMissing) {
  const fixtures::ScratchFolder folder;
  AnalysisReport report = two_lines();
  for (int number = 0; number < 8; ++number) {
    report.table.rows.push_back(
        {"x" + std::to_string(number) + ".py", std::int64_t{1}, std::int64_t{1}});
  }
  const AnalysisReport found =
      *with_source(std::move(report), {{"source_root", std::string(folder.root())}});
  EXPECT_THAT(found.notes,
              testing::ElementsAre(
                  "10 files are not below the root of source files, or not readable: lost.py, "
                  "train.py, x0.py, x1.py, x2.py and 5 more."));
}

}  // namespace
}  // namespace tbtrace::report
