// Sizes of the gradients of convolutions, which are those of the outputs. The forward operator and
// its autograd node have the same `Sequence number`.
// Owns its rows; immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/flops/operator_inputs.h"

namespace tbtrace::analyses {

class ConvolutionGradients {
 public:
  explicit ConvolutionGradients(const Trace& trace);

  /// All sizes that gradients with the operator's sequence number had; often none or one. Several
  /// threads may use the same number.
  std::span<const Sizes> of(const Trace& trace, EventId op) const;

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  ///< process and sequence number

  std::map<Key, std::vector<Sizes>> gradients_;
};

}  // namespace tbtrace::analyses
