#include "analyses/flops/counted_operators.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyses/flops/cast_operators.h"
#include "analyses/flops/convolution_gradients.h"
#include "analyses/flops/formulas.h"
#include "analyses/flops/wrapper_operators.h"
#include "base/hash.h"
#include "trace/call_tree.h"
#include "trace/input_lists.h"

namespace tbtrace::analyses {
namespace {

/// The rule of a name.
struct Rule {
  const FlopRule* product = nullptr;
  const ElementRule* elements = nullptr;

  bool is_given() const { return product != nullptr || elements != nullptr; }
  bool is_fallback() const { return product != nullptr && product->is_fallback; }
  /// Says nothing about what is inside.
  bool is_open() const { return elements != nullptr && elements->per == ElementCount::nothing; }
  bool only_moves() const { return elements != nullptr && elements->per == ElementCount::outputs; }
};

class Rules {
 public:
  Rule of(const Trace& trace, StringId name) {
    const auto [found, is_new] = rules_.try_emplace(name);
    if (is_new) {
      const std::string_view text = trace.string(name);
      found->second.product = flop_rule(text);
      if (found->second.product == nullptr) found->second.elements = element_rule(text);
    }
    return found->second;
  }

 private:
  std::unordered_map<StringId, Rule> rules_;
};

/// The work of operators. Equal operators with equal inputs are computed once.
class WorkOfOperators {
 public:
  explicit WorkOfOperators(const Trace& trace)
      : trace_(trace), tree_(call_tree_of(trace)), cast_(trace) {}

  std::optional<Work> of(EventId op, const Rule& rule) {
    if (rule.is_open()) return Work{};
    const InputTexts texts = cast_.inputs_of(op);
    const Key key = {trace_.events().name(op), texts.dims, texts.types, texts.concrete};
    const auto [found, is_new] = known_.try_emplace(key);
    if (is_new) {
      const OperatorInputs inputs = inputs_of_texts(texts);
      found->second = rule.product != nullptr ? product_work(*rule.product, inputs)
                                              : element_work(*rule.elements, inputs);
    }
    const std::optional<Work> own = found->second;
    if (rule.product == nullptr) return own;
    const bool lacks_output = own && own->bytes == 0 && is_gradient_of_convolution(*rule.product);
    if (own && !lacks_output) return own;
    const std::optional<Work> completed = of_outside(op, *rule.product, texts);
    return completed ? completed : own;
  }

 private:
  struct Key {
    StringId name;
    StringId dims;
    StringId types;
    StringId concrete;

    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = hash_integer(static_cast<std::uint64_t>(key.name), 0);
      for (const StringId part : {key.dims, key.types, key.concrete}) {
        hash = hash_integer(static_cast<std::uint64_t>(part), hash);
      }
      return static_cast<std::size_t>(hash);
    }
  };

  OperatorInputs inputs_of_texts(const InputTexts& texts) const {
    return {trace_.string(texts.dims), trace_.string(texts.types), trace_.string(texts.concrete)};
  }

  /// With what other operators know. Convolutions of files without values of inputs.
  std::optional<Work> of_outside(EventId op, const FlopRule& rule, const InputTexts& texts) {
    if (texts.dims == StringId::empty) return std::nullopt;
    if (is_convolution(rule)) {
      if (!gradients_) gradients_.emplace(trace_);
      const std::span<const Sizes> gradients = gradients_->of(trace_, op);
      if (gradients.empty()) return std::nullopt;
      return product_work(rule, inputs_of_texts(texts), {.gradients = gradients});
    }
    if (!is_gradient_of_convolution(rule)) return std::nullopt;
    const EventId around = tree_.parent(op);
    const FlopRule* rule_around =
        around == EventId::none ? nullptr : flop_rule(trace_.name(around));
    if (rule_around == nullptr || !is_gradient_of_convolution(*rule_around)) return std::nullopt;
    const OperatorInputs inputs_around = inputs_of_texts(inputs_of(trace_, around));
    return product_work(rule, inputs_of_texts(texts),
                        {.around = rule_around, .inputs_around = &inputs_around});
  }

  const Trace& trace_;
  const CallTree& tree_;
  CastOperators cast_;
  std::unordered_map<Key, std::optional<Work>, HashOfKey> known_;
  std::optional<ConvolutionGradients> gradients_;
};

/// Finds which operators count, in passes over the call tree from its roots and back.
class Counting {
 public:
  explicit Counting(const Trace& trace)
      : trace_(trace), tree_(call_tree_of(trace)), state_(trace.events().size(), 0) {}

  OperatorCounts run() {
    find_candidates();
    settle_fallbacks();
    return result();
  }

 private:
  // What is known about a range.
  static constexpr std::uint8_t kCovers = 1;          // counts, with all that is inside it
  static constexpr std::uint8_t kCovered = 2;         // is inside such a range
  static constexpr std::uint8_t kCounts = 4;          // counts
  static constexpr std::uint8_t kProduct = 8;         // is or contains a product that counts
  static constexpr std::uint8_t kAnything = 16;       // is or contains anything that computes
  static constexpr std::uint8_t kUnknown = 32;        // has a rule, but unknown sizes
  static constexpr std::uint8_t kInsideUnknown = 64;  // is inside such a range

  struct Candidate {
    EventId op;
    Rule rule;
    std::optional<Work> work;
    bool is_wrapper = false;  // what it computes is counted inside it
  };

  std::uint8_t& state(EventId event) { return state_[index(event)]; }
  std::uint8_t state_above(EventId event) {
    const EventId parent = tree_.parent(event);
    return parent == EventId::none ? std::uint8_t{0} : state(parent);
  }

  /// Operators with a rule that are not inside one that is sure to count.
  void find_candidates() {
    const std::vector<Candidate> all = operators_with_rules();
    std::size_t next = 0;
    for (const EventId event : tree_.ranges()) {
      const bool has_rule = next < all.size() && all[next].op == event;
      const std::size_t at = has_rule ? next++ : 0;
      if ((state_above(event) & (kCovers | kCovered)) != 0) {
        state(event) |= kCovered;
        continue;
      }
      if (!has_rule) continue;
      const Candidate& candidate = candidates_.emplace_back(all[at]);
      const bool covers = candidate.work && !candidate.is_wrapper &&
                          !candidate.rule.is_fallback() && !candidate.rule.is_open();
      if (covers) state(event) |= kCovers;
    }
  }

  std::vector<Candidate> operators_with_rules() {
    Rules rules;
    WorkOfOperators work(trace_);
    std::vector<Candidate> found;
    std::vector<NestedOperator> nested;
    std::vector<std::uint32_t> innermost(trace_.events().size(), NestedOperator::kNone);
    for (const EventId event : tree_.ranges()) {
      const EventId parent = tree_.parent(event);
      std::uint32_t& own = innermost[index(event)];
      if (parent != EventId::none) own = innermost[index(parent)];
      if (trace_.kind(event) != EventKind::cpu_op) continue;
      const Rule rule = rules.of(trace_, trace_.events().name(event));
      if (!rule.is_given()) continue;
      found.push_back({event, rule, work.of(event, rule)});
      nested.push_back({.around = own,
                        .name = trace_.name(event),
                        .product = rule.product,
                        .elements = rule.elements,
                        .work = found.back().work});
      own = static_cast<std::uint32_t>(found.size() - 1);
    }
    const std::vector<bool> wrappers = wrapper_operators(nested);
    for (std::size_t at = 0; at < found.size(); ++at) found[at].is_wrapper = wrappers[at];
    return found;
  }

  /// From the innermost ranges to the roots.
  void settle_fallbacks() {
    const std::span<const EventId> ranges = tree_.ranges();
    std::size_t next = candidates_.size();
    for (std::size_t at = ranges.size(); at-- > 0;) {
      const EventId event = ranges[at];
      if (next > 0 && candidates_[next - 1].op == event) settle(candidates_[--next]);
      const EventId parent = tree_.parent(event);
      if (parent != EventId::none) state(parent) |= state(event) & (kProduct | kAnything);
    }
  }

  void settle(const Candidate& candidate) {
    std::uint8_t& known = state(candidate.op);
    const bool is_product = candidate.rule.product != nullptr;
    const bool is_inside = (known & (is_product ? kProduct : kAnything)) != 0;
    if (!candidate.work) {
      if (!is_inside) known |= kUnknown;
      return;
    }
    if (candidate.rule.is_open()) {
      known |= kCounts;
      return;
    }
    if (candidate.is_wrapper || (candidate.rule.is_fallback() && is_inside)) return;
    known |= kCounts | kCovers;
    if (is_product) known |= kProduct;
    // What only moves data is not what an operator of unknown sizes around it computes.
    if (is_product || candidate.rule.elements->operations > 0) known |= kAnything;
  }

  /// From the roots: what is inside a range that counts, or inside an unknown one, is left out.
  OperatorCounts result() {
    OperatorCounts counts;
    std::size_t next = 0;
    for (const EventId event : tree_.ranges()) {
      std::uint8_t& known = state(event);
      const std::uint8_t above = state_above(event);
      if ((above & (kCovers | kCovered)) != 0) known |= kCovered;
      if ((above & (kUnknown | kInsideUnknown)) != 0) known |= kInsideUnknown;
      if (next == candidates_.size() || candidates_[next].op != event) continue;
      const Candidate& candidate = candidates_[next++];
      if ((known & kCovered) != 0) continue;
      if ((known & kCounts) != 0) {
        const Work& work = *candidate.work;
        counts.counted.push_back({event, work.macs, work.flops, work.bytes,
                                  candidate.rule.is_open(),
                                  work.flops == 0 && candidate.rule.only_moves()});
      } else if ((known & kUnknown) != 0 && (known & kInsideUnknown) == 0) {
        counts.unknown.push_back(event);
      }
    }
    return counts;
  }

  const Trace& trace_;
  const CallTree& tree_;
  std::vector<std::uint8_t> state_;  // by event
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<CountedOperator> counted_operators(const Trace& trace) {
  return Counting(trace).run().counted;
}

OperatorCounts operator_counts(const Trace& trace) { return Counting(trace).run(); }

std::optional<FirstDimension> first_dimension(const Trace& trace, EventId op) {
  if (trace.kind(op) != EventKind::cpu_op) return std::nullopt;
  const int position = position_of_samples(trace.name(op));
  if (position < 0) return std::nullopt;
  const InputTexts texts = inputs_of(trace, op);
  const OperatorInputs inputs(trace.string(texts.dims), trace.string(texts.types), {});
  const Sizes* input = inputs.tensor(position);
  if (input == nullptr || input->empty()) return std::nullopt;
  const FlopRule* rule = flop_rule(trace.name(op));
  const Sizes* weight = inputs.tensor(1);
  if (rule != nullptr && is_convolution(*rule)) {
    const bool is_unbatched = weight != nullptr && weight->size() == input->size() + 1;
    return FirstDimension{is_unbatched ? 1 : input->front(), false};
  }
  const bool is_embedding = trace.name(op).starts_with("aten::embedding");
  return FirstDimension{input->front(), input->size() < (is_embedding ? 2U : 3U)};
}

bool has_factors(const Trace& trace, EventId op, std::uint64_t size) {
  const InputTexts texts = inputs_of(trace, op);
  const OperatorInputs inputs(trace.string(texts.dims), {}, {});
  for (std::size_t position = 0; position < inputs.size(); ++position) {
    const Sizes* const sizes = inputs.tensor(static_cast<int>(position));
    if (sizes == nullptr || sizes->size() < 3) continue;
    const std::uint64_t first = sizes->front();
    if (first == 0 || first >= size || size % first != 0) continue;
    if (std::find(sizes->begin() + 1, sizes->end(), size / first) != sizes->end()) return true;
  }
  return false;
}

}  // namespace tbtrace::analyses
