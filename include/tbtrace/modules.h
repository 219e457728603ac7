// What the modules of a model cost: a tree with time, memory, computation and parameters, forward
// and backward passes apart.
// Results own all their data; plain values that any number of threads may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What a part of a model cost. Times are whole nanoseconds. Sums include the backward passes,
/// which are found by autograd's sequence numbers; `backward_` is the part of them. `self_`:
/// without the modules inside. Times of kernels are their durations, so several at once count
/// several times.
struct ModuleCost {
  std::int64_t cpu_time_total_ns = 0;
  std::int64_t self_cpu_time_ns = 0;
  std::int64_t device_time_total_ns = 0;
  std::int64_t self_device_time_ns = 0;
  std::int64_t backward_cpu_time_ns = 0;
  std::int64_t backward_device_time_ns = 0;
  std::int64_t cpu_memory_bytes = 0;  ///< allocated, less freed
  std::int64_t device_memory_bytes = 0;
  std::int64_t self_cpu_memory_bytes = 0;
  std::int64_t self_device_memory_bytes = 0;
  std::uint64_t macs = 0;   ///< multiply-adds; docs/formats/flops.md has the rules
  std::uint64_t flops = 0;  ///< floating point operations, 2 per multiply-add
  std::uint64_t backward_macs = 0;
  std::uint64_t backward_flops = 0;
};

struct ModuleRow : ModuleCost {
  /// Names from the outermost module on, joined by dots. With attributes where the trace has them
  /// (`net.layer1.0.conv1`), else with the names of the modules (`ResNet_0.Block_2.Conv2d_5`).
  std::string path;
  std::string type;                    ///< `Conv2d`
  std::size_t depth = 0;               ///< 0 for the outermost
  std::optional<std::size_t> parent;   ///< its row
  std::optional<std::uint64_t> calls;  ///< of its forward; nullopt if the trace does not say
  std::optional<std::uint64_t> self_parameters;  ///< elements, without those of modules inside
  std::optional<std::uint64_t> parameters;       ///< elements, with them
};

/// Where the numbers of parameters come from.
enum class ParameterSource : std::uint8_t {
  none,       ///< unknown: no shapes were recorded
  recorded,   ///< the file says how many each module has
  gradients,  ///< gradients were added to so many elements in a backward pass: trainable parameters
  weights,    ///< operators took weights of so many elements; tied weights count twice
};

/// `none`, `recorded`, `gradients`, `weights`.
const char* parameter_source_name(ParameterSource source);

struct ModuleTree {
  std::vector<ModuleRow> modules;  ///< parents first, in the order of their first calls
  /// What no module did. With `communication` and the `self_` figures of all modules: `total`.
  ModuleCost unattributed;
  /// Collectives that hooks began when gradients were ready, such as those of
  /// DistributedDataParallel: they are of no row.
  ModuleCost communication;
  ModuleCost total;
  /// CPU time in which threads that do not do the steps waited; in no row and not in `total`.
  std::int64_t waiting_ns = 0;
  bool has_shapes = false;  ///< the sizes of operators were recorded; without, `macs` is unknown
  std::optional<std::uint64_t> unattributed_parameters;  ///< of no module
  std::optional<std::uint64_t> parameters;               ///< of the whole trace
  ParameterSource parameter_source = ParameterSource::none;
  /// Elements that gradients were added to; nullopt if no backward pass did, or without sizes.
  std::optional<std::uint64_t> trainable_parameters;
  /// What they take by the types of the tensors; nullopt if these are unknown, as those of recorded
  /// numbers are, unless all of them got gradients.
  std::optional<std::uint64_t> parameter_bytes;
};

struct ModuleTreeOptions {
  /// Only what started in these steps, and was launched in them.
  std::optional<StepRange> steps = {};
  /// Also multiply-adds and parameters; without, they are 0 and unknown.
  bool with_operations = true;
};

/// The arguments that module_tree() reads.
inline constexpr ArgumentSet kModuleArguments = {ArgumentGroup::autograd, ArgumentGroup::inputs,
                                                 ArgumentGroup::modules, ArgumentGroup::graphs};

/// Modules are `nn.Module` frames, TorchScript's module hierarchies, and the modules that Lightning
/// marks; a label of kernels in a CUDA graph is the module of those that have no other. Modules of
/// several processes with the same path are one. Without modules the result has none. Fails if
/// `steps` names no step of the trace. Takes O(n log n) time and O(n) memory.
Result<ModuleTree> module_tree(const Trace& trace, const ModuleTreeOptions& options = {});

/// Whether module_tree() finds any module. Takes O(n) time.
bool has_modules(const Trace& trace);

/// How the rows of a report are formed.
enum class ModuleGrouping : std::uint8_t {
  module,  ///< a row per module, as a tree
  type,    ///< a row per class
  layer,   ///< repeated layers of a parent in one row (`layers.*`), with how much they differ
};

struct ModulesOptions : ModuleTreeOptions {
  ModuleGrouping group_by = ModuleGrouping::module;
  /// Modules deeper than this are part of the module around them; nullopt: all.
  std::optional<std::size_t> depth = {};
};

/// The same as rows of `tbtrace.modules/1`, with a last row `[unattributed]`.
Result<AnalysisReport> modules_report(const Trace& trace, const ModulesOptions& options = {});

}  // namespace tbtrace
