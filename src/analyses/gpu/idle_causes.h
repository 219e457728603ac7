// What the host did while a device was idle.
// Results are plain values.
#pragma once

#include <cstdint>
#include <span>

#include <tbtrace/trace.h>

#include "analyses/gpu/gaps.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// A cause of idle time, and the activity that ended the longest gap which it caused.
struct IdlePart {
  std::int64_t ns = 0;
  std::int64_t longest_ns = 0;
  std::uint64_t gaps = 0;
  EventId ended_by = EventId::none;

  /// Without the longest gap if that is longer than the others together and there are three others:
  /// it is a single event, such as what a library does once.
  std::int64_t pattern_ns() const {
    const bool is_one_event = gaps >= 4 && longest_ns > ns - longest_ns;
    return is_one_event ? ns - longest_ns : ns;
  }
};

/// The parts add up to the length of all gaps.
struct IdleCauses {
  IdlePart data;      ///< the host waited for its data loader
  IdlePart setup;     ///< the host made a stream or loaded code, which it does once
  IdlePart copies;    ///< the device ran dry while the host waited for a copy
  IdlePart launches;  ///< the host ran operators or launched, too slowly
  /// The activity after the gap was launched before it: the device waited for its own delay, for
  /// another stream or for another rank.
  IdlePart device;
  IdlePart other;  ///< nothing recorded ran on the host, or the launch is unknown
  std::uint64_t blocking_copies = 0;  ///< copies for which the host waited
};

/// Each instant of a gap is of the first of these causes that applies. Only gaps with
/// GapCause::host_wait are divided by what the host did. A copy caused the gaps that began while
/// the host waited for it. Annotations do not count as work of the host.
IdleCauses idle_causes(const Trace& trace, const StepRules& rules, std::span<const DeviceGap> gaps);

}  // namespace tbtrace::analyses
