// Which operators take, make, change and free which tensors: torch's data flow graph of a recorded
// window. A tensor is a storage from its allocation to its end; each change in place makes another
// version of it.
// Owns its rows; made by one thread, then read by any. What was open when the recording ended ends
// there.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "recorder/log/storage_key.h"
#include "recorder/memory/operator_schemas.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

/// What a node does to a tensor.
struct FlowEdge {
  std::uint32_t tensor = 0;   ///< a row of DataFlow::tensors
  std::uint32_t version = 0;  ///< that the node takes, if `is_taken()`
  bool is_new = false;        ///< the node allocates it
  bool is_written = false;
  bool is_freed = false;
  std::uint64_t new_ticks = 0;
  std::uint64_t freed_ticks = 0;

  bool is_taken() const { return !is_new; }
  bool is_made() const { return (is_new && !is_freed) || is_written; }
  std::uint32_t made_version() const { return is_new ? 0 : version + 1; }
};

/// An operator that no other one encloses, a node of autograd's graph that is run, or an allocation
/// or free beside all operators.
struct FlowNode {
  std::uint64_t start_ticks = 0;
  bool is_backward = false;
  std::vector<FlowEdge> edges = {};  ///< by tensor
};

struct FlowTensor {
  std::uint64_t bytes = 0;
  bool is_allocated = false;  ///< within the window
  MemoryDevice device = MemoryDevice::cpu();
};

struct DataFlow {
  std::vector<FlowNode> nodes;            ///< by start
  std::vector<FlowTensor> tensors;        ///< by when they were first seen
  std::vector<std::uint32_t> gradients;   ///< rows of tensors
  std::vector<std::uint32_t> parameters;  ///< those that the program told of
  std::vector<MemoryEvent> other_memory;  ///< blocks that no operator was seen to take
};

DataFlow data_flow(const Window& window, OperatorSchemas& schemas);

}  // namespace tbtrace::recorder
