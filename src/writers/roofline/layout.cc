#include "writers/roofline/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "writers/tables/column_fit.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::writers {
namespace {

constexpr double kLargestRadius = 26;
constexpr double kSmallestRadius = 3;
constexpr std::size_t kMostLabels = 16;
constexpr std::size_t kLongestLabel = 32;  // characters
constexpr double kLabelled = 0.01;         // of all time; what takes less has no label
constexpr int kMostTicks = 12;

/// A logarithmic axis from one power of ten to another.
class LogAxis {
 public:
  LogAxis(double least, double most, double from_px, double to_px)
      : first_(static_cast<int>(std::floor(std::log10(least)))),
        last_(std::max(first_ + 1, static_cast<int>(std::ceil(std::log10(most))))),
        from_px_(from_px),
        to_px_(to_px) {}

  double px(double value) const { return px_of_log(std::log10(value)); }
  double least() const { return std::pow(10.0, first_); }
  double most() const { return std::pow(10.0, last_); }

  std::vector<RooflineTick> ticks() const {
    std::vector<RooflineTick> ticks;
    const int step = (last_ - first_) / kMostTicks + 1;
    for (int power = first_; power <= last_; ++power) {
      const bool has_text = (power - first_) % step == 0;
      ticks.push_back({px_of_log(power), has_text ? tick_text(power) : std::string()});
    }
    return ticks;
  }

 private:
  double px_of_log(double power) const {
    return from_px_ + (power - first_) / (last_ - first_) * (to_px_ - from_px_);
  }
  /// `0.01`, `1`, `100 k`
  static std::string tick_text(int power) {
    if (power < 0)
      return power >= -4 ? fmt::format("{:g}", std::pow(10.0, power)) : fmt::format("1e{}", power);
    constexpr std::string_view kPrefixes = "kMGTPEZ";
    const auto prefix = static_cast<std::size_t>(power / 3);
    if (prefix > kPrefixes.size()) return fmt::format("1e{}", power);
    const int digits = power % 3 == 0 ? 1 : power % 3 == 1 ? 10 : 100;
    return prefix == 0 ? fmt::format("{}", digits)
                       : fmt::format("{} {}", digits, kPrefixes[prefix - 1]);
  }

  int first_;
  int last_;
  double from_px_;
  double to_px_;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool is_inside(const RooflineSize& size) const {
    return left >= size.left && right <= size.right && top >= size.top && bottom <= size.bottom;
  }
};

Box box_of(const RooflineDot& dot) {
  return {dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius};
}

/// Places labels one after the other where they cover neither labels nor dots.
class PointLabels {
 public:
  PointLabels(const RooflineSize& size, std::vector<Box> taken)
      : size_(size), taken_(std::move(taken)) {}

  /// Sets the label's place, or removes it.
  void place(RooflineDot& dot, const std::vector<RooflineDot>& dots) {
    const double width = size_.column * static_cast<double>(utf8_length(dot.label));
    const double gap = dot.radius + 4;
    const double slant = dot.radius * 0.7 + 4;
    const double middle = dot.y - size_.line / 2;
    const std::array<std::pair<double, double>, 8> corners = {{
        {dot.x + gap, middle},                          // right
        {dot.x - gap - width, middle},                  // left
        {dot.x - width / 2, dot.y - gap - size_.line},  // above
        {dot.x - width / 2, dot.y + gap},               // below
        {dot.x + slant, dot.y - slant - size_.line},
        {dot.x + slant, dot.y + slant},
        {dot.x - slant - width, dot.y - slant - size_.line},
        {dot.x - slant - width, dot.y + slant},
    }};
    for (const auto& [left, top] : corners) {
      const Box box = {left, top, left + width, top + size_.line};
      if (!box.is_inside(size_) || covers_anything(box, dot, dots)) continue;
      taken_.push_back(box);
      dot.label_x = left;
      dot.label_y = top + size_.line - 4;
      return;
    }
    dot.label.clear();
  }

 private:
  bool covers_anything(const Box& box, const RooflineDot& own,
                       const std::vector<RooflineDot>& dots) const {
    const auto overlaps = [&](const Box& other) { return box.overlaps(other); };
    if (std::any_of(taken_.begin(), taken_.end(), overlaps)) return true;
    return std::any_of(dots.begin(), dots.end(), [&](const RooflineDot& dot) {
      return &dot != &own && box.overlaps(box_of(dot));
    });
  }

  const RooflineSize& size_;
  std::vector<Box> taken_;
};

std::string label_of(const RooflinePoint& point) {
  return cut_middle(printable(point.name), kLongestLabel);
}

std::string text_of(const RooflinePeak& peak) {
  return fmt::format("{}{}{}FLOP/s", peak.precisions, peak.precisions.empty() ? "" : " ",
                     prefixed_number(peak.flops_per_s));
}

/// Roofs whose lines are near each other have labels one above the other.
void spread_labels(std::vector<RooflineRoof>& roofs, const RooflineSize& size) {
  double lowest = size.top - size.line;
  for (RooflineRoof& roof : roofs) {
    roof.text_y = std::max(roof.y - 5, lowest + size.line);
    lowest = roof.text_y;
  }
}

}  // namespace

RooflineLayout roofline_layout(const Roofline& roofline, const RooflineSize& size) {
  RooflineLayout layout;
  double least_x = 1;
  double most_x = 1;
  std::optional<double> least_y;
  std::optional<double> most_y;
  const auto widen = [](std::optional<double>& least, std::optional<double>& most, double value) {
    least = std::min(least.value_or(value), value);
    most = std::max(most.value_or(value), value);
  };
  std::int64_t longest = 0;
  for (const RooflinePoint& point : roofline.points) {
    if (point.time_ns <= 0 || point.flops_per_s <= 0 || point.flops_per_byte <= 0) continue;
    RooflineDot& dot = layout.dots.emplace_back();
    dot.point = &point;
    dot.label = label_of(point);
    longest = std::max(longest, point.time_ns);
    least_x = std::min(least_x, point.flops_per_byte);
    most_x = std::max(most_x, point.flops_per_byte);
    widen(least_y, most_y, point.flops_per_s);
  }
  if (layout.dots.empty()) return layout;
  const std::vector<RooflinePeak>& peaks = roofline.peaks;
  const std::optional<double> memory = roofline.bytes_per_s;
  for (const RooflinePeak& peak : peaks) {
    widen(least_y, most_y, peak.flops_per_s);
    if (memory) most_x = std::max(most_x, peak.flops_per_s / *memory);
  }
  const LogAxis x(least_x, most_x * 2, size.left, size.right);
  const LogAxis y(*least_y, *most_y * 2, size.bottom, size.top);
  layout.x_ticks = x.ticks();
  layout.y_ticks = y.ticks();
  for (const RooflinePeak& peak : peaks) {
    const double ridge =
        memory ? std::clamp(peak.flops_per_s / *memory, x.least(), x.most()) : x.least();
    layout.roofs.push_back({text_of(peak), x.px(ridge), y.px(peak.flops_per_s), 0});
  }
  spread_labels(layout.roofs, size);
  if (memory && !peaks.empty()) {
    // From the left edge, or the lower one, to the highest peak.
    const double start = std::max(x.least(), y.least() / *memory);
    const double end = std::min(x.most(), peaks.front().flops_per_s / *memory);
    layout.has_memory = start < end;
    layout.memory_x1 = x.px(start);
    layout.memory_y1 = y.px(start * *memory);
    layout.memory_x2 = x.px(end);
    layout.memory_y2 = y.px(end * *memory);
    constexpr double kAlong = 0.06;
    layout.memory_label_x =
        layout.memory_x1 + kAlong * (layout.memory_x2 - layout.memory_x1) + size.column;
    layout.memory_label_y =
        std::min(layout.memory_y1 + kAlong * (layout.memory_y2 - layout.memory_y1) + size.line,
                 size.bottom - 4);
  }
  for (RooflineDot& dot : layout.dots) {
    dot.x = x.px(dot.point->flops_per_byte);
    dot.y = y.px(dot.point->flops_per_s);
    const double part = static_cast<double>(dot.point->time_ns) / static_cast<double>(longest);
    dot.radius = std::max(kSmallestRadius, kLargestRadius * std::sqrt(part));
  }
  std::stable_sort(
      layout.dots.begin(), layout.dots.end(),
      [](const RooflineDot& one, const RooflineDot& two) { return one.radius > two.radius; });
  std::vector<Box> taken;
  for (const RooflineRoof& roof : layout.roofs) {
    const double width = size.column * static_cast<double>(roof.text.size());
    taken.push_back({size.right - width, roof.text_y - size.line, size.right, roof.text_y + 3});
  }
  if (layout.has_memory) {
    constexpr double kLetters = 16;
    taken.push_back({layout.memory_label_x, layout.memory_label_y - size.line,
                     layout.memory_label_x + kLetters * size.column, layout.memory_label_y + 3});
  }
  PointLabels labels(size, std::move(taken));
  for (std::size_t at = 0; at < layout.dots.size(); ++at) {
    RooflineDot& dot = layout.dots[at];
    const auto time = static_cast<double>(dot.point->time_ns);
    if (at < kMostLabels && time >= kLabelled * static_cast<double>(roofline.total_time_ns)) {
      labels.place(dot, layout.dots);
    } else {
      dot.label.clear();
    }
  }
  return layout;
}

}  // namespace tbtrace::writers
