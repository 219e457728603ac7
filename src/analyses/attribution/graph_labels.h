// Replayed CUDA graphs: the calls that launch them, and the labels that a program gave to kernels
// while it captured a graph.
// Refers to its Trace, which must outlive it. Immutable.
// Needs ArgumentGroup::graphs; without it nothing has a label.
// Source: torch/cuda/graph_annotations.py (mark_kernels), torch/profiler/_chrome_trace_export.py
// (2.15), torch/profiler/_cupti/monitor_trace.py (2.14; 2.15: _cuspy/trace.py).
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Whether a call (`cudaGraphLaunch`, `hipGraphLaunch` and the like) replays a captured graph.
bool is_graph_launch(std::string_view call);

/// A replayed graph calls no operators, so its kernels belong to no operator and no module; but
/// writers copy the labels of a node to each of its kernels, memcpys and memsets.
class GraphLabels {
 public:
  explicit GraphLabels(const Trace& trace);

  bool empty() const { return nodes_.empty() || !has_labels_; }

  /// The label of a device activity, which is a view into the trace; empty if it has none.
  std::string_view of(EventId activity) const;

 private:
  const Trace& trace_;
  const ArgumentColumn& nodes_;
  bool has_labels_;
};

}  // namespace tbtrace::analyses
