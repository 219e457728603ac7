#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "wire/xml.h"
#include "writers/memory/timeline_formats.h"

namespace tbtrace::writers {

namespace {

constexpr int kLeft = 90;
constexpr int kTop = 20;
constexpr int kWidth = 1000;
constexpr int kHeight = 480;
constexpr int kMarks = 5;

/// torch's colours, by category.
constexpr std::string_view kColors[kMemoryCategories] = {
    "darkgreen", "goldenrod", "black", "mediumpurple", "red", "mediumblue", "royalblue", "grey"};

std::string size_text(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, kUnits[unit]);
}

using Point = std::pair<double, double>;

/// A line from left to right with at most four points per column of pixels: the first, the lowest,
/// the highest and the last. Its size does not depend on the recording's length, and it keeps every
/// peak.
class ColumnLine {
 public:
  void add(Point point) {
    if (!column_.empty() && std::floor(point.first) != std::floor(column_.front().first))
      end_column();
    column_.push_back(point);
    if (column_.size() > 2 * kMostOfColumn) reduce();
  }
  std::vector<Point> take() {
    end_column();
    return std::move(points_);
  }

 private:
  static constexpr std::size_t kMostOfColumn = 4;

  void reduce() {
    if (column_.size() <= kMostOfColumn) return;
    const auto by_height = [](const Point& a, const Point& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(column_.begin(), column_.end(), by_height);
    const auto [earlier, later] = std::minmax(least, most);
    column_ = {column_.front(), *earlier, *later, column_.back()};
  }
  void end_column() {
    reduce();
    points_.insert(points_.end(), column_.begin(), column_.end());
    column_.clear();
  }

  std::vector<Point> column_;
  std::vector<Point> points_;
};

class Chart {
 public:
  Chart(const MemorySizes& sizes, std::string_view device) : sizes_(sizes), device_(device) {
    for (const auto& bytes : sizes.bytes) {
      most_ = std::max(most_, std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}));
    }
    if (!sizes.times_us.empty()) length_us_ = sizes.times_us.back() - sizes.times_us.front();
  }

  std::string page() {
    std::string title = "Memory timeline of ";
    title += device_;
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    wire::append_xml_text(page_, title);
    add("</title>\n<style>body {{ font: 14px sans-serif; margin: 2em; }}\n"
        "svg {{ max-width: 100%; height: auto; }}\n"
        "li {{ display: inline-block; margin-right: 1.2em; }}\n"
        "li span {{ display: inline-block; width: 0.9em; height: 0.9em; margin-right: 0.4em; }}\n"
        "ul {{ padding: 0; }}</style>\n</head>\n<body>\n<h1>");
    wire::append_xml_text(page_, title);
    add("</h1>\n");
    if (sizes_.times_us.empty()) {
      add("<p>Nothing was recorded of this device.</p>\n");
    } else {
      add("<p>At most {} at a time.</p>\n", size_text(static_cast<double>(most_)));
      chart();
      legend();
    }
    add("</body>\n</html>\n");
    return std::move(page_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(page_), form, std::forward<Values>(values)...);
  }

  double x(std::int64_t time_us) const {
    if (length_us_ == 0) return kLeft;
    return kLeft + static_cast<double>(time_us - sizes_.times_us.front()) * kWidth /
                       static_cast<double>(length_us_);
  }
  double y(std::int64_t bytes) const {
    if (most_ == 0) return kTop + kHeight;
    return kTop + kHeight - static_cast<double>(bytes) * kHeight / static_cast<double>(most_);
  }

  void chart() {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n",
        kLeft + kWidth + 40, kTop + kHeight + 60);
    std::vector<std::int64_t> below(sizes_.bytes.size(), 0);
    for (std::size_t category = 0; category < kMemoryCategories; ++category) {
      area(category, below);
    }
    axes();
    add("</svg>\n");
  }

  /// One category on top of the previous ones, in steps.
  void area(std::size_t category, std::vector<std::int64_t>& below) {
    const auto edge = [&](bool is_upper) {
      ColumnLine line;
      double before = 0;
      for (std::size_t at = 0; at < below.size(); ++at) {
        const double left = x(sizes_.times_us[at]);
        if (at > 0) line.add({left, before});
        before = y(below[at] + (is_upper ? sizes_.bytes[at][category] : 0));
        line.add({left, before});
      }
      return line.take();
    };
    auto points = edge(true);
    auto back = edge(false);
    points.insert(points.end(), back.rbegin(), back.rend());
    add("<path fill=\"{}\" fill-opacity=\"0.7\" d=\"", kColors[category]);
    char command = 'M';
    for (const auto& [left, top] : points) {
      add("{}{:.2f} {:.2f}", command, left, top);
      command = 'L';
    }
    add("Z\"><title>{}</title></path>\n",
        memory_category_name(static_cast<MemoryCategory>(category)));
    for (std::size_t at = 0; at < below.size(); ++at) below[at] += sizes_.bytes[at][category];
  }

  void axes() {
    add("<path fill=\"none\" stroke=\"black\" d=\"M{0} {1}V{2}H{3}\"/>\n", kLeft, kTop,
        kTop + kHeight, kLeft + kWidth);
    for (int mark = 0; mark <= kMarks; ++mark) {
      add("<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{:.3f}</text>\n",
          kLeft + mark * kWidth / kMarks, kTop + kHeight + 20,
          static_cast<double>(length_us_) / 1e3 * mark / kMarks);
      add("<text text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft - 8,
          kTop + kHeight - mark * kHeight / kMarks + 5,
          size_text(static_cast<double>(most_) * mark / kMarks));
    }
    add("<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">Time (ms)</text>\n", kLeft + kWidth / 2,
        kTop + kHeight + 45);
  }

  void legend() {
    add("<ul>\n");
    for (std::size_t category = 0; category < kMemoryCategories; ++category) {
      std::int64_t most = 0;
      for (const auto& bytes : sizes_.bytes) most = std::max(most, bytes[category]);
      add("<li><span style=\"background: {}\"></span>{}: at most {}</li>\n", kColors[category],
          memory_category_name(static_cast<MemoryCategory>(category)),
          size_text(static_cast<double>(most)));
    }
    add("</ul>\n");
  }

  const MemorySizes& sizes_;
  std::string_view device_;
  std::int64_t most_ = 0;
  std::int64_t length_us_ = 0;
  std::string page_;
};

}  // namespace

std::string memory_timeline_html(const MemoryTimeline& timeline, std::string_view device) {
  const MemorySizes sizes = memory_sizes(timeline);
  return Chart(sizes, device).page();
}

}  // namespace tbtrace::writers
