// What findings would gain, by a replay of the steps (analyses/path): what runs beside other work
// gains nothing.
// Refers to its Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/changes.h"
#include "analyses/path/recording.h"

namespace tbtrace::analyses {

/// Work that would take another time.
struct ChangedWork {
  std::vector<PathChange> changes = {};  ///< by name
  std::vector<EventId> work = {};        ///< device work
  double factor = 1;                     ///< of that
};

class StepReplay {
 public:
  explicit StepReplay(const Trace& trace) : trace_(trace) {}

  /// By how much a step gets shorter, as a mean of all, and at most: with the error of the replay.
  /// nullopt if the steps cannot be predicted (ReplayQuality), or if the trace was read without
  /// what a replay needs. The first call builds the graph of the steps.
  std::optional<std::int64_t> gain_ns(const ChangedWork& changed);

 private:
  const PathRecording* recording();

  const Trace& trace_;
  bool was_tried_ = false;
  std::unique_ptr<PathRecording> recording_;
};

}  // namespace tbtrace::analyses
