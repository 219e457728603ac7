// Nodes of torch-tb-profiler's tree of operators, steps and modules. They refer to each other by
// index. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

using PluginNodeId = std::size_t;

enum class PluginClass : std::uint8_t { root, op, other_range, step, module, backward };

struct PluginNode {
  EventId event = EventId::none;
  PluginClass node_class = PluginClass::other_range;
  bool is_operator_event = false;  ///< of category cpu_op, whatever its class
  double start = 0;                ///< us, as in the file
  double end = 0;
  std::vector<PluginNodeId> children = {};
  std::vector<std::size_t> launches = {};
  double device = 0;
  double self_device = 0;
  double self_host = 0;
};

/// By start; with equal starts, the longer first.
inline bool starts_before(const PluginNode& a, const PluginNode& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

}  // namespace tbtrace::analyses
