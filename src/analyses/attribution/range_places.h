// Where in a tree of places (modules, or lines of source) the ranges of a trace are.
// Owns its columns; made from a Trace and valid for it alone.
#pragma once

#include <cstdint>
#include <functional>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/forward_operators.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// A node of the tree; the root stands for everything outside of all places.
using Place = StackTree::Node;

/// The place of a host range, by the place around it: the same one, or one below it. In a backward
/// pass, where a checkpoint calls modules again, also another one.
using PlaceIn = std::function<Place(Place around, EventId range, bool is_backward)>;

/// A backward pass runs where no place is, so its ranges have the places of the forward operators
/// whose gradients they compute. The range that adds a gradient to a parameter has the place of the
/// node before it on its thread: autograd runs it next, before all other nodes that are ready. A
/// node whose operator is unknown has the place around it.
/// Source: torch/csrc/autograd/engine.cpp (the ready queue; AccumulateGrad has the highest number).
struct WorkPlaces {
  Column<Place> place;               // by event
  Column<std::uint8_t> is_backward;  // by event: it is in a backward pass
  /// By event: it is in a range that adds a gradient to a parameter, where hooks run, such as those
  /// of DistributedDataParallel that reduce gradients.
  Column<std::uint8_t> accumulates;
};

/// `place_in` is called once for each range, in the order of the call tree.
WorkPlaces find_places(const Trace& trace, const ForwardOperators& forward,
                       const PlaceIn& place_in);

}  // namespace tbtrace::analyses
