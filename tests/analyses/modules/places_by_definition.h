// Modules and lines by their definitions, range by range and with recursion: slow and plain.
// The call tree, self times and links are those of AnalysisContext, which has tests of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/modules.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

/// A place by the names on the way to it; the empty list is outside of all.
using Way = std::vector<std::string>;

class PlacesByDefinition {
 public:
  /// The way of a range, by the way around it.
  using WayIn = std::function<Way(const Way& around, EventId range)>;

  PlacesByDefinition(const Trace& trace, WayIn way_in, std::optional<StepRange> steps = {})
      : trace_(trace), context_(trace), way_in_(std::move(way_in)), steps_(steps) {}

  struct Sums {
    std::int64_t cpu_ns = 0;
    std::int64_t device_ns = 0;
    std::int64_t backward_cpu_ns = 0;
    std::int64_t backward_device_ns = 0;
    std::int64_t cpu_bytes = 0;
    std::int64_t device_bytes = 0;

    bool operator==(const Sums&) const = default;
  };

  /// What each place did itself.
  std::map<Way, Sums> own() const {
    std::map<Way, Sums> sums;
    for (const EventId range : context_.host_ranges()) {
      if (!counts(range)) continue;
      Sums& here = sums[way(range)];
      here.cpu_ns += context_.self_time_ns(range);
      if (is_backward(range)) here.backward_cpu_ns += context_.self_time_ns(range);
    }
    for (const DeviceLink& link : context_.device_links()) {
      EventId owner = link.op;
      if (owner == EventId::none && link.launch != EventId::none) {
        owner = context_.parent(link.launch);
        if (owner == EventId::none) owner = link.launch;
      }
      if (!counts(link.launch != EventId::none ? link.launch : owner)) continue;
      const std::int64_t ns = trace_.events().duration_ns(link.activity);
      Sums& here = sums[owner == EventId::none ? Way() : way(owner)];
      here.device_ns += ns;
      if (owner != EventId::none && is_backward(owner)) here.backward_device_ns += ns;
    }
    for (const MemoryRecord& record : trace_.memory()) {
      const EventId owner = running_at(record);
      if (record.out_of_memory || !counts(owner)) continue;
      Sums& here = sums[owner == EventId::none ? Way() : way(owner)];
      (record.device_type == DeviceType::cpu ? here.cpu_bytes : here.device_bytes) += record.bytes;
    }
    return sums;
  }

  Way way(EventId range) const {
    const auto known = ways_.find(range);  // only saves time
    if (known != ways_.end()) return known->second;
    Way found = way_in_(way_around(range), range);
    ways_.emplace(range, found);
    return found;
  }

  bool is_backward(EventId range) const {
    if (accumulates(range) || is_node(range)) return true;
    const EventId parent = context_.parent(range);
    return parent != EventId::none && is_backward(parent);
  }

  bool counts(EventId range) const {
    if (!steps_) return true;
    if (range == EventId::none) return false;
    const Step* const step = context_.step_of(range);
    return step != nullptr && steps_->contains(step->number);
  }

  const AnalysisContext& context() const { return context_; }

 private:
  std::int64_t sequence(EventId range) const {
    return trace_.argument(Argument::sequence_number).integer(range).value_or(-1);
  }
  std::int64_t forward_thread(EventId range) const {
    return trace_.argument(Argument::forward_thread).integer(range).value_or(0);
  }
  bool is_operator(EventId range) const { return trace_.kind(range) == EventKind::cpu_op; }
  bool is_around_node(EventId range) const {
    return trace_.name(range).starts_with("autograd::engine::evaluate_function: ");
  }
  bool is_node(EventId range) const {
    const bool is_named = trace_.name(range) == "MmBackward0";  // of RandomModel's names
    return is_operator(range) && (forward_thread(range) > 0 || is_around_node(range) || is_named);
  }
  bool accumulates(EventId range) const {
    return is_operator(range) && trace_.name(range).ends_with("torch::autograd::AccumulateGrad");
  }

  /// The last operator before the node with its number, if only one thread has the number. No flow
  /// events are in these recordings, so no thread is known.
  EventId creator(EventId node) const {
    if (!is_node(node) || sequence(node) < 0) return EventId::none;
    EventId last = EventId::none;
    for (const EventId range : context_.host_ranges()) {
      if (range == node) break;
      if (!is_operator(range) || is_node(range) || sequence(range) != sequence(node)) continue;
      const bool same_thread =
          last == EventId::none || trace_.events().track(last) == trace_.events().track(range);
      if (!same_thread) return EventId::none;
      last = range;
    }
    return last;
  }

  bool is_before(EventId one, EventId two) const {
    for (const EventId range : context_.host_ranges()) {
      if (range == two) return false;
      if (range == one) return true;
    }
    return false;
  }

  /// Of a range around a node without a number, that of the first node in it that has one.
  EventId forward_of(EventId range) const {
    if (const EventId own = creator(range); own != EventId::none) return own;
    if (!is_around_node(range)) return EventId::none;
    for (const EventId inner : context_.host_ranges()) {
      if (context_.parent(inner) != range) continue;
      const EventId found = creator(inner);
      if (found != EventId::none && is_before(found, range)) return found;
    }
    return EventId::none;
  }

  /// The way of what the range is in.
  Way way_around(EventId range) const {
    if (accumulates(range)) return way_of_node_before(range);
    if (is_node(range)) {
      const EventId forward = forward_of(range);
      if (forward != EventId::none) return way(forward);
    }
    const EventId parent = context_.parent(range);
    return parent == EventId::none ? Way() : way(parent);
  }

  Way way_of_node_before(EventId range) const {
    EventId node = EventId::none;
    for (const EventId other : context_.host_ranges()) {
      if (other == range) break;
      const bool same_thread = trace_.events().track(other) == trace_.events().track(range);
      if (same_thread && is_node(other) && !accumulates(other)) node = other;
    }
    return node == EventId::none ? Way() : way_around(node);
  }

  /// The range that started last among those open on the record's thread.
  EventId running_at(const MemoryRecord& record) const {
    EventId found = EventId::none;
    for (const EventId range : context_.host_ranges()) {
      const bool is_open = trace_.events().track(range) == record.track &&
                           trace_.events().start_ns(range) <= record.time_ns;
      if (is_open) found = range;
    }
    while (found != EventId::none && trace_.events().end_ns(found) < record.time_ns) {
      found = context_.parent(found);
    }
    return found;
  }

  const Trace& trace_;
  AnalysisContext context_;
  WayIn way_in_;
  std::optional<StepRange> steps_;
  mutable std::map<EventId, Way> ways_;
};

}  // namespace tbtrace::analyses
