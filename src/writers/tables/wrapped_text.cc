#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <tbtrace/report.h>

#include "base/utf8.h"

namespace tbtrace {
namespace {

void add_wrapped(std::string& text, std::string_view line, std::size_t width) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string next_indent(indent + 4, ' ');
  std::string indentation;
  while (utf8_length(line) + indentation.size() > width) {
    const std::size_t room = width > indentation.size() ? width - indentation.size() : 1;
    const std::size_t first_word = std::min(line.find_first_not_of(' '), line.size());
    std::size_t end = line.rfind(' ', utf8_prefix(line, room).size());
    if (end == std::string_view::npos || end <= first_word) end = line.find(' ', first_word);
    if (end == std::string_view::npos) break;
    text += indentation;
    text += line.substr(0, end);
    text += '\n';
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    indentation = next_indent;
    if (line.empty()) return;
  }
  text += indentation;
  text += line;
  text += '\n';
}

}  // namespace

std::string wrapped_text(std::string_view text, std::size_t width) {
  if (width == 0) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_wrapped(result, text.substr(0, end), width);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace tbtrace
