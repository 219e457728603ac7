// The layers of a recorded run with their own costs: what LayerPlaces found, the layers without
// tensors that are recognised among the functions, and those that were not called.
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/model_summary.h>

#include "analyses/modules/work_places.h"
#include "libtorch/toolbox/layers/model_parts.h"
#include "libtorch/toolbox/layers/recorded_run.h"

namespace tbtrace::libtorch {

/// A layer, without those inside it.
struct LayerNode {
  std::size_t parent = 0;  ///< a node; of the model itself
  std::optional<std::size_t> part;
  std::string name;
  std::string type;  ///< class, or operator
  bool is_function = false;
  std::uint64_t calls = 0;
  bool calls_are_known = true;
  /// Whether its operators would have been told from those of other layers.
  bool costs_are_known = true;
  analyses::PlaceWork work;  ///< times
  std::uint64_t macs = 0;
  std::uint64_t flops = 0;
  std::uint64_t backward_macs = 0;
  std::uint64_t backward_flops = 0;
  std::uint64_t uncounted_calls = 0;  ///< operators that no rule counts
  std::vector<TensorShape> inputs;    ///< with what is inside
  std::vector<TensorShape> outputs;
  bool was_given_inputs = false;
  std::uint64_t activations = 0;
  std::uint64_t activation_bytes = 0;
};

struct LayerTree {
  std::vector<LayerNode> nodes;  ///< [0]: the model; by their first call, not parents first
  std::vector<UncountedOperator> uncounted;
  bool has_shapes = false;  ///< operators have inputs
  /// Nothing is counted, and most of the run is in no operator: compiled code, or the program's
  /// own.
  bool ran_outside_operators = false;
};

/// What people read then.
inline constexpr const char* kRanOutsideOperators =
    "MACs and FLOPs are not recorded: most of the run is in no operator (compiled code, as of "
    "AOTInductor, or the program's own).";

/// `parts`: of the model; nullptr: a callable.
LayerTree layer_tree_of(const RecordedRun& run, const ModelParts* parts);

/// Gives functions to the layers of the model that have no tensors: to one whose class is named as
/// the operator, and which is registered between the layers that were called before and after it in
/// a module that calls its layers in the order of their registration; or to the only one of its
/// class in the innermost module around the layer before it that has such. A function that may be
/// of several layers stays a function.
void recognise_layers(LayerTree& tree, const ModelParts& parts);

/// Whether a layer of this class calls the operator: `ReLU` and `aten::relu_`.
bool calls_operator(const std::string& type, const std::string& op);

}  // namespace tbtrace::libtorch
