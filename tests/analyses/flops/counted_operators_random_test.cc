// Which operators of random trees count, against the definition written as a recursion.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>

#include "analyses/flops/counted_operators.h"
#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

/// What the test knows about its operators; written down by hand.
struct Kind {
  std::string_view name;
  std::string_view dims;
  enum { none, product, fallback, elements, moves, open } rule = none;
  bool is_known = true;
  std::uint64_t macs = 0;
  std::uint64_t flops = 0;
};

constexpr std::array kKinds = std::to_array<Kind>({
    {"aten::mm", "[[2, 3], [3, 5]]", Kind::product, true, 30, 60},
    {"aten::mm", "[[2, 3], [4, 5]]", Kind::product, false},
    {"aten::mm", "[[0, 3], [3, 5]]", Kind::product, true, 0, 0},
    {"aten::bmm", "[[4, 2, 3], [4, 3, 5]]", Kind::product, true, 120, 240},
    {"aten::linear", "[[2, 3], [7, 3]]", Kind::fallback, true, 42, 84},
    {"aten::matmul", "[[9], [9]]", Kind::fallback, true, 9, 18},
    {"aten::matmul", "", Kind::fallback, false},
    {"aten::relu", "[[4]]", Kind::elements, true, 0, 4},
    {"aten::relu", "[[6]]", Kind::elements, true, 0, 6},
    {"aten::relu", "", Kind::elements, false},
    {"aten::view", "[[4]]", Kind::open, true, 0, 0},
    {"aten::fill_", "[[4]]", Kind::moves, true, 0, 0},
    {"other::op", "[[4]]", Kind::none},
});

class Definition {
 public:
  Definition(const Trace& trace, std::vector<std::optional<std::size_t>> kinds)
      : kinds_(std::move(kinds)), children_(trace.events().size()), context_(trace) {
    for (const EventId event : context_.host_ranges()) {
      const EventId parent = context_.parent(event);
      if (parent != EventId::none) children_[index(parent)].push_back(event);
    }
  }

  OperatorCounts counts() {
    OperatorCounts result;
    for (const EventId event : context_.host_ranges()) {
      if (counts(event)) {
        const Kind& known = *kind(event);
        result.counted.push_back({event, known.macs, known.flops, 0, known.rule == Kind::open,
                                  known.rule == Kind::moves});
      } else if (is_unknown(event) && !is_inside_unknown(event)) {
        result.unknown.push_back(event);
      }
    }
    return result;
  }

 private:
  const Kind* kind(EventId event) const {
    const auto& number = kinds_[index(event)];
    return number ? &kKinds[*number] : nullptr;
  }
  static bool is_sure(const Kind* known) {
    return known != nullptr && (known->rule == Kind::product || known->rule == Kind::elements ||
                                known->rule == Kind::moves);
  }
  bool always_counts(EventId event) {
    const Kind* known = kind(event);
    return is_sure(known) && known->is_known && !is_wrapper(event);
  }

  /// What the same operators inside a range compute; nullopt if there are none or one is unknown.
  std::optional<std::uint64_t> flops_inside(EventId event) {
    std::uint64_t flops = 0;
    bool is_known = true;
    const std::size_t count = add_same(event, event, flops, is_known);
    return count > 0 && is_known ? std::optional(flops) : std::nullopt;
  }
  std::size_t add_same(EventId outer, EventId event, std::uint64_t& flops, bool& is_known) {
    const Kind& wanted = *kind(outer);
    std::size_t count = 0;
    for (const EventId child : children_[index(event)]) {
      const Kind* known = kind(child);
      if (!is_sure(known)) {
        count += add_same(outer, child, flops, is_known);
        continue;
      }
      const bool is_same =
          known->rule == Kind::product ? wanted.rule == Kind::product : known->name == wanted.name;
      if (!is_same) continue;
      ++count;
      is_known = is_known && known->is_known;
      flops += is_wrapper(child) ? *flops_inside(child) : known->flops;
    }
    return count;
  }
  /// Contains the same operator with other sizes.
  bool is_wrapper(EventId event) {
    const Kind* known = kind(event);
    if (!is_sure(known) || !known->is_known) return false;
    const std::optional<std::uint64_t> flops = flops_inside(event);
    return flops && *flops != known->flops;
  }

  /// Whether a range is inside one that covers it.
  bool is_covered(EventId event) {
    const EventId parent = context_.parent(event);
    return parent != EventId::none && (covers(parent) || is_covered(parent));
  }
  bool covers(EventId event) {
    const Kind* known = kind(event);
    return known != nullptr && known->rule != Kind::open && counts(event);
  }
  bool counts(EventId event) {
    const Kind* known = kind(event);
    if (known == nullptr || !known->is_known || known->rule == Kind::none) return false;
    if (is_covered(event) || is_wrapper(event)) return false;
    return known->rule != Kind::fallback || !has_product(event);
  }

  /// Whether a product counts that is inside, apart from callers around.
  bool has_product(EventId event) {
    for (const EventId child : children_[index(event)]) {
      const Kind* known = kind(child);
      if (always_counts(child)) {
        if (known->rule == Kind::product) return true;
        continue;  // covers what is inside
      }
      if (has_product(child)) return true;
      if (known != nullptr && known->is_known && known->rule == Kind::fallback) return true;
    }
    return false;
  }
  bool has_anything(EventId event) {
    for (const EventId child : children_[index(event)]) {
      const Kind* known = kind(child);
      if (always_counts(child)) {
        if (known->rule != Kind::moves) return true;
        continue;
      }
      if (has_anything(child)) return true;
      if (known != nullptr && known->is_known && known->rule == Kind::fallback) return true;
    }
    return false;
  }
  bool is_unknown(EventId event) {
    const Kind* known = kind(event);
    if (known == nullptr || known->is_known || known->rule == Kind::none) return false;
    if (is_covered(event)) return false;
    return known->rule == Kind::elements ? !has_anything(event) : !has_product(event);
  }
  bool is_inside_unknown(EventId event) {
    const EventId parent = context_.parent(event);
    return parent != EventId::none && (is_unknown(parent) || is_inside_unknown(parent));
  }

  std::vector<std::optional<std::size_t>> kinds_;
  std::vector<std::vector<EventId>> children_;
  AnalysisContext context_;
};

class RandomTree : private fixtures::RandomChoices {
 public:
  explicit RandomTree(unsigned seed) : RandomChoices(seed) {}

  Trace make(std::vector<std::optional<std::size_t>>& kinds) {
    for (std::int64_t root = 1 + below(3); root > 0; --root) {
      const std::int64_t start = below(40);
      nest(start, start + 20 + below(80), 4, 1 + below(2), kinds);
    }
    return fixtures::finished(builder_);
  }

 private:
  void nest(std::int64_t start, std::int64_t end, int depth, std::int64_t thread,
            std::vector<std::optional<std::size_t>>& kinds) {
    if (kinds.size() > 30) return;
    const bool is_operator = below(6) > 0;
    const auto number = static_cast<std::size_t>(below(std::ssize(kKinds)));
    const Kind& known = kKinds[number];
    const EventId event =
        fixtures::add(builder_, {.category = is_operator ? "cpu_op" : "user_annotation",
                                 .name = known.name,
                                 .start = start,
                                 .duration = end - start,
                                 .thread = thread});
    kinds.push_back(is_operator ? std::optional(number) : std::nullopt);
    if (!known.dims.empty()) {
      builder_.add_argument(event, Argument::input_dims, builder_.intern(known.dims));
    }
    std::int64_t at = start;
    for (std::int64_t child = depth > 0 ? below(4) : 0; child > 0 && at < end; --child) {
      const std::int64_t from = at + below(end - at);
      const std::int64_t to = from + below(end - from + 1);
      nest(from, to, depth - 1, thread, kinds);
      at = to;
    }
  }

  TraceBuilder builder_;
};

TEST(CountedOperators, OfRandomTreesAreThoseOfTheDefinition) {
  const unsigned traces = fixtures::random_rounds(3000u);
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::optional<std::size_t>> kinds;
    const Trace trace = RandomTree(seed).make(kinds);
    const OperatorCounts expected = Definition(trace, kinds).counts();
    const OperatorCounts found = operator_counts(trace);
    ASSERT_EQ(found.counted, expected.counted);
    ASSERT_EQ(found.unknown, expected.unknown);
  }
}

}  // namespace
}  // namespace tbtrace::analyses
