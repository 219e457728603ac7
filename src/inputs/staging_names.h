// How folders are called in which files wait until all of them are there.
#pragma once

#include <string_view>

namespace tbtrace::inputs {

/// The suffix of every such name. Files in such a folder are not inputs.
inline constexpr std::string_view kStagingEnding = ".tbtrace-partial";

}  // namespace tbtrace::inputs
