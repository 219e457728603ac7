// Classifies events and gives their times for the step breakdown.
// Made from a Trace, which must outlive it. Immutable.
// An event that matches no rule has no role.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"
#include "trace/times.h"

namespace tbtrace::analyses {

class StepRules;

/// The times of each role, by StepRole.
using RoleRanges = std::array<std::vector<TimeRange>, kStepRoles>;

/// In what definitions of the breakdown differ. All functions are set.
struct StepPolicy {
  bool (*is_collective)(std::string_view name);          ///< the name of a range
  bool (*is_work)(const Category& category);             ///< a kernel, memcpy or memset
  bool (*is_launch)(const Trace& trace, EventId event);  ///< a call that may have launched work
  /// Device work whose times cannot be has no role (Links::misplaced()), and what has lost its
  /// times has none and does not count as a step (times.h).
  bool leaves_out_misplaced;
  /// Annotations on devices count as annotations of the host, and may be steps.
  bool device_annotations_are_host_ranges;
  /// A step is never shorter than its part on the host, even if it then overlaps the one before;
  /// and activities without a known launch came before the first step only if they began before it.
  bool keeps_host_parts;
  /// Data loading on a thread without steps, such as a prefetcher's, has no role: nothing waits.
  bool only_step_threads_wait;
  /// Work belongs to the step that AnalysisContext::step_of() gives it; otherwise to the first step
  /// that has not ended when its launch starts, if the launch is inside it.
  bool launches_by_open_step;
  /// A step that did not end is not a step that others are compared with: how long it would have
  /// been, nobody knows.
  bool leaves_out_unfinished;
  /// The iterations of an inference engine are the steps of a trace that has no others.
  bool takes_engine_steps;
  std::int64_t (*start_ns)(const Events& events, EventId event);
  std::int64_t (*end_ns)(const Events& events, EventId event);
  /// By EventId, the device work that is communication.
  std::vector<bool> (*communication)(const Trace& trace, const StepRules& rules);
  /// Divides the time of the steps, by start, among the roles, in their order. `roles`: when at
  /// least one event of each role was open on any thread, stream or device.
  RoleRanges (*divided)(RoleRanges roles, const std::vector<TimeRange>& steps);
};

/// Times as recorded, each instant once; the collectives of every backend, and the kernels of
/// communication.h.
const StepPolicy& exact_step_policy();

class StepRules {
 public:
  /// `other_steps`: the steps to use if the trace has none of its own.
  StepRules(const Trace& trace, const StepPolicy& policy, std::vector<Step> other_steps = {});

  const StepPolicy& policy() const { return policy_; }

  /// The role that an event's time counts as.
  std::optional<StepRole> role(EventId event) const;

  bool is_work(EventId event) const;    ///< a kernel, memcpy or memset
  bool is_kernel(EventId event) const;  ///< including communication
  bool is_launch(EventId event) const;  ///< a runtime call that may have launched work
  /// A range that counts for the start and end of the only step of a trace without steps.
  bool is_cpu_row(EventId event) const;

  /// By start; with equal starts, in file order.
  std::vector<Step> steps() const;

  std::int64_t start_ns(EventId event) const { return policy_.start_ns(trace_.events(), event); }
  std::int64_t end_ns(EventId event) const { return policy_.end_ns(trace_.events(), event); }

  /// What an event's name says, for StepPolicy::communication.
  bool is_named_collective(EventId event) const { return name(event) == Name::collective; }

 private:
  enum class Name : std::uint8_t {
    plain,
    step,  ///< begins like a step's name, whatever follows
    data_loading,
    collective,
    lightning,  ///< a PyTorch Lightning marker, not an operator
  };

  Name classified(std::string_view name) const;
  Name name(EventId event) const { return names_[index(trace_.events().name(event))]; }
  bool is_python_node(EventId event) const;
  std::optional<StepRole> range_role(EventId event) const;
  bool is_left_out(EventId event) const;
  bool may_be_step(EventId event) const;

  const Trace& trace_;
  const StepPolicy& policy_;
  const LostTimes lost_;
  bool lightning_ = false;
  std::vector<Step> other_steps_;
  std::vector<Name> names_;             // by StringId
  std::vector<bool> waits_for_data_;    // by track; empty: all
  std::vector<bool> is_communication_;  // device work, by EventId
};

}  // namespace tbtrace::analyses
