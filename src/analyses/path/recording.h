// A recording with its graph, its critical path, and how well it can be played again.
// Refers to its Trace, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/path/critical_path.h"
#include "analyses/path/delays.h"
#include "analyses/path/graph.h"
#include "analyses/path/steps.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// How near the replay without a change is to the recording. Each step is replayed with the delays
/// of the other steps.
struct ReplayQuality {
  std::vector<std::int64_t> recorded_ns;  ///< by chosen step
  std::vector<std::int64_t> replayed_ns;
  double unexplained_share = 0;  ///< of the critical path
  /// Why nothing can be predicted; empty if it can.
  std::string refusal;

  std::int64_t recorded_sum_ns() const;
  std::int64_t replayed_sum_ns() const;
  /// Of all steps together: replayed by recorded, less 1.
  double error() const;
  /// Nine of ten steps have no larger one.
  double step_error() const;

  std::vector<std::string> notes() const;
};

class PathRecording {
 public:
  /// Fails if `steps` names no step of the trace.
  static Result<std::unique_ptr<PathRecording>> of(const Trace& trace,
                                                   const std::optional<StepRange>& steps);

  const Trace& trace() const { return trace_; }
  const StepRules& rules() const { return rules_; }
  const PathSteps& steps() const { return steps_; }
  const PathGraph& graph() const { return *graph_; }
  const PathDelays& delays() const { return *delays_; }
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  const CriticalPath& recorded_path() const { return *path_; }
  const ReplayQuality& quality() const { return quality_; }

  /// Those of the chosen steps.
  std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& of_steps) const;

 private:
  PathRecording(const Trace& trace, StepRules rules, PathSteps steps);
  void judge();

  const Trace& trace_;
  StepRules rules_;
  PathSteps steps_;
  std::unique_ptr<PathGraph> graph_;
  std::unique_ptr<PathDelays> delays_;
  std::vector<std::int64_t> lengths_;   // of edges, without a change
  std::vector<std::int64_t> recorded_;  // times of points
  std::unique_ptr<CriticalPath> path_;
  ReplayQuality quality_;
};

}  // namespace tbtrace::analyses
