// The time in which nothing hides what a device does.
// Results are plain values.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/findings/rules.h"
#include "analyses/gpu/activities.h"
#include "analyses/steps/rules.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// When a device computed, communicated and copied, as GpuUse counts it.
class DeviceTimes {
 public:
  DeviceTimes(const Trace& trace, const Activities& activities);

  StepRole role(EventId activity) const;
  /// The part of `communication` in which nothing is computed.
  std::vector<TimeRange> exposed_communication(std::span<const TimeRange> communication) const;
  /// The part of `copies` in which nothing is computed or communicated.
  std::vector<TimeRange> exposed_copies(std::span<const TimeRange> copies) const;

 private:
  StepRules rules_;
  std::vector<TimeRange> computation_;
  std::vector<TimeRange> communication_;
};

/// How much of exposed time is in the step that has most of it, if that is more than half and there
/// are three steps or more; else 0. What is of one step only is a single event.
std::int64_t ns_of_one_step(const FindingFacts& facts, std::span<const TimeRange> exposed);

}  // namespace tbtrace::analyses
