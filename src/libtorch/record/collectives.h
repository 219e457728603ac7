// What c10d tells profilers of the collectives that it runs, in all generations of LibTorch.
// For the calling thread. A LibTorch without c10d tells nothing.
// Nothing is checked: texts and numbers are those that c10d was given.
#pragma once

#include <optional>

#include "recorder/log/collective.h"

namespace tbtrace::libtorch {

/// Of the range that the thread is about to begin; nothing: c10d did not describe it.
std::optional<recorder::Collective> described_collective();

}  // namespace tbtrace::libtorch
