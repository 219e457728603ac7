#include "writers/tables/input_labels.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tbtrace::writers {
namespace {

/// The number of bytes up to the last slash of what all start with.
std::size_t shared_folders(std::span<const std::string> paths) {
  std::string_view shared = paths.front();
  for (const std::string& path : paths) {
    const auto differ = std::ranges::mismatch(shared, path);
    shared = shared.substr(0, static_cast<std::size_t>(differ.in1 - shared.begin()));
  }
  const std::size_t slash = shared.rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

/// The number of bytes, from a separator on, of what all end with. At least one byte of each path
/// after its first `start` ones is not in it.
std::size_t shared_end(std::span<const std::string> paths, std::size_t start) {
  constexpr std::string_view kSeparators = "/._-";
  std::string_view shared = std::string_view(paths.front()).substr(start);
  for (const std::string& path : paths) {
    const std::string_view rest = std::string_view(path).substr(start);
    std::size_t length = 0;
    while (length < std::min(shared.size(), rest.size()) &&
           shared[shared.size() - 1 - length] == rest[rest.size() - 1 - length]) {
      ++length;
    }
    if (length == rest.size() && length > 0) --length;
    shared = shared.substr(shared.size() - length);
  }
  const std::size_t separator = shared.find_first_of(kSeparators);
  return separator == std::string_view::npos ? 0 : shared.size() - separator;
}

}  // namespace

std::vector<std::string> input_labels(std::span<const std::string> paths) {
  if (paths.empty()) return {};
  const std::size_t start = shared_folders(paths);
  const bool are_equal =
      std::ranges::adjacent_find(paths, std::ranges::not_equal_to()) == paths.end();
  const std::size_t end = are_equal ? 0 : shared_end(paths, start);
  std::vector<std::string> labels;
  for (const std::string& path : paths) {
    labels.push_back(path.substr(start, path.size() - start - end));
  }
  return labels;
}

}  // namespace tbtrace::writers
