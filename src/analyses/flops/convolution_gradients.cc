#include "analyses/flops/convolution_gradients.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyses/flops/rules.h"
#include "trace/call_tree.h"
#include "trace/input_lists.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

/// `CudnnConvolutionBackward`, `ConvolutionBackward0`, `SlowConv2DBackward0`.
bool is_node_of_convolution(std::string_view name) {
  return name.find("Conv") != std::string_view::npos &&
         name.find("Backward") != std::string_view::npos;
}

std::optional<Sizes> sizes_of_input(const Trace& trace, EventId op, int position) {
  const InputTexts texts = inputs_of(trace, op);
  const OperatorInputs inputs(trace.string(texts.dims), trace.string(texts.types), {});
  const Sizes* sizes = inputs.tensor(position);
  return sizes != nullptr && sizes->size() >= 3 ? std::optional(*sizes) : std::nullopt;
}

/// The range with a sequence number that an operator is or is directly inside of.
EventId node_of(const Trace& trace, EventId op) {
  constexpr int kNesting = 3;  // the engine's own range, the node, the operator
  const ArgumentColumn& numbers = trace.argument(Argument::sequence_number);
  const CallTree& tree = call_tree_of(trace);
  for (int level = 0; level <= kNesting && op != EventId::none; ++level) {
    if (numbers.has(op)) return op;
    op = tree.parent(op);
  }
  return EventId::none;
}

}  // namespace

ConvolutionGradients::ConvolutionGradients(const Trace& trace) {
  const ArgumentColumn& numbers = trace.argument(Argument::sequence_number);
  const Links& links = links_of(trace);
  trace.argument(Argument::input_dims).for_each([&](EventId event) {
    const std::string_view name = trace.name(event);
    int position = 0;
    if (!is_node_of_convolution(name)) {
      const FlopRule* rule = flop_rule(name);
      const bool has_gradient =
          rule != nullptr && (rule->formula == FlopFormula::gradients ||
                              rule->formula == FlopFormula::transposed_gradients);
      if (!has_gradient) return;
      position = rule->at[0];
    }
    const EventId node = node_of(trace, event);
    if (node == EventId::none) return;
    std::optional<Sizes> sizes = sizes_of_input(trace, event, position);
    if (!sizes) return;
    const Key key = {links.scope(trace.events().track(event)), *numbers.integer(node)};
    std::vector<Sizes>& known = gradients_[key];
    if (std::find(known.begin(), known.end(), *sizes) == known.end()) {
      known.push_back(*std::move(sizes));
    }
  });
}

std::span<const Sizes> ConvolutionGradients::of(const Trace& trace, EventId op) const {
  const auto number = trace.argument(Argument::sequence_number).integer(op);
  if (!number) return {};
  const auto found = gradients_.find({links_of(trace).scope(trace.events().track(op)), *number});
  return found == gradients_.end() ? std::span<const Sizes>() : std::span(found->second);
}

}  // namespace tbtrace::analyses
