// Advice used in messages about files.
#pragma once

#include <string_view>

namespace tbtrace::io {

inline constexpr std::string_view kChooseWritablePlace =
    "choose a directory that exists, is writable and has free space";

}  // namespace tbtrace::io
