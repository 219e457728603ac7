// What the groups of a kernel summary have in common.
#pragma once

#include <algorithm>

#include <tbtrace/kernels.h>

namespace tbtrace::analyses {

inline bool groups_by(const KernelsOptions& options, KernelGrouping grouping) {
  return options.group_by == grouping ||
         std::ranges::find(options.also_by, grouping) != options.also_by.end();
}

/// Whether groups have a kernel's name.
inline bool groups_by_name(const KernelsOptions& options) {
  return groups_by(options, KernelGrouping::name) || groups_by(options, KernelGrouping::launch);
}

}  // namespace tbtrace::analyses
