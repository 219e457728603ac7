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

#include "recorded.h"

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
                     .on_trace_ready = tensorboard_trace_handler(directory, options)});
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
  EXPECT_THAT(folder.files(), ElementsAre(AllOf(StartsWith(name),
                                                MatchesRegex(".*\\.[0-9]{19}\\.pt\\.trace\\.json")),
                                          AllOf(StartsWith(name), EndsWith(".pt.trace.json"))));
}

TEST(TraceHandler, WritesBothDialectsPlainAndGzip) {
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    for (const bool use_gzip : {false, true}) {
      const Folder folder;
      record_windows(folder.path(),
                     {.worker_name = "worker0", .use_gzip = use_gzip, .dialect = dialect}, 1);
      const std::vector<std::string> files = folder.files();
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
  EXPECT_THAT(folder.files(), ElementsAre(StartsWith("w_1/w."), StartsWith("w_2/w.")));
}

TEST(TraceHandler, AThousandCyclesGiveAThousandFiles) {
  const Folder folder;
  record_windows(folder.path(), {.worker_name = "w", .use_gzip = true}, 1000);
  EXPECT_EQ(folder.files().size(), 1000);
}

TEST(TraceHandler, ProcessesThatShareAWorkerNameLoseNothing) {
  const Folder folder;
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int number = 0; number < kProcesses; ++number) {
    const pid_t child = ::fork();
    if (child == 0) {
      record_windows(folder.path(), {.worker_name = "w"}, 20);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const std::vector<std::string> files = folder.files();
  EXPECT_EQ(files.size(), 20 * kProcesses);
  for (const std::string& file : files) {
    EXPECT_TRUE(read_trace(folder / file, {.strict = true}).ok()) << file;
  }
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
