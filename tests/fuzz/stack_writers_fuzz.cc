// Hostile frames in folded stacks and in the flame graph's SVG.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

#include "base/utf8.h"
#include "fuzz/require.h"
#include "fuzz/xml_elements.h"

namespace {

using namespace tbtrace;
using fuzz::require;

/// The input cut at its zero bytes.
std::vector<std::string> pieces(std::string_view input) {
  std::vector<std::string> texts;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    texts.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return texts;
}

/// The frames of a folded line, joined by zero bytes, and its weight.
std::pair<std::string, std::int64_t> read_folded(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  require(blank != std::string_view::npos, "a line has a weight");
  std::string frames;
  const std::string_view text = line.substr(0, blank);
  for (std::size_t at = 0; at < text.size(); ++at) {
    require(static_cast<unsigned char>(text[at]) >= 0x20, "a line has no control characters");
    if (text[at] == ';') {
      frames += '\0';
    } else if (text[at] != '\\') {
      frames += text[at];
    } else if (text[++at] == 'x') {
      frames += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
      at += 2;
    } else {
      frames += text[at];
    }
  }
  return {frames, std::stoll(std::string(line.substr(blank + 1)))};
}

void check_folded(const StackTree& stacks) {
  std::map<std::string, std::int64_t> expected;
  for (StackTree::Node node = 1; node < stacks.size(); ++node) {
    if (stacks.self(node) == 0) continue;
    std::string path(stacks.frame(node));
    for (StackTree::Node up = stacks.parent(node); up != StackTree::kRoot; up = stacks.parent(up)) {
      path = std::string(stacks.frame(up)) + '\0' + path;
    }
    expected[path] += stacks.self(node);
  }
  std::map<std::string, std::int64_t> found;
  std::string text = folded_stacks(stacks);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    require(end != std::string_view::npos, "lines end in a newline");
    const auto [frames, weight] = read_folded(rest.substr(0, end));
    found[frames] += weight;
    rest.remove_prefix(end + 1);
  }
  require(found == expected, "folded stacks come back");
}

/// The same stacks with frames of no interest.
StackTree harmless(const StackTree& stacks) {
  StackTree copy(stacks.unit());
  for (StackTree::Node node = 1; node < stacks.size(); ++node) {
    const std::string name = "frame " + std::to_string(node);
    const StackTree::Node same = copy.child(stacks.parent(node), copy.frame_number(name));
    copy.add(same, stacks.self(node));
  }
  return copy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> frames = pieces({reinterpret_cast<const char*>(data), size});
  StackTree stacks("ns");
  StackTree::Node node = StackTree::kRoot;
  for (std::size_t number = 0; number < frames.size() && number < 50; ++number) {
    // Every third frame starts again at the root.
    if (number % 3 == 0) node = StackTree::kRoot;
    node = stacks.child(node, stacks.frame_number(frames[number]));
    stacks.add(node, static_cast<std::int64_t>(number % 4) * 1000);
  }
  check_folded(stacks);

  FlameGraphSvgOptions options;
  options.title = frames.empty() ? "" : frames[0];
  options.subtitle = "a note";
  const auto elements = fuzz::xml_elements(*flame_graph_svg(stacks, options));
  require(elements.has_value(), "a picture is well-formed XML");
  require(elements->count("script") == 0 || elements->at("script") == 1, "there is one script");
  const auto same = fuzz::xml_elements(*flame_graph_svg(harmless(stacks), options));
  require(elements->at("title") == same->at("title"), "frames do not change the number of boxes");
  return 0;
}
