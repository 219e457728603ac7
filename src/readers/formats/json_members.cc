#include "readers/formats/json_members.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::readers {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kMostNames = 64;

/// The place after a text that begins at `at` with its quote, or the end.
std::size_t text_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return std::min(at + 1, text.size());
}

}  // namespace

std::vector<std::string_view> member_names(std::string_view start) {
  std::vector<std::string_view> names;
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  std::size_t at = start.find_first_not_of(kBlanks);
  if (at == std::string_view::npos || start[at] != '{') return names;
  std::size_t depth = 1;
  for (++at; at < start.size() && depth > 0 && names.size() < kMostNames;) {
    const char c = start[at];
    if (c != '"') {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at;
      continue;
    }
    const std::size_t end = text_end(start, at);
    const std::size_t next = start.find_first_not_of(kBlanks, end);
    if (depth == 1 && next != std::string_view::npos && start[next] == ':') {
      names.push_back(start.substr(at + 1, end - at - 2));
    }
    at = end;
  }
  return names;
}

}  // namespace tbtrace::readers
