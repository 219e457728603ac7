#include "analyses/compat/plugin/steps.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyses/attribution/collective_names.h"
#include "analyses/compat/plugin/launches.h"
#include "analyses/compat/plugin/rules.h"
#include "analyses/steps/breakdown.h"
#include "base/id_map.h"
#include "base/nearest_integer.h"

namespace tbtrace::analyses {
namespace {

/// The nanosecond nearest to a double; long double holds it exactly.
std::int64_t as_ns(double us) {
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;  // differences do not overflow
  return std::clamp(nearest_integer(static_cast<long double>(us) * 1000.0L), -kFarthest, kFarthest);
}

/// Kernels with the id of a range that is named like a collective; a missing id matches a missing
/// id.
std::vector<bool> communication(const Trace& trace, const StepRules& rules) {
  std::vector<bool> is_communication(trace.events().size(), false);
  IdMap ids;
  bool without_id = false;
  const auto has_id = [&](EventId event) {
    return trace.external_id(event) != 0 || trace.events().has_zero_external_id(event);
  };
  for (const EventId event : trace.by_start()) {
    if (!rules.is_named_collective(event) || rules.role(event) != StepRole::communication) continue;
    if (has_id(event)) {
      ids.insert(trace.external_id(event), 0);
    } else {
      without_id = true;
    }
  }
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::kernel) continue;
    is_communication[index(event)] =
        has_id(event) ? ids.find(trace.external_id(event)) != IdMap::kNone : without_id;
  }
  return is_communication;
}

RoleRanges divided(RoleRanges roles, const std::vector<TimeRange>& steps) {
  constexpr auto kOther = static_cast<std::size_t>(StepRole::other);
  std::vector<TimeRange> free = steps;
  for (std::size_t role = 0; role < kOther; ++role) {
    if (role == 0 || free.empty()) {
      free = difference(steps, roles[role]);
    } else {
      roles[role] = intersection(free, roles[role]);
      free = difference(free, roles[role]);
    }
  }
  roles[kOther] = std::move(free);
  return roles;
}

}  // namespace

const StepPolicy& plugin_step_policy() {
  static constexpr StepPolicy kPlugin = {
      .is_collective = is_plugin_collective,
      .is_work = is_plugin_work,
      .is_launch = is_plugin_launch,
      .leaves_out_misplaced = false,
      .device_annotations_are_host_ranges = true,
      .keeps_host_parts = false,
      .only_step_threads_wait = false,
      .launches_by_open_step = false,
      .leaves_out_unfinished = false,
      .takes_engine_steps = false,
      .start_ns = [](const Events& events,
                     EventId event) { return as_ns(plugin_time(events.start_ns(event))); },
      .end_ns =
          [](const Events& events, EventId event) {
            return as_ns(plugin_time(events.start_ns(event)) +
                         plugin_time(events.duration_ns(event)));
          },
      .communication = communication,
      .divided = divided};
  return kPlugin;
}

StepBreakdown plugin_step_breakdown(const Trace& trace, const StepBreakdownOptions& options) {
  return breakdown_by(trace, plugin_step_policy(), plugin_launches(trace, plugin_order(trace)),
                      options);
}

}  // namespace tbtrace::analyses
