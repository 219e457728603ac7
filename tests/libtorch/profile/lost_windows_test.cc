// Log files that cannot be written: training goes on, no half file appears, and the loss is told.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <latch>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "fixtures/file_size_limit.h"
#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kRemedy = "that exists, is writable and has free space";

/// Each call of window() hands a window to the handler and waits for its file.
class Logged {
 public:
  explicit Logged(const std::string& directory, TensorboardOptions options = {})
      : profiler_({.activities = {Activity::cpu},
                   .on_trace_ready = tensorboard_trace_handler(directory, std::move(options)),
                   .experimental = {.on_warning = [this](std::string_view sentence) {
                     // torch's, of every second start
                     if (!sentence.starts_with("Warning: Profiler clears events")) {
                       warnings_.emplace_back(sentence);
                     }
                   }}}) {}

  Status window() {
    profiler_.start();
    torch::ones({2});
    profiler_.stop();
    EXPECT_EQ(testing::count(profiler_, "aten::ones"), 1);
    return profiler_.wait_for_exports();
  }

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
  Profiler profiler_;
};

/// The process has no more rights than anybody, as long as one of these lives.
class WithoutRights {
 public:
  WithoutRights() : before_(::geteuid()) {
    if (before_ == 0 && ::seteuid(65534) != 0) ADD_FAILURE();
  }
  ~WithoutRights() {
    if (before_ == 0 && ::seteuid(0) != 0) ADD_FAILURE();
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;

 private:
  uid_t before_;
};

void expect_loss(const Status& status, const Logged& logged, const std::string& cause) {
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(cause), HasSubstr(std::string(kRemedy))));
  EXPECT_THAT(logged.warnings(), ElementsAre(status.message()));
}

TEST(LostWindows, AFullDiskLosesTheWindowsOfItsTime) {
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    for (const bool use_gzip : {false, true}) {
      const testing::Folder folder;
      Logged logged(folder / "logs",
                    {.worker_name = "w", .use_gzip = use_gzip, .dialect = dialect});
      {
        const fixtures::FileSizeLimit limit(100);
        const Status lost = logged.window();
        expect_loss(lost, logged, "cannot write: File too large");
        EXPECT_THAT(lost.message(), StartsWith(folder / "logs/w."));
        EXPECT_THAT(folder.log_files(), IsEmpty());
      }
      EXPECT_TRUE(logged.window().ok()) << "there is room again";
      const std::vector<std::string> files = folder.log_files();
      ASSERT_THAT(files, SizeIs(1));
      EXPECT_TRUE(read_trace(folder / files[0], {.strict = true}).ok());
      EXPECT_THAT(logged.warnings(), SizeIs(1));
    }
  }
}

TEST(LostWindows, ADirectoryWithoutRights) {
  const testing::Folder folder;
  std::filesystem::create_directory(folder / "there");
  ASSERT_EQ(::chmod((folder / "there").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  {
    const WithoutRights nobody;
    Logged there(folder / "there");
    expect_loss(there.window(), there, "cannot create: Permission denied");
    Logged absent(folder / "absent");
    const Status lost = absent.window();
    expect_loss(lost, absent, "Permission denied");
    EXPECT_THAT(lost.message(), StartsWith("Can't create directory: " + (folder / "absent")));
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_THAT(folder.log_files(), IsEmpty());
}

TEST(LostWindows, ADirectoryThatIsAFile) {
  const testing::Folder folder;
  std::ofstream(folder / "logs") << "mine";
  Logged logged(folder / "logs");
  expect_loss(logged.window(), logged, "Not a directory");
  EXPECT_THAT(folder.log_files(), ElementsAre("logs"));
  Logged below(folder / "logs/run");
  expect_loss(below.window(), below, "Not a directory");
}

TEST(LostWindows, AreCountedInTheNextFileAndAtTheEnd) {
  const testing::Folder folder;
  std::vector<std::string> warnings;
  {
    Profiler profiler({.activities = {Activity::cpu},
                       .on_trace_ready = tensorboard_trace_handler(folder / "logs"),
                       .experimental = {.on_warning = [&](std::string_view sentence) {
                         warnings.emplace_back(sentence);
                       }}});
    const auto record = [&] {
      profiler.start();
      torch::ones({2});
      profiler.stop();
      return profiler.wait_for_exports().ok();
    };
    {
      const fixtures::FileSizeLimit limit(100);
      EXPECT_FALSE(record());
      EXPECT_FALSE(record());
    }
    EXPECT_TRUE(record());
    const std::vector<std::string> files = folder.log_files();
    ASSERT_THAT(files, SizeIs(1));
    const Result<Trace> trace = read_trace(folder / files[0], {.strict = true});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_EQ(trace->metadata().at("tbtrace_dropped_windows"), "2");
    const fixtures::FileSizeLimit limit(100);
    EXPECT_FALSE(record());
    warnings.clear();
  }
  EXPECT_THAT(warnings, ElementsAre(AllOf(StartsWith("3 windows have no log file"),
                                          HasSubstr("the last log file says 2"))));
}

/// What a listener throws on the thread that exports does not come out of a step() on another one.
TEST(LostWindows, AListenerThatThrowsDuringAnExportDoesNotDisturbAStep) {
  const testing::Folder folder;
  std::ofstream(folder / "logs") << "in the way";
  std::latch in_step(1);
  Profiler* in_schedule = nullptr;
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule =
                         [&](std::int64_t step) {
                           if (step == 2) {
                             in_step.count_down();
                             static_cast<void>(in_schedule->wait_for_exports());
                           }
                           return step == 0 ? ProfilerAction::record_and_save
                                            : ProfilerAction::none;
                         },
                     .on_trace_ready = tensorboard_trace_handler(folder / "logs"),
                     .experimental = {.on_warning = [&](std::string_view) {
                       in_step.wait();
                       throw std::runtime_error("mine");
                     }}});
  in_schedule = &profiler;
  profiler.start();
  torch::ones({2});
  profiler.step();
  EXPECT_NO_THROW(profiler.step());
  EXPECT_NO_THROW(profiler.stop());
}

TEST(LostWindows, ADirectoryThatVanishesIsMadeAgain) {
  const testing::Folder folder;
  Logged logged(folder / "a/b");
  EXPECT_TRUE(logged.window().ok());
  std::filesystem::remove_all(folder / "a");
  EXPECT_TRUE(logged.window().ok());
  EXPECT_THAT(folder.log_files(), ElementsAre(StartsWith("a/b/")));
  std::filesystem::remove_all(folder / "a");
  std::ofstream(folder / "a") << "in the way";
  expect_loss(logged.window(), logged, "Not a directory");
  std::filesystem::remove(folder / "a");
  EXPECT_TRUE(logged.window().ok());
  EXPECT_THAT(folder.log_files(), ElementsAre(StartsWith("a/b/")));
}

}  // namespace
}  // namespace tbtrace
