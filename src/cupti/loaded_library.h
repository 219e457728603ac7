// Which libraries the process has mapped, and where.
// Values only. Any thread. What is not there gives empty texts.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::cupti {

/// Of the first mapped library whose file name is `name`, or begins with it and goes on with a
/// version (`libcudart.so.12`, `libcudart-1b184a19.so.12`).
std::string mapped_path(std::string_view name);
/// Its folder, without a slash behind.
std::string mapped_folder(std::string_view name);

/// Of the library that a function belongs to.
std::string path_of(const void* function);

}  // namespace tbtrace::cupti
