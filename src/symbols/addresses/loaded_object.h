// The program or library that contains an address of this process, from the dynamic linker.
// Pure function, any thread. For an address outside all of them the result is empty.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include "symbols/addresses/code_places.h"
#include "symbols/names/demangle.h"

namespace tbtrace::symbols {

/// A C++ function with its arguments; another function by its symbol, even if that encodes a type,
/// as `f` does.
inline std::string readable(std::string_view symbol) {
  return symbol.starts_with("_Z") ? demangled_own_name(std::string(symbol)) : std::string(symbol);
}

/// Object, offset, and the exported function that contains the address.
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
