#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/flops.h>

#include "base/utf8.h"
#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"
#include "writers/roofline/layout.h"
#include "writers/tables/prefixed_number.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using writers::RooflineLayout;
using writers::RooflineSize;

RooflinePoint point(std::string_view name, double flops_per_byte, double flops_per_s,
                    std::int64_t time_ns) {
  RooflinePoint made;
  made.name = name;
  made.precision = "tf32";
  made.count = 1;
  made.time_ns = time_ns;
  made.flops_per_byte = flops_per_byte;
  made.flops_per_s = flops_per_s;
  made.roof_flops_per_s = std::min(1e14, flops_per_byte * 1e12);
  made.is_memory_bound = flops_per_byte < 100;
  return made;
}

Roofline roofline_of(std::vector<RooflinePoint> points) {
  Roofline roofline;
  roofline.points = std::move(points);
  roofline.peaks = {{"tf32", 1e14}};
  roofline.bytes_per_s = 1e12;
  for (const RooflinePoint& each : roofline.points) roofline.total_time_ns += each.time_ns;
  return roofline;
}

constexpr RooflineSize kSize = {.left = 100, .top = 100, .right = 700, .bottom = 500};

TEST(RooflineLayout, LabelsWhatTakesTimeByBothEndsOfItsName) {
  const std::string long_name = "aten::cudnn_convolution_" + std::string(30, 'x') + "_weight";
  const Roofline roofline =
      roofline_of({point(long_name, 10, 1e13, 9'900), point("small", 0.1, 1e10, 99)});
  const RooflineLayout layout = writers::roofline_layout(roofline, kSize);
  ASSERT_THAT(layout.dots, SizeIs(2));
  EXPECT_THAT(layout.dots[0].label, testing::StartsWith("aten::cudnn_conv"));
  EXPECT_THAT(layout.dots[0].label, testing::EndsWith("_weight"));
  EXPECT_EQ(layout.dots[1].label, "") << "less than a hundredth of the time";
}

TEST(RooflineLayout, PutsDecadesAtEqualDistances) {
  // From 0.1 to 1000 operations per byte, from 1e10 to 1e15 operations per second.
  const Roofline roofline = roofline_of({point("a", 0.1, 1e10, 400), point("b", 100, 1e14, 100)});
  const RooflineLayout layout = writers::roofline_layout(roofline, kSize);
  ASSERT_THAT(layout.dots, SizeIs(2));
  EXPECT_EQ(layout.x_ticks.size(), 5U);
  EXPECT_EQ(layout.x_ticks[0].text, "0.1");
  EXPECT_EQ(layout.x_ticks[4].text, "1 k");
  EXPECT_EQ(layout.y_ticks.size(), 6U);
  EXPECT_EQ(layout.y_ticks[0].text, "10 G");
  EXPECT_DOUBLE_EQ(layout.dots[0].x, 100);
  EXPECT_DOUBLE_EQ(layout.dots[0].y, 500);
  EXPECT_DOUBLE_EQ(layout.dots[1].x, 100 + 3 * 150);
  EXPECT_DOUBLE_EQ(layout.dots[1].y, 500 - 4 * 80);
  EXPECT_DOUBLE_EQ(layout.dots[0].radius, 2 * layout.dots[1].radius) << "a quarter of the area";
  ASSERT_THAT(layout.roofs, SizeIs(1));
  EXPECT_EQ(layout.roofs[0].text, "tf32 100 TFLOP/s");
  EXPECT_DOUBLE_EQ(layout.roofs[0].y, layout.dots[1].y);
  EXPECT_DOUBLE_EQ(layout.roofs[0].ridge_x, layout.dots[1].x);
  EXPECT_DOUBLE_EQ(layout.memory_x2, layout.roofs[0].ridge_x);
  EXPECT_DOUBLE_EQ(layout.memory_y2, layout.roofs[0].y);
}

TEST(RooflineLayout, LeavesOutPointsThatALogarithmDoesNotHave) {
  const RooflineLayout layout =
      writers::roofline_layout(roofline_of({point("a", 1, 1e10, 5), point("b", 0, 1e10, 5),
                                            point("c", 1, 0, 5), point("d", 1, 1, 0)}),
                               kSize);
  EXPECT_THAT(layout.dots, SizeIs(1));
}

TEST(RooflineLayout, KeepsTheLabelsOfPeaksApart) {
  Roofline roofline = roofline_of({point("a", 1, 1e10, 5)});
  roofline.peaks = {{"float16, tf32", 1e14}, {"float32", 9e13}, {"", 8e13}};
  const RooflineLayout layout = writers::roofline_layout(roofline, kSize);
  ASSERT_THAT(layout.roofs, SizeIs(3));
  EXPECT_EQ(layout.roofs[0].text, "float16, tf32 100 TFLOP/s");
  EXPECT_EQ(layout.roofs[1].text, "float32 90.0 TFLOP/s");
  EXPECT_EQ(layout.roofs[2].text, "80.0 TFLOP/s");
  EXPECT_GE(layout.roofs[1].text_y - layout.roofs[0].text_y, kSize.line);
  EXPECT_GE(layout.roofs[2].text_y - layout.roofs[1].text_y, kSize.line);
}

/// Labels cover neither each other nor the plot's edges, whatever the numbers are.
TEST(RooflineLayout, OfRandomRowsHasLabelsApart) {
  const unsigned rounds = fixtures::random_rounds(300U);
  for (unsigned seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE(seed);
    fixtures::RandomChoices random(seed);
    std::vector<RooflinePoint> points;
    for (std::int64_t count = random.below(40); count > 0; --count) {
      const double intensity = std::pow(10.0, static_cast<double>(random.below(40)) - 20);
      const double rate = std::pow(10.0, static_cast<double>(random.below(30)) - 5);
      const std::string name(static_cast<std::size_t>(random.below(60)), 'x');
      points.push_back(point(name, intensity, rate, random.below(1000)));
    }
    const Roofline roofline = roofline_of(std::move(points));
    const RooflineLayout layout = writers::roofline_layout(roofline, kSize);
    for (std::size_t one = 0; one < layout.dots.size(); ++one) {
      const writers::RooflineDot& dot = layout.dots[one];
      ASSERT_TRUE(dot.x >= kSize.left && dot.x <= kSize.right);
      ASSERT_TRUE(dot.y >= kSize.top && dot.y <= kSize.bottom);
      const double width = kSize.column * static_cast<double>(utf8_length(dot.label));
      if (dot.label.empty()) continue;
      ASSERT_GE(dot.label_x, kSize.left);
      for (std::size_t two = one + 1; two < layout.dots.size(); ++two) {
        const writers::RooflineDot& other = layout.dots[two];
        if (other.label.empty()) continue;
        const double other_width = kSize.column * static_cast<double>(utf8_length(other.label));
        const bool apart = dot.label_y <= other.label_y - kSize.line ||
                           other.label_y <= dot.label_y - kSize.line ||
                           dot.label_x + width <= other.label_x + 1e-6 ||
                           other.label_x + other_width <= dot.label_x + 1e-6;
        ASSERT_TRUE(apart) << dot.label << ' ' << other.label;
      }
    }
    ASSERT_THAT(*roofline_svg(roofline), Not(HasSubstr("nan")));
  }
}

TEST(RooflineSvg, EscapesNamesAndShowsThemWholeInTooltips) {
  const std::string name = "<script>\"&'\x01" + std::string(80, 'y') + "end";
  RooflinePoint work = point(name, 10, 1e12, 1000);
  work.details = "[[2, 3]]";
  const std::string svg = *roofline_svg(roofline_of({work}), {.title = "a<b", .subtitle = "]]>&"});
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
  EXPECT_THAT(svg, HasSubstr("yend\n[[2, 3]]\n"));
  EXPECT_THAT(svg, HasSubstr("10.0 % of the roof of 10.0 TFLOP/s, limited by memory"));
  EXPECT_THAT(svg, HasSubstr("memory 1.00 TB/s"));
}

TEST(RooflineSvg, SaysIfThereIsNothingToShow) {
  const std::string svg = *roofline_svg(Roofline());
  EXPECT_THAT(svg, HasSubstr("No operator has both a rate and an intensity"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(RooflineSvg, FailsForASizeOutOfRange) {
  for (const RooflineSvgOptions& options :
       {RooflineSvgOptions{.width = 399}, RooflineSvgOptions{.width = 20'001},
        RooflineSvgOptions{.height = 299}, RooflineSvgOptions{.height = 20'001}}) {
    EXPECT_EQ(roofline_svg(Roofline(), options).status().code(), StatusCode::invalid_argument);
  }
}

TEST(PrefixedNumber, HasThreeDigits) {
  EXPECT_EQ(writers::prefixed_number(0), "0 ");
  EXPECT_EQ(writers::prefixed_number(0.0625), "0.0625 ");
  EXPECT_EQ(writers::prefixed_number(999.4), "999 ");
  EXPECT_EQ(writers::prefixed_number(999.6), "1.00 k");
  EXPECT_EQ(writers::prefixed_number(4089184256), "4.09 G");
  EXPECT_EQ(writers::prefixed_number(312e12), "312 T");
  EXPECT_EQ(writers::prefixed_number(99.96e6), "100 M");
  EXPECT_EQ(writers::prefixed_number(1e30), "1000000000 Z");
}

}  // namespace
}  // namespace tbtrace
