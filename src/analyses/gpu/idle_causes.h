// What the host did while a device was idle.
// Results are plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/gpu/gaps.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// A cause of idle time, with the gap of which it has the largest part, and the activity that ended
/// that gap.
struct IdlePart {
  std::int64_t ns = 0;
  std::int64_t longest_ns = 0;  ///< its largest part of a gap
  TimeRange longest_gap;
  std::uint64_t gaps = 0;
  EventId ended_by = EventId::none;

  /// Without the longest gap if that is longer than the others together and there are three others:
  /// it is a single event, such as what a library does once.
  std::int64_t pattern_ns() const {
    const bool is_one_event = gaps >= 4 && longest_ns > ns - longest_ns;
    return is_one_event ? ns - longest_ns : ns;
  }
};

/// The parts of a gap, in ns, by why the device was idle. They add up to its length.
struct IdleTimes {
  std::int64_t data = 0;      ///< the host waited for its data loader
  std::int64_t setup = 0;     ///< the host made a stream or loaded code, which it does once
  std::int64_t copies = 0;    ///< the device ran dry while the host waited for a copy
  std::int64_t launches = 0;  ///< the host ran operators or launched, too slowly
  /// The activity after the gap was launched before it: the device waited for its own delay, for
  /// another stream or for another rank.
  std::int64_t device = 0;
  std::int64_t other = 0;  ///< nothing recorded ran on the host, or the launch is unknown
};

/// The same of many gaps. The parts add up to the length of all gaps.
struct IdleCauses {
  IdlePart data;
  IdlePart setup;
  IdlePart copies;
  IdlePart launches;
  IdlePart device;
  IdlePart other;
  std::uint64_t blocking_copies = 0;  ///< copies for which the host waited
};

/// One for each gap. Each instant of a gap is of the first of these causes that applies. Only gaps
/// whose activity was launched in them are divided by what the host did. A copy caused the gaps
/// that began while the host waited for it. Annotations do not count as work of the host.
std::vector<IdleTimes> idle_times(const Trace& trace, const StepRules& rules,
                                  std::span<const DeviceGap> gaps);

IdleCauses idle_causes(const Trace& trace, const StepRules& rules, std::span<const DeviceGap> gaps);

}  // namespace tbtrace::analyses
