// Draws the widest boxes of a layout as SVG, and adds all of them as data for the script, which
// draws what is in the window at the current zoom. Without its script (in an <img>, in a viewer) it
// is a picture with tooltips.
#include "writers/flame/svg_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "wire/xml.h"
#include "writers/flame/flame_graph_js.h"
#include "writers/flame/style_css.h"
#include "writers/tables/short_names.h"

namespace tbtrace::writers {
namespace {

// In px. Texts are monospace; a column is the width that the usual fonts need at 12 px, rounded up.
constexpr int kMargin = kSvgMargin;
constexpr int kLevel = 17;  // distance between levels
constexpr int kBox = 16;
constexpr int kLine = 17;
constexpr int kControls = 30;  // height of a row of controls
constexpr double kGap = 0.5;
constexpr double kPadding = 3;
constexpr double kColumn = 7.25;
constexpr double kHeadingColumn = 10.3;
constexpr int kRise = 12;  // from the top of a box to the baseline of its text

constexpr std::size_t kMostStillBoxes = 5000;  // those of the picture without its script
constexpr double kNarrowestStill = 0.1;        // px

/// Stripes and dots over the colour of a box, so that it needs no colour to be seen.
constexpr std::string_view kPatterns =
    "<defs><pattern id=\"gone\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"6\" fill=\"#1c1c1c\" "
    "fill-opacity=\"0.22\"/></pattern><pattern id=\"added\" width=\"5\" height=\"5\" "
    "patternUnits=\"userSpaceOnUse\"><circle cx=\"2\" cy=\"2\" r=\"1\" fill=\"#1c1c1c\" "
    "fill-opacity=\"0.3\"/></pattern></defs>\n";

/// With at most two decimals.
std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

int columns_in(double width, double column) {
  return std::max(0, static_cast<int>(std::floor(width / column)));
}

/// Cut with an ellipsis to `room` columns; empty if hardly anything would be left. CJK, emoji and
/// the like take two columns. The script follows the same rule.
std::string fitted(std::string_view text, int room) {
  constexpr std::string_view kFirstWide = "\xe1\x84\x80";  // U+1100
  int used = 0;
  std::size_t kept = 0;  // longest prefix that leaves a column for the ellipsis
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_character_size(text.substr(at));
    used += size == 0 || text.substr(at, size) >= kFirstWide ? 2 : 1;
    if (used > room) return room < 3 ? "" : std::string(text.substr(0, kept)) + "\u2026";
    at += std::max<std::size_t>(1, size);
    if (used < room) kept = at;
  }
  return std::string(text);
}

/// The longest label of a frame that fits, or what fits of the shortest one.
std::string label_of(std::string_view frame, int room) {
  std::string label;
  for (const std::string_view form : box_labels(frame)) {
    label = fitted(form, room);
    if (label == form) break;
  }
  return label;
}

/// The script follows the same rule.
int control_rows(int width) { return width >= 900 ? 1 : width >= 470 ? 2 : 4; }

class SvgPicture {
 public:
  SvgPicture(const FlameLayout& layout, const SvgLook& look, const SvgContent& content)
      : layout_(layout),
        look_(look),
        content_(content),
        width_(look.width.value_or(kUsualSvgWidth)) {
    scale_ = layout_.total > 0 ? inner_width() / static_cast<double>(layout_.total) : 0;
  }

  std::string drawn() && {
    std::string head = header();
    boxes_top_ = y_ + (is_empty() ? 0 : kControls * control_rows(width_));
    boxes_bottom_ = boxes_top_ + kLevel * static_cast<int>(layout_.levels);
    const int height = boxes_bottom_ + (is_empty() ? 0 : 2 * kLine) + kMargin;
    open(height);
    svg_ += head;
    if (!is_empty()) {
      frames();
      controls();
      details();
      svg_ += "<metadata class=\"data\">";
      content_.append_data(svg_);
      svg_ += "</metadata>\n";
      write("<script><![CDATA[\n{}]]></script>\n", kFlameGraphScript);
    }
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  bool is_empty() const { return layout_.boxes.empty(); }
  int inner_width() const { return width_ - 2 * kMargin; }

  template <typename... Values>
  void write(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), form, std::forward<Values>(values)...);
  }

  /// Everything above the controls; moves y_ to the start of the controls.
  std::string header() {
    std::string head;
    const auto line = [&](std::string_view type, int height, std::string_view text, double column) {
      y_ += height;
      fmt::format_to(std::back_inserter(head), "<text class=\"{}\" x=\"{}\" y=\"{}\">", type,
                     kMargin, y_);
      wire::append_xml_text(head, fitted(text, columns_in(inner_width(), column)));
      head += "</text>\n";
    };
    y_ = 6;
    line("heading", 20, look_.title, kHeadingColumn);
    for (const std::string& note : content_.notes()) line("note", kLine, note, kColumn);
    if (is_empty()) return head;
    legend(head);
    y_ += 6;
    return head;
  }

  static void append_box(std::string& text, std::string_view x, int y, std::string_view width,
                         int height, std::string_view color, std::string_view pattern) {
    const auto rect = [&](std::string_view fill) {
      fmt::format_to(std::back_inserter(text),
                     "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>", x, y,
                     width, height, fill);
    };
    rect(color);
    if (!pattern.empty()) rect("url(#" + std::string(pattern) + ")");
  }

  /// In as many rows as needed.
  void legend(std::string& head) {
    constexpr int kSwatch = 11;
    double x = kMargin;
    y_ += kLine + 2;
    for (const auto& [label, color, pattern] : content_.legend()) {
      const double width = kSwatch + 5 + kColumn * static_cast<double>(label.size()) + 14;
      if (x > kMargin && x + width > width_ - kMargin) {
        x = kMargin;
        y_ += kLine;
      }
      append_box(head, px(x), y_ - 10, std::to_string(kSwatch), kSwatch, color, pattern);
      fmt::format_to(std::back_inserter(head), "<text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n",
                     px(x + kSwatch + 5), y_, label);
      x += width;
    }
  }

  void open(int height) {
    write(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame-graph\" width=\"{0}\" "
        "height=\"{1}\" viewBox=\"0 0 {0} {1}\" data-width=\"{2}\" data-column=\"{3}\" "
        "data-padding=\"{4}\" data-gap=\"{5}\" data-rise=\"{6}\" data-top=\"{7}\" "
        "data-bottom=\"{8}\" data-below=\"{9}\" data-level=\"{10}\" data-box=\"{11}\" "
        "data-controls=\"{12}\" data-margin=\"{13}\" data-inverted=\"{14}\" data-fit=\"{15}\">\n"
        "<title>",
        width_, height, inner_width(), kColumn, kPadding, kGap, kRise, boxes_top_, boxes_bottom_,
        height - boxes_bottom_, kLevel, kBox, kControls, kMargin, look_.inverted,
        !look_.width.has_value());
    wire::append_xml_text(svg_, look_.title);
    write(
        "</title>\n<style><![CDATA[\n{}]]></style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        kFlameGraphStyle);
    const std::vector<SvgSwatch> swatches = content_.legend();
    const bool has_patterns =
        std::ranges::any_of(swatches, [](const SvgSwatch& one) { return !one.pattern.empty(); });
    if (has_patterns) svg_ += kPatterns;
  }

  void frames() {
    write(
        "<g class=\"frames\" role=\"group\" aria-label=\"Frames\" "
        "transform=\"translate({} 0)\">\n<g class=\"still\">\n",
        kMargin);
    std::vector<std::int64_t> weights;
    weights.reserve(layout_.boxes.size());
    for (const FlameBox& box : layout_.boxes) weights.push_back(box.total);
    const auto lowest = static_cast<std::int64_t>(std::ceil(kNarrowestStill / scale_));
    const LargestWeights widest =
        largest_weights(weights, kMostStillBoxes, std::max(std::int64_t{1}, lowest));
    for (std::size_t box = 0; box < weights.size(); ++box) {
      if (widest.contains(weights[box], box)) frame(layout_.boxes[box]);
    }
    svg_ += "</g>\n</g>\n";
  }

  void frame(const FlameBox& box) {
    const int level = static_cast<int>(box.depth);
    const int y =
        look_.inverted ? boxes_top_ + level * kLevel : boxes_bottom_ - (level + 1) * kLevel;
    const double x = static_cast<double>(box.start) * scale_;
    const double full = static_cast<double>(box.total) * scale_;
    const double width = full > 4 * kGap ? full - kGap : full;
    svg_ += "<g><title>";
    wire::append_xml_text(svg_, box.frame);
    svg_ += '\n';
    wire::append_xml_text(svg_, content_.figures(box));
    svg_ += "</title>";
    append_box(svg_, px(x), y, px(width), kBox, content_.color(box), content_.pattern(box));
    const std::string_view sign = content_.sign(box);
    std::string label = label_of(
        box.frame, columns_in(width - 2 * kPadding, kColumn) - static_cast<int>(sign.size()));
    if (!label.empty()) label.insert(0, sign);
    if (!label.empty()) {
      write("<text x=\"{}\" y=\"{}\">", px(x + kPadding), y + kRise);
      wire::append_xml_text(svg_, label);
      svg_ += "</text>";
    }
    svg_ += "</g>\n";
  }

  /// Real XHTML controls, so that keyboards and screen readers support them. The script shows them.
  void controls() {
    write(
        "<g class=\"bar\" data-y=\"{0}\" display=\"none\">"
        "<rect class=\"panel\" y=\"{0}\" width=\"100%\" height=\"{3}\"/>\n"
        "<foreignObject x=\"{1}\" y=\"{0}\" width=\"{2}\" height=\"{3}\">\n",
        y_, kMargin, inner_width(), kControls * control_rows(width_));
    svg_ +=
        "<div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"controls\">\n"
        "<button type=\"button\" class=\"reset\" disabled=\"disabled\">Reset zoom</button>\n"
        "<button type=\"button\" class=\"callers\" disabled=\"disabled\">Callers</button>\n"
        "<button type=\"button\" class=\"open\" aria-expanded=\"false\">Search</button>\n"
        "<span class=\"field\" hidden=\"hidden\">"
        "<input type=\"text\" class=\"pattern\" aria-label=\"Search by regular expression\" "
        "placeholder=\"regular expression\" spellcheck=\"false\" autocomplete=\"off\"/>\n"
        "<label><input type=\"checkbox\" class=\"match-case\" aria-label=\"match case\"/>match "
        "case</label>\n"
        "<button type=\"button\" class=\"clear\">Clear</button>\n"
        "<output class=\"matched\"></output></span>\n"
        "</div>\n</foreignObject></g>\n";
  }

  void details() {
    const int top = boxes_bottom_;
    const int end = top + 2 * kLine + kMargin;
    write(
        "<g class=\"details\" data-end=\"{0}\">"
        "<rect class=\"panel\" y=\"{1}\" width=\"100%\" height=\"{2}\"/>"
        "<text class=\"name\" x=\"{3}\" y=\"{4}\"></text>"
        "<text class=\"figures note\" x=\"{3}\" y=\"{5}\"></text></g>\n",
        end, top, end - top, kMargin, top + kLine, top + 2 * kLine);
  }

  const FlameLayout& layout_;
  const SvgLook& look_;
  const SvgContent& content_;
  int width_;
  double scale_ = 0;  // px per unit of weight
  std::string svg_;
  int y_ = 0;  // bottom of the contents so far
  int boxes_top_ = 0;
  int boxes_bottom_ = 0;
};

}  // namespace

std::string svg_picture(const FlameLayout& layout, const SvgLook& look, const SvgContent& content) {
  return SvgPicture(layout, look, content).drawn();
}

std::string wrong_svg_width(int width) {
  if (width >= kLeastSvgWidth && width <= kMostSvgWidth) return {};
  return fmt::format("a flame graph is {} to {} px wide, not {}", kLeastSvgWidth, kMostSvgWidth,
                     width);
}

}  // namespace tbtrace::writers
