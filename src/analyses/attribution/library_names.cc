#include "analyses/attribution/library_names.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyses/attribution/distributions.h"
#include "analyses/attribution/standard_library.h"

namespace tbtrace::analyses {
namespace {

/// The lines of a sorted text that are not comments.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with('#')) names.push_back(line);
    at = end + 1;
  }
  return names;
}

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

/// Whether one of the names is the path or one of the folders that it begins with, up to
/// kMostParts of them.
bool begins_with_one_of(std::span<const std::string_view> names, std::string_view path) {
  constexpr int kMostParts = 3;
  std::size_t end = 0;
  for (int part = 0; part < kMostParts; ++part) {
    end = path.find('/', end);
    if (end == std::string_view::npos) return has(names, path);
    if (has(names, path.substr(0, ++end))) return true;
  }
  return false;
}

}  // namespace

std::span<const std::string_view> standard_library_names() {
  static const std::vector<std::string_view> kNames = names_in(kStandardLibrary);
  return kNames;
}

std::span<const std::string_view> distribution_names() {
  static const std::vector<std::string_view> kNames = names_in(kDistributions);
  return kNames;
}

bool is_standard_library(std::string_view path) {
  return begins_with_one_of(standard_library_names(), path);
}

bool is_distribution(std::string_view path) {
  return begins_with_one_of(distribution_names(), path);
}

}  // namespace tbtrace::analyses
