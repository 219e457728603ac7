#include "analyses/operators/rows.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyses/attribution/operator_kind.h"
#include "base/bounded_sum.h"
#include "report/duration.h"

namespace tbtrace::analyses {

using report::duration_of_us;

void set_memory(OperatorRow& row, const TorchEvents::Memory& total,
                const TorchEvents::Memory& self) {
  row.cpu_memory_usage_bytes = bounded(total.cpu_bytes);
  row.device_memory_usage_bytes = bounded(total.device_bytes);
  row.self_cpu_memory_usage_bytes = bounded(self.cpu_bytes);
  row.self_device_memory_usage_bytes = bounded(self.device_bytes);
}

void set_numbers(const TorchEvents& events, std::size_t number, OperatorRow& row) {
  row.count = 1;
  row.is_user_annotation = events.is_user_annotation(number);
  row.is_async = events.is_async(number);
  row.has_cpu_parent = events.parent(number) != TorchEvents::kNoParent;
  row.device_type = events.device_type(number);
  row.kind = operator_kind(events.trace(), events.event(number));
  row.cpu_time_total = duration_of_us(events.cpu_time_us(number));
  row.self_cpu_time_total = duration_of_us(events.self_cpu_time_us(number));
  row.device_time_total = duration_of_us(events.device_time_us(number));
  row.self_device_time_total = duration_of_us(events.self_device_time_us(number));
  row.flops = events.flops(number).value_or(0);
}

void set_texts(const TorchEvents& events, std::size_t number, OperatorRow& row) {
  row.key = events.text(events.name(number));
  row.overload_name = events.text(events.overload(number));
  row.input_shapes = events.shapes(number);
  const std::vector<NameId> frames = events.frames(events.stack(number), SIZE_MAX);
  row.stack.resize(frames.size());
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    row.stack[frame] = events.text(frames[frame]);
  }
}

OperatorRows table_facts(std::span<const Trace* const> traces) {
  OperatorRows facts;
  for (const Trace* trace : traces) {
    if (!facts.use_device) facts.use_device = trace->device();
    // Files before 2022 lack this setting, but they have records only if memory was profiled.
    facts.profile_memory =
        facts.profile_memory || trace->is_set("profile_memory") || !trace->memory().empty();
    facts.with_flops = facts.with_flops || trace->is_set("with_flops");
  }
  return facts;
}

}  // namespace tbtrace::analyses
