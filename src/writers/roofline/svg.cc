// Draws a roofline layout as SVG.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/flops.h>

#include "wire/xml.h"
#include "writers/pictures/picture_text.h"
#include "writers/roofline/layout.h"
#include "writers/roofline/style_css.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/weight_text.h"

namespace tbtrace {
namespace {

using writers::prefixed_number;
using writers::RooflineDot;
using writers::RooflineLayout;
using writers::RooflineRoof;
using writers::RooflineSize;
using writers::RooflineTick;

constexpr double kColumn = 7.25;
constexpr double kHeadingColumn = 10.3;
constexpr double kLine = 17;
constexpr double kMargin = 12;
constexpr double kLeft = 84;  // room for the labels of the axis
constexpr double kBelow = 52;
constexpr std::string_view kComputeColor = "#3d9450";
constexpr std::string_view kMemoryColor = "#a8842a";
constexpr std::string_view kOtherColor = "#6b6b6b";

std::string_view color_of(const RooflinePoint& point) {
  if (!point.is_memory_bound) return kOtherColor;
  return *point.is_memory_bound ? kMemoryColor : kComputeColor;
}

class RooflinePicture {
 public:
  RooflinePicture(const Roofline& roofline, const RooflineSvgOptions& options)
      : roofline_(roofline), options_(options), width_(options.width), height_(options.height) {}

  std::string drawn() && {
    std::string head = header();
    const RooflineSize size = {.left = kLeft,
                               .top = y_ + kMargin,
                               .right = width_ - kMargin,
                               .bottom = height_ - kBelow,
                               .column = kColumn,
                               .line = 15};
    const RooflineLayout layout = writers::roofline_layout(roofline_, size);
    write(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"roofline\" width=\"{0}\" "
        "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<style>\n{2}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        width_, height_, kRooflineStyle);
    svg_ += head;
    if (layout.dots.empty()) {
      text("note", kMargin, y_ + kLine, "start",
           "No operator has both a rate and an intensity. They need shapes (record_shapes=True).");
    } else {
      axes(layout, size);
      roofs(layout, size);
      dots(layout);
      labels(layout, size);
    }
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  template <typename... Values>
  void write(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), form, std::forward<Values>(values)...);
  }

  void text(std::string_view type, double x, double y, std::string_view anchor,
            std::string_view content) {
    write("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">", type, x, y, anchor);
    wire::append_xml_text(svg_, content);
    svg_ += "</text>\n";
  }

  /// The lines above the plot; moves y_ below them.
  std::string header() {
    std::string head;
    std::swap(head, svg_);
    const auto line = [&](std::string_view type, double height, double column,
                          std::string_view content) {
      y_ += height;
      text(type, kMargin, y_, "start",
           writers::fitted_text(content, (width_ - 2 * kMargin) / column,
                                [](std::string_view) { return 1.0; }));
    };
    line("heading", 26, kHeadingColumn, options_.title);
    if (!options_.subtitle.empty()) line("note", kLine, kColumn, options_.subtitle);
    if (!roofline_.device.empty()) line("note", kLine, kColumn, roofline_.device);
    line("note", kLine, kColumn,
         "A dot is an operator; its area is its " + roofline_.time +
             ". Point at one for its numbers.");
    legend();
    std::swap(head, svg_);
    return head;
  }

  void legend() {
    y_ += kLine;
    double x = kMargin;
    const auto entry = [&](std::string_view color, std::string_view label) {
      write("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\" fill-opacity=\"0.55\"/>\n",
            x + 5, y_ - 4, color);
      text("note", x + 15, y_, "start", label);
      x += 15 + kColumn * static_cast<double>(label.size()) + 18;
    };
    const auto has_bound = [](const RooflinePoint& point) {
      return point.is_memory_bound.has_value();
    };
    const std::vector<RooflinePoint>& points = roofline_.points;
    if (std::any_of(points.begin(), points.end(), has_bound)) {
      entry(kComputeColor, "limited by compute");
      entry(kMemoryColor, "limited by memory");
    }
    if (!std::all_of(points.begin(), points.end(), has_bound)) entry(kOtherColor, "peak not known");
  }

  void axes(const RooflineLayout& layout, const RooflineSize& size) {
    svg_ += "<g class=\"grid\">\n";
    for (const RooflineTick& tick : layout.x_ticks) {
      write("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", tick.at,
            size.top, size.bottom);
      const bool is_last = &tick == &layout.x_ticks.back();
      if (!tick.text.empty()) {
        text("tick", tick.at, size.bottom + 16, is_last ? "end" : "middle", tick.text);
      }
    }
    for (const RooflineTick& tick : layout.y_ticks) {
      write("<line x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\"/>\n", tick.at,
            size.left, size.right);
      if (!tick.text.empty()) text("tick", size.left - 6, tick.at + 4, "end", tick.text);
    }
    svg_ += "</g>\n";
    text("axis", (size.left + size.right) / 2, size.bottom + 38, "middle",
         "intensity, FLOP per byte of inputs and outputs");
    const double middle = (size.top + size.bottom) / 2;
    write(
        "<text class=\"axis\" transform=\"translate(18 {:.1f}) rotate(-90)\" "
        "text-anchor=\"middle\">FLOP/s</text>\n",
        middle);
  }

  void roofs(const RooflineLayout& layout, const RooflineSize& size) {
    svg_ += "<g class=\"roofs\">\n";
    for (const RooflineRoof& roof : layout.roofs) {
      write("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", roof.ridge_x,
            roof.y, size.right, roof.y);
    }
    if (layout.has_memory) {
      write(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>memory {}B/s"
          "</title></line>\n",
          layout.memory_x1, layout.memory_y1, layout.memory_x2, layout.memory_y2,
          prefixed_number(*roofline_.bytes_per_s));
    }
    svg_ += "</g>\n";
  }

  void dots(const RooflineLayout& layout) {
    svg_ += "<g class=\"dots\">\n";
    for (const RooflineDot& dot : layout.dots) {
      write("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"><title>",
            dot.x, dot.y, dot.radius, color_of(*dot.point), color_of(*dot.point));
      wire::append_xml_text(svg_, tooltip(*dot.point));
      svg_ += "</title></circle>\n";
    }
    svg_ += "</g>\n";
  }

  /// On top, so that dots do not hide them.
  void labels(const RooflineLayout& layout, const RooflineSize& size) {
    svg_ += "<g class=\"labels\">\n";
    for (const RooflineRoof& roof : layout.roofs) {
      text("roof", size.right, roof.text_y, "end", roof.text);
    }
    if (layout.has_memory) {
      text("roof", layout.memory_label_x, layout.memory_label_y, "start",
           "memory " + prefixed_number(*roofline_.bytes_per_s) + "B/s");
    }
    for (const RooflineDot& dot : layout.dots) {
      if (!dot.label.empty()) text("label", dot.label_x, dot.label_y, "start", dot.label);
    }
    svg_ += "</g>\n";
  }

  std::string tooltip(const RooflinePoint& point) const {
    std::string tip = point.name;
    if (!point.details.empty()) tip += "\n" + point.details;
    tip += fmt::format("\n{} operator{}", point.count, point.count == 1 ? "" : "s");
    if (!point.precision.empty()) tip += ", " + point.precision;
    tip += fmt::format("\n{} ({} of all {})", writers::weight_text(point.time_ns, "ns"),
                       writers::share_text(point.time_ns, roofline_.total_time_ns), roofline_.time);
    tip += fmt::format("\n{}FLOP/s, {}FLOP per byte", prefixed_number(point.flops_per_s),
                       prefixed_number(point.flops_per_byte));
    if (point.roof_flops_per_s && point.is_memory_bound) {
      tip += fmt::format("\n{:.1f} % of the roof of {}FLOP/s, limited by {}",
                         100 * point.flops_per_s / *point.roof_flops_per_s,
                         prefixed_number(*point.roof_flops_per_s),
                         *point.is_memory_bound ? "memory" : "compute");
    }
    return tip;
  }

  const Roofline& roofline_;
  const RooflineSvgOptions& options_;
  double width_;
  double height_;
  double y_ = 0;
  std::string svg_;
};

}  // namespace

Result<std::string> roofline_svg(const Roofline& roofline, const RooflineSvgOptions& options) {
  constexpr int kLeastWidth = 400;
  constexpr int kLeastHeight = 300;
  constexpr int kMost = 20'000;
  const bool is_wide_enough = options.width >= kLeastWidth && options.width <= kMost;
  const bool is_high_enough = options.height >= kLeastHeight && options.height <= kMost;
  if (!is_wide_enough || !is_high_enough) {
    return Status(
        StatusCode::invalid_argument,
        fmt::format("a roofline picture is {0} to {2} px wide and {1} to {2} px high, not "
                    "{3} by {4}",
                    kLeastWidth, kLeastHeight, kMost, options.width, options.height));
  }
  return RooflinePicture(roofline, options).drawn();
}

}  // namespace tbtrace
