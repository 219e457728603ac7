#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "fixtures/whole_file.h"
#include "libtorch/record/recorded.h"
#include "wire/json_strict.h"

namespace tbtrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

void record_windows(const std::string& directory, const TensorboardOptions& options, int windows) {
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule = schedule({.warmup = 1, .active = 1, .repeat = windows}),
                     .on_trace_ready = tensorboard_trace_handler(directory, options),
                     .experimental = {.on_warning = [](std::string_view) {}}});
  profiler.start();
  for (int step = 0; step < 2 * windows; ++step) {
    torch::ones({2});
    profiler.step();
  }
  profiler.stop();
  const Status written = profiler.wait_for_exports();
  EXPECT_TRUE(written.ok()) << written.message();
}

TEST(TraceHandler, NamesFilesAsTorchDoes) {
  const Folder folder;
  record_windows(folder / "a/b", {}, 2);
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  const std::string name = std::string("a/b/") + host + "_" + std::to_string(::getpid());
  EXPECT_THAT(
      folder.log_files(),
      ElementsAre(AllOf(StartsWith(name), MatchesRegex(".*\\.[0-9]{19}\\.pt\\.trace\\.json")),
                  AllOf(StartsWith(name), EndsWith(".pt.trace.json"))));
}

/// Of windows that come faster than they can be written. What is lost is exact, and in the files.
TEST(TraceHandler, DropsWindowsBeyondTheLimitAndCountsThem) {
  constexpr int kWindows = 40;
  const Folder folder;
  int dropped = 0;
  Profiler profiler(
      {.activities = {Activity::cpu},
       .on_trace_ready = tensorboard_trace_handler(folder.path(), {.summaries = false}),
       .experimental = {.on_warning =
                            [&](std::string_view sentence) {
                              if (sentence.starts_with("a window was dropped")) {
                                ++dropped;
                              }
                            }},
       .process = {.export_queue_bytes = 1}});
  const auto window = [&] {
    profiler.start();
    for (int times = 0; times < 300; ++times) torch::ones({2});
    profiler.stop();
  };
  for (int number = 0; number < kWindows; ++number) window();
  ASSERT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_GT(dropped, 0);
  const int dropped_before = dropped;
  window();  // nothing waits, so that it is taken
  ASSERT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_EQ(dropped, dropped_before);
  const std::vector<std::string> files = folder.log_files();
  EXPECT_EQ(files.size(), static_cast<std::size_t>(kWindows + 1 - dropped));
  const Result<Trace> last = read_trace(folder / files.back(), {.strict = true});
  ASSERT_TRUE(last.ok()) << last.status().message();
  EXPECT_EQ(last->metadata().at("tbtrace_dropped_windows"), std::to_string(dropped));
}

TEST(TraceHandler, WritesBothDialectsPlainAndGzip) {
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    for (const bool use_gzip : {false, true}) {
      const Folder folder;
      record_windows(folder.path(),
                     {.worker_name = "worker0", .use_gzip = use_gzip, .dialect = dialect}, 1);
      const std::vector<std::string> files = folder.log_files();
      ASSERT_EQ(files.size(), 1);
      EXPECT_THAT(files[0], AllOf(StartsWith("worker0."),
                                  EndsWith(use_gzip ? ".pt.trace.json.gz" : ".pt.trace.json")));
      const Result<Trace> trace = read_trace(folder / files[0], {.strict = true});
      ASSERT_TRUE(trace.ok()) << trace.status().message();
      EXPECT_THAT(*operator_summary(*trace).table(), HasSubstr("aten::ones"));
    }
  }
}

TEST(TraceHandler, GivesEachWindowARunOnRequest) {
  const Folder folder;
  record_windows(folder.path(), {.worker_name = "w", .run_per_window = true}, 2);
  EXPECT_THAT(folder.log_files(), ElementsAre(StartsWith("w_1/w."), StartsWith("w_2/w.")));
}

TEST(TraceHandler, AWorkersNameIsOneComponentOfAPath) {
  for (const auto& [wanted, name] :
       {std::pair{"node/7", "node_7"}, std::pair{"../up", "___up"}, std::pair{"All", "All_"}}) {
    for (const bool run_per_window : {false, true}) {
      const Folder folder;
      record_windows(folder.path(), {.worker_name = wanted, .run_per_window = run_per_window}, 1);
      const std::string run = run_per_window ? std::string(name) + "_1/" : "";
      EXPECT_THAT(folder.log_files(), ElementsAre(StartsWith(run + name + "."))) << wanted;
    }
  }
}

TEST(TraceHandler, AThousandCyclesGiveAThousandFiles) {
  const Folder folder;
  record_windows(folder.path(), {.worker_name = "w", .use_gzip = true}, 1000);
  EXPECT_EQ(folder.log_files().size(), 1000);
}

TEST(TraceHandler, AThousandStartsAndStopsGiveAThousandFiles) {
  const Folder folder;
  Profiler profiler({.activities = {Activity::cpu},
                     .on_trace_ready = tensorboard_trace_handler(folder.path()),
                     .profile_memory = true});
  for (int cycle = 0; cycle < 1000; ++cycle) {
    profiler.start();
    torch::ones({2});
    profiler.stop();
  }
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_EQ(folder.log_files().size(), 1000);
  EXPECT_EQ(testing::count(profiler, "aten::ones"), 1) << "the last cycle only";
}

TEST(TraceHandler, ProcessesThatShareAWorkerNameLoseNothing) {
  const Folder folder;
  constexpr int kProcesses = 64;
  constexpr int kWindows = 100;  // of each
  std::array<int, 2> gate = {};
  ASSERT_EQ(::pipe(gate.data()), 0);
  std::vector<pid_t> children;
  for (int number = 0; number < kProcesses; ++number) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(gate[1]);
      char none = 0;
      static_cast<void>(::read(gate[0], &none, 1));  // until all are there
      record_windows(folder.path(), {.worker_name = "w"}, kWindows);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const std::vector<std::string> files = folder.log_files();
  EXPECT_EQ(files.size(), kWindows * kProcesses);
  std::set<std::string> windows;  // by what no two have in common
  for (const std::string& file : files) {
    EXPECT_THAT(file, MatchesRegex("w\\.[0-9]{19}\\.pt\\.trace\\.json"));
    std::string json;
    EXPECT_TRUE(wire::append_strict_json(json, fixtures::read_whole_file(folder / file), false))
        << file;
    const Result<Trace> trace = read_trace(folder / file, {.threads = 1, .strict = true});
    ASSERT_TRUE(trace.ok()) << file << ": " << trace.status().message();
    windows.insert(trace->metadata().at("trace_id"));
  }
  EXPECT_EQ(windows.size(), files.size());
}

TEST(TraceHandler, TellsWhatCouldNotBeWritten) {
  const Folder folder;
  std::filesystem::create_symlink("/proc/nothing-can-be-made-here", folder / "logs");
  std::vector<std::string> warnings;
  Profiler profiler({.activities = {Activity::cpu},
                     .on_trace_ready = tensorboard_trace_handler(folder / "logs"),
                     .experimental = {.on_warning = [&](std::string_view sentence) {
                       warnings.emplace_back(sentence);
                     }}});
  profiler.start();
  torch::ones({2});
  profiler.stop();
  const Status written = profiler.wait_for_exports();
  EXPECT_EQ(written.code(), StatusCode::unwritable_output);
  EXPECT_THAT(written.message(), StartsWith("Can't create directory: " + (folder / "logs")));
  EXPECT_THAT(warnings, ElementsAre(written.message()));
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_EQ(testing::count(profiler, "aten::ones"), 1);
}

}  // namespace
}  // namespace tbtrace
