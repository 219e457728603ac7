#include "writers/flame_graph_data.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "wire/xml.h"
#include "writers/frame_color.h"
#include "writers/short_names.h"

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

void append_entry(std::string& xml, std::string_view name) {
  const std::vector<std::string_view> labels = box_labels(name);
  if (labels.size() == 1 && labels.front() == name) {
    append_text(xml, name);
    return;
  }
  xml += '[';
  append_text(xml, name);
  for (const std::string_view label : labels) {
    xml += ',';
    append_text(xml, label);
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

void append_flame_graph_data(std::string& xml, const FlameLayout& layout, std::string_view unit) {
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
  append_list(xml, "texts", texts.size(),
              [&](std::size_t text) { append_entry(xml, texts[text]->frame); });
  append_list(xml, "colors", texts.size(), [&](std::size_t text) {
    append_text(xml, std::string_view(box_color(*texts[text])).substr(1));
  });
  append_list(xml, "depths", boxes.size(),
              [&](std::size_t box) { append_number(boxes[box].depth); });
  append_list(xml, "frames", boxes.size(), [&](std::size_t box) { append_number(text_of[box]); });
  append_list(xml, "totals", boxes.size(),
              [&](std::size_t box) { append_weight(xml, boxes[box].total); });
  append_list(xml, "selves", boxes.size(),
              [&](std::size_t box) { append_weight(xml, boxes[box].self); });
  xml += '}';
}

}  // namespace tbtrace::writers
