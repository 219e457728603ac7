// Numbers as the rows of a trace have them.
#pragma once

#include <cstdint>
#include <string>

#include "chrome/rows/short_text.h"

namespace tbtrace::chrome {

inline void append_integer(std::string& json, std::int64_t value) {
  ShortText<24> text;
  text.put_integer(value);
  json += text.view();
}

/// With as many decimals as it needs.
inline void append_microseconds(std::string& json, std::int64_t ns) {
  ShortText<32> text;
  text.put_microseconds(ns);
  json += text.view();
}

}  // namespace tbtrace::chrome
