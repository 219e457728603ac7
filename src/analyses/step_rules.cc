#include "analyses/step_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyses/plugin_rules.h"
#include "base/id_map.h"
#include "base/nearest_integer.h"
#include "trace/collective_names.h"
#include "trace/lightning.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

/// NCCL: `ncclKernel_...` until 2023, `ncclDevKernel_...` since.
bool is_collective_kernel(std::string_view name) {
  return name.starts_with("ncclKernel") || name.starts_with("ncclDevKernel") ||
         name.starts_with("rccl");
}

/// The nanosecond nearest to a double; long double holds it exactly.
std::int64_t as_ns(double us) {
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;  // differences do not overflow
  return std::clamp(nearest_integer(static_cast<long double>(us) * 1000.0L), -kFarthest, kFarthest);
}

}  // namespace

StepRules::StepRules(const Trace& trace, StepFigures figures, std::vector<Step> other_steps)
    : trace_(trace), plugin_(figures == StepFigures::plugin), other_steps_(std::move(other_steps)) {
  lightning_ = is_lightning(trace);
  std::size_t names = 0;
  bool any_work = false;
  for (const EventId event : trace.by_start()) {
    names = std::max(names, index(trace.events().name(event)) + 1);
    any_work = any_work || trace.kind(event) == EventKind::kernel;
  }
  names_.reserve(names);
  for (std::size_t name = 0; name < names; ++name) {
    names_.push_back(classified(trace.string(static_cast<StringId>(name))));
  }
  for (const Step& step : other_steps_) {
    names_[index(trace.events().name(step.event))] = Name::step;
  }
  if (!any_work) return;
  is_communication_.resize(trace.events().size(), false);
  if (plugin_) {
    find_communication_as_the_plugin();
  } else {
    find_communication_exactly();
  }
}

StepRules::Name StepRules::classified(std::string_view name) const {
  if (is_step_name(name)) return Name::step;
  if (is_data_loading(name)) return Name::data_loading;
  if (plugin_ ? is_plugin_collective(name) : is_collective_name(name)) return Name::collective;
  if (name == "record_param_comms") return Name::collective_operator;
  if (is_collective_kernel(name)) return Name::collective_kernel;
  return lightning_ && is_lightning_marker(name) ? Name::lightning : Name::plain;
}

/// Kernels with the id of a range that is named like a collective; a missing id matches a missing
/// id.
void StepRules::find_communication_as_the_plugin() {
  IdMap ids;
  bool without_id = false;
  const auto has_id = [&](EventId event) {
    return trace_.external_id(event) != 0 || trace_.events().has_zero_external_id(event);
  };
  for (const EventId event : trace_.by_start()) {
    if (name(event) != Name::collective || role(event) != StepRole::communication) continue;
    if (has_id(event)) {
      ids.insert(trace_.external_id(event), 0);
    } else {
      without_id = true;
    }
  }
  for (const EventId event : trace_.by_start()) {
    if (trace_.kind(event) != EventKind::kernel) continue;
    is_communication_[index(event)] =
        has_id(event) ? ids.find(trace_.external_id(event)) != IdMap::kNone : without_id;
  }
}

/// Kernels whose operator is a collective, or whose name is one of NCCL's; and those with the id of
/// a collective's annotation on the device, if ids are valid.
void StepRules::find_communication_exactly() {
  IdMap shadow_ids;
  if (trace_.links().external_ids_valid) {
    for (const EventId event : trace_.by_start()) {
      const bool shadow = trace_.kind(event) == EventKind::gpu_user_annotation;
      const std::int64_t id = trace_.external_id(event);
      if (shadow && id != 0 && name(event) == Name::collective) shadow_ids.insert(id, 0);
    }
  }
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    const Name op = link.op == EventId::none ? Name::plain : name(link.op);
    const std::int64_t id = trace_.external_id(link.activity);
    is_communication_[index(link.activity)] = op == Name::collective ||
                                              op == Name::collective_operator ||
                                              name(link.activity) == Name::collective_kernel ||
                                              (id != 0 && shadow_ids.find(id) != IdMap::kNone);
  }
}

/// The plugin's category `Python`, whose ranges count as operators; Python frames do not.
bool StepRules::is_python_node(EventId event) const {
  if (trace_.kind(event) != EventKind::python_function) return false;
  const std::string_view category = trace_.string(trace_.category(event).name);
  return category == "python" || category == "Python";
}

StepRole StepRules::range_role(EventId event) const {
  switch (name(event)) {
    case Name::data_loading:
      return is_python_node(event) ? StepRole::cpu_op : StepRole::data_loader;
    case Name::collective:
      return StepRole::communication;
    default:
      return StepRole::cpu_op;
  }
}

std::optional<StepRole> StepRules::role(EventId event) const {
  switch (trace_.kind(event)) {
    case EventKind::kernel:
      if (!is_work(event)) return std::nullopt;
      return is_communication_[index(event)] ? StepRole::communication : StepRole::kernel;
    case EventKind::gpu_memcpy:
      return is_work(event) ? std::optional(StepRole::memcpy) : std::nullopt;
    case EventKind::gpu_memset:
      return is_work(event) ? std::optional(StepRole::memset) : std::nullopt;
    case EventKind::runtime:
      return is_launch(event) ? std::optional(StepRole::runtime) : std::nullopt;
    case EventKind::cpu_op:
    case EventKind::user_annotation:
      if (name(event) == Name::step) return std::nullopt;
      if (name(event) == Name::lightning && trace_.kind(event) == EventKind::cpu_op) {
        return std::nullopt;
      }
      return range_role(event);
    case EventKind::gpu_user_annotation:
      if (name(event) == Name::step) return std::nullopt;
      if (plugin_) return range_role(event);
      return name(event) == Name::collective ? std::optional(StepRole::communication)
                                             : std::nullopt;
    case EventKind::python_function:
      return is_python_node(event) ? std::optional(range_role(event)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool StepRules::is_work(EventId event) const {
  return plugin_ ? is_plugin_work(trace_.category(event)) : is_device_work(trace_.kind(event));
}

bool StepRules::is_kernel(EventId event) const {
  return trace_.kind(event) == EventKind::kernel && is_work(event);
}

bool StepRules::is_launch(EventId event) const {
  return plugin_ ? is_plugin_launch(trace_, event) : trace_.kind(event) == EventKind::runtime;
}

bool StepRules::is_cpu_row(EventId event) const {
  if (trace_.kind(event) == EventKind::cpu_op) return name(event) != Name::lightning;
  return is_python_node(event);
}

bool StepRules::may_be_step(EventId event) const {
  const EventKind kind = trace_.kind(event);
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation ||
         (plugin_ && kind == EventKind::gpu_user_annotation);
}

std::vector<Step> StepRules::steps() const {
  std::vector<Step> steps = other_steps_;
  for (const EventId event : trace_.by_start()) {
    if (name(event) != Name::step || !may_be_step(event)) continue;
    const auto number = step_number(trace_.name(event));
    if (number) steps.push_back({*number, event});
  }
  std::sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return std::pair(start_ns(a.event), a.event) < std::pair(start_ns(b.event), b.event);
  });
  return steps;
}

std::int64_t StepRules::start_ns(EventId event) const {
  const std::int64_t start = trace_.events().start_ns(event);
  return plugin_ ? as_ns(plugin_time(start)) : start;
}

std::int64_t StepRules::end_ns(EventId event) const {
  if (!plugin_) return trace_.events().end_ns(event);
  return as_ns(plugin_time(trace_.events().start_ns(event)) +
               plugin_time(trace_.events().duration_ns(event)));
}

}  // namespace tbtrace::analyses
