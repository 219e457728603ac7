// Draws the boxes of a layout as a static picture. There are no tooltips, so a box with enough room
// shows its numbers; and there is no scrolling, so levels beyond the maximum height are left out,
// with a note.
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

#include <tbtrace/flame_graph.h>

#include "writers/flame/frame_color.h"
#include "writers/flame/layout.h"
#include "writers/flame/notes.h"
#include "writers/pictures/canvas.h"
#include "writers/tables/short_names.h"
#include "writers/tables/weight_text.h"

namespace tbtrace {
namespace {

using writers::Canvas;
using writers::CanvasFont;
using writers::FlameBox;
using writers::FlameLayout;
using writers::FrameKind;

// In px.
constexpr int kMargin = 10;
constexpr int kLevel = 17;  // distance between levels
constexpr int kBox = 16;
constexpr int kLine = 17;
constexpr int kHeading = 26;
constexpr int kLegendRow = 20;
constexpr int kLegendEntry = 96;  // distance between entries
constexpr int kSwatch = 12;
constexpr int kGap = 6;  // above and below the boxes
constexpr double kPadding = 3;
constexpr double kNumberWidth = 24;  // of the numbered boxes in the list below
constexpr double kNumberGap = 5;
constexpr double kWidestShare = 60;
constexpr double kFigureGap = 9;  // between a name and its numbers
constexpr double kNarrowest = 0.1;

constexpr int kLeastWidth = 200;
constexpr int kMostScale = 4;
constexpr int kMostNamesBelow = 100;
// In pixels: limits for the width, the height (cairo's limit), and their product.
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
  if (options.names_below < 0 || options.names_below > kMostNamesBelow) {
    return {StatusCode::invalid_argument,
            fmt::format("a picture has 0 to {} names below its boxes, not {}", kMostNamesBelow,
                        options.names_below)};
  }
  return {};
}

class PngPicture {
 public:
  PngPicture(const StackTree& stacks, const FlameGraphPngOptions& options)
      : options_(options), unit_(stacks.unit()) {
    layout_ = writers::flame_graph_layout(stacks, {.width_px = static_cast<double>(inner_width()),
                                                   .narrowest_px = kNarrowest,
                                                   .order = options.order});
    if (!is_empty()) px_ = inner_width() / static_cast<double>(layout_.total);
    kinds_ = writers::kinds_in(layout_);
    take_notes();
  }

  Result<std::string> drawn() {
    if (Status measured = take_names_below(); !measured.ok()) return measured;
    Result<std::unique_ptr<Canvas>> canvas =
        writers::make_canvas(options_.width, height(levels_), options_.scale);
    if (!canvas.ok()) return canvas.status();
    header(**canvas);
    for (const FlameBox& box : layout_.boxes) {
      if (box.depth < levels_) frame(**canvas, box);
    }
    names_below(**canvas);
    return (*canvas)->png();
  }

 private:
  bool is_empty() const { return layout_.boxes.empty(); }
  int inner_width() const { return options_.width - 2 * kMargin; }
  int legend_columns() const { return std::max(1, inner_width() / kLegendEntry); }

  /// The bottom of what is above the boxes.
  int boxes_top() const {
    const int entries = static_cast<int>(kinds_.size());
    const int rows = (entries + legend_columns() - 1) / legend_columns();
    return kMargin + kHeading + kLine * static_cast<int>(notes_.size()) + kLegendRow * rows + kGap;
  }

  int height(std::uint32_t levels) const {
    return boxes_top() + kLevel * static_cast<int>(levels) + foot() + kMargin;
  }

  /// Height of the names below the boxes; the maximum before they are known.
  int foot() const {
    const int names =
        names_are_known_ ? static_cast<int>(names_below_.size()) : options_.names_below;
    return names == 0 ? 0 : kLine * names + kGap;
  }

  /// Number of levels that fit.
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
    notes_.emplace_back();  // this note takes up room, too
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

  /// Boxes begin and end on whole pixels, with one pixel between neighbours; very narrow boxes
  /// share pixels.
  void frame(Canvas& canvas, const FlameBox& box) const {
    const int level = static_cast<int>(box.depth);
    const double y = options_.inverted
                         ? boxes_top() + level * kLevel
                         : boxes_top() + (static_cast<int>(levels_) - level - 1) * kLevel;
    const double pixel = 1.0 / options_.scale;
    double x = kMargin + static_cast<double>(box.start) * px_;
    double width = width_of(box);
    if (width > 4 * pixel) {
      const double end = std::round((x + width) / pixel) * pixel;
      x = std::round(x / pixel) * pixel;
      width = end - x - pixel;
    }
    canvas.fill({x, y, width, kBox}, color_of(box));
    const double room = width - 2 * kPadding;
    if (room > 0) label(canvas, box, {x + kPadding, y + 1, room, kBox - 2});
  }

  double width_of(const FlameBox& box) const { return static_cast<double>(box.total) * px_; }

  static std::string color_of(const FlameBox& box) {
    return box.depth == 0 ? std::string(kRootColor) : writers::frame_color(box.frame);
  }

  /// The longest form of a frame's name that fits, else the shortest one.
  static std::string_view name_for(Canvas& canvas, std::string_view frame, double room) {
    std::string_view name;
    for (const std::string_view form : writers::frame_labels(frame)) {
      name = form;
      if (fits(canvas, form, room)) break;
    }
    return name;
  }

  static bool fits(Canvas& canvas, std::string_view text, double room) {
    // A character has at most four bytes, and few are narrower than a pixel.
    return static_cast<double>(text.size()) <= 4 * room &&
           canvas.text_width(text, CanvasFont::plain) <= room;
  }

  /// Chooses the widest frames whose names do not fit into their boxes, from left to right.
  Status take_names_below() {
    names_are_known_ = true;
    if (options_.names_below == 0) return {};
    Result<std::unique_ptr<Canvas>> canvas = writers::make_canvas(1, 1, options_.scale);
    if (!canvas.ok()) return canvas.status();
    std::vector<const FlameBox*> boxes;
    for (const FlameBox& box : layout_.boxes) {
      const double room = width_of(box) - 2 * kPadding - 1;
      if (box.depth > 0 && box.depth < levels_ &&
          !fits(**canvas, name_for(**canvas, box.frame, room), room)) {
        boxes.push_back(&box);
      }
    }
    std::stable_sort(boxes.begin(), boxes.end(), [](const FlameBox* one, const FlameBox* two) {
      return one->total > two->total;
    });
    boxes.resize(std::min(boxes.size(), static_cast<std::size_t>(options_.names_below)));
    std::sort(boxes.begin(), boxes.end(), [](const FlameBox* one, const FlameBox* two) {
      return std::pair(one->start, one->depth) < std::pair(two->start, two->depth);
    });
    names_below_ = std::move(boxes);
    shorten_names_below(**canvas);
    return {};
  }

  double room_below() const {
    return inner_width() - kNumberWidth - kNumberGap - kFigureGap - kWidestShare;
  }

  /// Shortens names that do not fit there either, keeping them distinguishable.
  void shorten_names_below(Canvas& canvas) {
    std::vector<std::string> too_long;
    for (const FlameBox* const box : names_below_) {
      texts_below_.emplace_back(name_for(canvas, box->frame, room_below()));
      if (!fits(canvas, texts_below_.back(), room_below())) too_long.push_back(texts_below_.back());
    }
    const double digit = canvas.text_width("0", CanvasFont::plain);
    const auto length = static_cast<std::size_t>(std::max(1.0, room_below() / digit));
    const std::vector<std::string> labels = writers::short_names(too_long, length);
    for (std::string& text : texts_below_) {
      const auto found = std::find(too_long.begin(), too_long.end(), text);
      if (found != too_long.end())
        text = labels[static_cast<std::size_t>(found - too_long.begin())];
    }
  }

  void names_below(Canvas& canvas) const {
    double y = height(levels_) - kMargin - kLine * static_cast<double>(names_below_.size());
    for (std::size_t number = 0; number < names_below_.size(); ++number) {
      const FlameBox& box = *names_below_[number];
      canvas.fill({kMargin, y + (kLine - kBox) / 2.0, kNumberWidth, kBox}, color_of(box));
      canvas.text(std::to_string(number + 1), {kMargin + kPadding, y, kNumberWidth, kLine},
                  CanvasFont::plain, kInk);
      const double x = kMargin + kNumberWidth + kNumberGap;
      const double used =
          canvas.text(texts_below_[number], {x, y, room_below(), kLine}, CanvasFont::plain, kInk);
      canvas.text(writers::share_text(box.total, layout_.total),
                  {x + used + kFigureGap, y, kWidestShare, kLine}, CanvasFont::plain, kFigureInk);
      y += kLine;
    }
  }

  /// Draws the frame's name, with its weight and share if they also fit; or its number in the list
  /// below.
  void label(Canvas& canvas, const FlameBox& box, writers::CanvasBox place) const {
    const auto below = std::find(names_below_.begin(), names_below_.end(), &box);
    if (below != names_below_.end()) {
      const std::string number = std::to_string(below - names_below_.begin() + 1);
      if (fits(canvas, number, place.width)) canvas.text(number, place, CanvasFont::plain, kInk);
      return;
    }
    const double used =
        canvas.text(name_for(canvas, box.frame, place.width), place, CanvasFont::plain, kInk);
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
  std::vector<std::string> notes_;  // one line each
  std::uint32_t levels_ = 0;        // levels shown
  std::vector<const FlameBox*> names_below_;
  std::vector<std::string> texts_below_;  // texts of names_below_
  bool names_are_known_ = false;
  double px_ = 0;  // per unit of weight
};

}  // namespace

Result<std::string> flame_graph_png(const StackTree& stacks, const FlameGraphPngOptions& options) {
  if (Status wrong = check(options); !wrong.ok()) return wrong;
  return PngPicture(stacks, options).drawn();
}

}  // namespace tbtrace
