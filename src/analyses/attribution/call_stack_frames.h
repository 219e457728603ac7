// Splits the text in `Call stack` into frames, which are views into the text.
#pragma once

#include <string_view>
#include <vector>

namespace tbtrace::analyses {

/// Innermost first, as in the text. Frames are joined by `;`, since 2021 also after the last one.
/// Frames that contain `;` are split, because the text does not distinguish the two.
inline std::vector<std::string_view> call_stack_frames(std::string_view text) {
  std::vector<std::string_view> frames;
  if (text.empty()) return frames;
  if (text.ends_with(';')) text.remove_suffix(1);
  for (;;) {
    const std::size_t end = text.find(';');
    frames.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return frames;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tbtrace::analyses
