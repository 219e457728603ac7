// Lines of source in the texts of frames.
// Pure functions; results are views into the texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tbtrace::analyses {

struct SourceLine {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;  ///< may be empty
};

/// Of a frame such as `model.py(12): forward`, also of what was typed into a notebook or a prompt;
/// nullopt for others, such as `<built-in method relu>`.
std::optional<SourceLine> line_of_frame(std::string_view frame);

/// Of a place such as `model.py:12`.
std::optional<SourceLine> line_of_place(std::string_view place);

}  // namespace tbtrace::analyses
