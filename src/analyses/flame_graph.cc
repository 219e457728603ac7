// Stacks of host ranges from the exact tree, each weighted by its own time or memory. Device work
// that no range owns has a frame of its own, so the device stacks add up to all device work.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/analyses.h>

#include "analyses/attribution.h"
#include "analyses/recorded_stacks.h"
#include "analyses/torch_names.h"
#include "base/column.h"
#include "report/row_order.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

using analyses::NameId;
using analyses::TorchNames;
using Node = StackTree::Node;

class FlameGraph {
 public:
  FlameGraph(const Trace& trace, std::string unit)
      : trace_(trace), tree_(call_tree_of(trace)), names_(trace), stacks_(std::move(unit)) {
    place_ranges();
  }

  StackTree by_self_time() && {
    for (const EventId event : tree_.ranges()) {
      stacks_.add(node_of_[index(event)], self_times_of(trace_).ns(event));
    }
    return std::move(stacks_);
  }

  StackTree by_device_time() && {
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      const EventId owner = analyses::owner_of_work(tree_, link);
      const Node above = owner == EventId::none ? unattributed() : node_of_[index(owner)];
      stacks_.add(stacks_.child(above, frame_of(link.activity)),
                  trace_.events().duration_ns(link.activity));
    }
    return std::move(stacks_);
  }

  StackTree by_allocated_memory() && {
    analyses::for_each_memory_owner(trace_, tree_, [&](const MemoryRecord& record, EventId owner) {
      const bool allocated = record.bytes > 0 && !record.out_of_memory;
      if (owner == EventId::none || !allocated) return;
      if (!analyses::is_cpu_memory(record.device_type)) return;
      stacks_.add(node_of_[index(owner)], record.bytes);
    });
    return std::move(stacks_);
  }

 private:
  /// Finds the node of every range, parents first.
  void place_ranges() {
    const analyses::RecordedStacks recorded(trace_, tree_);
    std::vector<std::uint32_t> numbers(recorded.frame_count());  // 0: not looked up yet
    node_of_.resize(trace_.events().size(), StackTree::kRoot);
    for (const EventId event : tree_.ranges()) {
      const EventId parent = tree_.parent(event);
      Node node = parent == EventId::none ? StackTree::kRoot : node_of_[index(parent)];
      for (const analyses::RecordedStacks::Frame frame : recorded.before(event)) {
        if (numbers[frame] == 0) numbers[frame] = frame_number(recorded.text(frame));
        node = stacks_.child(node, numbers[frame]);
      }
      node_of_[index(event)] = stacks_.child(node, frame_of(event));
    }
  }

  /// The frame for work that no host range owns.
  Node unattributed() {
    return stacks_.child(StackTree::kRoot, stacks_.frame_number("[unattributed]"));
  }

  std::uint32_t frame_of(EventId event) {
    const bool op = trace_.kind(event) == EventKind::cpu_op;
    const NameId name = names_.get(trace_.events().name(event), op).name;
    if (name >= frame_numbers_.size()) frame_numbers_.resize(name + 1, 0);
    if (frame_numbers_[name] == 0) {
      frame_numbers_[name] = frame_number(names_.text(name));
    }
    return frame_numbers_[name];
  }

  std::uint32_t frame_number(std::string_view frame) {
    return stacks_.frame_number(frame.empty() ? "(no name)" : frame);
  }

  const Trace& trace_;
  const CallTree& tree_;
  TorchNames names_;
  StackTree stacks_;
  Column<Node> node_of_;                      // by event
  std::vector<std::uint32_t> frame_numbers_;  // by NameId; 0: not looked up yet
};

struct Weight {
  std::string_view name;
  const char* unit;
  StackTree (FlameGraph::*stacks)() &&;
};

constexpr std::array<Weight, 3> kWeights = {{
    {"self_cpu_time_total", "ns", &FlameGraph::by_self_time},
    {"self_device_time_total", "ns", &FlameGraph::by_device_time},
    {"cpu_memory", "bytes", &FlameGraph::by_allocated_memory},
}};

/// nullptr if there is no such weight.
const Weight* find_weight(const FlameGraphOptions& options) {
  const auto* const found = std::find_if(
      kWeights.begin(), kWeights.end(),
      [name = report::canonical_key(options.weight)](auto& weight) { return weight.name == name; });
  return found == kWeights.end() ? nullptr : found;
}

}  // namespace

Status check_flame_graph_options(const FlameGraphOptions& options) {
  if (find_weight(options) != nullptr) return {};
  return {StatusCode::invalid_argument,
          "unknown weight '" + options.weight +
              "'; use self_cpu_time_total, self_device_time_total or cpu_memory"};
}

Result<StackTree> flame_graph(const Trace& trace, const FlameGraphOptions& options) {
  const Weight* const weight = find_weight(options);
  if (weight == nullptr) return check_flame_graph_options(options);
  return (FlameGraph(trace, weight->unit).*weight->stacks)();
}

}  // namespace tbtrace
