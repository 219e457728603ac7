#include "io/source_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace tbtrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{8} << 20;

bool is_source(const fs::path& path) {
  constexpr std::array<std::string_view, 12> kSuffixes = {
      ".py", ".pyx", ".pyi", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cu", ".cuh", ".inl"};
  return std::ranges::find(kSuffixes, path.extension().string()) != kSuffixes.end();
}

/// Whether a path is `root` or below it; both have no links and no `..`.
bool is_below(const fs::path& path, const fs::path& root) {
  const auto [end, at] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end == root.end() && at != path.end();
}

std::string trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
}

}  // namespace

Result<io::SourceLines> io::SourceLines::below(const std::string& root) {
  std::error_code error;
  fs::path resolved = fs::canonical(root, error);
  if (error || !fs::is_directory(resolved, error)) {
    return Status(StatusCode::invalid_argument,
                  "the root of source files, '" + root + "', is not a directory");
  }
  return SourceLines(std::move(resolved));
}

std::optional<std::string> io::SourceLines::line(std::string_view file, std::int64_t number) {
  const std::vector<std::string>& lines = lines_of(file);
  if (number < 1 || static_cast<std::uint64_t>(number) > lines.size()) return std::nullopt;
  return lines[static_cast<std::size_t>(number) - 1];
}

const std::vector<std::string>& io::SourceLines::lines_of(std::string_view file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  std::vector<std::string>& lines = files_[std::string(file)];
  std::error_code error;
  const fs::path path = fs::canonical(root_ / fs::path(file), error);
  if (error || !is_below(path, root_) || !is_source(path)) return lines;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMostBytes || error) {
    return lines;
  }
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) lines.push_back(trimmed(line));
  return lines;
}

}  // namespace tbtrace
