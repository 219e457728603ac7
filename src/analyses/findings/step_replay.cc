#include "analyses/findings/step_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyses/path/replay.h"
#include "base/bounded_sum.h"
#include "base/share.h"

namespace tbtrace::analyses {

const PathRecording* StepReplay::recording() {
  if (!std::exchange(was_tried_, true) && trace_.check_read(kPathArguments, "critical_path").ok()) {
    auto made = PathRecording::of(trace_, {});
    if (made.ok() && (*made)->quality().refusal.empty() && !(*made)->graph().is_loader_unclear()) {
      recording_ = *std::move(made);
    }
  }
  return recording_.get();
}

std::optional<std::int64_t> StepReplay::gain_ns(const ChangedWork& changed) {
  const PathRecording* const path = recording();
  if (path == nullptr) return std::nullopt;
  Result<PathChanges> changes =
      PathChanges::of(trace_, path->rules(), path->graph(), changed.changes);
  if (!changes.ok()) return std::nullopt;
  for (const EventId work : changed.work) changes->scale(work, changed.factor);
  // What a thread does there may be a wait for what gets shorter, so it does not limit the gain.
  changes->leave_out_unrecorded(trace_, path->rules());
  const std::vector<std::int64_t> times =
      replay(path->graph(), replay_lengths(path->graph(), path->delays(), *changes));
  const WideInteger gain = WideInteger{path->wall_ns(path->replayed())} - path->wall_ns(times);
  const std::size_t steps = path->chosen_steps();
  const double step = mean_of_sum(path->sum_of_chosen(path->quality().recorded_ns), steps);
  const double most =
      std::max(0.0, mean_of_sum(gain, steps)) + std::abs(path->quality().error()) * step;
  return std::llround(std::min(most, step));
}

}  // namespace tbtrace::analyses
