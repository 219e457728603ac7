// torch's own estimates of the operations of operators, as in its tables.
// Made for one Trace; calls with the same inputs are computed once. Not synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include <tbtrace/trace.h>

#include "analyses/attribution/operator_names.h"
#include "analyses/torch/operator_flops.h"
#include "trace/input_lists.h"

namespace tbtrace::analyses {

class TorchFlops {
 public:
  explicit TorchFlops(const Trace& trace) : trace_(trace) {}

  /// 0 for events that torch does not count.
  std::uint64_t of(EventId event) {
    if (trace_.kind(event) != EventKind::cpu_op) return 0;
    const std::string_view name = without_overload(trace_.name(event));
    if (!has_flops(name)) return 0;
    const InputTexts inputs = inputs_of(trace_, event);
    const Key key = {trace_.events().name(event), inputs.dims, inputs.types, inputs.concrete};
    const auto [found, is_new] = known_.try_emplace(key, 0);
    if (is_new) {
      found->second = operator_flops(
          name, {parse_dims(trace_.string(inputs.dims)), parse_texts(trace_.string(inputs.types)),
                 parse_texts(trace_.string(inputs.concrete))});
    }
    return found->second;
  }

 private:
  using Key = std::tuple<StringId, StringId, StringId, StringId>;

  const Trace& trace_;
  std::map<Key, std::uint64_t> known_;
};

}  // namespace tbtrace::analyses
