// Why a device was idle: each nanosecond of its gaps has one cause. docs/findings.md has the rules.
// Made from a Trace, which must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/trace.h>

#include "analyses/gpu/activities.h"
#include "analyses/gpu/gaps.h"
#include "analyses/steps/rules.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// A part of a gap that has one cause.
struct IdleSpan {
  TimeRange time;
  IdleCause cause = IdleCause::unknown;
  EventId call = EventId::none;   ///< what decided, for causes before IdleCause::launches
  EventId range = EventId::none;  ///< the range that the host was in; none if none counts
  std::uint32_t gap = 0;          ///< its number in the account
  bool is_on_cpu = false;         ///< of launches: an operator that computes on the CPU
  bool is_long_view = false;      ///< of launches: one that only makes a tensor, and takes long
};

/// Of one device.
struct IdleAccount {
  std::int64_t device = 0;
  std::vector<DeviceGap> gaps;  ///< by start; they cover all that the device is idle in
  std::vector<IdleSpan> spans;  ///< by start; those of a gap add up to it
};

/// One for each of `devices`, in their order. Covers the time from each device's first activity to
/// its last, its window, and the steps of the trace with the work that they launched.
std::vector<IdleAccount> idle_accounts(const Trace& trace, const StepRules& rules,
                                       std::span<const DeviceActivities> devices);

/// Whether the host lost the time in a wait, and does something else by now.
constexpr bool is_after_wait(IdleCause cause) {
  return cause == IdleCause::copies || cause == IdleCause::synchronization;
}

/// Puts the causes of the idle time within a window into `use`, and the longest of its gaps. Gaps
/// that contain one of `left_out` do not count.
void add_idle_causes(const Trace& trace, const IdleAccount& account, TimeRange window, GpuUse& use,
                     std::span<const TimeRange> left_out = {});

/// Adds the parts of another device, by cause; the largest first.
void join_idle_parts(std::vector<IdlePart>& all, const std::vector<IdlePart>& more);

}  // namespace tbtrace::analyses
