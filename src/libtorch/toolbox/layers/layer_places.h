// The layers of a recorded run as a tree of places: its modules, and the functions that are called
// between modules.
// Refers to its run and parts, which must outlive it. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/modules/places.h"
#include "analyses/modules/work_places.h"
#include "libtorch/toolbox/layers/model_parts.h"
#include "libtorch/toolbox/layers/recorded_run.h"

namespace tbtrace::libtorch {

/// A function is known by its operator, the module around it, the module that this called before,
/// and how many functions were called since then. So layers that are called again have the same
/// functions again, and in a loop each module is followed by the same ones. Operators that take and
/// give tensors of the model only, such as a `detach` of each gradient, are one function for each
/// operator: what flows through the model does not pass them. So are operators after the last
/// backward pass that are in no module: those of an optimizer.
class LayerPlaces {
 public:
  using Place = analyses::Place;

  struct Layer {
    Place parent = 0;
    /// The frame of the model itself, which is the same layer as the root.
    bool is_model = false;
    analyses::Place module = 0;       ///< of ModulePlaces: the module that it is or is in
    std::optional<std::size_t> part;  ///< of the model; nullopt: a function, or not of the model
    std::string_view function = {};   ///< its operator, in the trace; empty: a module
  };

  /// The calls of a module after which its functions are told apart by their operators only.
  static constexpr std::uint32_t kMostFunctions = 64;

  LayerPlaces(const RecordedRun& run, const ModelParts* parts);

  /// For analyses::find_places(). The root, 0, is the model or the callable.
  Place place_in(Place around, EventId range, bool is_backward);

  const std::vector<Layer>& layers() const { return layers_; }
  /// The layer of a place: the root for the frame of the model.
  Place layer_of(Place place) const { return layers_[place].is_model ? 0 : place; }
  /// Of a module that is not of the model.
  std::string name(Place place) const;
  std::string_view type(Place place) const { return modules_.type(layers_[place].module); }
  bool is_call(EventId range) const { return modules_.is_call(range); }
  /// After the last one, if there is one.
  bool is_after_backward(EventId range) const {
    return trace_.events().start_ns(range) >= backward_end_ns_;
  }

 private:
  Place place_of_module(analyses::Place module);
  std::optional<std::size_t> part_of(analyses::Place module) const;
  Place place_of_function(Place inside, EventId range);
  bool has_functions(Place place) const;
  bool has_tensors_of_the_model_only(EventId range) const;

  /// What a module called last.
  struct Called {
    Place module = 0;
    std::uint32_t functions = 0;
  };
  static constexpr Place kNoModule = UINT32_MAX;
  using FunctionKey = std::tuple<Place, Place, std::uint32_t, std::string_view>;

  const RecordedRun& run_;
  const Trace& trace_;
  const ModelParts* parts_;
  analyses::ModulePlaces modules_;
  std::int64_t backward_end_ns_ = INT64_MAX;
  std::unordered_map<std::string_view, std::size_t> part_of_path_;
  std::vector<Layer> layers_ = {{}};
  std::vector<Called> called_ = {{}};                    // by place
  std::unordered_map<analyses::Place, Place> place_of_;  // by module
  std::map<FunctionKey, Place> functions_;
};

}  // namespace tbtrace::libtorch
