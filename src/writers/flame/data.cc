#include "writers/flame/data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "wire/xml.h"
#include "writers/flame/difference_shade.h"
#include "writers/flame/frame_color.h"
#include "writers/tables/short_names.h"

namespace tbtrace::writers {
namespace {

/// A JSON string as XML text. Control characters that XML cannot hold are left to
/// append_xml_text(), which replaces them, so that a name is the same here and in a tooltip.
void append_text(std::string& xml, std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        json += '\\';
        json += c;
        break;
      case '\n':
        json += "\\n";
        break;
      case '\r':
        json += "\\r";
        break;
      case '\t':
        json += "\\t";
        break;
      default:
        json += c;
    }
  }
  json += '"';
  wire::append_xml_text(xml, json);
}

/// A name as one line.
void append_line(std::string& lines, std::string_view name) {
  for (const char c : name) {
    if (c == '\\' || c == '\n') lines += '\\';
    lines += c == '\n' ? 'n' : c;
  }
}

/// Of what a script reads. Each byte that is not UTF-8 will be one U+FFFD.
std::size_t utf16_length(std::string_view text) {
  std::size_t length = 0;
  while (!text.empty()) {
    const std::size_t size = std::max<std::size_t>(1, utf8_character_size(text));
    length += size == 4 ? 2 : 1;
    text.remove_prefix(size);
  }
  return length;
}

/// Labels are parts of the name.
void append_labels(std::string& xml, std::string_view name) {
  const std::vector<std::string_view> labels = box_labels(name);
  xml += '[';
  if (labels.size() > 1 || labels.front() != name) {
    for (const std::string_view label : labels) {
      const auto begin = static_cast<std::size_t>(label.data() - name.data());
      fmt::format_to(std::back_inserter(xml), "{}{},{}", xml.back() == '[' ? "" : ",",
                     utf16_length(name.substr(0, begin)),
                     utf16_length(name.substr(begin + label.size())));
    }
  }
  xml += ']';
}

template <typename Append>
void append_list(std::string& xml, std::string_view key, std::size_t size, Append append) {
  xml += ",\n";
  append_text(xml, key);
  xml += ":[";
  for (std::size_t which = 0; which < size; ++which) {
    if (which > 0) xml += ',';
    append(which);
  }
  xml += ']';
}

void append_weight(std::string& xml, std::int64_t weight) {
  constexpr std::int64_t kMostExact = std::int64_t{1} << 53;
  if (weight <= kMostExact) {
    fmt::format_to(std::back_inserter(xml), "{}", weight);
  } else {
    append_text(xml, fmt::format("{}", weight));
  }
}

}  // namespace

std::string box_color(const FlameBox& box) {
  return box.depth == 0 ? "#dcdcdc" : frame_color(box.frame);
}

namespace {

/// All members, without the end of the object.
void append_boxes(std::string& xml, const FlameLayout& layout, std::string_view unit) {
  const std::vector<FlameBox>& boxes = layout.boxes;
  std::unordered_map<std::string_view, std::size_t> numbers;
  std::vector<const FlameBox*> texts;  // a box with each text
  std::vector<std::size_t> text_of;    // by box
  text_of.reserve(boxes.size());
  for (const FlameBox& box : boxes) {
    if (box.depth == 0) {  // a frame may be called like the root
      text_of.push_back(texts.size());
      texts.push_back(&box);
      continue;
    }
    const auto [known, is_new] = numbers.try_emplace(box.frame, texts.size());
    if (is_new) texts.push_back(&box);
    text_of.push_back(known->second);
  }
  const auto append_number = [&](std::size_t number) {
    fmt::format_to(std::back_inserter(xml), "{}", number);
  };
  xml += '{';
  append_text(xml, "unit");
  xml += ':';
  append_text(xml, unit);
  std::string lines;
  std::string colors;
  for (const FlameBox* const box : texts) {
    if (box != texts.front()) lines += '\n';
    append_line(lines, box->frame);
    colors += box_color(*box).substr(1);
  }
  for (const auto& [key, text] : {std::pair("texts", &lines), std::pair("colors", &colors)}) {
    xml += ",\n";
    append_text(xml, key);
    xml += ':';
    append_text(xml, *text);
  }
  append_list(xml, "labels", texts.size(),
              [&](std::size_t text) { append_labels(xml, texts[text]->frame); });
  append_list(xml, "depths", boxes.size(),
              [&](std::size_t box) { append_number(boxes[box].depth); });
  append_list(xml, "frames", boxes.size(), [&](std::size_t box) { append_number(text_of[box]); });
  append_list(xml, "totals", boxes.size(),
              [&](std::size_t box) { append_weight(xml, boxes[box].total); });
  append_list(xml, "selves", boxes.size(),
              [&](std::size_t box) { append_weight(xml, boxes[box].self); });
}

/// A digit for each box.
template <typename Digit>
void append_digits(std::string& xml, std::string_view key, const FlameLayout& layout, Digit digit) {
  xml += ",\n";
  append_text(xml, key);
  xml += ":";
  std::string digits;
  for (const FlameBox& box : layout.boxes) digits += static_cast<char>('0' + digit(box));
  append_text(xml, digits);
}

}  // namespace

void append_flame_graph_data(std::string& xml, const FlameLayout& layout, std::string_view unit) {
  append_boxes(xml, layout, unit);
  xml += '}';
}

void append_difference_data(std::string& xml, const FlameLayout& layout,
                            const FlameDifference& difference) {
  append_boxes(xml, layout, "ns");
  const auto node = [&](const FlameBox& box) -> const DifferenceNode& {
    return difference.nodes[box.node];
  };
  xml += ",\n";
  append_text(xml, "difference");
  fmt::format_to(std::back_inserter(xml), ":{{");
  append_text(xml, "is_per_step");
  xml += difference.is_per_step ? ":true,\n" : ":false,\n";
  append_text(xml, "whole");
  fmt::format_to(std::back_inserter(xml), ":{},\n", std::llround(difference.whole_ns));
  append_text(xml, "palette");
  xml += ':';
  std::string palette;
  for (const std::string_view color : kShadeColors) palette += color.substr(1);
  append_text(xml, palette);
  append_digits(xml, "shades", layout,
                [&](const FlameBox& box) { return shade_of(node(box), difference.whole_ns); });
  append_digits(xml, "sides", layout,
                [&](const FlameBox& box) { return static_cast<int>(side_of(node(box))); });
  const auto append_times = [&](std::string_view key, std::int64_t DifferenceNode::*member) {
    append_list(xml, key, layout.boxes.size(),
                [&](std::size_t box) { append_weight(xml, node(layout.boxes[box]).*member); });
  };
  append_times("bases", &DifferenceNode::base_ns);
  append_times("news", &DifferenceNode::new_ns);
  append_times("base_selves", &DifferenceNode::base_self_ns);
  append_times("new_selves", &DifferenceNode::new_self_ns);
  xml += ",\n";
  append_text(xml, "was");
  xml += ":{";
  bool is_first = true;
  for (std::size_t box = 0; box < layout.boxes.size(); ++box) {
    const std::optional<std::uint32_t> was = node(layout.boxes[box]).base_frame;
    if (!was) continue;
    if (!is_first) xml += ",\n";
    is_first = false;
    append_text(xml, std::to_string(box));
    xml += ':';
    append_text(xml, difference.frames[*was]);
  }
  xml += "}}}";
}

}  // namespace tbtrace::writers
