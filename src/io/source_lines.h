// Lines of source files below one directory.
// Nothing outside of it is read, whatever a trace calls a file: paths are resolved with their links
// first. Owns what it read. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::io {

class SourceLines {
 public:
  /// Fails if `root` is not a directory.
  static Result<SourceLines> below(const std::string& root);

  /// A line of a file, counted from 1, without its end and without blanks around it. Nothing if
  /// the file is not below the root, is not a source file by its suffix, is longer than 8 MiB or
  /// cannot be read, or if it has fewer lines. `file`: absolute, or relative to the root.
  std::optional<std::string> line(std::string_view file, std::int64_t number);

  /// Whether there is any line of a file.
  bool has(std::string_view file) { return !lines_of(file).empty(); }

 private:
  explicit SourceLines(std::filesystem::path root) : root_(std::move(root)) {}

  const std::vector<std::string>& lines_of(std::string_view file);

  std::filesystem::path root_;  // with its links resolved
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
};

}  // namespace tbtrace::io
