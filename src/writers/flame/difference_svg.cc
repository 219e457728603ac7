// The flame graph of a comparison as SVG. A frame is as wide as the longer of its own times on the
// two sides and the frames that it calls: nothing overlaps, and what is gone keeps its place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/flame_difference.h>
#include <tbtrace/flame_graph.h>

#include "base/bounded_sum.h"
#include "writers/flame/data.h"
#include "writers/flame/difference_shade.h"
#include "writers/flame/layout.h"
#include "writers/flame/notes.h"
#include "writers/flame/svg_picture.h"
#include "writers/tables/weight_text.h"

namespace tbtrace {
namespace {

using writers::FlameBox;
using writers::FlameLayout;
using writers::FrameSide;

constexpr std::size_t kMostDifferenceBoxes = 200'000;

/// Nodes with the same numbers, as wide as the longer of their own times.
StackTree widths_of(const FlameDifference& difference) {
  StackTree widths("ns");
  for (std::size_t at = 0; at < difference.nodes.size(); ++at) {
    const DifferenceNode& node = difference.nodes[at];
    StackTree::Node place = StackTree::kRoot;
    if (at > 0) {
      place = widths.add_child(node.parent, widths.frame_number(difference.frames[node.frame]));
    }
    widths.add(place, std::max(node.base_self_ns, node.new_self_ns));
  }
  return widths;
}

std::string times(std::int64_t base_ns, std::int64_t new_ns) {
  const std::int64_t change = bounded(WideInteger{new_ns} - base_ns);
  return fmt::format("{} before, {} now, {}", writers::weight_text(base_ns, "ns"),
                     writers::weight_text(new_ns, "ns"), writers::change_text(change));
}

class DifferenceContent : public writers::SvgContent {
 public:
  DifferenceContent(const FlameLayout& layout, const FlameDifference& difference,
                    const std::vector<std::string>& subtitles)
      : layout_(layout), difference_(difference), subtitles_(subtitles) {}

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = subtitles_;
    if (layout_.boxes.empty()) {
      notes.emplace_back(writers::kNothingToShow);
      return notes;
    }
    notes.push_back(totals());
    if (!difference_.is_per_step) {
      notes.emplace_back("Times are totals of the recordings, because not all of them have steps.");
    }
    notes.emplace_back(
        "Width: the longer of before and now. Colour: how a frame's own time changed. Stripes (-): "
        "gone. Dots (+): new.");
    std::string left_out = writers::left_out_note(layout_, kMostDifferenceBoxes);
    if (!left_out.empty()) notes.push_back(std::move(left_out));
    return notes;
  }

  std::vector<writers::SvgSwatch> legend() const override {
    if (layout_.boxes.empty()) return {};
    const auto& colors = writers::kShadeColors;
    const bool is_step = difference_.is_per_step;
    return {{is_step ? "faster by 5 % of the step" : "faster by 5 % of the total",
             std::string(colors[0])},
            {"by 1 %", std::string(colors[1])},
            {"by 0.1 %", std::string(colors[2])},
            {"less", std::string(colors[3])},
            {"slower by 0.1 %", std::string(colors[4])},
            {"by 1 %", std::string(colors[5])},
            {is_step ? "by 5 % of the step" : "by 5 % of the total", std::string(colors[6])},
            {"gone", "#e9e9e9", writers::kGonePattern},
            {"new", "#e9e9e9", writers::kAddedPattern}};
  }

  std::string color(const FlameBox& box) const override {
    return std::string(writers::kShadeColors[static_cast<std::size_t>(
        writers::shade_of(node(box), difference_.whole_ns))]);
  }

  std::string_view pattern(const FlameBox& box) const override {
    switch (side(box)) {
      case FrameSide::gone:
        return writers::kGonePattern;
      case FrameSide::added:
        return writers::kAddedPattern;
      case FrameSide::both:
        return {};
    }
    return {};
  }

  std::string_view sign(const FlameBox& box) const override {
    const FrameSide of_box = side(box);
    return of_box == FrameSide::both ? "" : of_box == FrameSide::gone ? "- " : "+ ";
  }

  /// The script has the same words.
  std::string figures(const FlameBox& box) const override {
    const DifferenceNode& of_box = node(box);
    const FrameSide of_side = side(box);
    const std::int64_t change = bounded(WideInteger{of_box.new_ns} - of_box.base_ns);
    std::string text = of_side == FrameSide::gone    ? "gone: "
                       : of_side == FrameSide::added ? "new: "
                                                     : "";
    text += times(of_box.base_ns, of_box.new_ns);
    text += fmt::format(" ({} of the {})", writers::share_of_whole(change, difference_.whole_ns),
                        difference_.is_per_step ? "step" : "total");
    if (of_box.base_self_ns != of_box.base_ns || of_box.new_self_ns != of_box.new_ns) {
      text += "; self " + times(of_box.base_self_ns, of_box.new_self_ns);
    }
    if (of_box.base_frame) text += "; before: " + difference_.frames[*of_box.base_frame];
    return text;
  }

  void append_data(std::string& xml) const override {
    writers::append_difference_data(xml, layout_, difference_);
  }

 private:
  const DifferenceNode& node(const FlameBox& box) const { return difference_.nodes[box.node]; }
  FrameSide side(const FlameBox& box) const {
    return box.depth == 0 ? FrameSide::both : writers::side_of(node(box));
  }

  /// The change of the total, and what it is made of.
  std::string totals() const {
    WideInteger gone = 0;
    WideInteger added = 0;
    for (const DifferenceNode& one : difference_.nodes) {
      if (writers::side_of(one) == FrameSide::gone) gone -= one.base_self_ns;
      if (writers::side_of(one) == FrameSide::added) added += one.new_self_ns;
    }
    const DifferenceNode& root = difference_.root();
    const WideInteger rest = WideInteger{root.new_ns} - root.base_ns - gone - added;
    std::string text = (difference_.weight == StackWeight::cpu ? "time on the host" : "GPU time") +
                       std::string(difference_.is_per_step ? " per step: " : ": ") +
                       times(root.base_ns, root.new_ns);
    const char* before = ": ";
    for (const auto& [change, of_what] :
         {std::pair(added, "in new frames"), std::pair(gone, "in frames that are gone"),
          std::pair(rest, "in the others")}) {
      if (change == 0 || rest == WideInteger{root.new_ns} - root.base_ns) continue;
      text += fmt::format("{}{} {}", std::exchange(before, ", "),
                          writers::change_text(bounded(change)), of_what);
    }
    return text;
  }

  const FlameLayout& layout_;
  const FlameDifference& difference_;
  const std::vector<std::string>& subtitles_;
};

}  // namespace

Result<std::string> difference_svg(const FlameDifference& difference,
                                   const DifferenceSvgOptions& options) {
  const int width = options.width.value_or(writers::kUsualSvgWidth);
  if (std::string wrong = writers::wrong_svg_width(width); !wrong.empty()) {
    return Status(StatusCode::invalid_argument, std::move(wrong));
  }
  const StackTree widths = widths_of(difference);
  const FlameLayout layout = writers::flame_graph_layout(
      widths, {.width_px = static_cast<double>(writers::inner_svg_width(width)),
               .narrowest_px = 0,
               .order = FrameOrder::weight,
               .most_boxes = kMostDifferenceBoxes});
  return writers::svg_picture(
      layout, {.title = options.title, .width = options.width, .inverted = options.inverted},
      DifferenceContent(layout, difference, options.subtitles));
}

}  // namespace tbtrace
