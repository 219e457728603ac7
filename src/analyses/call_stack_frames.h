// Frames of the text in `Call stack`.
// Pure function; frames are views into the text.
#pragma once

#include <string_view>
#include <vector>

namespace tbtrace::analyses {

/// Innermost first, as in the text. Frames are joined by `;`, since 2021 with one after the last as
/// well. Frames that hold a `;` are cut: a text does not tell.
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
