#include "analyses/memory/sources.h"

#include <algorithm>
#include <string>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/owners.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {

MemorySources::MemorySources(const Trace& trace)
    : trace_(trace), context_(trace), lines_(trace, ForwardOperators(trace)) {
  owners_.reserve(trace.memory().size());
  for_each_memory_owner(trace, call_tree_of(trace),
                        [&](const MemoryRecord&, EventId owner) { owners_.push_back(owner); });
  find_phases();
  find_first_steps();
}

MemorySources::Process MemorySources::process_of(TrackId track) const {
  const TrackKey& process = trace_.track(track).process;
  return {process.number, process.text};
}

MemorySources::Phase MemorySources::phase_named(EventId event) const {
  const std::string_view name = trace_.name(event);
  const EventKind kind = trace_.kind(event);
  if (name.starts_with("enumerate(Data")) return Phase::loading;
  if (kind == EventKind::python_function) return Phase::other;
  if (name.starts_with("Optimizer.step")) return Phase::optimizer;
  if (kind != EventKind::cpu_op) return Phase::other;
  if (accumulates_gradient(trace_, event)) return Phase::accumulate;
  return is_backward(trace_, event) ? Phase::backward : Phase::other;
}

void MemorySources::find_phases() {
  const Events& events = trace_.events();
  phases_.resize(events.size(), Phase::other);
  for (const EventId event : context_.host_ranges()) {
    const EventId parent = context_.parent(event);
    const Phase around = parent == EventId::none ? Phase::other : phases_[index(parent)];
    const Phase own = phase_named(event);
    phases_[index(event)] = own == Phase::other ? around : own;
    if (own == Phase::backward || own == Phase::accumulate) {
      backward_starts_[process_of(events.track(event))].push_back(events.start_ns(event));
    }
  }
  for (auto& [process, starts] : backward_starts_) std::sort(starts.begin(), starts.end());
}

void MemorySources::find_first_steps() {
  const Events& events = trace_.events();
  for (const Step& step : trace_.steps()) {
    const std::int64_t start = events.start_ns(step.event);
    const auto [entry, added] = first_step_.emplace(process_of(events.track(step.event)), start);
    if (!added) entry->second = std::min(entry->second, start);
  }
}

MemorySources::Phase MemorySources::phase(std::size_t record) const {
  const EventId owner = owners_[record];
  return owner == EventId::none ? Phase::other : phases_[index(owner)];
}

/// Whether a backward began while the memory was allocated.
bool MemorySources::backward_began(std::size_t allocated, std::size_t freed) const {
  const std::span<const MemoryRecord> records = trace_.memory();
  const auto starts = backward_starts_.find(process_of(records[allocated].track));
  if (starts == backward_starts_.end()) return false;
  const auto first =
      std::lower_bound(starts->second.begin(), starts->second.end(), records[allocated].time_ns);
  return first != starts->second.end() && *first <= records[freed].time_ns;
}

MemoryCategory MemorySources::category(std::size_t allocated, std::optional<std::size_t> freed,
                                       AllocationEnd end) const {
  const Phase began = phase(allocated);
  if (began == Phase::loading) return MemoryCategory::input;
  if (began == Phase::accumulate) return MemoryCategory::gradient;
  if (end == AllocationEnd::unknown) return MemoryCategory::unknown;
  const Phase ended = freed ? phase(*freed) : Phase::other;
  if (began == Phase::backward) {
    const bool in_backward = ended == Phase::backward || ended == Phase::accumulate;
    return in_backward ? MemoryCategory::temporary : MemoryCategory::gradient;
  }
  if (began == Phase::optimizer) {
    if (!freed) return MemoryCategory::optimizer_state;
    return ended == Phase::optimizer ? MemoryCategory::temporary : MemoryCategory::unknown;
  }
  if (freed) {
    return backward_began(allocated, *freed) ? MemoryCategory::activation
                                             : MemoryCategory::temporary;
  }
  const MemoryRecord& record = trace_.memory()[allocated];
  const auto step = first_step_.find(process_of(record.track));
  const bool before_steps = step != first_step_.end() && record.time_ns < step->second;
  return before_steps ? MemoryCategory::parameter : MemoryCategory::unknown;
}

std::size_t MemorySources::number(std::size_t allocated, std::optional<std::size_t> freed,
                                  AllocationEnd end) {
  const EventId owner = owners_[allocated];
  const EventId op = context_.operator_of(owner);
  const EventId module = context_.module_of(owner);
  const auto name_of = [&](EventId event) {
    return event == EventId::none ? std::string_view() : trace_.name(event);
  };
  const std::string_view op_name = op == EventId::none ? "[unattributed]" : trace_.name(op);
  const auto [entry, added] = numbers_.emplace(
      std::tuple(op_name, name_of(module), lines_.of(owner), category(allocated, freed, end)),
      sources_.size());
  if (added) {
    const auto& [name, module_name, line, category] = entry->first;
    sources_.push_back({std::string(name), std::string(module_name), lines_.text(line), category});
  }
  return entry->second;
}

}  // namespace tbtrace::analyses
