// The tree that torch builds in C++ while it stops: it decides how unfinished ranges end and which
// Python function an operator was called from.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Source: torch/csrc/profiler/collection.cpp (build_tree, torchOpEndNS).
#pragma once

#include <cstdint>
#include <unordered_map>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

/// torch numbers threads itself, and `Fwd thread id` is such a number. An arrow from a forward
/// operator to its backward one ties the number to the thread on which the arrow starts.
class ForwardThreads {
 public:
  explicit ForwardThreads(const Trace& trace);

  /// The thread with torch's number; false if no arrow names it.
  bool find(std::int64_t number, TrackId& track) const;

 private:
  std::unordered_map<std::int64_t, TrackId> tracks_;
};

/// Autograd's numbers of an event, or nullptr.
const AutogradInfo* autograd_info(const Trace& trace, EventId event);

class TorchTree {
 public:
  TorchTree(const Trace& trace, const ForwardThreads& threads);

  EventId parent(EventId event) const { return parent_[index(event)]; }

  /// The nearest Python function above an event, EventId::none if there is none.
  EventId python_parent(EventId event) const { return python_parent_[index(event)]; }

  /// When torch says that an event ended.
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
