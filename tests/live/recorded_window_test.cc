#include "live/recorded_window.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chrome/convert/dialects.h"
#include "fixtures/file_size_limit.h"
#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"
#include "readers/chrome/replay.h"
#include "recorder/window/random_window.h"
#include "recorder/window/rows.h"
#include "wire/json_strict.h"

namespace tbtrace::live {
namespace {

using fixtures::ScratchFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::shared_ptr<const recorder::Recording> recorded() {
  auto recording = std::make_shared<recorder::Recording>(recorder::RecordingOptions{});
  recording->start();
  recording->close();
  return recording;
}

LogFileName name_in(const ScratchFolder& folder) {
  return {.directory = folder.root().string(), .worker = "w", .time_ns = 1'790'000'000'000'000'000};
}

/// What the repairs of Kineto's dialect, which a model is needed for, leave of a window's file.
std::string with_model(const std::shared_ptr<const recorder::Recording>& recording) {
  const Result<Trace> trace = read_recording(recording, {.arguments = {}, .overloads = false});
  std::string text;
  const auto sink = io::memory_sink(text);
  const auto document = chrome::new_document(*trace, Dialect::kineto, false, 1, *sink);
  readers::WholeReplay rows(*document);
  EXPECT_TRUE(document->begin().ok());
  recorder::pass_rows(recorder::Window(recording),
                      {.arguments = {}, .overloads = false, .members = true}, rows);
  EXPECT_TRUE(rows.failure().ok());
  EXPECT_TRUE(document->end().ok());
  EXPECT_TRUE(document->changes().empty());
  return text;
}

// As if many processes of one worker's name ended their windows in the same nanosecond.
TEST(RecordedWindow, NoNameIsTakenTwiceWhoeverWantsIt) {
  const ScratchFolder folder;
  constexpr int kThreads = 8;
  constexpr int kFiles = 40;  // of each
  std::vector<std::set<std::string>> paths(kThreads);
  {
    std::vector<std::jthread> threads;
    for (auto& of_thread : paths) {
      threads.emplace_back([&] {
        const auto recording = recorded();
        for (int file = 0; file < kFiles; ++file) {
          const Result<WrittenWindow> written =
              write_log_file(recording, name_in(folder), Dialect::kineto);
          ASSERT_TRUE(written.ok()) << written.status().message();
          of_thread.insert(written->path);
        }
      });
    }
  }
  std::set<std::string> different;
  for (const auto& of_thread : paths) different.insert(of_thread.begin(), of_thread.end());
  EXPECT_EQ(different.size(), kThreads * kFiles);
  EXPECT_EQ(folder.names().size(), kThreads * kFiles);
  for (const std::string& path : different) {
    std::string json;
    EXPECT_TRUE(wire::append_strict_json(json, fixtures::read_whole_file(path), false)) << path;
  }
}

TEST(RecordedWindow, AFailureNamesTheFile) {
  const ScratchFolder folder;
  LogFileName name = name_in(folder);
  name.directory += "/gone";
  EXPECT_THAT(write_log_file(recorded(), name, Dialect::plugin).status().message(),
              AllOf(StartsWith(name.directory + "/w.1790000000000000000.pt.trace.json: "),
                    HasSubstr("No such file or directory")));
}

TEST(RecordedWindow, AFullDiskLeavesNothing) {
  const ScratchFolder folder;
  const fixtures::FileSizeLimit limit(100);
  const Result<WrittenWindow> lost = write_log_file(recorded(), name_in(folder), Dialect::plugin);
  EXPECT_EQ(lost.status().code(), StatusCode::unwritable_output);
  EXPECT_THAT(lost.status().message(), HasSubstr("File too large"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

// Files of windows that need no repair are written without a model.
TEST(RecordedWindow, AFileOfItsRowsAloneIsThatOfItsModel) {
  const ScratchFolder folder;
  unsigned without_model = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(300U); ++seed) {
    const auto recording = recorder::RandomWindow(seed).recording();
    if (recorder::Window(recording).ranges_may_cross()) continue;
    ++without_model;
    const std::string path = (folder.root() / "rows.json").string();
    ASSERT_TRUE(write_recording(recording, path, Dialect::kineto, true).ok());
    ASSERT_EQ(fixtures::read_whole_file(path), with_model(recording)) << "seed " << seed;
  }
  EXPECT_GT(without_model, 3U);
}

}  // namespace
}  // namespace tbtrace::live
