// The callbacks that LibTorch holds, and what becomes of those that cannot be removed at once:
// one of a single thread can only be removed by that thread, and a fork's child has its parent's.
// Any thread. Takes locks; for the beginnings and ends of recordings.
#pragma once

#include <cstddef>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "libtorch/record/observer.h"

namespace tbtrace::libtorch {

/// Removes the callbacks that earlier recordings left on this thread, and those of a parent
/// process. Their slots are free afterwards, so this comes before a slot is taken.
void remove_left_callbacks();

/// Does the same, then adds the callback, which writes into the slot.
ObserverHandle add_callback(std::size_t slot, at::RecordFunctionCallback callback,
                            bool all_threads);

/// Of another thread's callback the slot stays unused until that thread removes it: with its next
/// call of one of these functions, or with its end.
void remove_callback(ObserverHandle handle);

}  // namespace tbtrace::libtorch
