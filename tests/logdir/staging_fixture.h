// A log directory of a test, and what waits to be moved into it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"
#include "logdir/run_staging.h"

namespace tbtrace::logdir {

inline constexpr const char* kFile = "w.1.pt.trace.json";
inline constexpr const char* kOther = "w.2.pt.trace.json";

inline std::unique_ptr<RunStaging> opened(const std::string& directory,
                                          RunStaging::Options options = {}) {
  Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(directory, options);
  EXPECT_TRUE(staging.ok()) << staging.status().message();
  return staging.ok() ? *std::move(staging) : nullptr;
}

inline std::string placed(RunStaging& staging, const std::string& run, const std::string& file) {
  const Result<std::string> place = staging.place(run, file);
  EXPECT_TRUE(place.ok()) << place.status().message();
  return place.ok() ? *place : "";
}

inline void write(RunStaging& staging, const std::string& run, const std::string& file,
                  const std::string& text = "text", bool overwrite = false) {
  Result<std::unique_ptr<io::ByteSink>> sink =
      io::create_file(placed(staging, run, file), {.overwrite = overwrite});
  ASSERT_TRUE(sink.ok()) << sink.status().message();
  EXPECT_TRUE((*sink)->write(text).ok());
  EXPECT_TRUE((*sink)->close().ok());
}

/// All files and empty folders below a folder, sorted.
inline std::vector<std::string> tree(const std::filesystem::path& root) {
  std::vector<std::string> names;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root).string();
    if (!entry.is_directory()) names.push_back(name);
    if (entry.is_directory() && std::filesystem::is_empty(entry.path()))
      names.push_back(name + "/");
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Where files wait: beside the log directory, or in it where something is in the way.
class RunStagingIn : public testing::TestWithParam<bool> {
 protected:
  RunStagingIn() {
    if (inside())
      fixtures::write_whole_file(scratch_.path("the/.logs.tbtrace-partial"), "in the way");
  }
  static bool inside() { return GetParam(); }
  std::string logs() const { return scratch_.path("the/logs"); }
  std::string log(const std::string& name) const { return logs() + "/" + name; }
  std::filesystem::path staging_folder() const {
    return inside() ? log(".tbtrace-partial") : scratch_.path("the/.logs.tbtrace-partial");
  }
  std::string waiting(const std::string& run, const std::string& file) const {
    std::string name = file;
    const std::size_t events = file.find("tfevents");
    const bool is_events = events != std::string::npos;
    if (is_events) name.insert(events + 2, "~");
    if (inside() || is_events) name += ".partial";
    return (staging_folder() / run / ".run" / name).string();
  }
  /// As a call leaves it that was killed.
  void leave(const std::string& run, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(waiting(run, file)).parent_path());
    fixtures::write_whole_file(waiting(run, file), text);
  }
  /// What is in the log directory, what is beside it being nothing else than it should be. An empty
  /// log directory that was made for nothing is gone.
  std::vector<std::string> all() const {
    std::vector<std::string> beside;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path("the"))) {
      if (entry.path() != logs()) beside.push_back(entry.path().filename().string());
    }
    const std::vector<std::string> expected =
        inside() ? std::vector<std::string>{".logs.tbtrace-partial"} : std::vector<std::string>();
    EXPECT_EQ(beside, expected);
    return std::filesystem::exists(logs()) ? tree(logs()) : std::vector<std::string>();
  }

 private:
  struct Scratch : fixtures::ScratchFolder {
    Scratch() { std::filesystem::create_directory(path("the")); }
  };
  Scratch scratch_;
};

}  // namespace tbtrace::logdir
