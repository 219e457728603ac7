#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <tbtrace/modules.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/graph_labels.h"
#include "analyses/modules/parameters.h"
#include "analyses/modules/place_costs.h"
#include "analyses/modules/place_totals.h"
#include "analyses/modules/places.h"
#include "analyses/modules/work_places.h"
#include "trace/call_tree.h"

namespace tbtrace {
namespace {

using analyses::ModulePlaces;
using analyses::Place;
using analyses::PlaceParameters;
using analyses::PlaceWork;

/// The sum of what is known; unknown if nothing is.
void add_known(std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> more) {
  if (!more) return;
  std::uint64_t whole = 0;
  sum = __builtin_add_overflow(sum.value_or(0), *more, &whole) ? UINT64_MAX : whole;
}

class TreeOfModules {
 public:
  TreeOfModules(const Trace& trace, bool with_operations, analyses::CountsRange counts)
      : trace_(trace),
        with_operations_(with_operations),
        counts_(std::move(counts)),
        labels_(trace),
        places_(trace),
        where_(analyses::find_places(trace, analyses::ForwardOperators(trace),
                                     [this](Place around, EventId range, bool is_backward) {
                                       return places_.place_in(around, range, is_backward);
                                     })) {}

  ModuleTree build() {
    analyses::WorkByPlace done =
        analyses::work_by_place(trace_, where_, places_.size(), counts_,
                                [this](EventId activity) { return place_of_label(activity); });
    std::vector<PlaceWork>& work = done.work;
    add_calls(work);
    if (with_operations_) analyses::add_operations(work, trace_, where_, counts_);
    std::vector<Place> parents;
    for (Place place = 0; place < places_.size(); ++place) parents.push_back(places_.parent(place));
    const std::vector<PlaceWork> totals = analyses::totals_of(parents, work);
    const PlaceParameters parameters =
        with_operations_
            ? analyses::parameters_by_place(trace_, where_, places_, counts_)
            : PlaceParameters{std::vector<std::optional<std::uint64_t>>(places_.size())};

    ModuleTree tree;
    tree.has_shapes = with_operations_ && !trace_.argument(Argument::input_dims).empty();
    tree.parameter_source = parameters.source;
    tree.parameter_bytes = parameters.bytes;
    tree.trainable_parameters = parameters.trainable;
    tree.unattributed = analyses::cost_of(work.front(), work.front());
    tree.communication = analyses::cost_of(done.communication, done.communication);
    PlaceWork all = totals.front();
    all += done.communication;
    tree.total = analyses::cost_of(all, all);
    tree.waiting_ns = bounded(done.waiting_ns);
    tree.unattributed_parameters = parameters.by_place.front();
    tree.parameters = parameters.by_place.front();
    std::vector<std::size_t> row_of(places_.size());
    for (const Place place : analyses::tree_order(parents)) {
      if (place == StackTree::kRoot) continue;
      row_of[place] = tree.modules.size();
      ModuleRow& row = tree.modules.emplace_back();
      static_cast<ModuleCost&>(row) = analyses::cost_of(work[place], totals[place]);
      row.path = places_.path(place);
      row.type = places_.type(place);
      if (parents[place] != StackTree::kRoot) {
        row.parent = row_of[parents[place]];
        row.depth = tree.modules[*row.parent].depth + 1;
      }
      if (work[place].calls > 0) row.calls = work[place].calls;
      row.self_parameters = parameters.by_place[place];
      add_known(tree.parameters, row.self_parameters);
    }
    add_parameters_inside(tree.modules);
    return tree;
  }

 private:
  Place place_of_label(EventId activity) {
    const std::string_view label = labels_.of(activity);
    return label.empty() ? StackTree::kRoot : places_.of_label(label);
  }

  void add_calls(std::vector<PlaceWork>& work) const {
    for (const EventId range : call_tree_of(trace_).ranges()) {
      if (!places_.is_call(range) || (counts_ && !counts_(range))) continue;
      ++work[where_.place[index(range)]].calls;
    }
  }

  static void add_parameters_inside(std::vector<ModuleRow>& modules) {
    for (ModuleRow& row : modules) row.parameters = row.self_parameters;
    for (std::size_t row = modules.size(); row-- > 0;) {
      if (modules[row].parent) {
        add_known(modules[*modules[row].parent].parameters, modules[row].parameters);
      }
    }
  }

  const Trace& trace_;
  bool with_operations_;
  analyses::CountsRange counts_;
  analyses::GraphLabels labels_;
  ModulePlaces places_;
  analyses::WorkPlaces where_;
};

}  // namespace

const char* parameter_source_name(ParameterSource source) {
  constexpr std::array<const char*, 4> kNames = {"none", "recorded", "gradients", "weights"};
  return kNames[static_cast<std::size_t>(source)];
}

bool has_modules(const Trace& trace) {
  if (!trace.argument(Argument::module_hierarchy).empty()) return true;
  if (!analyses::GraphLabels(trace).empty()) return true;
  const ModulePlaces places(trace);
  return std::ranges::any_of(call_tree_of(trace).ranges(),
                             [&](EventId range) { return places.is_call(range); });
}

Result<ModuleTree> module_tree(const Trace& trace, const ModuleTreeOptions& options) {
  ModuleTree tree;
  const Status chosen =
      analyses::with_steps(trace, options.steps, [&](const analyses::CountsRange& counts) {
        tree = TreeOfModules(trace, options.with_operations, counts).build();
      });
  return chosen.ok() ? Result<ModuleTree>(std::move(tree)) : Result<ModuleTree>(chosen);
}

}  // namespace tbtrace
