// Quoting for POSIX shells.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::tools {

/// In single quotes: the shell takes every character of `text` literally.
std::string shell_word(std::string_view text);

}  // namespace tbtrace::tools
