#include "writers/flame/data.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "base/utf8.h"
#include "fixtures/hostile_names.h"
#include "writers/flame/frame_color.h"

namespace tbtrace::writers {
namespace {

using ::testing::ElementsAre;

/// What an XML parser makes of the text.
std::string read_xml(std::string_view xml) {
  const std::vector<std::pair<std::string_view, std::string_view>> entities = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
  std::string text;
  while (!xml.empty()) {
    EXPECT_NE(xml[0], '<');
    std::size_t size = 1;
    std::string_view meaning = xml.substr(0, 1);
    if (xml[0] == '&') {
      meaning = {};
      for (const auto& [entity, character] : entities) {
        if (!xml.starts_with(entity)) continue;
        size = entity.size();
        meaning = character;
      }
      EXPECT_FALSE(meaning.empty()) << xml.substr(0, 10);
    }
    text += meaning;
    xml.remove_prefix(size);
  }
  return text;
}

simdjson::dom::element parse(simdjson::dom::parser& parser, const FlameLayout& layout,
                             std::string_view unit = "ns") {
  std::string xml;
  append_flame_graph_data(xml, layout, unit);
  const std::string json = read_xml(xml);
  simdjson::dom::element data;
  EXPECT_EQ(parser.parse(json).get(data), simdjson::SUCCESS) << json;
  return data;
}

std::vector<std::int64_t> numbers(simdjson::dom::element data, std::string_view key) {
  std::vector<std::int64_t> list;
  for (const simdjson::dom::element number : data[key].get_array()) {
    list.push_back(number.get_int64().value());
  }
  return list;
}

TEST(FlameGraphData, HasEachNameOnceAndEachBoxInItsOrder) {
  const FlameLayout layout = {.boxes = {{0, 0, 30, 0, "all"},
                                        {1, 0, 20, 5, "aten::mm"},
                                        {2, 0, 15, 15, "all"},
                                        {1, 20, 10, 10, "aten::mm"}},
                              .total = 30,
                              .levels = 3};
  simdjson::dom::parser parser;
  const simdjson::dom::element data = parse(parser, layout, "bytes");
  EXPECT_EQ(data["unit"].get_string().value(), "bytes");
  EXPECT_EQ(data["texts"].get_string().value(), "all\naten::mm\nall")
      << "a frame called like the root is another one";
  EXPECT_EQ(simdjson::to_string(data["labels"]), "[[],[0,0,6,0],[]]");
  EXPECT_EQ(data["colors"].get_string().value(),
            "dcdcdc" + frame_color("aten::mm").substr(1) + frame_color("all").substr(1));
  EXPECT_THAT(numbers(data, "depths"), ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(numbers(data, "frames"), ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(numbers(data, "totals"), ElementsAre(30, 20, 15, 10));
  EXPECT_THAT(numbers(data, "selves"), ElementsAre(0, 5, 15, 10));
}

TEST(FlameGraphData, WeightsThatANumberOfAScriptCannotHoldAreTexts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t exact = std::int64_t{1} << 53;
  simdjson::dom::parser parser;
  const simdjson::dom::element data = parse(
      parser, {.boxes = {{0, 0, kMost, exact, "all"}, {1, 0, exact + 1, 0, "a"}}, .total = kMost});
  EXPECT_EQ(data["totals"].at(0).get_string().value(), "9223372036854775807");
  EXPECT_EQ(data["totals"].at(1).get_string().value(), "9007199254740993");
  EXPECT_EQ(data["selves"].at(0).get_int64().value(), exact);
}

/// What XML cannot hold is replaced, one for one.
std::string as_xml_has_it(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t size = utf8_character_size(name);
    const bool is_control = static_cast<unsigned char>(name[0]) < 0x20 && name[0] != '\n' &&
                            name[0] != '\r' && name[0] != '\t';
    text += size == 0 || is_control ? "\ufffd" : name.substr(0, size);
    name.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = {""};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') {
      lines.emplace_back();
    } else if (text[at] == '\\') {
      lines.back() += text[++at] == 'n' ? '\n' : '\\';
    } else {
      lines.back() += text[at];
    }
  }
  return lines;
}

TEST(FlameGraphData, HostileNamesAreText) {
  std::vector<std::string> names(fixtures::kHostileNames.begin(), fixtures::kHostileNames.end());
  names.insert(names.end(), {"</metadata><script>alert(1)</script>", "]]>", "&#34;,&quot;", "\\",
                             "\\\"", "\"],\"totals\":[", std::string("\0nul", 4), "", "__proto__",
                             "\u2028", "/a/b/\"c\".py(1): \\f", "void f<\"x\">(int)"});
  FlameLayout layout = {.boxes = {{0, 0, 1, 0, "all"}}, .total = 1};
  for (const std::string& name : names) layout.boxes.push_back({1, 0, 1, 1, name});
  simdjson::dom::parser parser;
  const std::vector<std::string> texts =
      lines_of(std::string(parse(parser, layout)["texts"].get_string().value()));
  ASSERT_EQ(texts.size(), names.size() + 1);
  for (std::size_t number = 0; number < names.size(); ++number) {
    EXPECT_EQ(texts[number + 1], as_xml_has_it(names[number]));
  }
}

TEST(FlameGraphData, LabelsArePartsOfNamesInUtf16) {
  const auto labels = [](std::string_view name) {
    simdjson::dom::parser parser;
    return simdjson::to_string(
        parse(parser, {.boxes = {{0, 0, 1, 0, "all"}, {1, 0, 1, 1, name}}, .total = 1})["labels"]
            .at(1));
  };
  EXPECT_EQ(labels("plain"), "[]");
  EXPECT_EQ(labels("/a/b/c.py(1): f"), "[3,0,5,0,14,0]");
  EXPECT_EQ(labels("/\u00e9/\U0001f525/c.py(1): f"), "[3,0,6,0,15,0]");
  EXPECT_EQ(labels("/\xff/\xff\xfe/c.py(1): f"), "[3,0,6,0,15,0]");
  EXPECT_EQ(labels("void a::f(int)"), "[0,0,5,5,8,5]");
}

}  // namespace
}  // namespace tbtrace::writers
