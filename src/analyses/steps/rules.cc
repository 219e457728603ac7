#include "analyses/steps/rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/communication.h"
#include "analyses/attribution/lightning.h"
#include "analyses/attribution/operator_kind.h"
#include "analyses/steps/step_threads.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

/// Each role takes its time from what the previous roles left free.
RoleRanges divided_exactly(RoleRanges roles, const std::vector<TimeRange>& steps) {
  constexpr auto kOther = static_cast<std::size_t>(StepRole::other);
  std::vector<TimeRange> free = steps;
  for (std::size_t role = 0; role < kOther; ++role) {
    roles[role] = intersection(free, roles[role]);
    free = difference(free, roles[role]);
  }
  roles[kOther] = std::move(free);
  return roles;
}

}  // namespace

const StepPolicy& exact_step_policy() {
  static constexpr StepPolicy kExact = {
      .is_collective = is_collective_name,
      .is_work = [](const Category& category) { return is_device_work(category.kind); },
      .is_launch = [](const Trace& trace,
                      EventId event) { return trace.kind(event) == EventKind::runtime; },
      .leaves_out_misplaced = true,
      .device_annotations_are_host_ranges = false,
      .keeps_host_parts = true,
      .only_step_threads_wait = true,
      .launches_by_open_step = true,
      .leaves_out_unfinished = true,
      .takes_engine_steps = true,
      .start_ns = [](const Events& events, EventId event) { return events.start_ns(event); },
      .end_ns = [](const Events& events, EventId event) { return events.end_ns(event); },
      .communication = [](const Trace& trace,
                          const StepRules&) { return communication_work(trace); },
      .divided = divided_exactly};
  return kExact;
}

StepRules::StepRules(const Trace& trace, const StepPolicy& policy, std::vector<Step> other_steps)
    : trace_(trace), policy_(policy), lost_(trace), other_steps_(std::move(other_steps)) {
  if (policy.takes_engine_steps && has_engine_steps(trace)) {
    other_steps_.assign(trace.steps().begin(), trace.steps().end());
  }
  lightning_ = is_lightning(trace);
  std::size_t names = 0;
  bool any_work = false;
  for (const EventId event : trace.by_start()) {
    names = std::max(names, index(trace.events().name(event)) + 1);
    any_work = any_work || is_device_work(trace.kind(event));
  }
  names_.reserve(names);
  for (std::size_t name = 0; name < names; ++name) {
    names_.push_back(classified(trace.string(static_cast<StringId>(name))));
  }
  for (const Step& step : other_steps_) {
    names_[index(trace.events().name(step.event))] = Name::step;
  }
  if (policy.only_step_threads_wait &&
      std::ranges::find(names_, Name::data_loading) != names_.end()) {
    std::vector<EventId> step_events;
    for (const Step& step : steps()) step_events.push_back(step.event);
    waits_for_data_ = step_threads(trace, step_events);
  }
  if (!any_work) return;
  is_communication_.resize(trace.events().size(), false);  // role() is asked meanwhile
  is_communication_ = policy.communication(trace, *this);
}

StepRules::Name StepRules::classified(std::string_view name) const {
  if (is_step_name(name)) return Name::step;
  if (is_data_loading(name)) return Name::data_loading;
  if (policy_.is_collective(name)) return Name::collective;
  return lightning_ && is_lightning_marker(name) ? Name::lightning : Name::plain;
}

/// The plugin's category `Python`, whose ranges count as operators; Python frames do not.
bool StepRules::is_python_node(EventId event) const {
  if (trace_.kind(event) != EventKind::python_function) return false;
  const std::string_view category = trace_.string(trace_.category(event).name);
  return category == "python" || category == "Python";
}

std::optional<StepRole> StepRules::range_role(EventId event) const {
  switch (name(event)) {
    case Name::data_loading:
      if (is_python_node(event)) return StepRole::cpu_op;
      if (!waits_for_data_.empty() && !waits_for_data_[index(trace_.events().track(event))]) {
        return std::nullopt;
      }
      return StepRole::data_loader;
    case Name::collective:
      return StepRole::communication;
    default:
      return StepRole::cpu_op;
  }
}

std::optional<StepRole> StepRules::role(EventId event) const {
  if (is_left_out(event)) return std::nullopt;
  switch (trace_.kind(event)) {
    case EventKind::kernel:
      if (!is_work(event)) return std::nullopt;
      return is_communication_[index(event)] ? StepRole::communication : StepRole::kernel;
    case EventKind::gpu_memcpy:
    case EventKind::gpu_memset:
      if (!is_work(event)) return std::nullopt;
      if (is_communication_[index(event)]) return StepRole::communication;
      return trace_.kind(event) == EventKind::gpu_memcpy ? StepRole::memcpy : StepRole::memset;
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
      if (policy_.device_annotations_are_host_ranges) return range_role(event);
      return name(event) == Name::collective ? std::optional(StepRole::communication)
                                             : std::nullopt;
    case EventKind::python_function:
      return is_python_node(event) ? range_role(event) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool StepRules::is_left_out(EventId event) const {
  if (!policy_.leaves_out_misplaced) return false;
  return lost_.contains(event) ||
         (is_device_work(trace_.kind(event)) && links_of(trace_).is_misplaced(event));
}

bool StepRules::is_work(EventId event) const { return policy_.is_work(trace_.category(event)); }

bool StepRules::is_kernel(EventId event) const {
  return trace_.kind(event) == EventKind::kernel && is_work(event);
}

bool StepRules::is_launch(EventId event) const { return policy_.is_launch(trace_, event); }

bool StepRules::is_cpu_row(EventId event) const {
  if (is_left_out(event)) return false;
  if (trace_.kind(event) == EventKind::cpu_op) return name(event) != Name::lightning;
  return is_python_node(event);
}

bool StepRules::may_be_step(EventId event) const {
  const EventKind kind = trace_.kind(event);
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation ||
         (policy_.device_annotations_are_host_ranges && kind == EventKind::gpu_user_annotation);
}

std::vector<Step> StepRules::steps() const {
  std::vector<Step> steps = other_steps_;
  for (const EventId event : trace_.by_start()) {
    if (name(event) != Name::step || !may_be_step(event) || is_left_out(event)) continue;
    const auto number = step_number(trace_.name(event));
    if (number) steps.push_back({*number, event});
  }
  std::sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return std::pair(start_ns(a.event), a.event) < std::pair(start_ns(b.event), b.event);
  });
  return steps;
}

}  // namespace tbtrace::analyses
