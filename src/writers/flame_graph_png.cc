// Draws the boxes of a layout as a still picture. There are no tooltips, so a box with room says
// its figures; and no scrolling, so what is deeper than a picture may be high is left out, and
// said.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/writers.h>

#include "writers/canvas.h"
#include "writers/flame_graph_layout.h"
#include "writers/flame_graph_notes.h"
#include "writers/frame_color.h"
#include "writers/weight_text.h"

namespace tbtrace {
namespace {

using writers::Canvas;
using writers::CanvasFont;
using writers::FlameBox;
using writers::FlameLayout;
using writers::FrameKind;

// In px.
constexpr int kMargin = 10;
constexpr int kLevel = 17;  // from one level of boxes to the next
constexpr int kBox = 16;
constexpr int kLine = 17;
constexpr int kHeading = 26;
constexpr int kLegendRow = 20;
constexpr int kLegendEntry = 96;  // from one to the next
constexpr int kSwatch = 12;
constexpr double kPadding = 3;
constexpr double kFigureGap = 9;  // between a name and its figures
constexpr double kNarrowest = 0.1;

constexpr int kLeastWidth = 200;
constexpr int kMostScale = 4;
// In pixels: of a picture's width, of its height, which is cairo's limit, and of both together.
constexpr int kMostAcross = 16'000;
constexpr int kMostDown = 32'767;
constexpr int kMostPixels = 32'000'000;

constexpr std::string_view kInk = "#1c1c1c";
constexpr std::string_view kNoteInk = "#555555";
constexpr std::string_view kFigureInk = "#484848";
constexpr std::string_view kRootColor = "#dcdcdc";

Status check(const FlameGraphPngOptions& options) {
  if (options.scale < 1 || options.scale > kMostScale) {
    return {StatusCode::invalid_argument,
            fmt::format("a picture's scale is 1 to {}, not {}", kMostScale, options.scale)};
  }
  const int most = kMostAcross / options.scale;
  if (options.width < kLeastWidth || options.width > most) {
    return {StatusCode::invalid_argument,
            fmt::format("a picture at scale {} is {} to {} px wide, not {}", options.scale,
                        kLeastWidth, most, options.width)};
  }
  return {};
}

class Picture {
 public:
  Picture(const StackTree& stacks, const FlameGraphPngOptions& options)
      : options_(options), unit_(stacks.unit()) {
    layout_ = writers::flame_graph_layout(
        stacks, {.width_px = static_cast<double>(inner_width()), .narrowest_px = kNarrowest});
    if (!is_empty()) px_ = inner_width() / static_cast<double>(layout_.total);
    kinds_ = writers::kinds_in(layout_);
    take_notes();
  }

  Result<std::string> drawn() const {
    Result<std::unique_ptr<Canvas>> canvas =
        writers::make_canvas(options_.width, height(levels_), options_.scale);
    if (!canvas.ok()) return canvas.status();
    header(**canvas);
    for (const FlameBox& box : layout_.boxes) {
      if (box.depth < levels_) frame(**canvas, box);
    }
    return (*canvas)->png();
  }

 private:
  bool is_empty() const { return layout_.boxes.empty(); }
  int inner_width() const { return options_.width - 2 * kMargin; }
  int legend_columns() const { return std::max(1, inner_width() / kLegendEntry); }

  /// The foot of what stands above the boxes.
  int boxes_top() const {
    const int entries = static_cast<int>(kinds_.size());
    const int rows = (entries + legend_columns() - 1) / legend_columns();
    return kMargin + kHeading + kLine * static_cast<int>(notes_.size()) + kLegendRow * rows + 6;
  }

  int height(std::uint32_t levels) const {
    return boxes_top() + kLevel * static_cast<int>(levels) + kMargin;
  }

  /// Number of levels for which there is room.
  std::uint32_t most_levels() const {
    const int across = options_.width * options_.scale;
    const int most_px = std::min(kMostDown, kMostPixels / across) / options_.scale;
    return static_cast<std::uint32_t>(std::max(1, (most_px - height(0)) / kLevel));
  }

  void take_notes() {
    if (!options_.subtitle.empty()) notes_.push_back(options_.subtitle);
    if (is_empty()) {
      notes_.emplace_back(writers::kNothingToShow);
      return;
    }
    notes_.push_back(writers::summary_note(layout_, unit_));
    std::string too_narrow = writers::too_narrow_note(layout_, kNarrowest);
    if (!too_narrow.empty()) notes_.push_back(std::move(too_narrow));
    levels_ = std::min(layout_.levels, most_levels());
    if (levels_ == layout_.levels) return;
    notes_.emplace_back();  // takes room itself
    levels_ = most_levels();
    notes_.back() = fmt::format(
        "{} more levels not shown, for which a PNG has no room; an SVG has all, a smaller width or "
        "scale more",
        layout_.levels - levels_);
  }

  void header(Canvas& canvas) const {
    double y = kMargin;
    const auto line = [&](std::string_view text, int height, CanvasFont font,
                          std::string_view ink) {
      canvas.text(text,
                  {kMargin, y, static_cast<double>(inner_width()), static_cast<double>(height)},
                  font, ink);
      y += height;
    };
    line(options_.title, kHeading, CanvasFont::heading, kInk);
    for (const std::string& note : notes_) line(note, kLine, CanvasFont::plain, kNoteInk);
    int column = 0;
    for (const FrameKind kind : kinds_) {
      if (column == legend_columns()) {
        column = 0;
        y += kLegendRow;
      }
      const double x = kMargin + column++ * kLegendEntry;
      canvas.fill({x, y + (kLegendRow - kSwatch) / 2.0, kSwatch, kSwatch},
                  writers::kind_color(kind));
      canvas.text(writers::kind_label(kind),
                  {x + kSwatch + 5, y, kLegendEntry - kSwatch - 5, kLegendRow}, CanvasFont::plain,
                  kNoteInk);
    }
  }

  /// Boxes begin and end on whole pixels, one of which is between neighbours; those of few pixels
  /// share them.
  void frame(Canvas& canvas, const FlameBox& box) const {
    const int level = static_cast<int>(box.depth);
    const double y = options_.inverted ? boxes_top() + level * kLevel
                                       : height(levels_) - kMargin - (level + 1) * kLevel;
    const double pixel = 1.0 / options_.scale;
    double x = kMargin + static_cast<double>(box.start) * px_;
    double width = static_cast<double>(box.total) * px_;
    if (width > 4 * pixel) {
      const double end = std::round((x + width) / pixel) * pixel;
      x = std::round(x / pixel) * pixel;
      width = end - x - pixel;
    }
    const std::string color =
        box.depth == 0 ? std::string(kRootColor) : writers::frame_color(box.frame);
    canvas.fill({x, y, width, kBox}, color);
    const double room = width - 2 * kPadding;
    if (room > 0) label(canvas, box, {x + kPadding, y + 1, room, kBox - 2});
  }

  /// The frame's name, and its weight and share if all of them fit behind it.
  void label(Canvas& canvas, const FlameBox& box, writers::CanvasBox place) const {
    const double used = canvas.text(box.frame, place, CanvasFont::plain, kInk);
    if (used == 0) return;
    place.x += used + kFigureGap;
    place.width -= used + kFigureGap;
    const std::string share = writers::share_text(box.total, layout_.total);
    for (const std::string& figures :
         {writers::weight_text(box.total, unit_) + ", " + share, share}) {
      if (canvas.text_width(figures, CanvasFont::plain) > place.width) continue;
      canvas.text(figures, place, CanvasFont::plain, kFigureInk);
      return;
    }
  }

  const FlameGraphPngOptions& options_;
  std::string unit_;
  FlameLayout layout_;
  std::vector<FrameKind> kinds_;
  std::vector<std::string> notes_;  // a line each
  std::uint32_t levels_ = 0;        // shown
  double px_ = 0;                   // per unit of weight
};

}  // namespace

Result<std::string> flame_graph_png(const StackTree& stacks, const FlameGraphPngOptions& options) {
  if (Status wrong = check(options); !wrong.ok()) return wrong;
  return Picture(stacks, options).drawn();
}

}  // namespace tbtrace
