// Tensors of which a program says what they are: parameters of its models, and their gradients.
// Plain values, known by the address of their storage at a time.
#pragma once

#include <cstdint>

namespace tbtrace::recorder {

struct KnownTensor {
  std::uint64_t ticks = 0;    ///< when the storage was this tensor's
  std::uint64_t address = 0;  ///< as storage_key() has it
  std::uint64_t bytes = 0;
  bool is_gradient = false;  ///< otherwise a parameter
};

}  // namespace tbtrace::recorder
