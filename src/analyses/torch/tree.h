// The tree that torch builds in C++ when recording stops: it decides when unfinished ranges end and
// which Python function called an operator.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Source: torch/csrc/profiler/collection.cpp (build_tree, torchOpEndNS).
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

#include "analyses/attribution/forward_threads.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// The ranges whose ends torch makes up. Not those of a recovered trace, which ran until the last
/// sign of life of a process that died: torch never has such traces.
class RangesWithoutEnd {
 public:
  explicit RangesWithoutEnd(const Trace& trace)
      : events_(trace.events()), are_none_(trace.metadata().contains("tbtrace_recovered")) {}

  bool contains(EventId event) const { return !are_none_ && events_.unfinished(event); }

 private:
  const Events& events_;
  bool are_none_;
};

class TorchTree {
 public:
  TorchTree(const Trace& trace, const ForwardThreads& threads);

  EventId parent(EventId event) const { return parent_[index(event)]; }

  /// The nearest Python function above an event, EventId::none if there is none.
  EventId python_parent(EventId event) const { return python_parent_[index(event)]; }

  /// When an event ended according to torch.
  std::int64_t end_ns(EventId event) const { return end_ns_[index(event)]; }

 private:
  void nest(const Trace& trace, const ForwardThreads& threads);
  void settle(const Trace& trace);

  Column<EventId> parent_;
  Column<std::uint8_t> closed_;
  Column<EventId> python_parent_;
  Column<std::int64_t> end_ns_;
};

}  // namespace tbtrace::analyses
