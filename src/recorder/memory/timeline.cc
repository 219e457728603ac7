#include "recorder/memory/timeline.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "recorder/memory/categories.h"
#include "recorder/memory/data_flow.h"

namespace tbtrace::recorder {

namespace {

using Category = MemoryCategory;
constexpr std::int64_t kBefore = -1;

class TimelineBuilder {
 public:
  TimelineBuilder(const Window& window, const DataFlow& flow, MemoryDevice device)
      : window_(window), flow_(flow), categories_(memory_categories(flow)), device_(device) {}

  MemoryTimeline build() {
    add_other_memory();
    find_versions();
    for (std::uint32_t tensor = 0; tensor < flow_.tensors.size(); ++tensor) {
      if (is_shown_[tensor] && !flow_.tensors[tensor].is_allocated) {
        add(kBefore, MemoryAction::preexisting, tensor, 0, bytes(tensor));
      }
    }
    for (const FlowNode& node : flow_.nodes) {
      for (const FlowEdge& edge : node.edges) add(node, edge);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.time_ns, a.action) < std::tie(b.time_ns, b.action);
    });
    return std::move(rows_);
  }

 private:
  /// Blocks of which it is not known that a tensor has them.
  void add_other_memory() {
    std::vector<MemoryEvent> events = flow_.other_memory;
    std::stable_sort(events.begin(), events.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.ticks < b.ticks; });
    std::unordered_set<std::uint64_t> alive;
    const auto row = [&](std::int64_t time_ns, MemoryAction action, std::int64_t bytes) {
      rows_.push_back({time_ns, action, bytes, Category::unknown});
    };
    for (const MemoryEvent& event : events) {
      if (device_of(event.address) != device_) continue;
      const std::int64_t time_ns = window_.unix_ns(event.ticks);
      if (event.bytes < 0) {
        row(time_ns, MemoryAction::destroy, event.bytes);
        if (alive.erase(event.address) == 0) row(kBefore, MemoryAction::preexisting, -event.bytes);
      } else {
        alive.insert(event.address);
        row(time_ns, MemoryAction::create, event.bytes);
      }
    }
  }

  /// The last version of each tensor, and those of which there is a first one.
  void find_versions() {
    last_version_.assign(flow_.tensors.size(), 0);
    is_shown_.assign(flow_.tensors.size(), false);
    const auto see = [&](std::uint32_t tensor, std::uint32_t version) {
      last_version_[tensor] = std::max(last_version_[tensor], version);
      is_shown_[tensor] = is_shown_[tensor] || version == 0;
    };
    for (const std::uint32_t tensor : flow_.parameters) see(tensor, 0);
    for (const std::uint32_t tensor : flow_.gradients) see(tensor, 0);
    for (const FlowNode& node : flow_.nodes) {
      for (const FlowEdge& edge : node.edges) {
        if (edge.is_taken()) see(edge.tensor, edge.version);
        if (edge.is_made()) see(edge.tensor, edge.made_version());
      }
    }
  }

  void add(const FlowNode& node, const FlowEdge& edge) {
    const std::int64_t size = bytes(edge.tensor);
    if (edge.is_new) {
      add(window_.unix_ns(edge.new_ticks), MemoryAction::create, edge.tensor, 0, size);
    } else if (edge.is_written) {
      const std::int64_t time_ns = window_.unix_ns(node.start_ticks);
      add(time_ns, MemoryAction::increment_version, edge.tensor, edge.version, -size);
      add(time_ns, MemoryAction::increment_version, edge.tensor, edge.version + 1, size);
    }
    if (edge.is_freed) {
      add(window_.unix_ns(edge.freed_ticks), MemoryAction::destroy, edge.tensor,
          last_version_[edge.tensor], -size);
    }
  }

  void add(std::int64_t time_ns, MemoryAction action, std::uint32_t tensor, std::uint32_t version,
           std::int64_t bytes) {
    if (flow_.tensors[tensor].device != device_) return;
    rows_.push_back({time_ns, action, bytes, categories_.get(tensor, version)});
  }

  std::int64_t bytes(std::uint32_t tensor) const {
    return static_cast<std::int64_t>(flow_.tensors[tensor].bytes);
  }

  const Window& window_;
  const DataFlow& flow_;
  const MemoryCategories categories_;
  const MemoryDevice device_;
  std::vector<std::uint32_t> last_version_;
  std::vector<bool> is_shown_;
  MemoryTimeline rows_;
};

}  // namespace

MemoryTimeline memory_timeline(const Window& window, OperatorSchemas& schemas,
                               MemoryDevice device) {
  const DataFlow flow = data_flow(window, schemas);
  return TimelineBuilder(window, flow, device).build();
}

}  // namespace tbtrace::recorder
