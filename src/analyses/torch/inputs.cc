#include "analyses/torch/inputs.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analyses/torch/operator_flops.h"
#include "trace/input_lists.h"

namespace tbtrace::analyses {

void describe_inputs(TorchRows& list, const Trace& trace, TorchNames& names, bool shapes,
                     bool flops) {
  const std::size_t size = list.rows.size();
  if (shapes) list.shapes.resize(size, 0);
  if (flops) list.flops.resize(size, 0);
  if (trace.argument(Argument::input_dims).empty() &&
      trace.argument(Argument::input_types).empty()) {
    return;
  }
  std::map<std::pair<StringId, StringId>, NameId> texts;
  std::map<std::tuple<NameId, StringId, StringId, StringId>, std::uint64_t> counts;
  for (std::size_t number = 0; number < size; ++number) {
    const TorchRows::Row& row = list.rows[number];
    const EventId event = row.event();
    if (event == EventId::none) continue;
    const InputTexts input = inputs_of(trace, event);
    if (!input.is_given()) continue;
    if (shapes) {
      const auto [known, added] = texts.try_emplace({input.dims, input.types}, 0);
      if (added) known->second = names.intern(shapes_of(trace, input));
      list.shapes[number] = known->second;
    }
    if (!flops || !has_flops(names.text(row.name))) continue;
    const auto [known, added] =
        counts.try_emplace({row.name, input.dims, input.types, input.concrete}, 0);
    if (added) {
      known->second =
          operator_flops(names.text(row.name), {parse_dims(trace.string(input.dims)),
                                                parse_texts(trace.string(input.types)),
                                                parse_texts(trace.string(input.concrete))});
    }
    list.flops[number] = known->second;
  }
}

}  // namespace tbtrace::analyses
