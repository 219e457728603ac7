#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/flame_graph.h>

#include "io/text_sink.h"
#include "report/stack_children.h"
#include "writers/flame/folded_lines.h"
#include "writers/tables/write_file.h"

namespace tbtrace {
namespace {

bool is_escaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\\' || c == ';' || byte < 0x20 || byte == 0x7f;
}

/// A frame must not contain the separator or a line break, because tools split at every `;`.
void append_frame(std::string& line, std::string_view frame) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : frame) {
    const auto byte = static_cast<unsigned char>(c);
    if (!is_escaped(c)) {
      line += c;
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += "\\x";
      line += kHex[byte >> 4];
      line += kHex[byte & 15];
    }
  }
}

/// The lines of a tree in byte order, without holding all of them in memory.
///
/// All lines below a node start with its path and `;`, and no line of its siblings does. So it is
/// enough to sort what is directly under each node: for each child its own line, and all lines
/// below it as one unit.
class FoldedLines {
 public:
  /// `around`: a frame around all stacks; empty: none.
  explicit FoldedLines(const StackTree& stacks, std::string_view around = {})
      : stacks_(stacks), children_(stacks) {
    if (around.empty()) return;
    append_frame(before_, around);
    before_ += ';';
  }

  void write(io::TextSink& out) const {
    std::string path = before_;  // of the last level, ending in `;`
    std::vector<Level> levels = {{parts_under(StackTree::kRoot), 0, path.size()}};
    while (!levels.empty()) {
      Level& level = levels.back();
      path.resize(level.path_size);
      if (level.next == level.parts.size()) {
        levels.pop_back();
        continue;
      }
      const Part part = level.parts[level.next++];
      if (part.is_line) {
        std::string& lines = out.text();
        lines += path;
        append_frame(lines, stacks_.frame(part.node));
        lines += end_of(part);
        if (!out.flow()) return;
      } else {
        append_frame(path, stacks_.frame(part.node));
        path += end_of(part);
        levels.push_back({parts_under(part.node), 0, path.size()});
      }
    }
  }

 private:
  using Node = StackTree::Node;

  /// The line of a node, or all lines below it.
  struct Part {
    Node node;
    bool is_line;
  };

  /// What is directly under one node; `next` comes next.
  struct Level {
    std::vector<Part> parts;
    std::size_t next;
    std::size_t path_size;
  };

  std::vector<Part> parts_under(Node node) const {
    std::vector<Part> parts;
    for (const Node child : children_.of(node)) {
      if (stacks_.self(child) != 0) parts.push_back({child, true});
      if (!children_.of(child).empty()) parts.push_back({child, false});
    }
    std::sort(parts.begin(), parts.end(),
              [&](const Part& a, const Part& b) { return is_before(a, b); });
    return parts;
  }

  /// The text after the frame of a part.
  std::string end_of(const Part& part) const {
    return part.is_line ? ' ' + std::to_string(stacks_.self(part.node)) + '\n' : ";";
  }

  /// Compares the bytes of the lines after the common path. Equal frames are escaped equally, so
  /// the first difference decides; texts are built only if the difference is at an end, or is
  /// escaped.
  bool is_before(const Part& a, const Part& b) const {
    const std::string_view one = stacks_.frame(a.node);
    const std::string_view two = stacks_.frame(b.node);
    const auto [at_one, at_two] = std::mismatch(one.begin(), one.end(), two.begin(), two.end());
    const bool inside = at_one != one.end() && at_two != two.end();
    if (inside && !is_escaped(*at_one) && !is_escaped(*at_two)) {
      return static_cast<unsigned char>(*at_one) < static_cast<unsigned char>(*at_two);
    }
    const auto equal = static_cast<std::size_t>(at_one - one.begin());
    std::string rest_of_one;
    std::string rest_of_two;
    append_frame(rest_of_one, one.substr(equal));
    append_frame(rest_of_two, two.substr(equal));
    return rest_of_one + end_of(a) < rest_of_two + end_of(b);
  }

  const StackTree& stacks_;
  const report::StackChildren children_;
  std::string before_;
};

Status write(const StackTree& stacks, io::ByteSink& sink) {
  io::TextSink out(sink);
  FoldedLines(stacks).write(out);
  return out.finish();
}

}  // namespace

namespace writers {

void write_folded_lines(const StackTree& stacks, std::string_view around, io::TextSink& out) {
  FoldedLines(stacks, around).write(out);
}

}  // namespace writers

std::string folded_stacks(const StackTree& stacks) {
  return io::text_of([&](io::TextSink& out) { FoldedLines(stacks).write(out); });
}

Status write_folded_stacks(const StackTree& stacks, const std::string& path, bool overwrite) {
  return writers::write_file(path, overwrite,
                             [&](io::ByteSink& sink) { return write(stacks, sink); });
}

Status write_folded_stacks(const StackTree& stacks, std::ostream& stream) {
  return write(stacks, *io::stream_sink(stream));
}

}  // namespace tbtrace
