// The flame graph of one tree of stacks as SVG.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/flame_graph.h>

#include "writers/flame/data.h"
#include "writers/flame/frame_color.h"
#include "writers/flame/layout.h"
#include "writers/flame/notes.h"
#include "writers/flame/svg_picture.h"
#include "writers/tables/weight_text.h"

namespace tbtrace {
namespace {

using writers::FlameBox;
using writers::FlameLayout;

constexpr std::size_t kMostSvgBoxes = 500'000;  // a browser shows these within seconds

class StackContent : public writers::SvgContent {
 public:
  StackContent(const FlameLayout& layout, const std::string& subtitle, const std::string& unit)
      : layout_(layout), subtitle_(subtitle), unit_(unit) {}

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (!subtitle_.empty()) notes.push_back(subtitle_);
    if (layout_.boxes.empty()) {
      notes.emplace_back(writers::kNothingToShow);
      return notes;
    }
    notes.push_back(writers::summary_note(layout_, unit_));
    std::string left_out = writers::left_out_note(layout_, kMostSvgBoxes);
    if (!left_out.empty()) notes.push_back(std::move(left_out));
    return notes;
  }

  /// The kinds that occur.
  std::vector<writers::SvgSwatch> legend() const override {
    std::vector<writers::SvgSwatch> swatches;
    for (const writers::FrameKind kind : writers::kinds_in(layout_)) {
      swatches.push_back({writers::kind_label(kind), writers::kind_color(kind)});
    }
    return swatches;
  }

  std::string color(const FlameBox& box) const override { return writers::box_color(box); }

  std::string figures(const FlameBox& box) const override {
    std::string text = fmt::format("{}, {} of all", writers::exact_weight_text(box.total, unit_),
                                   writers::share_text(box.total, layout_.total));
    if (box.self == box.total) return text + "; all of it self";
    if (box.self == 0) return text + "; self 0";
    return text + fmt::format("; self {}, {} of all", writers::exact_weight_text(box.self, unit_),
                              writers::share_text(box.self, layout_.total));
  }

  void append_data(std::string& xml) const override {
    writers::append_flame_graph_data(xml, layout_, unit_);
  }

 private:
  const FlameLayout& layout_;
  const std::string& subtitle_;
  const std::string& unit_;
};

}  // namespace

Result<std::string> flame_graph_svg(const StackTree& stacks, const FlameGraphSvgOptions& options) {
  const int width = options.width.value_or(writers::kUsualSvgWidth);
  if (std::string wrong = writers::wrong_svg_width(width); !wrong.empty()) {
    return Status(StatusCode::invalid_argument, std::move(wrong));
  }
  const FlameLayout layout = writers::flame_graph_layout(
      stacks, {.width_px = static_cast<double>(writers::inner_svg_width(width)),
               .narrowest_px = 0,
               .order = options.order,
               .most_boxes = kMostSvgBoxes});
  return writers::svg_picture(
      layout, {.title = options.title, .width = options.width, .inverted = options.inverted},
      StackContent(layout, options.subtitle, stacks.unit()));
}

}  // namespace tbtrace
