#include "analyses/modules/parameters.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/forward_threads.h"
#include "analyses/flops/operator_inputs.h"
#include "analyses/modules/weight_rules.h"
#include "trace/call_tree.h"
#include "trace/input_lists.h"
#include "trace/links.h"
#include "trace/nearest_range.h"

namespace tbtrace::analyses {
namespace {

/// The sizes of a parameter in ascending order, because operators take weights transposed.
using Shape = std::vector<std::int64_t>;
/// How many parameters of each shape a place has.
using Shapes = std::map<std::pair<Place, Shape>, std::uint64_t>;

void keep_most(Shapes& most, const Shapes& more) {
  for (const auto& [key, count] : more) {
    std::uint64_t& kept = most[key];
    kept = std::max(kept, count);
  }
}

std::uint64_t elements_of(const Shape& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements)) {
      return 0;  // not the sizes of a tensor
    }
  }
  return elements;
}

/// The shape of an argument if it is a tensor.
std::optional<Shape> tensor_shape(const std::vector<InputDims>& dims,
                                  const std::vector<std::string>& types, std::size_t at) {
  if (at >= dims.size() || dims[at].is_list) return std::nullopt;
  const std::string_view type = at < types.size() ? std::string_view(types[at]) : "";
  const bool is_tensor = !type.empty() && type != "Scalar" && !type.ends_with("List");
  if (!is_tensor) return std::nullopt;
  Shape shape = dims[at].sizes;
  std::sort(shape.begin(), shape.end());
  return shape;
}

class Parameters {
 public:
  Parameters(const Trace& trace, const WorkPlaces& where, const ModulePlaces& modules,
             const CountsRange& counts)
      : trace_(trace),
        tree_(call_tree_of(trace)),
        where_(where),
        modules_(modules),
        counts_(counts) {}

  PlaceParameters find() {
    const bool has_shapes = !trace_.argument(Argument::input_dims).empty();
    if (take_recorded()) {
      PlaceParameters found = take(ParameterSource::recorded);
      if (has_shapes && take_gradients()) {
        found.trainable = sum_of(by_place_);
        // Only these have types in the trace.
        if (found.trainable == sum_of(found.by_place)) found.bytes = bytes_;
      }
      return found;
    }
    if (has_shapes && take_gradients()) {
      PlaceParameters found = take(ParameterSource::gradients);
      found.trainable = sum_of(found.by_place);
      return found;
    }
    if (has_shapes && take_weights()) return take(ParameterSource::weights);
    return {std::vector<std::optional<std::uint64_t>>(modules_.size())};
  }

 private:
  bool counts(EventId range) const { return !counts_ || counts_(range); }

  PlaceParameters take(ParameterSource source) {
    return {std::move(by_place_), source, bytes_, std::nullopt};
  }

  static std::uint64_t sum_of(const std::vector<std::optional<std::uint64_t>>& by_place) {
    std::uint64_t sum = 0;
    for (const auto& elements : by_place) sum = saturating_sum(sum, elements.value_or(0));
    return sum;
  }

  /// Shapes and types of an operator's inputs.
  std::pair<std::vector<InputDims>, std::vector<std::string>> inputs(EventId op) const {
    const InputTexts texts = inputs_of(trace_, op);
    return {parse_dims(trace_.string(texts.dims)), parse_texts(trace_.string(texts.types))};
  }

  bool take_recorded() {
    const ArgumentColumn& recorded = trace_.argument(Argument::module_parameters);
    if (recorded.empty()) return false;
    by_place_.assign(modules_.size(), std::nullopt);
    std::map<std::string, Place> counted;  // by path: a module may be called in several
    for (const EventId range : tree_.ranges()) {
      const std::optional<std::int64_t> count = recorded.integer(range);
      if (!count || *count < 0 || !modules_.is_call(range)) continue;
      const Place place = where_.place[index(range)];
      if (by_place_[place]) continue;
      const bool is_first = counted.try_emplace(modules_.path(place), place).second;
      by_place_[place] = is_first ? static_cast<std::uint64_t>(*count) : 0;
    }
    return true;
  }

  void add_bytes(std::uint64_t elements, std::uint64_t element_bytes) {
    std::uint64_t bytes = 0;
    const bool is_known = bytes_ && element_bytes > 0 &&
                          !__builtin_mul_overflow(elements, element_bytes, &bytes) &&
                          !__builtin_add_overflow(*bytes_, bytes, &bytes);
    bytes_ = is_known ? std::optional(bytes) : std::nullopt;
  }

  void add_shapes(const Shapes& shapes) {
    by_place_.assign(modules_.size(), std::uint64_t{0});
    bytes_ = 0;
    for (const auto& [key, count] : shapes) {
      const auto& [place, shape] = key;
      std::uint64_t& sum = *by_place_[place];
      std::uint64_t elements = elements_of(shape);
      if (__builtin_mul_overflow(elements, count, &elements)) continue;
      add_bytes(elements, element_bytes_.at(key));
      if (__builtin_add_overflow(sum, elements, &elements)) continue;
      sum = elements;
    }
  }

  /// A node of autograd's graph, or a gradient that is added to a parameter.
  struct BackwardRange {
    EventId range;
    std::int64_t sequence;  ///< of a node; -1 for a gradient
    Shape shape;            ///< of a gradient
  };

  bool take_gradients() {
    std::map<std::uint32_t, std::vector<BackwardRange>> by_process;
    const Links& links = links_of(trace_);
    bool any = false;
    std::optional<Shapes> weights;  // only needed with checkpoints
    Column<std::uint8_t> in_node;   // by event: a node of the pass, or inside one
    in_node.resize(trace_.events().size(), 0);
    for (const EventId range : tree_.ranges()) {
      const EventId above = tree_.parent(range);
      if (above != EventId::none) in_node[index(range)] = in_node[index(above)];
      if (trace_.kind(range) != EventKind::cpu_op || !counts(range)) continue;
      std::vector<BackwardRange>& ranges = by_process[links.scope(trace_.events().track(range))];
      const bool is_inside = in_node[index(range)] != 0;
      if (accumulates_gradient(trace_, range)) {
        const auto [dims, types] = inputs(range);
        auto shape = tensor_shape(dims, types, 0);
        if (!shape) continue;  // autograd's range around it
        // A checkpoint computes with inputs that are leaves of their own graph, and get gradients.
        const Place place = where_.place[index(range)];
        if (is_inside) {
          if (!weights) weights = taken_weights(false);
          if (!weights->contains({place, *shape})) continue;
        }
        element_bytes_.insert_or_assign({place, *shape}, bytes_of_type(types[0]));
        ranges.push_back({range, -1, *std::move(shape)});
        any = true;
      } else if (const std::int64_t sequence = sequence_number(trace_, range);
                 sequence >= 0 && is_backward(trace_, range) && !is_inside) {
        // A pass inside a node, as of a checkpoint, is a part of the pass around it.
        in_node[index(range)] = 1;
        ranges.push_back({range, sequence, {}});
      }
    }
    if (!any) return false;
    Shapes most;
    for (auto& [process, ranges] : by_process) keep_most(most, most_of_passes(std::move(ranges)));
    add_shapes(most);
    return true;
  }

  /// Of each shape the most gradients that a pass of a process added. Autograd takes the node with
  /// the highest number of those that are ready, and what becomes ready has lower ones. So on one
  /// thread numbers go down within a pass. With several threads (one per device) a node may become
  /// ready late, but none has a higher number than the first.
  Shapes most_of_passes(std::vector<BackwardRange> ranges) const {
    const auto track_of = [&](const BackwardRange& range) {
      return trace_.events().track(range.range);
    };
    const bool several = std::ranges::any_of(ranges, [&](const BackwardRange& range) {
      return track_of(range) != track_of(ranges.front());
    });
    if (several) {
      std::ranges::stable_sort(ranges, {}, [&](const BackwardRange& range) {
        return trace_.events().start_ns(range.range);
      });
    }
    Shapes most;
    Shapes of_pass;
    std::int64_t last = -1;
    std::int64_t highest = -1;
    for (const BackwardRange& range : ranges) {
      if (range.sequence < 0) {
        ++of_pass[{where_.place[index(range.range)], range.shape}];
        continue;
      }
      const bool is_new = several ? range.sequence >= highest : range.sequence >= last;
      if (is_new) {
        keep_most(most, of_pass);
        of_pass.clear();
        highest = range.sequence;
      }
      last = range.sequence;
    }
    keep_most(most, of_pass);
    return most;
  }

  bool take_weights() {
    const Shapes weights = taken_weights(true);
    if (weights.empty()) return false;
    add_shapes(weights);
    return true;
  }

  /// The weights that operators took in forward passes: of each shape the most that any call of a
  /// module took. `in_modules`: only those of modules.
  Shapes taken_weights(bool in_modules) {
    const Column<EventId> calls =
        nearest_ranges(trace_, [&](EventId range) { return modules_.is_call(range); });
    Column<std::uint8_t> is_inside;  // of an operator whose weights count
    is_inside.resize(trace_.events().size(), 0);
    std::map<EventId, Shapes> by_call;
    for (const EventId range : tree_.ranges()) {
      const EventId parent = tree_.parent(range);
      if (parent != EventId::none && is_inside[index(parent)] != 0) {
        is_inside[index(range)] = 1;
        continue;
      }
      const EventId call = entry_of(calls, range);
      if (trace_.kind(range) != EventKind::cpu_op || !counts(range)) continue;
      if (in_modules && (call == EventId::none || where_.is_backward[index(range)] != 0)) continue;
      const WeightRule* const rule = weight_rule(trace_.name(range));
      if (rule == nullptr) continue;
      is_inside[index(range)] = 1;
      const auto [dims, types] = inputs(range);
      for (const std::int8_t argument : rule->arguments) {
        if (argument < 0) continue;
        const std::size_t at = static_cast<unsigned char>(argument);
        const std::optional<Shape> shape = tensor_shape(dims, types, at);
        if (!shape) continue;
        ++by_call[call][{where_.place[index(range)], *shape}];
        element_bytes_.try_emplace({where_.place[index(range)], *shape}, bytes_of_type(types[at]));
      }
    }
    Shapes most;
    for (const auto& [call, shapes] : by_call) keep_most(most, shapes);
    return most;
  }

  const Trace& trace_;
  const CallTree& tree_;
  const WorkPlaces& where_;
  const ModulePlaces& modules_;
  const CountsRange& counts_;
  std::vector<std::optional<std::uint64_t>> by_place_;
  std::map<std::pair<Place, Shape>, std::uint64_t> element_bytes_;  ///< 0: of an unknown type
  std::optional<std::uint64_t> bytes_;
};

}  // namespace

PlaceParameters parameters_by_place(const Trace& trace, const WorkPlaces& where,
                                    const ModulePlaces& modules, const CountsRange& counts) {
  return Parameters(trace, where, modules, counts).find();
}

}  // namespace tbtrace::analyses
