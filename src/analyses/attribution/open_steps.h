// Which step was open at a time: the rule of AnalysisContext::step_of() with memory in proportion
// to the steps and the device activities, not to all events.
// Made for one Trace, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

class OpenSteps {
 public:
  explicit OpenSteps(const Trace& trace);

  /// The number of the step that was open when a host range started, or when a device activity was
  /// launched; if several were, of the one that started last.
  std::optional<std::int64_t> of(EventId event) const;

 private:
  /// From this time until the next change.
  struct Change {
    std::int64_t time_ns;
    std::optional<std::int64_t> step;
  };
  struct Launched {
    EventId activity;
    EventId from;  // on the host; EventId::none if unknown
  };

  void add_process(std::vector<Step> steps);
  void list_activities();
  /// The step in the process of a track.
  std::optional<std::int64_t> at(TrackId track, std::int64_t time_ns) const;

  const Trace& trace_;
  std::vector<std::uint32_t> process_of_;     // by track; kNone: it has no steps
  std::vector<std::vector<Change>> changes_;  // by process; by time
  Column<Launched> launched_;                 // by activity
};

}  // namespace tbtrace::analyses
