// code_places() where libbacktrace is not installed.
#include "symbols/addresses/code_places.h"
#include "symbols/addresses/loaded_object.h"

namespace tbtrace::symbols {

std::vector<CodePlace> code_places(const void* return_address) {
  if (return_address == nullptr) return {{}};
  // The call is before the address that it returns to.
  return {loaded_place(static_cast<const char*>(return_address) - 1)};
}

bool knows_lines() { return false; }

}  // namespace tbtrace::symbols
