// code_places() with libbacktrace. Its state exists once per process and cannot be freed.
#include <cstdint>

#include <backtrace.h>

#include "symbols/addresses/code_places.h"
#include "symbols/addresses/loaded_object.h"

namespace tbtrace::symbols {

namespace {

void ignore_error(void*, const char*, int) {}

backtrace_state* state() {
  static backtrace_state* const one =
      backtrace_create_state(nullptr, /*threaded=*/1, ignore_error, nullptr);
  return one;
}

int add_place(void* places, std::uintptr_t, const char* file, int line, const char* function) {
  if (file == nullptr && function == nullptr) return 0;
  CodePlace place;
  if (function != nullptr) place.function = readable(function);
  if (file != nullptr) place.file = file;
  place.line = line;
  static_cast<std::vector<CodePlace>*>(places)->push_back(std::move(place));
  return 0;
}

void take_symbol(void* place, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
  if (symbol != nullptr) static_cast<CodePlace*>(place)->function = readable(symbol);
}

}  // namespace

std::vector<CodePlace> code_places(const void* return_address) {
  if (return_address == nullptr) return {{}};
  // The call is before the address that it returns to.
  const void* const call = static_cast<const char*>(return_address) - 1;
  const auto address = reinterpret_cast<std::uintptr_t>(call);
  CodePlace loaded = loaded_place(call);
  std::vector<CodePlace> places;
  if (state() == nullptr) return {loaded};
  backtrace_pcinfo(state(), address, add_place, ignore_error, &places);
  if (places.empty()) {
    backtrace_syminfo(state(), address, take_symbol, ignore_error, &loaded);
    return {loaded};
  }
  // clang's line tables (-g1) have no names for functions that were not inlined.
  if (places.back().function.empty()) {
    backtrace_syminfo(state(), address, take_symbol, ignore_error, &places.back());
  }
  for (CodePlace& place : places) {
    place.object = loaded.object;
    place.offset = loaded.offset;
  }
  return places;
}

bool knows_lines() { return true; }

}  // namespace tbtrace::symbols
