// A folder for inputs of conversions, with a log directory beside them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {

class LogFolder : public testing::Test {
 protected:
  std::string input(std::string_view name, std::string_view text) {
    const std::filesystem::path path = folder.path(name);
    std::filesystem::create_directories(path.parent_path());
    fixtures::write_whole_file(path.string(), text);
    return path.string();
  }

  /// Files below the log directory except for locks, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(log, missing)) {
      if (entry.is_directory() || entry.path().filename() == ".lock") continue;
      names.push_back(entry.path().lexically_relative(log).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  fixtures::ScratchFolder folder;
  std::string log = folder.path("log");
};

}  // namespace tbtrace
