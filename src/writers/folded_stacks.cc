#include <algorithm>
#include <string>
#include <vector>

#include <tbtrace/writers.h>

namespace tbtrace {
namespace {

/// A frame may not hold what separates frames, nor break the line: tools cut at every `;`.
void append_frame(std::string& line, std::string_view frame) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : frame) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      line += "\\\\";
    } else if (c == ';' || byte < 0x20 || byte == 0x7f) {
      line += "\\x";
      line += kHex[byte >> 4];
      line += kHex[byte & 15];
    } else {
      line += c;
    }
  }
}

}  // namespace

std::string folded_stacks(const StackTree& stacks) {
  std::vector<std::string> lines;
  std::vector<StackTree::Node> path;
  for (StackTree::Node node = 1; node < stacks.size(); ++node) {
    if (stacks.self(node) == 0) continue;
    path.clear();
    for (StackTree::Node up = node; up != StackTree::kRoot; up = stacks.parent(up)) {
      path.push_back(up);
    }
    std::string& line = lines.emplace_back();
    for (std::size_t frame = path.size(); frame-- > 0;) {
      append_frame(line, stacks.frame(path[frame]));
      if (frame > 0) line += ';';
    }
    line += ' ';
    line += std::to_string(stacks.self(node));
    line += '\n';
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace tbtrace
