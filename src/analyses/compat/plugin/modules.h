// The modules of a recording as torch-tb-profiler shows them in its Module and Lightning views.
// Results own all their data; plain values that any number of threads may read.
// Source: kineto tb_plugin, profiler/module_op.py at 94979607^.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A row of the plugin's table. Modules with the same name and id share their figures: where such a
/// module has several rows, each has the figures of all its calls.
/// Times are the plugin's doubles, which it does not round. Of a module's operators, only those
/// directly in it count as its own.
struct PluginModule {
  std::string name;               ///< without `nn.Module: `; in the Lightning view the dotted path
  std::int64_t id = 0;            ///< `Python module id`; 0 in the Lightning view
  std::uint64_t occurrences = 0;  ///< calls
  std::uint64_t operators = 0;    ///< called directly, in all calls together
  double host_duration_us = 0;
  double self_host_duration_us = 0;    ///< without operators, submodules and other ranges inside
  double device_duration_us = 0;       ///< kernels, memcpys and memsets launched in it
  double self_device_duration_us = 0;  ///< those that its own operators launched
  double avg_duration_us = 0;          ///< per call, on the device; on the host if that is 0
  std::size_t depth = 0;               ///< 0: not inside another module
  std::optional<std::size_t> parent = {};  ///< its row

  bool operator==(const PluginModule&) const = default;
};

/// In the plugin's order, parents first. It sorts outermost modules by name; those with the same
/// name, which it shows in random order, come in the order of their first calls.
/// Empty if the plugin shows neither view: the file has no modules, or the plugin fails to load it
/// because of its modules:
/// - a module has no `Python id`;
/// - a module that the view needs is not in the operator tree with any of its calls, because it
///   crosses another range on its thread or was called by a backward pass;
/// - two flow events lead from forward operators to the same backward pass, or the first backward
///   pass is an AccumulateGrad.
/// Files that the plugin fails to load for other reasons have rows here.
/// Needs ArgumentGroup::python. Takes O(n log n) time and O(n) memory.
std::vector<PluginModule> plugin_modules(const Trace& trace);

/// The same as rows of `tbtrace.modules/1`, with the plugin's columns.
AnalysisReport plugin_module_report(const Trace& trace);

}  // namespace tbtrace::analyses
