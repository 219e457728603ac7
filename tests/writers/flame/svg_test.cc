#include <algorithm>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

#include "fixtures/stack_path.h"

namespace tbtrace {
namespace {

using fixtures::add_path;

constexpr std::size_t kNowhere = std::string_view::npos;

StackTree small_tree() {
  StackTree stacks("ns");
  add_path(stacks, {"main.py(3): main", "aten::mm"}, 7'500'000);
  add_path(stacks, {"main.py(3): main"}, 2'500'000);
  return stacks;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != kNowhere; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The picture without its script and its style, which are the same for all.
std::string drawing(std::string svg) {
  for (const std::string_view element : {"script", "style"}) {
    const std::string open = "<" + std::string(element) + ">";
    const std::string close = "</" + std::string(element) + ">";
    const std::size_t from = svg.find(open);
    if (from == kNowhere) continue;
    svg.erase(from, svg.find(close, from) + close.size() - from);
  }
  return svg;
}

/// Elements open and close in pairs, text holds no bare `<` or `&`. Not all of XML, but all that
/// the writer uses; the browser test has a real parser.
void expect_well_formed(std::string_view xml) {
  std::vector<std::string_view> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::size_t semicolon = xml.find(';', at);
      ASSERT_LT(semicolon - at, 7u) << xml.substr(at, 40);
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    ASSERT_NE(end, kNowhere);
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), kNowhere) << tag;
    ASSERT_EQ(count(tag, "\"") % 2, 0u) << tag;
    const std::string_view name = tag.substr(0, tag.find(' '));
    if (tag.starts_with('/')) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (!tag.starts_with('?') && !tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  EXPECT_TRUE(open.empty());
}

TEST(FlameGraphSvgTest, OneGroupPerFrame) {
  const std::string svg = drawing(*flame_graph_svg(small_tree()));
  expect_well_formed(svg);
  EXPECT_EQ(count(svg, "<g><title>"), 3u);
  EXPECT_NE(svg.find("<g><title>aten::mm\n"
                     "7.500 ms (7500000 ns), 75.00 % of all; all of it self</title><rect x=\"0\" "
                     "y=\"98\" width=\"884.5\" height=\"16\" fill=\"#"),
            kNowhere)
      << svg;
  EXPECT_NE(svg.find("<title>main.py(3): main\n10.000 ms (10000000 ns), 100.00 % of all; self "
                     "2.500 ms (2500000 ns), 25.00 % of all</title>"),
            kNowhere);
  EXPECT_NE(svg.find("total 10.000 ms (10000000 ns), 2 frames, 2 levels"), kNowhere);
}

TEST(FlameGraphSvgTest, RootBelowOrOnTop) {
  const auto y_of = [](const std::string& svg, std::string_view frame) {
    const std::size_t group = svg.find("<g><title>" + std::string(frame));
    return std::stoi(svg.substr(svg.find(" y=\"", group) + 4));
  };
  const std::string flame = *flame_graph_svg(small_tree());
  const std::string icicle = *flame_graph_svg(small_tree(), {.inverted = true});
  EXPECT_GT(y_of(flame, "all"), y_of(flame, "aten::mm"));
  EXPECT_LT(y_of(icicle, "all"), y_of(icicle, "aten::mm"));
  EXPECT_NE(icicle.find("data-inverted=\"true\""), kNowhere);
}

TEST(FlameGraphSvgTest, TitleSubtitleAndWidth) {
  const std::string svg =
      *flame_graph_svg(small_tree(), {.title = "A & <B>", .subtitle = "run \"7\"", .width = 800});
  expect_well_formed(drawing(svg));
  EXPECT_NE(svg.find(">A &amp; &lt;B&gt;</text>"), kNowhere);
  EXPECT_NE(svg.find("run &quot;7&quot;</text>"), kNowhere);
  EXPECT_NE(svg.find("width=\"800\""), kNowhere);
  EXPECT_NE(svg.find("data-fit=\"false\""), kNowhere);
  for (const int width : {-5, 199, 100'001}) {
    EXPECT_EQ(flame_graph_svg(small_tree(), {.width = width}).status().message(),
              "a flame graph is 200 to 100000 px wide, not " + std::to_string(width));
  }
}

TEST(FlameGraphSvgTest, FitsTheWindowUnlessItHasAWidth) {
  const std::string svg = *flame_graph_svg(small_tree());
  EXPECT_NE(svg.find("width=\"1200\""), kNowhere);
  EXPECT_NE(svg.find("data-fit=\"true\""), kNowhere);
}

TEST(FlameGraphSvgTest, NothingToShow) {
  const std::string svg = *flame_graph_svg(StackTree("bytes"), {.title = "Empty"});
  expect_well_formed(drawing(svg));
  EXPECT_NE(svg.find("There is nothing to show"), kNowhere);
  EXPECT_EQ(svg.find("<script"), kNowhere);
  EXPECT_EQ(svg.find("<g "), kNowhere);
}

TEST(FlameGraphSvgTest, NarrowFramesAreDataForTheScript) {
  StackTree stacks("bytes");
  add_path(stacks, {"wide"}, std::int64_t{1} << 40);
  add_path(stacks, {"narrow", "on it"}, 1);
  const std::string svg = *flame_graph_svg(stacks);
  EXPECT_EQ(count(svg, "<g><title>"), 2u) << "all and wide";
  EXPECT_NE(svg.find("\n&quot;totals&quot;:[1099511627777,1,1,1099511627776]"), kNowhere);
  EXPECT_NE(svg.find("3 frames, 2 levels"), kNowhere);
}

TEST(FlameGraphSvgTest, TheStillPictureHasTheWidestFramesOnly) {
  StackTree stacks("ns");
  for (int number = 0; number < 6000; ++number) {
    add_path(stacks, {"f" + std::to_string(number)}, 10 + number % 7);
  }
  const std::string svg = *flame_graph_svg(stacks);
  EXPECT_EQ(count(svg, "<g><title>"), 5000u);
  EXPECT_NE(svg.find("6000 frames"), kNowhere);
}

TEST(FlameGraphSvgTest, LabelsAreCutToTheirBoxes) {
  StackTree stacks("ns");
  add_path(stacks, {"a name that is far too long for a box of this width"}, 10);
  add_path(stacks, {"b"}, 90);
  add_path(stacks, {"c as well"}, 1);
  const std::string svg = *flame_graph_svg(stacks, {.width = 1030});
  // 10 of 101 parts of 1010 px are 100 px, 93.5 without gap and padding, 12 columns.
  EXPECT_NE(svg.find(">a name that\u2026</text>"), kNowhere);
  EXPECT_EQ(svg.find(">c as"), svg.find(">c as well\n"));  // 10 px: in the tooltip only
}

TEST(FlameGraphSvgTest, LabelsHaveTheEndOfAPath) {
  StackTree stacks("ns");
  add_path(stacks, {"/home/me/models/net.py(42): forward"}, 50);
  add_path(stacks, {"/home/me/models/net.py(43): backward"}, 10);
  const std::string svg = *flame_graph_svg(stacks, {.width = 800});
  EXPECT_NE(svg.find("<title>/home/me/models/net.py(42): forward\n"), kNowhere);
  EXPECT_NE(svg.find(">models/net.py(42): forward</text>"), kNowhere);
  EXPECT_NE(svg.find(">backward</text>"), kNowhere) << "129 px";
}

TEST(FlameGraphSvgTest, WideCharactersTakeTwoColumns) {
  StackTree stacks("ns");
  std::string name;
  for (int character = 0; character < 100; ++character) name += "\u6f22";
  add_path(stacks, {name}, 10);
  const std::string svg = *flame_graph_svg(stacks, {.width = 200});
  const std::size_t label = svg.find("<text", svg.find("<g><title>\u6f22"));
  const std::string text = svg.substr(label, svg.find("</text>", label) - label);
  EXPECT_EQ(count(text, "\u6f22"), 11u) << text;  // 173.5 px are 23 columns, one for the ellipsis
}

TEST(FlameGraphSvgTest, HostileNames) {
  const std::vector<std::string> names = {
      "</text><script>alert(1)</script>",
      "</title></g></svg>",
      "]]>",
      "\" onload=\"alert(2)",
      "&lt; &amp; &#x3c;",
      std::string("nul \0 and \x01\x1f", 11),
      "\xff\xfe\xc0\xaf\xed\xa0\x80",
      "\xef\xbf\xbe\xef\xbf\xbf",
      "\u202e\u05d0\u0627\u6f22\U0001f525",
      std::string(5000, 'x'),
      "",
      "line\nbreak\ttab\rreturn",
      "{} {0} %s %n",
  };
  StackTree stacks("ns");
  for (const std::string& name : names) add_path(stacks, {name, name}, 1'000'000);
  const std::string svg = *flame_graph_svg(stacks);
  expect_well_formed(drawing(svg));
  EXPECT_EQ(count(svg, "<script"), 1u);
  EXPECT_EQ(count(svg, "]]>"), 2u);  // the ends of style and script
  EXPECT_EQ(count(svg, "<g><title>"), 1 + 2 * names.size());
  EXPECT_NE(svg.find(std::string(5000, 'x')), kNowhere);
  for (const char c : svg) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte >= 0x20 || c == '\n' || c == '\t') << int{byte};
  }
}

TEST(FlameGraphSvgTest, ReachesForNothing) {
  std::string svg = *flame_graph_svg(small_tree());
  for (const std::string_view known :
       {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "url(#"}) {  // its own
    for (std::size_t at = svg.find(known); at != kNowhere; at = svg.find(known)) {
      svg.erase(at, known.size());
    }
  }
  for (const std::string_view word : {"http:", "https:", "//www", "@import", "url(", "href=\"",
                                      "eval(", "innerHTML", "Function(", "prompt(", "fetch("}) {
    EXPECT_EQ(svg.find(word), kNowhere) << word;
  }
}

TEST(FlameGraphSvgTest, SameTextForTheSameStacks) {
  StackTree other("ns");
  add_path(other, {"main.py(3): main"}, 2'500'000);
  add_path(other, {"main.py(3): main", "aten::mm"}, 7'000'000);
  add_path(other, {"main.py(3): main", "aten::mm"}, 500'000);
  EXPECT_EQ(*flame_graph_svg(small_tree()), *flame_graph_svg(other));
}

TEST(FlameGraphSvgTest, TheLocalePlaysNoPart) {
  const std::string expected = *flame_graph_svg(small_tree());
  const std::string old = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    static_cast<void>(std::setlocale(LC_ALL, name));  // those that are installed
  }
  EXPECT_EQ(*flame_graph_svg(small_tree()), expected);
  static_cast<void>(std::setlocale(LC_ALL, old.c_str()));
}

TEST(FlameGraphSvgTest, DeepTrees) {
  StackTree stacks("ns");
  StackTree::Node node = StackTree::kRoot;
  for (int depth = 0; depth < 100'000; ++depth) {
    node = stacks.child(node, stacks.frame_number("recursion"));
  }
  stacks.add(node, 10);
  const std::string svg = *flame_graph_svg(stacks);
  EXPECT_EQ(count(svg, "<g><title>"), 5000u);
  EXPECT_NE(svg.find("100000 levels"), kNowhere);
}

}  // namespace
}  // namespace tbtrace
