// Baselines: what is in one, its size, and damage.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/diff.h>

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::size_t kOperator = static_cast<std::size_t>(DiffBy::op);

/// A run of many operators: the first ones have most of the time.
RunFigures run_of(std::size_t operators, std::int64_t step_ns) {
  RunFigures run;
  run.name = "run \"1\"";
  run.traces = 2;
  run.devices = {"GPU <b>"};
  run.options = {"record_shapes"};
  run.world_size = 8;
  run.has_device_work = true;
  run.has_steps = true;
  run.damaged = 1;
  run.quantities = {{"gpu_idle_ns", 2.5}, {"gpu_launches", 7}};
  std::int64_t sum = 0;
  for (std::size_t number = 0; number < operators; ++number) {
    const auto ns = static_cast<std::int64_t>(step_ns >> (number / 2 + 1));
    run.rows[kOperator].push_back({"op " + std::to_string(number), ns, number + 1});
    sum += ns;
  }
  run.step_ns = {sum};
  return run;
}

class BaselineFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "baseline_test";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(BaselineFile, HasTheRunsThatWereWritten) {
  const std::vector<RunFigures> runs = {run_of(10, 1'000'000), run_of(12, 2'000'000)};
  ASSERT_TRUE(write_baseline(runs, path("base.tbb")).ok());
  EXPECT_TRUE(*is_baseline_file(path("base.tbb")));
  const Result<std::vector<RunFigures>> read = read_baseline(path("base.tbb"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_THAT(*read, SizeIs(2));
  const RunFigures& run = read->front();
  EXPECT_EQ(run.name, runs[0].name);
  EXPECT_EQ(run.devices, runs[0].devices);
  EXPECT_EQ(run.options, runs[0].options);
  EXPECT_EQ(run.world_size, runs[0].world_size);
  EXPECT_EQ(run.step_ns, runs[0].step_ns);
  EXPECT_EQ(run.traces, 2U);
  EXPECT_EQ(run.damaged, 1U);
  EXPECT_TRUE(run.has_device_work);
  ASSERT_THAT(run.quantities, SizeIs(2));
  EXPECT_EQ(run.quantities[0].value, 2.5);
}

TEST_F(BaselineFile, KeepsRowsTo99PercentAndTheRestAsOneRow) {
  const RunFigures run = run_of(30, 1 << 20);
  ASSERT_TRUE(write_baseline({&run, 1}, path("base.tbb")).ok());
  const RunFigures read = read_baseline(path("base.tbb"))->front();
  std::int64_t sum = 0;
  std::int64_t rest = 0;
  for (const RunRow& row : read.rows[kOperator]) {
    sum += row.ns;
    if (row.key == "[rest]") rest = row.ns;
  }
  EXPECT_EQ(sum, run.step_ns.front());
  EXPECT_GT(rest, 0);
  EXPECT_LE(static_cast<double>(rest), 0.01 * static_cast<double>(sum));
  // What is compared with it has the same rest.
  const Result<Diff> found = diff({&read, 1}, {&run, 1});
  for (const DiffRow& row : found->rows[kOperator]) EXPECT_EQ(row.change_ns, 0) << row.key;
  EXPECT_LT(found->rows[kOperator].size(), 30U);
}

/// Also of what has another name now, and of runs that differ in their smallest rows.
TEST_F(BaselineFile, AddsUpWithWhatIsComparedWithIt) {
  std::vector<RunFigures> runs = {run_of(30, 1 << 20), run_of(30, 1 << 20), run_of(30, 1 << 20)};
  for (std::size_t number = 0; number < runs.size(); ++number) {
    RunFigures& run = runs[number];
    std::vector<RunRow>& kernels = run.rows[static_cast<std::size_t>(DiffBy::kernel)];
    kernels = {{"gemm", run.step_ns[0] - 3000, 1, "aten::mm", "[[1]]"},
               {"small_" + std::to_string(number), 2000, 1, "aten::add", ""},
               {"relu_old", 1000, 1, "aten::relu", ""}};
  }
  ASSERT_TRUE(write_baseline(runs, path("base.tbb")).ok());
  RunFigures changed = runs[0];
  changed.rows[static_cast<std::size_t>(DiffBy::kernel)][2].key = "relu_new";
  const std::vector<RunFigures> base = *read_baseline(path("base.tbb"));
  const Result<Diff> found = diff(base, {&changed, 1});
  for (const std::size_t by : {kOperator, static_cast<std::size_t>(DiffBy::kernel)}) {
    double before = 0;
    double after = 0;
    for (const DiffRow& row : found->rows[by]) {
      before += row.base_ns;
      after += row.new_ns;
    }
    EXPECT_NEAR(before, found->step.base_ns, 1e-3);
    EXPECT_NEAR(after, found->step.new_ns, 1e-3);
  }
  // A run of the baseline against it: nothing changed.
  const Result<Diff> own = diff(base, {&runs[0], 1});
  for (const DiffRow& row : own->rows[kOperator]) EXPECT_EQ(row.change_ns, 0) << row.key;
}

/// What took the place of a row that the baseline has, and is too small for a row of its own.
TEST_F(BaselineFile, AddsUpWithARowThatHasAnotherNameAndBecameSmall) {
  constexpr std::size_t kKernel = static_cast<std::size_t>(DiffBy::kernel);
  RunFigures run;
  run.has_steps = true;
  run.step_ns = {1000};
  run.rows[kKernel] = {{"gemm", 890, 1, "aten::mm", "[[1]]"},
                       {"relu_old", 80, 1, "aten::relu", ""},
                       {"small", 30, 1, "aten::add", ""}};
  ASSERT_TRUE(write_baseline({&run, 1}, path("base.tbb")).ok());
  RunFigures changed = run;
  changed.rows[kKernel] = {{"gemm", 960, 1, "aten::mm", "[[1]]"},
                           {"relu_new", 10, 1, "aten::relu", ""},
                           {"small", 30, 1, "aten::add", ""}};
  const std::vector<RunFigures> base = *read_baseline(path("base.tbb"));
  double before = 0;
  double after = 0;
  const Result<Diff> found = diff(base, {&changed, 1});
  for (const DiffRow& row : found->rows[kKernel]) {
    before += row.base_ns;
    after += row.new_ns;
  }
  EXPECT_EQ(before, 1000);
  EXPECT_EQ(after, 1000);
}

TEST_F(BaselineFile, KeepsARowThatNotEveryRunHas) {
  std::vector<RunFigures> runs = {run_of(4, 1'000'000), run_of(4, 1'000'000)};
  runs[0].rows[kOperator].push_back({"now and then", 300'000, 1});
  ASSERT_TRUE(write_baseline(runs, path("base.tbb")).ok());
  const Result<Diff> found = diff(*read_baseline(path("base.tbb")), {&runs[1], 1});
  const std::vector<DiffRow>& rows = found->rows[kOperator];
  const auto row = std::ranges::find(rows, "now and then", &DiffRow::key);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->base_ns, 150'000);
  EXPECT_EQ(row->new_ns, 0);
}

TEST_F(BaselineFile, HasAtMost100KB) {
  std::vector<RunFigures> runs;
  for (int number = 0; number < 20; ++number) {
    RunFigures run;
    run.has_steps = true;
    std::uint64_t state = 1 + static_cast<std::uint64_t>(number);
    for (auto& rows : run.rows) {
      for (int row = 0; row < 2000; ++row) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        rows.push_back({"operator of run " + std::to_string(state), 1 << (row % 20), 1});
      }
    }
    run.step_ns = {1'000'000};
    runs.push_back(run);
  }
  const Result<std::string> too_much = baseline_bytes(runs);
  EXPECT_THAT(too_much.status().message(), HasSubstr("do not fit"));
  const Result<std::string> bytes =
      baseline_bytes(std::vector<RunFigures>(30, run_of(40, 1 << 30)));
  ASSERT_TRUE(bytes.ok());
  EXPECT_LE(bytes->size(), 100'000U);
}

TEST_F(BaselineFile, RefusesWhatIsNoneOrDamaged) {
  EXPECT_FALSE(baseline_bytes({}).ok());
  const std::string whole =
      R"({"schema": "tbtrace.baseline/1", "runs": [{"name": "a", "traces": 1, "devices": [], )"
      R"("options": [], "world_size": null, "has_device_work": false, "has_steps": true, )"
      R"("damaged": 0, "step_ns": [5], "rows": {"part": [["cpu_op", 5, 1]], "operator": [], )"
      R"("shape": [], "kernel": [], "module": [], "line": []}, "quantities": {}}]})";
  ASSERT_TRUE(parse_baseline(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_baseline(whole.substr(0, size)).ok()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char wrong : {'"', '9', '[', '\0'}) {
      std::string changed = whole;
      changed[at] = wrong;
      static_cast<void>(parse_baseline(changed));  // must not crash
    }
  }
  std::string newer = whole;
  newer[whole.find("/1") + 1] = '2';
  EXPECT_THAT(parse_baseline(newer).status().message(), HasSubstr("another version"));
  std::ofstream(path("other.json")) << R"({"traceEvents": []})";
  EXPECT_FALSE(*is_baseline_file(path("other.json")));
  EXPECT_FALSE(is_baseline_file(path("none")).ok());
}

}  // namespace
}  // namespace tbtrace
