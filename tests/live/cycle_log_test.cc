#include "live/cycle_log.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/trace.h>

#include "fixtures/scratch_folder.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using fixtures::ScratchFolder;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

/// What another profiler wrote of a cycle: a step with an operator, whose arguments the model of a
/// trace does not keep.
std::string cycle_file(const ScratchFolder& folder, int step) {
  const std::string path = folder.path("cycle.json");
  const std::string start = std::to_string(step * 1000);
  std::ofstream(path)
      << R"({"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)"
      << step << R"(", "pid": 1, "tid": 1, "ts": )" << start << R"(, "dur": 900},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": )"
      << start << R"(.5, "dur": 50, "args": {"Record function id": 7, "Input Dims": [[2, 3]]}},
{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": )"
      << start
      << R"(.6, "args": {"Bytes": 64, "Addr": 4096, "Total Allocated": 128, "Device Type": 0}}
]})";
  return path;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CycleLog, WritesEachCycleWithEverythingInIt) {
  const ScratchFolder folder;
  const std::string logs = folder.path("logs");
  CycleLog log(logs, "node/1");
  EXPECT_FALSE(fs::exists(logs));
  for (const int step : {3, 9}) {
    const Result<std::string> written = log.add(cycle_file(folder, step));
    ASSERT_TRUE(written.ok()) << written.status().message();
    const std::string text = text_of(*written);
    for (const char* const kept : {"Record function id", "Input Dims", "Addr", "Total Allocated"}) {
      EXPECT_THAT(text, HasSubstr(kept));
    }
    EXPECT_EQ(fs::path(*written).parent_path(), logs);
    EXPECT_THAT(fs::path(*written).filename().string(), HasSubstr("node_1.17000000000"));
    const Result<Trace> read = read_trace(*written);
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(read->steps().size(), 1u);
    EXPECT_EQ(read->steps().front().number, step);
  }
  EXPECT_TRUE(log.finish().ok());
  const bool has_events = capabilities().event_files;
  EXPECT_THAT(names_in(logs), SizeIs(has_events ? 3 : 2));
  if (has_events) {
    EXPECT_THAT(names_in(logs + "/node_1"), Contains(HasSubstr("tfevents")));
  }
}

TEST(CycleLog, KeepsACycleThatIsAddedTwice) {
  const ScratchFolder folder;
  CycleLog log(folder.path("logs"), "w", true);
  const std::string path = cycle_file(folder, 1);
  const Result<std::string> first = log.add(path);
  const Result<std::string> second = log.add(path);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_THAT(*first, HasSubstr(".json.gz"));
}

TEST(CycleLog, WritesTheTraceIfAnotherProcessWritesTheRun) {
  const ScratchFolder folder;
  CycleLog one(folder.path("logs"), "w");
  CycleLog other(folder.path("logs"), "w");
  ASSERT_TRUE(one.add(cycle_file(folder, 1)).ok());
  ASSERT_TRUE(other.add(cycle_file(folder, 2)).ok());
  if (!capabilities().event_files) return;
  EXPECT_THAT(names_in(folder.path("logs")), Contains("w"));
  EXPECT_THAT(names_in(folder.path("logs")), Contains("w-2"));
}

TEST(CycleLog, FailsForWhatCannotBeReadOrWritten) {
  const ScratchFolder folder;
  CycleLog log(folder.path("logs"), "w");
  EXPECT_EQ(log.add(folder.path("missing.json")).status().code(), StatusCode::unreadable_input);
  const std::string path = cycle_file(folder, 1);
  CycleLog below_file(path, "w");
  const Status failed = below_file.add(path).status();
  EXPECT_EQ(failed.code(), StatusCode::unwritable_output);
  EXPECT_THAT(failed.message(), HasSubstr("cycle.json"));
  EXPECT_TRUE(below_file.finish().ok());
}

}  // namespace
}  // namespace tbtrace
