// Stacks in which no frame occurs twice.
#pragma once

#include <tbtrace/report.h>

namespace tbtrace::analyses {

/// A frame inside itself, directly or not, becomes the outer one: its own weight and what it calls
/// move there, so that `f;g;f;h` becomes `f;h`. The sum of all weights stays. `join`: nodes with
/// the same path become one; else each node without such a frame outside stays a node of its own,
/// in the same order.
StackTree merged_recursion(const StackTree& stacks, bool join);

}  // namespace tbtrace::analyses
