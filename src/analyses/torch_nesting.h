// torch's tree over an event list: order, parents, duplicates, and the times of children.
// Steps on TorchRows; no state of their own.
// Source: torch/autograd/profiler_util.py (EventList._build_tree).
#pragma once

#include "analyses/torch_rows.h"

namespace tbtrace::analyses {

/// By start, the longer first. `events` is the number of rows at the front that stand for events;
/// rows of memory records follow and lose ties. Both are in the order of their starts already.
void sort_rows(TorchRows& list, std::size_t events);

/// Parents per thread: whatever ends before an event starts, or inside it, is not a parent any
/// more.
void nest_rows(TorchRows& list, std::size_t threads);

/// Drops an only child of the same name; its parent takes its children, and its kernels in place of
/// its own.
void remove_duplicates(TorchRows& list);

/// Times of direct children, added from left to right.
void add_up_children(TorchRows& list);

}  // namespace tbtrace::analyses
