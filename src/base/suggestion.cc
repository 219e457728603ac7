#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace {
namespace {

constexpr std::size_t kLongestWord = 64;  // of more characters, no name is meant

/// Without what people leave out or confuse.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '-' || c == '_') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// How many characters to insert, remove, replace, or swap with their neighbor.
std::size_t edit_distance(std::string_view one, std::string_view two) {
  std::vector<std::size_t> before(two.size() + 1);
  std::vector<std::size_t> last(two.size() + 1);
  std::vector<std::size_t> row(two.size() + 1);
  for (std::size_t column = 0; column <= two.size(); ++column) last[column] = column;
  for (std::size_t line = 1; line <= one.size(); ++line) {
    row[0] = line;
    for (std::size_t column = 1; column <= two.size(); ++column) {
      const bool is_same = one[line - 1] == two[column - 1];
      row[column] =
          std::min({last[column] + 1, row[column - 1] + 1, last[column - 1] + (is_same ? 0U : 1U)});
      const bool is_swapped = line > 1 && column > 1 && one[line - 1] == two[column - 2] &&
                              one[line - 2] == two[column - 1];
      if (is_swapped) row[column] = std::min(row[column], before[column - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[two.size()];
}

/// Names that are near get small numbers; twice the number of edits.
std::size_t distance(std::string_view word, std::string_view name, std::size_t most) {
  const std::size_t edits = 2 * edit_distance(word, name);
  constexpr std::size_t kShortestPart = 4;
  if (word.size() < kShortestPart || edits <= 2) return edits;
  if (name.starts_with(word)) return 3;
  return name.find(word) != std::string_view::npos ? std::min(edits, most) : edits;
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() < 2 || word.size() > kLongestWord) return {};
  const std::string meant = plain(word);
  const std::size_t most = 2 * std::max<std::size_t>(1, meant.size() / 3);
  std::string_view nearest;
  std::size_t least = most + 1;
  for (const std::string_view name : names) {
    const std::size_t here = distance(meant, plain(name), most);
    // Of equally near names the shorter one says no more than `word`.
    if (here < least || (here == least && here <= most && name.size() < nearest.size())) {
      nearest = name;
      least = here;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(word, names);
  return nearest.empty() ? "" : " (did you mean '" + std::string(nearest) + "'?)";
}

}  // namespace tbtrace
