// Cells of values that may be missing, and of texts that may be empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/device.h>
#include <tbtrace/report.h>

namespace tbtrace::report {

/// A cell without a value for nullopt.
template <typename Value>
Cell optional_cell(const std::optional<Value>& value) {
  return value ? Cell(*value) : Cell();
}

/// A cell without a value for an empty text.
inline Cell text_cell(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

/// The number of a device of this name: 1 of `cuda:1`. Without a value for the host.
inline Cell device_cell(std::string_view name) {
  const bool is_host = name.starts_with("cpu") || name == "CPU";
  return is_host ? Cell() : optional_cell(number_in_name(name));
}

}  // namespace tbtrace::report
