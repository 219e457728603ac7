// What has to hold before a library is loaded at run time: some fail without saying so.
#pragma once

#include <cstddef>

#include <link.h>

namespace tbtrace {

bool is_there_memory(std::size_t bytes);

/// A program that is linked statically cannot load libraries: they need another copy of the C
/// library, and calls between the two crash.
inline bool is_static_program() {
  bool has_loader = false;
  const auto look = [](dl_phdr_info* info, std::size_t /*size*/, void* found) {
    for (std::size_t number = 0; number < info->dlpi_phnum; ++number) {
      if (info->dlpi_phdr[number].p_type == PT_INTERP) *static_cast<bool*>(found) = true;
    }
    return 1;  // the first is the program
  };
  ::dl_iterate_phdr(look, &has_loader);
  return !has_loader;
}

}  // namespace tbtrace
