// Recordings that outlast their process, and flight recorders.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>
#include <tbtrace/recover.h>
#include <tbtrace/recovered.h>

#include "fixtures/whole_file.h"
#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// The lines of a trace but for those in which the recovered one has to differ.
std::vector<std::string> comparable_lines(const std::string& path) {
  const std::string text = fixtures::read_whole_file(path);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find("tbtrace_recovered") == std::string::npos) lines.push_back(std::move(line));
  }
  return lines;
}

void train(torch::nn::Sequential& model, torch::optim::SGD& optimizer) {
  const record_function range("train", {{"batch", 4}, {"stage", "warm"}});
  optimizer.zero_grad();
  model->forward(torch::ones({4, 8})).sum().backward();
  optimizer.step();
  counter("loss", 0.5);
  instant("checkpoint", {{"name", "a"}});
}

TEST(Journal, ARecoveredTraceIsTheOneThatIsExported) {
  const Folder folder;
  torch::nn::Sequential model(torch::nn::Linear(8, 8), torch::nn::ReLU(), torch::nn::Linear(8, 2));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  Profiler profiler({.activities = {Activity::cpu},
                     .record_shapes = true,
                     .profile_memory = true,
                     .with_flops = true,
                     .with_modules = true,
                     .all_threads = true,
                     .journal = {.directory = folder / "journal"}});
  profiler.attach(*model);
  profiler.start();
  profiler.add_metadata("run", "7");
  for (int step = 0; step < 3; ++step) train(model, optimizer);
  std::thread([] { torch::ones({3}).add_(1); }).join();
  profiler.stop();
  fs::copy(folder / "journal", folder / "left", fs::copy_options::recursive);
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "exported.json").ok());

  const auto recovery = recover(folder / "left", {.output = folder / "logs"});
  ASSERT_TRUE(recovery.ok()) << recovery.status().message();
  ASSERT_THAT(recovery->journals, SizeIs(1));
  ASSERT_THAT(recovery->journals[0].windows, SizeIs(1));
  const RecoveredWindow& window = recovery->journals[0].windows[0];
  ASSERT_TRUE(window.status.ok()) << window.status.message();
  EXPECT_FALSE(window.was_open);
  EXPECT_EQ(window.unfinished_ranges, 0U);
  const auto exported = comparable_lines(folder / "exported.json");
  const auto recovered = comparable_lines(window.path);
  ASSERT_EQ(recovered.size(), exported.size());
  for (std::size_t line = 0; line < exported.size(); ++line) {
    if (exported[line].find("\"traceName\"") != std::string::npos) continue;
    ASSERT_EQ(recovered[line], exported[line]) << "line " << line;
  }
  // It stays until the profiler ends.
  EXPECT_FALSE(fs::is_empty(folder / "journal"));
}

TEST(Journal, OfAProgramThatEndsAsItShouldNothingIsLeft) {
  const Folder folder;
  {
    Profiler profiler({.activities = {Activity::cpu},
                       .on_trace_ready = tensorboard_trace_handler(folder / "logs"),
                       .journal = {.directory = folder / "journal"}});
    profiler.start();
    torch::ones({2});
    profiler.stop();
  }
  EXPECT_TRUE(fs::is_empty(folder / "journal"));
  EXPECT_EQ(recover(folder / "journal").status().code(), StatusCode::unreadable_input);
}

TEST(Journal, AWindowThatCouldNotBeWrittenIsKept) {
  const Folder folder;
  std::vector<std::string> warnings;
  {
    Profiler profiler(
        {.activities = {Activity::cpu},
         .on_trace_ready = tensorboard_trace_handler("/proc/no/such/place"),
         .experimental = {.on_warning =
                              [&](std::string_view sentence) { warnings.emplace_back(sentence); }},
         .journal = {.directory = folder / "journal"}});
    profiler.start();
    torch::ones({2});
    profiler.stop();
    EXPECT_FALSE(profiler.wait_for_exports().ok());
  }
  EXPECT_THAT(warnings, Contains(HasSubstr("are kept in " + folder.path())));
  const auto recovery = recover(folder / "journal", {.output = folder / "logs", .remove = true});
  ASSERT_TRUE(recovery.ok());
  ASSERT_THAT(recovery->journals, SizeIs(1));
  ASSERT_THAT(recovery->journals[0].windows, SizeIs(1));
  EXPECT_TRUE(fs::exists(recovery->journals[0].windows[0].path));
  EXPECT_TRUE(recovery->journals[0].was_removed);
  EXPECT_TRUE(fs::is_empty(folder / "journal"));
}

TEST(Journal, ThatCannotBeMadeIsToldAndAllIsRecorded) {
  std::vector<std::string> warnings;
  Profiler profiler(
      {.activities = {Activity::cpu},
       .experimental = {.on_warning = [&](std::string_view text) { warnings.emplace_back(text); }},
       .journal = {.directory = "/proc/journal"}});
  profiler.start();
  torch::ones({2});
  profiler.stop();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("kept in memory only")));
  EXPECT_EQ(testing::count(profiler, "aten::ones"), 1);
}

TEST(Journal, OfARunningProcessIsLeftAlone) {
  const Folder folder;
  Profiler profiler({.activities = {Activity::cpu}, .journal = {.directory = folder / "journal"}});
  profiler.start();
  torch::ones({2});
  const auto recovery = recover(folder / "journal", {.output = folder / "logs"});
  ASSERT_TRUE(recovery.ok());
  ASSERT_THAT(recovery->journals, SizeIs(1));
  EXPECT_TRUE(recovery->journals[0].is_in_use);
  EXPECT_THAT(recovery->journals[0].windows, IsEmpty());
}

/// The steps in the windows that a flight recorder handed over, by file.
std::vector<std::vector<std::string>> steps_of(const Folder& folder) {
  constexpr std::string_view kStep = "\"ProfilerStep#";
  std::vector<std::vector<std::string>> all;
  for (const std::string& name : folder.log_files()) {
    const std::string text = fixtures::read_whole_file(folder / name);
    std::set<std::string> steps;  // readers get some of them twice
    for (std::size_t at = 0; (at = text.find(kStep, at)) != std::string::npos; ++at) {
      steps.insert(text.substr(at + 1, text.find('"', at + 1) - at - 1));
    }
    all.emplace_back(steps.begin(), steps.end());
  }
  return all;
}

ProfilerOptions flight(const Folder& folder, JournalOptions journal) {
  return {.activities = {Activity::cpu},
          .on_trace_ready =
              tensorboard_trace_handler(folder.path(), {.worker_name = "w", .summaries = false}),
          .experimental = {.on_warning = [](std::string_view text) { ADD_FAILURE() << text; }},
          .journal = std::move(journal)};
}

TEST(Journal, StepsOfAWindowAreRecovered) {
  const Folder folder;
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule = schedule({.warmup = 1, .active = 20}),
                     .experimental = {.on_warning = [](std::string_view) {}},
                     .journal = {.directory = folder / "journal"}});
  profiler.start();
  for (int step = 0; step < 9; ++step) {
    torch::ones({2});
    profiler.step();
  }
  fs::copy(folder / "journal", folder / "left", fs::copy_options::recursive);
  const auto recovery =
      recover(folder / "left", {.output = folder / "logs", .steps = StepRange{3, 5}});
  ASSERT_TRUE(recovery.ok());
  ASSERT_THAT(recovery->journals, SizeIs(1));
  ASSERT_THAT(recovery->journals[0].windows, SizeIs(1));
  const RecoveredWindow& window = recovery->journals[0].windows[0];
  EXPECT_EQ(window.unfinished_ranges, 0U);
  const auto trace = read_trace(window.path, {.strict = true});
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const auto list = events(*trace);
  EXPECT_EQ(std::count_if(list.begin(), list.end(),
                          [](const FunctionEvent& event) { return event.key == "aten::ones"; }),
            3);
  // The process lived on after these steps.
  const auto said = recovered_recording(*trace);
  ASSERT_TRUE(said.has_value());
  EXPECT_TRUE(said->is_part);
  EXPECT_GT(said->last_sign_of_life_ns.value(), window.end_ns);
  EXPECT_THAT(recovered_remedy(*said), StartsWith("this is a part of the window"));
  const auto none =
      recover(folder / "left", {.output = folder / "none", .steps = StepRange{90, 95}});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->journals[0].windows[0].path, "");
  EXPECT_TRUE(none->journals[0].windows[0].status.ok());
}

TEST(FlightRecorder, TheLastTimeIsThatOfTheProcess) {
  const Folder folder;
  Profiler profiler(flight(folder, {.directory = folder / "journal", .keep_bytes = 1}));
  profiler.start();
  for (int step = 0; step < 4; ++step) {
    torch::ones({2});
    std::this_thread::sleep_for(std::chrono::milliseconds(step < 3 ? 100 : 30));
    if (step < 3) profiler.step();
  }
  fs::copy(folder / "journal", folder / "left", fs::copy_options::recursive);
  const auto windows = [&](const char* output, double last_seconds) {
    const auto recovery =
        recover(folder / "left", {.output = folder / output, .last_seconds = last_seconds});
    return recovery->journals.at(0).windows;
  };
  const auto all = windows("all", 0);
  ASSERT_THAT(all, SizeIs(2));
  const double after = static_cast<double>(all[1].end_ns - all[0].end_ns) * 1e-9;
  const auto newer = windows("newer", after / 2);
  EXPECT_EQ(newer[0].path, "");
  EXPECT_NE(newer[1].path, "");
  const auto both = windows("both", after + 0.05);
  EXPECT_NEAR(static_cast<double>(both[0].end_ns - both[0].start_ns), 50e6, 1e6);
  EXPECT_EQ(both[1].start_ns, all[1].start_ns);
}

TEST(FlightRecorder, HandsOverTheLastTwoWindowsWhenItIsAsked) {
  const Folder folder;
  Profiler profiler(flight(folder, {.keep_bytes = 1}));  // a window a step
  profiler.start();
  for (int step = 0; step < 10; ++step) {
    torch::ones({2});
    if (step == 6) profiler.snapshot();
    profiler.step();
  }
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_THAT(steps_of(folder),
              ElementsAre(ElementsAre("ProfilerStep#5"), ElementsAre("ProfilerStep#6")));
}

/// Threads that mark as long as they may, the marks of each with its numbers.
class Marking {
 public:
  explicit Marking(int threads) {
    for (int thread = 0; thread < threads; ++thread) {
      threads_.emplace_back([this, thread](const std::stop_token& stop) {
        for (int number = 0; !stop.stop_requested(); ++number) {
          while (marks_ >= allowed_ && !stop.stop_requested()) std::this_thread::yield();
          const record_function range("mark " + std::to_string(thread) + " " +
                                      std::to_string(number));
          ++marks_;
        }
      });
    }
  }
  /// Returns while the threads are in the middle of some more.
  void go_on() {
    allowed_ = marks_ + 600;
    while (marks_ < allowed_ - 500) std::this_thread::yield();
  }

 private:
  std::atomic<int> marks_ = 0;
  std::atomic<int> allowed_ = 0;
  std::vector<std::jthread> threads_;
};

/// Of 40 changes with three threads that never rest. Only a thread that the system stops in the
/// middle of writing a record can lose it (docs/recording.md); that is rare even on busy machines.
TEST(FlightRecorder, NothingIsMissingBetweenItsWindows) {
  constexpr int kThreads = 3;
  constexpr int kMostStopped = 2;
  std::map<int, std::vector<int>> marks;  // by thread
  ProfilerOptions options = {.activities = {Activity::cpu},
                             .all_threads = true,
                             .journal = {.keep_bytes = 1}};  // a window a step
  options.on_trace_ready = [&](Profiler& profiler) {
    const auto trace = profiler.trace();
    for (const EventId event : trace->by_start()) {
      std::istringstream name{std::string(trace->name(event))};
      std::string mark;
      int thread = 0;
      int number = 0;
      if (name >> mark >> thread >> number && mark == "mark") marks[thread].push_back(number);
    }
  };
  Profiler profiler(options);
  profiler.start();
  {
    Marking marking(kThreads);
    for (int step = 0; step < 40; ++step) {
      marking.go_on();
      if (step % 2 == 1) profiler.snapshot();
      profiler.step();
    }
  }
  profiler.stop();
  ASSERT_THAT(marks, SizeIs(kThreads));
  int missing = 0;
  for (const auto& [thread, numbers] : marks) {
    EXPECT_EQ(std::ranges::adjacent_find(numbers, std::greater_equal()), numbers.end())
        << "twice, or in another order, on thread " << thread;
    missing += numbers.back() + 1 - static_cast<int>(numbers.size());
  }
  EXPECT_LE(missing, kMostStopped);
}

TEST(FlightRecorder, ASignalAsksForIt) {
  const Folder folder;
  Profiler profiler(flight(folder, {.keep_seconds = 1000, .snapshot_on = SIGUSR2}));
  profiler.start();
  for (int step = 0; step < 5; ++step) {
    torch::ones({2});
    if (step == 2) std::raise(SIGUSR2);
    profiler.step();
  }
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_THAT(steps_of(folder),
              ElementsAre(ElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2")));
}

TEST(FlightRecorder, ASlowStepIsHandedOverWithWhatWasBefore) {
  const Folder folder;
  Profiler profiler(flight(folder, {.keep_seconds = 1000, .on_slow_step = 50}));
  profiler.start();
  for (int step = 0; step < 15; ++step) {
    torch::ones({2});
    std::this_thread::sleep_for(std::chrono::milliseconds(step == 12 ? 400 : 1));
    profiler.step();
  }
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  const auto files = folder.log_files();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_THAT(fixtures::read_whole_file(folder / files[0]),
              HasSubstr(R"("tbtrace_snapshot": {"reason": "slow_step", "step_ns": 4)"));
  EXPECT_THAT(steps_of(folder)[0], Contains("ProfilerStep#12"));
  EXPECT_THAT(steps_of(folder)[0], Not(Contains("ProfilerStep#13")));
}

TEST(FlightRecorder, ASnapshotOfAnotherProfilerOnlyWarns) {
  std::vector<std::string> warnings;
  Profiler profiler(
      {.activities = {Activity::cpu}, .experimental = {.on_warning = [&](std::string_view text) {
                                        warnings.emplace_back(text);
                                      }}});
  profiler.snapshot();
  profiler.start();
  profiler.snapshot();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("the profiler is not running"),
                                    HasSubstr("the profiler is not a flight recorder")));
}

TEST(FlightRecorder, WrongOptionsAreRefused) {
  const auto make = [](JournalOptions journal, Schedule schedule = {}) {
    Profiler profiler({.schedule = std::move(schedule), .journal = std::move(journal)});
  };
  EXPECT_THROW(make({.on_slow_step = 2}), std::invalid_argument);
  EXPECT_THROW(make({.keep_seconds = 1, .on_slow_step = 0.5}), std::invalid_argument);
  EXPECT_THROW(make({.keep_seconds = -1}), std::invalid_argument);
  EXPECT_THROW(make({.directory = "journal", .max_bytes = 1000}), std::invalid_argument);
  EXPECT_THROW(make({.keep_seconds = 1}, schedule({.active = 1})), std::invalid_argument);
  EXPECT_THROW(make({.keep_seconds = 1, .snapshot_on = SIGSEGV}), std::invalid_argument);
}

}  // namespace
}  // namespace tbtrace
