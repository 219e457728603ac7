// torch's tree over an event list: order, parents, duplicates, and child times.
// Steps on TorchRows; have no state.
// Source: torch/autograd/profiler_util.py (EventList._build_tree).
#pragma once

#include "analyses/torch/rows.h"

namespace tbtrace::analyses {

/// Sorts by start, longer ones first. The first `events` rows are events; memory rows follow and
/// lose ties. Both parts are already sorted by start.
void sort_rows(TorchRows& list, std::size_t events);

/// Finds parents per thread: an event that ends before another starts, or inside it, is no longer a
/// parent. Marks each only child with its parent's name as removed, and that parent as losing its
/// kernels; returns whether there are any, for TorchRows::drop_removed(). torch repeats its pass
/// until nothing changes, but one is enough: removing an only child never makes another one.
bool nest_rows(TorchRows& list, std::size_t threads);

/// Sums the times of direct children, from left to right.
void add_up_children(TorchRows& list);

}  // namespace tbtrace::analyses
