// What the categories that writers use mean.
// To know another category, add a row. Pure functions.
// An unknown category is an ordinary range of the host.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace {

struct CategoryMeaning {
  EventKind kind;
  DeviceType device;  ///< of the events
  DeviceType family;  ///< that its presence gives away; cpu: none
};

/// Spellings differ between the years: `Operator` (2020-2021) is `cpu_op`, `Runtime` is
/// `cuda_runtime` and so on. Case does not matter. Source: libkineto ActivityType.cpp, and torch's
/// deviceTypeFromActivity for the devices.
CategoryMeaning meaning_of_category(std::string_view name);

}  // namespace tbtrace
