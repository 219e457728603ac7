#include "analyses/flops/cast_operators.h"

#include "trace/call_tree.h"

namespace tbtrace::analyses {

CastOperators::CastOperators(const Trace& trace) : trace_(trace) {
  const CallTree& tree = call_tree_of(trace);
  for (const EventId op : tree.ranges()) {
    const EventId parent = tree.parent(op);
    if (parent == EventId::none || trace.kind(op) != EventKind::cpu_op) continue;
    if (trace.events().name(op) != trace.events().name(parent)) continue;
    if (trace.kind(parent) == EventKind::cpu_op) inner_.try_emplace(parent, op);
  }
}

InputTexts CastOperators::inputs_of(EventId op) const {
  InputTexts inputs = tbtrace::inputs_of(trace_, op);
  EventId innermost = op;
  for (auto found = inner_.find(op); found != inner_.end(); found = inner_.find(innermost)) {
    innermost = found->second;
  }
  if (innermost == op) return inputs;
  const InputTexts ran = tbtrace::inputs_of(trace_, innermost);
  if (ran.types != StringId::empty && ran.dims == inputs.dims) inputs.types = ran.types;
  return inputs;
}

}  // namespace tbtrace::analyses
