// What each operator of a trace computed, so that nested operators never count twice.
// Pure functions of a Trace. The rules are the tables in rules.cc and element_rules.cc;
// docs/formats/flops.md explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// What an operator computed; each piece of work of a trace is in one operator only.
struct CountedOperator {
  EventId op = EventId::none;
  std::uint64_t macs = 0;   ///< multiply-adds of products, convolutions, attention
  std::uint64_t flops = 0;  ///< 2 * macs, and one or a few per element of others
  std::uint64_t bytes = 0;  ///< least traffic: inputs and outputs once; 0: unknown
  /// A view or a caller of others: has no work itself, and what is inside it counts too.
  bool is_open = false;
  /// By its rule it copies or sets memory, and no more. Random numbers and gathers are not such.
  bool only_moves = false;

  bool operator==(const CountedOperator&) const = default;
};

/// In the order of the call tree's ranges. Takes O(n log n) time. Needs ArgumentGroup::inputs and
/// ArgumentGroup::autograd. Counts saturate at 64 bits.
std::vector<CountedOperator> counted_operators(const Trace& trace);

struct OperatorCounts {
  std::vector<CountedOperator> counted;  ///< those of counted_operators()
  /// Operators with a rule whose sizes are unknown, unless they are inside another such operator
  /// or contain what they compute. In the same order.
  std::vector<EventId> unknown;
};

OperatorCounts operator_counts(const Trace& trace);

/// What a model's first layer takes at once: the first dimension of the input of a convolution or
/// linear layer, or of the indices of an embedding.
struct FirstDimension {
  std::uint64_t size = 0;
  /// The input may have two dimensions in this one, such as batch times sequence: it is a matrix,
  /// or a list of indices.
  bool may_be_flattened = false;
};

/// nullopt for what cannot be a first layer. A matrix that `addmm` takes outside of a linear layer
/// is one, too: compiled code flattens what layers take.
std::optional<FirstDimension> first_dimension(const Trace& trace, EventId op);

/// Whether `size` is the product of two dimensions of one of an operator's inputs with three or
/// more, the first and another one, so that it is not the size of a batch.
bool has_factors(const Trace& trace, EventId op, std::uint64_t size);

}  // namespace tbtrace::analyses
