// What the public functions make of a small snapshot; tests/cli/memory_snapshots_test.py compares
// many with a model.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/memory_snapshot.h>

namespace tbtrace {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFailed = TBTRACE_TEST_DATA "/failed_training.pickle";

MemorySnapshot failed() { return *read_memory_snapshot(kFailed); }

TEST(MemorySnapshot, IsKnownByItsContent) {
  EXPECT_TRUE(is_memory_snapshot(kFailed));
  EXPECT_FALSE(is_memory_snapshot(TBTRACE_TEST_DATA "/gpu_step.json"));
  EXPECT_FALSE(is_memory_snapshot(TBTRACE_TEST_DATA));
  EXPECT_FALSE(is_memory_snapshot("-"));
  EXPECT_THAT(find_memory_snapshots({TBTRACE_TEST_DATA}),
              ElementsAre(kFailed, TBTRACE_TEST_DATA "/memory_snapshot.pickle"));
}

TEST(MemorySnapshot, HasEntriesAndNoIssues) {
  const MemorySnapshot snapshot = failed();
  EXPECT_EQ(snapshot.entry_count(), 41U);
  EXPECT_TRUE(snapshot.issues().empty());
  EXPECT_EQ(snapshot.rank(), std::nullopt);
  EXPECT_EQ(&snapshot.data(), &MemorySnapshot(snapshot).data());
}

TEST(MemorySnapshot, RowsAddUpToTheirTotal) {
  const AnalysisReport report = *memory_snapshot_report(failed());
  ASSERT_EQ(report.table.rows.size(), 1U);
  EXPECT_THAT(report.table.rows[0], Contains(Cell(std::string("cache.py(12): remember"))));
  EXPECT_EQ(report.totals[0].second, Cell(std::int64_t{10} << 20));
  EXPECT_THAT(report.notes, Contains(HasSubstr("expandable_segments:True")));
}

TEST(MemorySnapshot, StacksHaveAllThatIsAllocated) {
  const StackTree stacks = *memory_snapshot_stacks(failed());
  EXPECT_EQ(stacks.unit(), "bytes");
  EXPECT_EQ(stacks.total(), std::int64_t{10} << 20);
  EXPECT_FALSE(memory_snapshot_stacks(failed(), {{"at", std::string("never")}}).ok());
}

TEST(MemorySnapshot, RefusesOptionsThatItDoesNotHave) {
  const auto message = [](const OptionValues& options) {
    return memory_snapshot_report(failed(), options).status().message();
  };
  EXPECT_THAT(message({{"view", std::string("nothing")}}), HasSubstr("view takes 'alive'"));
  EXPECT_THAT(message({{"by", std::vector<std::string>{"colour"}}}), HasSubstr("by takes 'line'"));
  EXPECT_THAT(message({{"steps", StepRange{1, 2}}}), HasSubstr("does not take the option 'steps'"));
}

TEST(MemorySnapshot, SaysWhyAnAllocationFailed) {
  EXPECT_THAT(
      memory_snapshot_sentences(failed()),
      testing::AllOf(Contains(HasSubstr("ran out of memory at train.py(31): evaluate")),
                     Contains(HasSubstr("10.00 MiB (100.00 %) by cache.py(12): remember"))));
}

TEST(MemorySnapshot, DoesNotDifferFromItself) {
  const AnalysisReport report = *memory_snapshot_difference(failed(), failed());
  EXPECT_EQ(report.totals[2].second, Cell(std::int64_t{0}));
  EXPECT_FALSE(memory_snapshot_difference(failed(), failed(), {{"at", std::string("never")}}).ok());
}

}  // namespace
}  // namespace tbtrace
