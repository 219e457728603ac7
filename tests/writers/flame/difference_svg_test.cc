// The picture of a difference: places, colours, patterns, words, hostile names.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/flame_difference.h>

#include "fixtures/hostile_names.h"
#include "fixtures/stack_path.h"
#include "writers/flame/difference_shade.h"

namespace tbtrace {
namespace {

using fixtures::add_path;
using testing::HasSubstr;
using testing::Not;
using Paths = std::vector<std::pair<std::vector<std::string_view>, std::int64_t>>;

FlameDifference difference_of(const Paths& base, const Paths& changed, std::uint64_t steps = 1,
                              double step_ns = 1000) {
  std::vector<RunStacks> sides(2);
  for (const auto& [place, paths] : {std::pair(0, &base), std::pair(1, &changed)}) {
    RunStacks& run = sides[static_cast<std::size_t>(place)];
    run.steps = steps;
    run.has_steps = steps > 0;
    for (const auto& [path, weight] : *paths) add_path(run.cpu, path, weight);
  }
  Result<FlameDifference> found =
      flame_difference(std::span(sides).first(1), std::span(sides).last(1), {.step_ns = step_ns});
  EXPECT_TRUE(found.ok());
  return found.ok() ? *std::move(found) : FlameDifference();
}

std::string svg_of(const FlameDifference& difference, const DifferenceSvgOptions& options = {}) {
  const Result<std::string> svg = difference_svg(difference, options);
  EXPECT_TRUE(svg.ok()) << svg.status().message();
  return svg.ok() ? *svg : "";
}

/// The element of a frame in the still picture.
std::string element_of(const std::string& svg, const std::string& name) {
  const std::size_t begin = svg.find("<g><title>" + name + "\n");
  if (begin == std::string::npos) return "(no such frame)";
  return svg.substr(begin, svg.find("</g>", begin) - begin);
}

TEST(DifferenceSvg, FramesSayWhatTheyTookOnBothSides) {
  const std::string svg = svg_of(difference_of({{{"a"}, 100}, {{"a", "b"}, 20}, {{"c"}, 80}},
                                               {{{"a"}, 160}, {{"a", "b"}, 20}, {{"d"}, 40}}));
  EXPECT_THAT(element_of(svg, "a"),
              HasSubstr("120 ns before, 180 ns now, +60 ns (+6.00 % of the step); self 100 ns "
                        "before, 160 ns now, +60 ns"));
  EXPECT_THAT(element_of(svg, "b"),
              HasSubstr("20 ns before, 20 ns now, 0 ns (+0.00 % of the step)"));
  EXPECT_THAT(element_of(svg, "c"), HasSubstr("gone: 80 ns before, 0 ns now, -80 ns"));
  EXPECT_THAT(element_of(svg, "d"), HasSubstr("new: 0 ns before, 40 ns now, +40 ns"));
  EXPECT_THAT(svg,
              HasSubstr("time on the host per step: 200 ns before, 220 ns now, +20 ns: +40 ns "
                        "in new frames, -80 ns in frames that are gone, +60 ns in the others"));
}

TEST(DifferenceSvg, WhatIsGoneHasItsPlaceAndIsMarkedByMoreThanColour) {
  // all is 160 + 20 + 80 + 40 = 300 wide in 1180 px: the longer of the own times of each.
  const std::string svg = svg_of(difference_of({{{"a"}, 100}, {{"a", "b"}, 20}, {{"c"}, 80}},
                                               {{{"a"}, 160}, {{"a", "b"}, 20}, {{"d"}, 40}}));
  EXPECT_THAT(element_of(svg, "a"), HasSubstr("x=\"0\" y=\"132\" width=\"707.5\""));
  EXPECT_THAT(element_of(svg, "c"), HasSubstr("x=\"708\" y=\"132\" width=\"314.17\""));
  EXPECT_THAT(element_of(svg, "d"), HasSubstr("x=\"1022.67\""));
  EXPECT_THAT(element_of(svg, "c"), HasSubstr("fill=\"url(#gone)\""));
  EXPECT_THAT(element_of(svg, "c"), HasSubstr(">- c<"));
  EXPECT_THAT(element_of(svg, "d"), HasSubstr("fill=\"url(#added)\""));
  EXPECT_THAT(element_of(svg, "d"), HasSubstr(">+ d<"));
  EXPECT_THAT(element_of(svg, "a"), Not(HasSubstr("url(")));
  EXPECT_THAT(svg, HasSubstr("<pattern id=\"gone\""));
}

TEST(DifferenceSvg, TheColourIsThatOfTheOwnTime) {
  const auto shade = [](std::int64_t base, std::int64_t now) {
    return writers::shade_of({.base_self_ns = base, .new_self_ns = now}, 100'000);
  };
  EXPECT_EQ(shade(50, 50), writers::kNoChangeShade);
  EXPECT_EQ(shade(0, 99), writers::kNoChangeShade);
  EXPECT_EQ(shade(0, 100), writers::kNoChangeShade + 1);
  EXPECT_EQ(shade(0, 1000), writers::kNoChangeShade + 2);
  EXPECT_EQ(shade(0, 5000), writers::kNoChangeShade + 3);
  EXPECT_EQ(shade(5000, 0), 0);
  EXPECT_EQ(writers::shade_of({.new_self_ns = 1}, 0), 6) << "without a base everything is new";
  // The frame around a slower one took no longer itself.
  const std::string svg =
      svg_of(difference_of({{{"a"}, 100}, {{"a", "b"}, 20}}, {{{"a"}, 100}, {{"a", "b"}, 320}}));
  EXPECT_THAT(element_of(svg, "a"), HasSubstr(std::string(writers::kShadeColors[3])));
  EXPECT_THAT(element_of(svg, "b"), HasSubstr(std::string(writers::kShadeColors[6])));
}

/// By the formula of WCAG 2.
double contrast(std::string_view one, std::string_view other) {
  const auto luminance = [](std::string_view color) {
    double sum = 0;
    for (const auto& [at, weight] : {std::pair(1, 0.2126), {3, 0.7152}, {5, 0.0722}}) {
      const double value =
          std::stoi(std::string(color.substr(static_cast<std::size_t>(at), 2)), nullptr, 16) /
          255.0;
      sum += weight * (value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const double light = std::max(luminance(one), luminance(other));
  return (light + 0.05) / (std::min(luminance(one), luminance(other)) + 0.05);
}

TEST(DifferenceSvg, TextsAreReadableOnEachColour) {
  for (const std::string_view color : writers::kShadeColors) {
    EXPECT_GE(contrast(color, "#1c1c1c"), 4.5) << color;
  }
}

TEST(DifferenceSvg, FramesWhoseLineMovedSayWhereTheyWere) {
  const std::string svg =
      svg_of(difference_of({{{"net.py(3): forward"}, 10}}, {{{"net.py(5): forward"}, 10}}));
  EXPECT_THAT(element_of(svg, "net.py(5): forward"), HasSubstr("; before: net.py(3): forward"));
  EXPECT_THAT(svg, HasSubstr("&quot;was&quot;:{&quot;1&quot;:&quot;net.py(3): forward&quot;}"));
}

TEST(DifferenceSvg, TotalsAreSaidIfThereAreNoSteps) {
  const std::string svg = svg_of(difference_of({{{"a"}, 10}}, {{{"a"}, 20}}, 0));
  EXPECT_THAT(svg, HasSubstr("Times are totals of the recordings"));
  EXPECT_THAT(svg, HasSubstr("time on the host: 10 ns before, 20 ns now, +10 ns"));
  EXPECT_THAT(element_of(svg, "a"), HasSubstr("(+100.00 % of the total)"));
}

TEST(DifferenceSvg, NothingToShow) {
  EXPECT_THAT(svg_of(difference_of({}, {})), HasSubstr("There is nothing to show"));
}

TEST(DifferenceSvg, NamesAreEscaped) {
  Paths base;
  Paths changed;
  const auto& names = fixtures::kHostileNames;
  for (std::size_t at = 0; at < names.size(); ++at) {
    (at % 2 == 0 ? base : changed).push_back({{names[at]}, 1000});
  }
  const std::string svg = svg_of(difference_of(base, changed),
                                 {.title = "</title><script>", .subtitles = {"<b>&amp;"}});
  EXPECT_THAT(svg, Not(HasSubstr("</title><script>")));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(svg, Not(HasSubstr("\x07")));
}

TEST(DifferenceSvg, WidthOutOfRange) {
  EXPECT_EQ(difference_svg(FlameDifference(), {.width = 10}).status().message(),
            "a flame graph is 200 to 100000 px wide, not 10");
}

}  // namespace
}  // namespace tbtrace
