// A recording with its graph, its critical path, and how well it can be played again.
// Refers to its Trace, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

/// What the graph is made from.
inline constexpr ArgumentSet kPathArguments = {ArgumentGroup::synchronization,
                                               ArgumentGroup::autograd};

/// How near the replay without a change is to the recording, of all steps, also if some are chosen.
/// Each step is replayed with the delays of the other steps.
struct ReplayQuality {
  std::vector<std::int64_t> recorded_ns;  ///< by step
  std::vector<std::int64_t> replayed_ns;
  double unexplained_share = 0;  ///< of the critical path of the chosen steps
  /// Why nothing can be predicted; empty if it can.
  std::string refusal;

  /// Of all steps together: replayed by recorded, less 1.
  double error() const;
  /// Nine of ten steps have no larger one.
  double step_error() const;

  /// Sets the refusal, by everything else.
  void judge(bool has_steps, bool lacks_work);

  std::vector<std::string> notes() const;
  /// The same for JSON.
  AnalysisReport::Totals facts() const;
};

/// Calls that launch work or wait for it are of no use without the work.
bool lacks_device_work(const Trace& trace, const PathGraph& graph);

/// From the start of the first chosen step to the end of the last one.
std::int64_t wall_ns(std::span<const StepSpan> spans, const std::vector<bool>& is_chosen);

/// The durations of spans.
std::vector<std::int64_t> durations(std::span<const StepSpan> spans);

struct PathOptions {
  std::optional<StepRange> steps = {};
  bool loader_rests = false;  ///< see PathGraph, as the next
  std::span<const HostCollective> collectives = {};
  bool is_of_job = false;  ///< has no path and no quality of its own
};

class PathRecording {
 public:
  /// Fails if the options name no step of the trace.
  static Result<std::unique_ptr<PathRecording>> of(const Trace& trace,
                                                   const PathOptions& options = {});

  const Trace& trace() const { return trace_; }
  const StepRules& rules() const { return rules_; }
  const PathSteps& steps() const { return steps_; }
  const PathGraph& graph() const { return *graph_; }
  const PathDelays& delays() const { return *delays_; }
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  const CriticalPath& recorded_path() const { return *path_; }
  const ReplayQuality& quality() const { return quality_; }

  /// From the start of the first chosen step to the end of the last one, by the times of all
  /// points.
  std::int64_t wall_ns(std::span<const std::int64_t> times) const;
  /// The times without a change.
  const std::vector<std::int64_t>& replayed() const { return replayed_; }
  std::size_t chosen_steps() const;
  /// Of values by step, the sum of those of the chosen steps.
  std::int64_t sum_of_chosen(std::span<const std::int64_t> by_step) const;

 private:
  PathRecording(const Trace& trace, StepRules rules, PathSteps steps, const PathOptions& options);
  void judge();

  const Trace& trace_;
  StepRules rules_;
  PathSteps steps_;
  std::unique_ptr<PathGraph> graph_;
  std::unique_ptr<PathDelays> delays_;
  std::vector<std::int64_t> lengths_;  // of edges, without a change
  std::vector<std::int64_t> replayed_;
  std::unique_ptr<CriticalPath> path_;
  ReplayQuality quality_;
};

}  // namespace tbtrace::analyses
