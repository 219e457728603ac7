#include "libtorch/toolbox/layers/layer_places.h"

#include <algorithm>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/owners.h"
#include "trace/call_tree.h"

namespace tbtrace::libtorch {

LayerPlaces::LayerPlaces(const RecordedRun& run, const ModelParts* parts)
    : run_(run), trace_(*run.trace), parts_(parts), modules_(trace_) {
  std::optional<std::int64_t> end_ns;
  for (const EventId range : call_tree_of(trace_).ranges()) {
    if (!analyses::is_backward(trace_, range)) continue;
    end_ns = std::max(end_ns, std::optional(trace_.events().end_ns(range)));
  }
  if (end_ns) backward_end_ns_ = *end_ns;
  if (parts == nullptr) return;
  layers_.front().part = 0;
  for (std::size_t part = 0; part < parts->parts.size(); ++part) {
    part_of_path_.try_emplace(parts->parts[part].path, part);
  }
}

/// Of a model, what is outermost is the model itself.
LayerPlaces::Place LayerPlaces::place_of_module(analyses::Place module) {
  if (module == StackTree::kRoot) return StackTree::kRoot;
  const auto known = place_of_.find(module);
  if (known != place_of_.end()) return known->second;
  const analyses::Place around = modules_.parent(module);
  Layer layer;
  layer.module = module;
  if (parts_ != nullptr && around == StackTree::kRoot) {
    layer.is_model = true;
    layer.part = 0;
  } else {
    layer.parent = layer_of(place_of_module(around));
    if (parts_ != nullptr) layer.part = part_of(module);
  }
  const auto place = static_cast<Place>(layers_.size());
  layers_.push_back(layer);
  called_.emplace_back();
  place_of_.emplace(module, place);
  return place;
}

std::optional<std::size_t> LayerPlaces::part_of(analyses::Place module) const {
  analyses::Place model = module;
  while (modules_.parent(model) != StackTree::kRoot) model = modules_.parent(model);
  const std::string whole = modules_.path(module);
  const std::string around = modules_.path(model) + '.';
  if (!whole.starts_with(around)) return std::nullopt;
  const auto part = part_of_path_.find(std::string_view(whole).substr(around.size()));
  return part == part_of_path_.end() ? std::nullopt : std::optional(part->second);
}

std::string LayerPlaces::name(Place place) const {
  const std::string path = modules_.path(layers_[place].module);
  return path.substr(path.rfind('.') + 1);
}

/// A module of the model without modules inside is a layer as a whole.
bool LayerPlaces::has_functions(Place place) const {
  const Layer& layer = layers_[place];
  if (!layer.function.empty()) return false;
  return !layer.part || !parts_->parts[*layer.part].children.empty() || *layer.part == 0;
}

bool LayerPlaces::has_tensors_of_the_model_only(EventId range) const {
  if (run_.observed.empty()) return false;
  const std::uint32_t observed = run_.observed[index(range)];
  if (observed == RecordedRun::kNone) return false;
  const ObservedOperator& op = run_.operators[observed];
  return op.inputs.empty() && op.outputs.empty();
}

LayerPlaces::Place LayerPlaces::place_of_function(Place inside, EventId range) {
  const std::string_view name = trace_.name(range);
  const Place around = layer_of(inside);
  Called& called = called_[around];
  FunctionKey key{around, called.module, std::min(called.functions, kMostFunctions), name};
  if (has_tensors_of_the_model_only(range) ||
      (around == StackTree::kRoot && is_after_backward(range))) {
    key = {around, kNoModule, 0, name};
  } else {
    ++called.functions;
  }
  const auto [entry, is_new] = functions_.try_emplace(key, static_cast<Place>(layers_.size()));
  if (is_new) {
    layers_.push_back({.parent = around,
                       .is_model = false,
                       .module = layers_[inside].module,
                       .part = std::nullopt,
                       .function = name});
    called_.emplace_back();
  }
  return entry->second;
}

LayerPlaces::Place LayerPlaces::place_in(Place around, EventId range, bool is_backward) {
  const analyses::Place module_around = layers_[around].module;
  const analyses::Place module = modules_.place_in(module_around, range, is_backward);
  Place place = around;
  if (module != module_around) {
    place = place_of_module(module);
    if (layer_of(place) != StackTree::kRoot && !is_backward) {
      if (is_call(range)) called_[place] = {};
      called_[layers_[place].parent] = {place, 0};
    }
  }
  // An operator of TorchScript names its module itself, and has no frame around it.
  const bool is_function = !is_backward && trace_.kind(range) == EventKind::cpu_op &&
                           analyses::is_operator_name(trace_.name(range)) && has_functions(place);
  return is_function ? place_of_function(place, range) : place;
}

}  // namespace tbtrace::libtorch
