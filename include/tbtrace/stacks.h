// Stacks of ranges with their weights, for flame graphs: flame_graph.h draws them.
// Pure functions, which may run on any number of threads at once. Results own all their data.
#pragma once

#include <optional>
#include <string>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/step_range.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct FlameGraphOptions {
  /// `self_cpu_time_total`, `self_device_time_total` (or `self_cuda_time_total` and the like),
  /// `cpu_memory`.
  std::string weight = "self_cpu_time_total";
  /// By default a frame that only passes a call on (`_call_impl` and `_wrapped_call_impl` of
  /// torch's modules, `forward` of its containers) is left out, its own weight counts in its
  /// caller, and addresses (` at 0x7f..`) are left out of names of Python functions, so that equal
  /// calls share a frame. A frame without a caller stays.
  bool all_frames = false;
  /// Only the time from the start of the first to the end of the last of these steps on the host,
  /// on all threads. A range that crosses an edge counts with the part inside; an allocation counts
  /// if it was made inside; a kernel, memcpy or memset counts as a whole if it was launched inside,
  /// whenever it ran. Fails if the trace does not have these steps.
  std::optional<StepRange> steps = {};
  /// Only host threads of this id or name, with the device work of their ranges; a part of the name
  /// if no thread has it as a whole. Empty: all threads, and device work that no range owns. Fails
  /// if there is no such thread.
  std::string thread = {};
  /// A frame for each host thread around its stacks, such as `thread 12 (main)`.
  bool by_thread = false;
  /// A function that runs inside itself counts once: the inner call, and what it calls, belong to
  /// the outer one.
  bool merge_recursion = false;
  /// A node of its own for each range, kernel, memcpy and memset, on each frame by start: host
  /// ranges by their start on the host, device work by its start on the device, `[unattributed]` by
  /// that of the first device work under it. Functions that are known from call stacks only are
  /// joined if nothing that has a weight comes between them. By default all calls of one stack are
  /// one node.
  bool in_time_order = false;
};

/// Fails for a weight that does not exist.
Status check_flame_graph_options(const FlameGraphOptions& options);

/// Stacks of ranges from the exact tree, weighted by each range's own time or memory. By device
/// time, kernels, memcpys and memsets that no range owns are under `[unattributed]`, so the stacks
/// add up to the total device time.
Result<StackTree> flame_graph(const Trace& trace, const FlameGraphOptions& options = {});

}  // namespace tbtrace
