// The program or library that an address of this process belongs to, as the dynamic linker tells.
// Pure function, any thread. An address of nobody gives empty answers.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include "base/demangle.h"
#include "symbols/code_places.h"

namespace tbtrace::symbols {

/// Symbols of this process are what its compiler made of its code, not somebody's input, so they
/// may have any length.
inline std::string readable(const char* symbol) {
  return demangle(symbol, std::numeric_limits<std::size_t>::max()).value_or(symbol);
}

/// Object, offset, and the exported function around the address.
inline CodePlace loaded_place(const void* address) {
  Dl_info found = {};
  CodePlace place;
  if (::dladdr(address, &found) == 0) return place;
  if (found.dli_fname != nullptr) place.object = found.dli_fname;
  place.offset = static_cast<std::size_t>(static_cast<const char*>(address) -
                                          static_cast<const char*>(found.dli_fbase));
  if (found.dli_sname != nullptr) place.function = readable(found.dli_sname);
  return place;
}

}  // namespace tbtrace::symbols
