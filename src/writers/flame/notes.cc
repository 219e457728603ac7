#include "writers/flame/notes.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "writers/tables/weight_text.h"

namespace tbtrace::writers {
namespace {

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

std::string summary_note(const FlameLayout& layout, std::string_view unit) {
  return fmt::format("total {}, {}, {}", exact_weight_text(layout.total, unit),
                     counted(layout.boxes.size() - 1, "frame"),
                     counted(layout.levels - 1, "level"));
}

std::string too_narrow_note(const FlameLayout& layout, double narrowest_px) {
  if (layout.too_narrow == 0) return {};
  return fmt::format("{} narrower than {} px not drawn", counted(layout.too_narrow, "frame"),
                     narrowest_px);
}

std::string left_out_note(const FlameLayout& layout, std::size_t most_boxes) {
  if (layout.too_narrow == 0) return {};
  const std::string which = layout.too_narrow == 1
                                ? "the narrowest frame is"
                                : fmt::format("the {} narrowest frames are", layout.too_narrow);
  return fmt::format("{} not in this picture, which has at most {}", which, most_boxes);
}

std::vector<FrameKind> kinds_in(const FlameLayout& layout) {
  std::array<bool, kFrameKinds.size()> occurs = {};
  for (const FlameBox& box : layout.boxes) {
    if (box.depth > 0) occurs[static_cast<std::size_t>(frame_kind(box.frame))] = true;
  }
  std::vector<FrameKind> kinds;
  for (const FrameKind kind : kFrameKinds) {
    if (occurs[static_cast<std::size_t>(kind)]) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace tbtrace::writers
