// What a tensor's memory is for, as torch's memory timeline divides it.
// Plain values; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// With torch's numbers.
enum class MemoryCategory : std::uint8_t {
  parameter,
  optimizer_state,
  input,
  temporary,
  activation,
  gradient,
  autograd_detail,
  unknown,
};
inline constexpr std::size_t kMemoryCategories = 8;

/// torch's names, as in its chart.
constexpr std::string_view memory_category_name(MemoryCategory category) {
  constexpr std::string_view kNames[kMemoryCategories] = {
      "PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
      "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
  return kNames[static_cast<std::size_t>(category)];
}

/// `optimizer_state`: as in the reports of analyses.
constexpr std::string_view memory_category_key(MemoryCategory category) {
  constexpr std::string_view kKeys[kMemoryCategories] = {
      "parameter",  "optimizer_state", "input",           "temporary",
      "activation", "gradient",        "autograd_detail", "unknown"};
  return kKeys[static_cast<std::size_t>(category)];
}

}  // namespace tbtrace
