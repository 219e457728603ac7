// Modules of a tree joined into the rows of a report.
// Pure function; results own their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/modules.h>

namespace tbtrace::analyses {

/// A module, all modules of a class, or the repeated layers of a parent.
struct ModuleGroup {
  ModuleRow sum;  ///< `path`: of layers with `*`; empty for a class
  std::uint64_t modules = 0;
  /// Of a module alone the same as `sum`; in time on the device, if the trace has any, else on the
  /// host.
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::string slowest;  ///< the path of the module with the most
};

/// In the order of the tree, classes by their first module. A module inside another one of its
/// group adds to the sums of that one already.
std::vector<ModuleGroup> module_groups(const ModuleTree& tree, const ModulesOptions& options);

/// The path of each row with `*` for what differs between repeated layers: a number
/// (`layers.*.fc1`), or the number in the name of a module that is one of several with modules of
/// their own (`Block_*`). Others of several get their place among those of their class, so that
/// equal parts of layers have equal names (`Block_*.Conv2d_1`).
std::vector<std::string> layer_patterns(const std::vector<ModuleRow>& modules);

}  // namespace tbtrace::analyses
