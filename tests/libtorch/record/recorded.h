// What tests look at of a recording.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <tbtrace/profiler.h>

namespace tbtrace::testing {

/// Names of the events that torch.profiler would list, in its order.
inline std::vector<std::string> names(Profiler& profiler) {
  std::vector<std::string> names;
  for (const FunctionEvent& event : profiler.events()) names.push_back(event.key);
  return names;
}

inline std::ptrdiff_t count(Profiler& profiler, std::string_view name) {
  const std::vector<std::string> all = names(profiler);
  return std::count(all.begin(), all.end(), name);
}

/// A folder that is gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tbtrace-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

  /// Names of the files, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(path_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Without summaries.
  std::vector<std::string> log_files() const {
    std::vector<std::string> names = files();
    std::erase_if(names, [](const std::string& name) {
      return name.find("tfevents") != std::string::npos || name.ends_with("/.lock");
    });
    return names;
  }

 private:
  std::string path_;
};

}  // namespace tbtrace::testing
