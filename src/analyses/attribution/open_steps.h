// Which step was open at a time: the one rule for steps() and for the step of every event.
// Made for one Trace, which must outlive it. Immutable. Memory is in proportion to the steps and,
// for StepOfEvent, to the device activities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

/// The step of a host range is the one of its process that was open when it started; if several
/// were, the one that started last. If all steps are in one process, they are those of all
/// processes: in a container, kernel launches may have the process id of another namespace.
class OpenSteps {
 public:
  /// `steps` by start.
  OpenSteps(const Trace& trace, std::span<const Step> steps);

  /// A number in `steps`; nullopt if none was open, or if the event is not a host range.
  std::optional<std::size_t> at_start_of(EventId range) const;
  /// The same for a time in a process.
  std::optional<std::size_t> at(const TrackKey& process, std::int64_t time_ns) const;

 private:
  /// From this time until the next change.
  struct Change {
    std::int64_t time_ns;
    std::optional<std::size_t> step;
  };

  using Process = std::pair<std::int64_t, StringId>;

  void add_process(std::span<const Step> steps, std::span<const std::size_t> numbers);
  std::uint32_t number_of(const TrackKey& process) const;
  std::optional<std::size_t> at(std::uint32_t process, std::int64_t time_ns) const;

  const Trace& trace_;
  std::map<Process, std::uint32_t> numbers_;  // of processes with steps
  std::vector<std::uint32_t> process_of_;     // by track; kNone: it has no steps
  std::vector<std::vector<Change>> changes_;  // by process; by time
};

/// The host range whose step is that of a device activity: its launch, or its operator if the
/// launch is not known; EventId::none if neither is.
constexpr EventId launching_range(const DeviceLink& link) {
  return link.launch != EventId::none ? link.launch : link.op;
}

/// The rule of AnalysisContext::step_of() without a context, which is larger.
class StepOfEvent {
 public:
  explicit StepOfEvent(const Trace& trace);

  /// The number of the step of a host range, or of the one that launched a device activity.
  std::optional<std::int64_t> of(EventId event) const;

 private:
  struct Launched {
    EventId activity;
    EventId from;  // on the host; EventId::none if unknown
  };

  const Trace& trace_;
  OpenSteps open_;
  Column<Launched> launched_;  // by activity
};

}  // namespace tbtrace::analyses
