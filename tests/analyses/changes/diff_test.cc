// Comparisons: sums, verdicts, circumstances, limits.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/diff.h>

#include "analyses/random_recording.h"
#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

using fixtures::ChromeEvent;
using fixtures::op;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::size_t place(DiffBy by) { return static_cast<std::size_t>(by); }

RunFigures figures_of(const Trace& trace) {
  RunSum sum("run");
  const Status added = sum.add(trace);
  EXPECT_TRUE(added.ok()) << added.message();
  return sum.figures();
}

Trace read(const std::vector<ChromeEvent>& events) {
  return fixtures::read(fixtures::trace_text(events),
                        {.threads = 1, .arguments = diff_arguments()});
}

/// A run whose only operator takes all of its steps.
RunFigures run_with(double step_ms, const std::string& name = "aten::mm") {
  RunFigures run;
  run.name = "run";
  run.has_steps = true;
  const auto ns = static_cast<std::int64_t>(std::llround(step_ms * 1e6));
  run.step_ns = {ns, ns};
  for (auto& rows : run.rows) rows = {{name, 2 * ns, 2}};
  return run;
}

std::vector<RunFigures> runs_with(const std::vector<double>& step_ms) {
  std::vector<RunFigures> runs;
  for (const double ms : step_ms) runs.push_back(run_with(ms));
  return runs;
}

std::vector<std::string> warnings_of(const RunFigures& before, const RunFigures& after) {
  const Result<Diff> found = diff({&before, 1}, {&after, 1});
  EXPECT_NE(found->comparable, Comparable::no);
  return found->reasons;
}

const std::vector<double> kTenMs = {10.0, 10.02, 9.98, 10.01, 9.99};
const std::vector<double> kTenMsAgain = {10.005, 10.015, 9.985, 10.025, 9.975};
const std::vector<double> kElevenMs = {11.0, 11.02, 10.98, 11.01, 10.99};

/// For every division the rows add up to the step, on both sides, and their changes to its change.
TEST(Diff, AddsUpOverRandomPairs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RunFigures before = figures_of(RandomRecording(seed, {.arguments = true}).make());
    const RunFigures after = figures_of(RandomRecording(seed + 1, {.arguments = true}).make());
    for (const RunFigures& run : {before, after}) {
      std::int64_t steps = 0;
      for (const std::int64_t ns : run.step_ns) steps += ns;
      for (const auto& rows : run.rows) {
        std::int64_t sum = 0;
        for (const RunRow& row : rows) sum += row.ns;
        EXPECT_EQ(sum, steps) << seed;
      }
    }
    const Result<Diff> found = diff({&before, 1}, {&after, 1});
    ASSERT_TRUE(found.ok());
    const double change = found->step.new_ns - found->step.base_ns;
    for (const auto& rows : found->rows) {
      double sum = 0;
      for (const DiffRow& row : rows) sum += row.change_ns;
      EXPECT_NEAR(sum, change, 1e-3) << seed;
    }
  }
}

TEST(Diff, OfARecordingWithItselfHasNoChange) {
  const RunFigures run = figures_of(RandomRecording(5, {}).make());
  const Result<Diff> found = diff({&run, 1}, {&run, 1});
  EXPECT_EQ(found->step.change, 0);
  for (const auto& rows : found->rows) {
    for (const DiffRow& row : rows) EXPECT_EQ(row.change_ns, 0);
  }
}

TEST(Diff, OfTheSameRecordingSaysNothingOfChance) {
  const Result<Diff> found = diff(runs_with({10}), runs_with({10}), {.run_noise = 0.01});
  EXPECT_TRUE(found->is_same_recording);
  EXPECT_EQ(found->comparable, Comparable::yes);
  EXPECT_THAT(found->reasons, IsEmpty());
  EXPECT_EQ(found->verdict, DiffVerdict::same);
  EXPECT_EQ(found->why, "no change: both sides are the same recording");
  EXPECT_FALSE(found->step.low || found->step.steps_low || found->step.resolvable);
  for (const auto& rows : found->rows) {
    for (const DiffRow& row : rows) EXPECT_EQ(row.verdict, DiffVerdict::same);
  }
  const LimitResult limit = check_diff_limit(*found, *parse_diff_limit("step_time>+0%"));
  EXPECT_EQ(limit.verdict, LimitVerdict::kept);
  EXPECT_EQ(limit.sentence, "step_time>+0%: no change: both sides are the same recording");
  EXPECT_TRUE(diff(runs_with({10, 11}), runs_with({11, 10}))->is_same_recording);
  EXPECT_FALSE(diff(runs_with({10, 11}), runs_with({10}))->is_same_recording);
  EXPECT_FALSE(diff(runs_with({10, 11}), runs_with({10, 12}))->is_same_recording);
}

TEST(Diff, OtherRecordingsWithTheSameTimesAreNotTheSame) {
  const auto is_same = [](const RunFigures& one, const RunFigures& other) {
    EXPECT_EQ(diff({&one, 1}, {&other, 1})->is_same_recording,
              diff({&other, 1}, {&one, 1})->is_same_recording);
    return diff({&one, 1}, {&other, 1})->is_same_recording;
  };
  RunFigures one = run_with(10);
  one.quantities = {{"gpu_memory_peak_bytes", 100}};
  RunFigures other = one;
  EXPECT_TRUE(is_same(one, other));
  other.quantities = {{"gpu_memory_peak_bytes", 200}};
  EXPECT_FALSE(is_same(one, other));
  other = one;
  one.start_ns = 5;
  EXPECT_TRUE(is_same(one, other)) << "one does not know when it began";
  other.start_ns = 6;
  EXPECT_FALSE(is_same(one, other));
  other = one;
  other.is_reduced = true;
  EXPECT_TRUE(is_same(one, other));
  ++other.rows[place(DiffBy::op)].front().count;
  EXPECT_FALSE(is_same(one, other)) << "a row that both have differs";
}

TEST(Diff, IsInconclusiveWithOneRunASide) {
  const Result<Diff> found = diff(runs_with({10}), runs_with({20}));
  EXPECT_EQ(found->verdict, DiffVerdict::inconclusive);
  EXPECT_FALSE(found->step.low);
  EXPECT_THAT(found->why, HasSubstr("One run a side does not show"));
}

TEST(Diff, UsesTheNoiseThatIsKnown) {
  const DiffOptions options = {.run_noise = 0.01};
  EXPECT_EQ(diff(runs_with({10}), runs_with({11}), options)->verdict, DiffVerdict::slower);
  EXPECT_EQ(diff(runs_with({11}), runs_with({10}), options)->verdict, DiffVerdict::faster);
  EXPECT_EQ(diff(runs_with({10}), runs_with({10.2}), options)->verdict, DiffVerdict::inconclusive);
}

TEST(Diff, JudgesByTheVariationBetweenRuns) {
  const Result<Diff> slower = diff(runs_with(kTenMs), runs_with(kElevenMs));
  EXPECT_EQ(slower->verdict, DiffVerdict::slower);
  EXPECT_NEAR(slower->step.change, 0.1, 1e-6);
  EXPECT_LT(*slower->step.low, 0.1);
  EXPECT_GT(*slower->step.high, 0.1);
  const DiffRow& row = slower->rows[place(DiffBy::op)].front();
  EXPECT_EQ(row.key, "aten::mm");
  EXPECT_EQ(row.verdict, DiffVerdict::slower);
  EXPECT_NEAR(*row.share, 1, 1e-9);
  EXPECT_EQ(diff(runs_with(kTenMs), runs_with(kTenMsAgain))->verdict, DiffVerdict::same);
}

TEST(Diff, CallsNoRowSlowerUnlessTheStepIs) {
  std::vector<RunFigures> before = runs_with({10, 13, 8, 12, 9});
  std::vector<RunFigures> after = runs_with({10.1, 12.9, 8.1, 12.1, 8.9});
  for (std::size_t run = 0; run < before.size(); ++run) {
    const auto more = static_cast<std::int64_t>(run);
    before[run].rows[place(DiffBy::op)][0].ns = 4'000'000 + more;
    after[run].rows[place(DiffBy::op)][0].ns = 6'000'000 + more;
  }
  const Result<Diff> found = diff(before, after);
  EXPECT_EQ(found->verdict, DiffVerdict::inconclusive);
  const DiffRow& row = found->rows[place(DiffBy::op)].front();
  EXPECT_GT(*row.low_ns, 0);
  EXPECT_EQ(row.verdict, DiffVerdict::inconclusive);
}

TEST(Diff, SaysWhatIsOnOneSideOnly) {
  std::vector<RunFigures> before = runs_with({10});
  std::vector<RunFigures> after = runs_with({10});
  before[0].rows[place(DiffBy::kernel)][0].key = "gone";
  after[0].rows[place(DiffBy::kernel)][0].key = "added";
  const Result<Diff> found = diff(before, after);
  for (const DiffRow& row : found->rows[place(DiffBy::kernel)]) {
    EXPECT_THAT(row.matched_by, IsEmpty()) << row.key;
  }
  EXPECT_EQ(found->rows[place(DiffBy::op)].front().matched_by, "name");
}

TEST(Diff, RefusesWhatIsOfDifferentThings) {
  const auto reasons_of = [](const RunFigures& before, const RunFigures& after) {
    const Result<Diff> found = diff({&before, 1}, {&after, 1}, {.run_noise = 0.01});
    EXPECT_EQ(found->comparable, Comparable::no);
    EXPECT_EQ(found->verdict, DiffVerdict::inconclusive);
    return found->reasons;
  };
  RunFigures gpu = run_with(10);
  gpu.has_device_work = true;
  EXPECT_THAT(reasons_of(run_with(10), gpu), ElementsAre(HasSubstr("Only one side has GPU work")));
  RunFigures whole = run_with(10);
  whole.has_steps = false;
  EXPECT_THAT(reasons_of(run_with(10), whole), ElementsAre(HasSubstr("Only one side has steps")));
  EXPECT_THAT(reasons_of(run_with(10), run_with(10, "aten::conv2d")),
              ElementsAre(HasSubstr("The operators are others")));
  const std::vector<RunFigures> twice = runs_with({10, 10});
  EXPECT_THAT(diff(twice, runs_with({10, 11}))->reasons,
              ElementsAre("Two runs of a side are the same recording."));
  std::vector<RunFigures> mixed = runs_with({10, 11});
  mixed[1].has_steps = false;
  EXPECT_EQ(diff(mixed, runs_with({10, 11.5}))->comparable, Comparable::no);
  RunFigures empty;
  EXPECT_THAT(reasons_of(run_with(10), empty), ElementsAre(HasSubstr("neither steps nor")));
}

TEST(Diff, ComparesTheSameKernelsUnderOtherOperators) {
  RunFigures eager = run_with(10);
  RunFigures graph = run_with(5, "cudaGraphLaunch");
  for (RunFigures* const run : {&eager, &graph}) {
    run->has_device_work = true;
    run->rows[place(DiffBy::kernel)] = {{"gemm", 4'000'000, 80},
                                        {"[no device work]", 6'000'000, 0}};
  }
  EXPECT_THAT(warnings_of(eager, graph), IsEmpty()) << "nothing is known of launches";
  eager.quantities = {
      {"gpu_busy_ns", 2e6}, {"gpu_idle_ns", 8e6}, {"gpu_activities", 80}, {"gpu_launches", 80}};
  graph.quantities = {
      {"gpu_busy_ns", 2e6}, {"gpu_idle_ns", 3e6}, {"gpu_activities", 80}, {"gpu_launches", 1}};
  EXPECT_THAT(warnings_of(eager, graph),
              ElementsAre("The GPU's work is launched in another way: by 80 calls per step before "
                          "and by 1 now, for 80 and 80 kernels and copies. It takes 2.00 ms of GPU "
                          "time before and 2.00 ms now; the step is shorter because the GPU no "
                          "longer waits for launches: it is idle for 3.00 ms instead of 8.00 ms."));
  EXPECT_THAT(warnings_of(graph, eager), ElementsAre(Not(HasSubstr("shorter"))));
  graph.quantities[1].value = 7.9e6;
  EXPECT_THAT(warnings_of(eager, graph), ElementsAre(Not(HasSubstr("shorter"))))
      << "its idle time explains nothing";
  graph.rows[place(DiffBy::kernel)] = {{"conv", 4'000'000, 80}};
  EXPECT_EQ(diff({&eager, 1}, {&graph, 1})->comparable, Comparable::no) << "other kernels";
}

TEST(Diff, WarnsOfOtherCircumstances) {
  RunFigures before = run_with(10);
  RunFigures after = run_with(10);
  before.step_ns.push_back(11'000'000);
  before.world_size = 8;
  before.devices = {"A100"};
  after.devices = {"V100"};
  after.options = {"with_stack"};
  after.world_size = 2;
  after.damaged = 1;
  const Result<Diff> found = diff({&before, 1}, {&after, 1});
  EXPECT_EQ(found->comparable, Comparable::warning);
  EXPECT_THAT(found->reasons,
              ElementsAre("Another GPU: A100 before, V100 now.",
                          "Another number of ranks: 8 before, 2 now.",
                          HasSubstr("none before, with_stack now"), HasSubstr("is damaged")));
}

TEST(Diff, SaysThatOneSideIsCompiled) {
  const RunFigures eager = run_with(10);
  RunFigures compiled = run_with(8, "CompiledFunction");
  EXPECT_THAT(warnings_of(eager, compiled),
              ElementsAre(HasSubstr("Whether it is the same model cannot be seen.")));
  EXPECT_EQ(diff({&eager, 1}, {&compiled, 1})->comparable, Comparable::warning);
  RunFigures counted = eager;
  counted.quantities = {{"flops", 1e9}};
  compiled.quantities = {{"flops", 1.001e9}};
  EXPECT_THAT(warnings_of(counted, compiled),
              ElementsAre(HasSubstr("as many FLOPs on both sides")));
  EXPECT_THAT(diff({&counted, 1}, {&compiled, 1})->quantities, Not(IsEmpty()));
  compiled.quantities = {{"flops", 0.3e9}};  // not all of it can be counted
  EXPECT_THAT(diff({&counted, 1}, {&compiled, 1})->quantities, IsEmpty());
  EXPECT_THAT(warnings_of(compiled, counted), ElementsAre(HasSubstr("Only the base is compiled")));
}

TEST(Diff, SaysThatStepsTakeOtherNumbersOfSamples) {
  RunFigures before = run_with(10);
  RunFigures after = run_with(11);
  before.quantities = {{"flops", 1e9}, {"samples", 16}};
  after.quantities = {{"flops", 2e9}, {"samples", 32}};
  EXPECT_THAT(warnings_of(before, after),
              ElementsAre("Another number of samples in a step: 16 before, 32 now."));
  // The first layer was cut, and the work is the same.
  after.quantities = {{"flops", 1e9}, {"samples", 4096}};
  EXPECT_THAT(warnings_of(before, after), IsEmpty());
}

TEST(Diff, NoticesARecordingThatIsInTheBaseline) {
  RunFigures kept = run_with(10);
  kept.is_reduced = true;
  kept.rows[place(DiffBy::kernel)].clear();
  const RunFigures whole = run_with(10);
  EXPECT_TRUE(diff({&kept, 1}, {&whole, 1})->is_same_recording);
}

TEST(Diff, SaysThatRunsDrift) {
  const std::vector<double> up = {10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7};
  std::vector<double> up_again = up;
  for (double& ms : up_again) ms += 0.001;
  EXPECT_THAT(diff(runs_with(up), runs_with(up_again))->why, HasSubstr("Runs drift by"));
  EXPECT_THAT(diff(runs_with(kTenMs), runs_with(kElevenMs))->why, Not(HasSubstr("drift")));
}

TEST(Diff, SaysThatOneSideWasRecordedAfterTheOther) {
  std::vector<RunFigures> before = runs_with(kTenMs);
  std::vector<RunFigures> after = runs_with(kElevenMs);
  const auto start_at = [](std::vector<RunFigures>& runs, std::int64_t first, std::int64_t apart) {
    for (RunFigures& run : runs) run.start_ns = std::exchange(first, first + apart);
  };
  const auto is_said = [&] {
    return diff(before, after)->why.find("recorded after the other") != std::string::npos;
  };
  EXPECT_FALSE(is_said());  // no file knows
  start_at(before, 100, 10);
  start_at(after, 200, 10);
  EXPECT_TRUE(is_said());
  start_at(after, 20, 10);
  EXPECT_TRUE(is_said());
  start_at(after, 105, 10);
  EXPECT_FALSE(is_said());  // in turn
  start_at(after, 200, 10);
  after = before;
  start_at(after, 200, 10);
  EXPECT_FALSE(is_said());  // nothing to explain
}

TEST(Diff, FailsWithoutRuns) { EXPECT_FALSE(diff({}, runs_with({10})).ok()); }

TEST(RunSum, CountsOperatorsKernelsAndTheTimeOfSteps) {
  const auto step = [](const char* name, const char* start) {
    return op(name, start, "100").with("cat", "\"user_annotation\"");
  };
  ChromeEvent kernel = op("gemm", "150", "30").with("cat", "\"kernel\"").with("tid", "7");
  kernel.with("pid", "0").arg("correlation", "3").arg("device", "0").arg("stream", "7");
  ChromeEvent launch = op("cudaLaunchKernel", "125", "5").with("cat", "\"cuda_runtime\"");
  launch.arg("correlation", "3");
  const RunFigures run =
      figures_of(read({step("ProfilerStep#1", "0"), step("ProfilerStep#2", "100"),
                       op("aten::mm", "120", "20"), op("aten::relu", "10", "50"), launch, kernel}));
  std::map<std::string, RunRow> by_operator;
  for (const RunRow& row : run.rows[place(DiffBy::op)]) by_operator[row.key] = row;
  EXPECT_EQ(by_operator["aten::relu"].ns, 50'000);
  EXPECT_EQ(by_operator["aten::mm"].ns, 20'000 + 30'000);  // with its kernel
  EXPECT_EQ(by_operator["aten::mm"].count, 1U);
  EXPECT_EQ(by_operator["[nothing ran]"].ns, 200'000 - 100'000);
  EXPECT_EQ(run.rows[place(DiffBy::kernel)].back().key, "gemm");
  EXPECT_EQ(run.rows[place(DiffBy::kernel)].back().ns, 30'000);
  EXPECT_THAT(run.step_ns, ElementsAre(100'000, 100'000));
}

TEST(RunSum, CountsWorkInTheStepThatLaunchedIt) {
  const auto step = [](const char* name, const char* start) {
    return op(name, start, "100").with("cat", "\"user_annotation\"");
  };
  const auto launch = [](const char* start, const char* id) {
    return op("cudaLaunchKernel", start, "5")
        .with("cat", "\"cuda_runtime\"")
        .arg("correlation", id);
  };
  const auto kernel = [](const char* name, const char* start, const char* id) {
    ChromeEvent event = op(name, start, "20").with("cat", "\"kernel\"").with("tid", "7");
    event.with("pid", "0").arg("correlation", id).arg("device", "0").arg("stream", "7");
    return event;
  };
  ChromeEvent load = op("load_batch", "105", "5").with("cat", "\"user_annotation\"");
  const RunFigures run = figures_of(
      read({launch("10", "1"), kernel("before", "120", "1"), step("ProfilerStep#1", "100"), load,
            launch("115", "2"), launch("125", "3"), kernel("within", "145", "2"),
            kernel("after", "230", "3"), op("aten::mm", "114", "6")}));
  std::map<std::string, std::uint64_t> counts;
  for (const RunRow& row : run.rows[place(DiffBy::kernel)]) counts[row.key] = row.count;
  EXPECT_EQ(counts["before"], 0U);
  EXPECT_EQ(counts["within"], 1U);
  EXPECT_EQ(counts["after"], 1U);
  counts.clear();
  for (const RunRow& row : run.rows[place(DiffBy::op)]) counts[row.key] = row.count;
  EXPECT_EQ(counts["load_batch"], 1U);
  EXPECT_EQ(counts["ProfilerStep#1"], 0U);
}

TEST(RunSum, CountsNoWorkThatWasLaunchedBeforeTheRecording) {
  const auto kernel = [](const char* name, const char* start, const char* id) {
    ChromeEvent event = op(name, start, "15").with("cat", "\"kernel\"").with("tid", "7");
    event.with("pid", "0").arg("correlation", id).arg("device", "0").arg("stream", "7");
    return event;
  };
  ChromeEvent launch = op("cudaLaunchKernel", "115", "5").with("cat", "\"cuda_runtime\"");
  launch.arg("correlation", "2");
  const RunFigures run =
      figures_of(read({op("ProfilerStep#1", "100", "100").with("cat", "\"user_annotation\""),
                       launch, kernel("left over", "102", "9"), kernel("launched", "130", "2"),
                       kernel("launch lost", "150", "8")}));
  std::map<std::string, std::uint64_t> counts;
  for (const RunRow& row : run.rows[place(DiffBy::kernel)]) counts[row.key] = row.count;
  EXPECT_EQ(counts.at("left over"), 0U);
  EXPECT_EQ(counts.at("launched"), 1U);
  EXPECT_EQ(counts.at("launch lost"), 1U);
}

TEST(RunSum, HasNoSamplesOfCompiledCode) {
  const auto samples_with = [](const char* name) {
    ChromeEvent layer = op("aten::linear", "120", "20");
    layer.arg("Input Dims", "[[16, 8], [4, 8]]").arg("Input type", R"(["float", "float"])");
    const RunFigures run =
        figures_of(read({op("ProfilerStep#1", "100", "100").with("cat", "\"user_annotation\""),
                         op(name, "110", "50"), layer}));
    return std::ranges::count(run.quantities, "samples", &RunQuantity::name);
  };
  EXPECT_EQ(samples_with("aten::sum"), 1);
  EXPECT_EQ(samples_with("CompiledFunction"), 0);
}

TEST(RunSum, CountsNoInstantOfOverlappingStepsTwice) {
  const auto step = [](const char* name, const char* start) {
    return op(name, start, "100").with("cat", "\"user_annotation\"");
  };
  ChromeEvent launch = op("cudaLaunchKernel", "50", "5").with("cat", "\"cuda_runtime\"");
  launch.arg("correlation", "3");
  ChromeEvent kernel = op("gemm", "60", "90").with("cat", "\"kernel\"").with("tid", "7");
  kernel.with("pid", "0").arg("correlation", "3").arg("device", "0").arg("stream", "7");
  ChromeEvent next = op("cudaLaunchKernel", "110", "5").with("cat", "\"cuda_runtime\"");
  next.arg("correlation", "4");
  ChromeEvent other = op("relu", "155", "30").with("cat", "\"kernel\"").with("tid", "7");
  other.with("pid", "0").arg("correlation", "4").arg("device", "0").arg("stream", "7");
  const RunFigures run = figures_of(read(
      {step("ProfilerStep#1", "0"), step("ProfilerStep#2", "100"), launch, kernel, next, other}));
  std::int64_t sum = 0;
  for (const std::int64_t ns : run.step_ns) sum += ns;
  EXPECT_EQ(sum, 200'000);
  std::map<std::string, std::int64_t> by_kernel;
  for (const RunRow& row : run.rows[place(DiffBy::kernel)]) by_kernel[row.key] = row.ns;
  EXPECT_EQ(by_kernel["gemm"], 90'000);
}

TEST(RunSum, GivesTheTimeToTheThreadOfTheSteps) {
  const auto on = [](ChromeEvent event, const char* process, const char* thread) {
    return event.with("pid", process).with("tid", thread);
  };
  const RunFigures run =
      figures_of(read({op("ProfilerStep#1", "0", "100").with("cat", "\"user_annotation\""),
                       op("aten::mm", "10", "50"), on(op("aten::decode", "20", "30"), "1", "2"),
                       on(op("aten::other", "30", "60"), "9", "9")}));
  std::map<std::string, std::int64_t> by_operator;
  for (const RunRow& row : run.rows[place(DiffBy::op)]) by_operator[row.key] = row.ns;
  EXPECT_EQ(by_operator["aten::mm"], 50'000);
  EXPECT_EQ(by_operator["aten::decode"], 0);
  EXPECT_EQ(by_operator["aten::other"], 30'000) << "while nothing else runs";
}

TEST(RunSum, GivesTheTimeToAutogradWhileTheStepsOnlyHaveAnAnnotation) {
  const auto on = [](ChromeEvent event, const char* process, const char* thread) {
    return event.with("pid", process).with("tid", thread);
  };
  const auto annotation = [](const char* name, const char* start, const char* duration) {
    return op(name, start, duration).with("cat", "\"user_annotation\"");
  };
  // The others start last.
  const RunFigures run = figures_of(read(
      {annotation("ProfilerStep#1", "0", "100"), annotation("backward", "0", "90"),
       on(op("autograd::engine::evaluate_function: Mm", "10", "40"), "1", "2"),
       on(op("aten::decode", "20", "50"), "1", "3"), on(op("aten::other", "30", "60"), "9", "9")}));
  std::map<std::string, std::int64_t> by_operator;
  for (const RunRow& row : run.rows[place(DiffBy::op)]) by_operator[row.key] = row.ns;
  EXPECT_EQ(by_operator["autograd::engine::evaluate_function: Mm"], 40'000);
  EXPECT_EQ(by_operator["backward"], 50'000);
  EXPECT_EQ(by_operator["aten::decode"], 0);
}

TEST(RunSum, GivesTheTimeToItsOwnProcessBeforeOthers) {
  const auto on = [](ChromeEvent event, const char* process, const char* thread) {
    return event.with("pid", process).with("tid", thread);
  };
  const RunFigures run = figures_of(read(
      {op("ProfilerStep#1", "0", "100").with("cat", "\"user_annotation\""),
       on(op("aten::decode", "20", "50"), "1", "3"), on(op("aten::other", "30", "60"), "9", "9")}));
  std::map<std::string, std::int64_t> by_operator;
  for (const RunRow& row : run.rows[place(DiffBy::op)]) by_operator[row.key] = row.ns;
  EXPECT_EQ(by_operator["aten::decode"], 50'000);
  EXPECT_EQ(by_operator["aten::other"], 20'000);
}

LimitVerdict checked(const Diff& found, const std::string& limit) {
  return check_diff_limit(found, *parse_diff_limit(limit)).verdict;
}

TEST(DiffLimit, IsJudgedByTheInterval) {
  const Diff found = *diff(runs_with(kTenMs), runs_with(kElevenMs));
  EXPECT_EQ(checked(found, "step_time>+3%"), LimitVerdict::exceeded);
  EXPECT_EQ(checked(found, "step_time>+20%"), LimitVerdict::kept);
  EXPECT_EQ(checked(found, "step_time>+10%"), LimitVerdict::inconclusive);
  EXPECT_EQ(checked(found, "operator:aten::mm>3%"), LimitVerdict::exceeded);
  EXPECT_EQ(checked(found, "operator:aten::none>3%"), LimitVerdict::inconclusive);
  const Diff single = *diff(runs_with({10}), runs_with({20}));
  EXPECT_EQ(checked(single, "step_time>+3%"), LimitVerdict::inconclusive);
}

TEST(DiffLimit, ComparesMemoryAndCountsAsTheyAre) {
  std::vector<RunFigures> before = runs_with({10});
  std::vector<RunFigures> after = runs_with({10});
  before[0].quantities = {{"gpu_memory_peak_bytes", 100}, {"gpu_launches", 0}};
  after[0].quantities = {{"gpu_memory_peak_bytes", 104}, {"gpu_launches", 1}};
  const Diff found = *diff(before, after);
  EXPECT_EQ(checked(found, "gpu_memory_peak>+5%"), LimitVerdict::kept);
  EXPECT_EQ(checked(found, "gpu_memory_peak>+3%"), LimitVerdict::exceeded);
  EXPECT_EQ(checked(found, "gpu_launches>+0%"), LimitVerdict::exceeded);
  EXPECT_EQ(checked(found, "gpu_idle>+0%"), LimitVerdict::inconclusive);
}

TEST(DiffLimit, NeedsAnIntervalOfTimes) {
  std::vector<RunFigures> before = runs_with(kTenMs);
  std::vector<RunFigures> after = runs_with(kElevenMs);
  for (std::size_t run = 0; run < before.size(); ++run) {
    before[run].quantities = {{"gpu_idle_ns", 1000 + static_cast<double>(run)}};
    after[run].quantities = {{"gpu_idle_ns", 1500 + static_cast<double>(run)}};
  }
  EXPECT_EQ(checked(*diff(before, after), "gpu_idle>+5%"), LimitVerdict::exceeded);
  const Diff single = *diff({&before[0], 1}, {&after[0], 1});
  EXPECT_EQ(checked(single, "gpu_idle>+5%"), LimitVerdict::inconclusive);
  EXPECT_EQ(limit_verdict_name(LimitVerdict::inconclusive), "inconclusive");
}

TEST(DiffLimit, KnowsKernelsByTheirOldNames) {
  Diff found = *diff(runs_with(kTenMs), runs_with(kElevenMs));
  found.rows[place(DiffBy::kernel)][0].base_key = "old";
  EXPECT_EQ(checked(found, "kernel:old>+3%"), LimitVerdict::exceeded);
}

TEST(DiffLimit, RefusesTextsThatAreNone) {
  for (const char* const text :
       {"", "step_time", "step_time>3", "step_time>x%", "step_time>-3%", "step_time<3%",
        "stp_time>3%", "part:kernle>3%", "operator:>3%", "step_time>nan%"}) {
    EXPECT_FALSE(parse_diff_limit(text).ok()) << text;
  }
  EXPECT_EQ(parse_diff_limit("kernel:a > b>+2.5%")->what, "kernel:a > b");
  EXPECT_DOUBLE_EQ(parse_diff_limit("step_time>+2.5%")->share, 0.025);
}

}  // namespace
}  // namespace tbtrace::analyses
