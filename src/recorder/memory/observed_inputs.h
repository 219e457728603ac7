// Inputs of operators as values again: which storage each tensor has, and of what type the others
// are. Reads what inputs.h wrote together with the addresses that were recorded beside it.
// Pure functions. The bytes are our own, so that nothing is checked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tbtrace::recorder {

struct ObservedTensor {
  std::uint64_t address = 0;  ///< of its storage's data, as storage_key() has it; 0: it has none
  std::uint64_t bytes = 0;    ///< from the first element to the last one; 0 if it is sparse
};

struct ObservedInput {
  enum class Kind : std::uint8_t { nothing, tensor, tensor_list, boolean, integer, real, complex };

  Kind kind = Kind::nothing;
  std::vector<ObservedTensor> tensors = {};  ///< one of a tensor; of a list, those that are defined
  bool has_undefined = false;                ///< among a list's members
};

/// `addresses` has one for each tensor of the bytes. `element_bytes` are sizes of element types by
/// their number.
std::vector<ObservedInput> observed_inputs(std::string_view bytes,
                                           std::span<const std::uint64_t> addresses,
                                           std::span<const std::uint8_t> element_bytes);

}  // namespace tbtrace::recorder
