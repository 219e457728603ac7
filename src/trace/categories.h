// The meaning of the categories that writers use.
// To support another category, add a row.
// An unknown category counts as an ordinary host range.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace {

struct CategoryMeaning {
  EventKind kind;
  DeviceType device;  ///< of the events
  DeviceType family;  ///< device type that its presence implies; cpu: none
};

/// Spellings have changed over the years: `Operator` (2020-2021) is `cpu_op`, `Runtime` is
/// `cuda_runtime` and so on. Case does not matter. Source: libkineto ActivityType.cpp, and torch's
/// deviceTypeFromActivity for the devices.
CategoryMeaning meaning_of_category(std::string_view name);

/// Whether a category has a meaning of its own. An empty one has none.
bool is_known_category(std::string_view name);

}  // namespace tbtrace
