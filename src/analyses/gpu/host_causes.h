// What each range of the host says about an idle device. docs/findings.md has the rules.
// Made from a Trace and its StepRules, which must outlive it. Not synchronised.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/runtime_calls.h"
#include "analyses/steps/rules.h"
#include "base/column.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// What a thread does in a range, in the order of how much it explains.
enum class Doing : std::uint8_t {
  silent,   ///< nothing
  code,     ///< a Python frame, or a range that the program named
  works,    ///< an operator, or a call of the runtime
  waits,    ///< a call that waits for a device: IdleCause::copies or ::synchronization
  decided,  ///< one of IdleCause::data to ::allocation
};

struct HostMeaning {
  Doing doing = Doing::silent;
  IdleCause cause = IdleCause::nothing_recorded;
  EventId call = EventId::none;  ///< what decides: the range, one around it, or the copy waited for
  /// In code that would not have been earlier without a wait for a device: a Python function that
  /// waits for something else, or an optimizer that computes on the host.
  bool keeps_its_time = false;
};

/// The profiler's own work, which the file has apart from the threads.
struct Overhead {
  TimeRange time;
  IdleCause cause = IdleCause::profiler;
};

class HostCauses {
 public:
  HostCauses(const Trace& trace, const StepRules& rules);

  /// Steps, and iterations of inference engines: what runs in them counts, they do not.
  bool is_step(EventId range) const { return name(range) == Name::step; }
  /// What a thread does while this host range is the innermost one.
  HostMeaning meaning(EventId range) const;
  /// By start; they do not overlap. They count while a thread is in a call of the runtime.
  const std::vector<Overhead>& overheads() const { return overheads_; }

 private:
  enum class Name : std::uint8_t {
    plain,
    step,
    profiler,
    garbage_collection,
    guards,
    compilation,
    host_communication,
    waits,          // a Python function, for no device
    needs_results,  // an optimizer that computes on the host
  };

  void classify_names();
  void find_copies();
  void find_repeated();
  void find_decided();
  void find_overheads();
  Name name(EventId range) const {
    const std::size_t text = index(trace_.events().name(range));
    return (trace_.kind(range) == EventKind::python_function ? frames_ : ranges_)[text];
  }
  bool decides(EventId range) const;
  IdleCause cause_of_name(EventId range) const;

  const Trace& trace_;
  const StepRules& rules_;
  mutable RuntimeCalls runtime_;
  const std::vector<EventId> blocking_;  // sorted: launches that return after their kernels
  std::vector<Name> frames_;             // by StringId, of Python frames
  std::vector<Name> ranges_;             // the same of all other ranges
  /// A call that waits for a copy, and one that began the copy.
  std::unordered_map<EventId, EventId> waits_for_copies_;
  std::vector<EventId> allocating_;      // sorted: operators that allocate
  std::vector<EventId> first_calls_;     // sorted
  bool compiles_once_ = false;           // compilation is in the first of several steps only
  bool allocates_once_ = false;          // the same of allocations
  std::vector<StringId> repeated_;       // sorted: names of setup calls that steps make again
  std::vector<StringId> in_late_steps_;  // the same, after the first step alone
  std::int64_t first_step_end_ = INT64_MAX;
  Column<EventId> decided_by_;  // by event: the range, or one around it, that decides; or none
  std::vector<Overhead> overheads_;
};

}  // namespace tbtrace::analyses
