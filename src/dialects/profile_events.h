// What a profile says, as events that plain TensorBoard shows: the time of each step and what it
// went to, tables of operators, kernels and memory, durations, flame graphs. Pure functions;
// records are owned. Any thread. Figures are the exact ones. What a trace does not have is left
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tbtrace/trace.h>

namespace tbtrace::dialects {

struct ProfileEventOptions {
  /// The steps of a tag have to grow in a run: those of a trace that begin before this are moved
  /// up.
  std::int64_t first_step = 0;
  bool first_of_run = true;     ///< says what stands in a run once: the dashboard, hyperparameters
  std::size_t table_rows = 50;  ///< TensorBoard takes a second for 3000
  bool flame_graphs = true;     ///< where this build can draw: capabilities().pictures
};

/// Records of events without the first one of a file. Tags begin with `profile/`. Scalars stand at
/// the numbers of their steps, the rest at the last step; a trace without steps counts as one step.
std::string profile_events(const Trace& trace, const ProfileEventOptions& options = {});

/// The first step for the next trace of a run.
std::int64_t next_first_step(const Trace& trace, std::int64_t first_step);

}  // namespace tbtrace::dialects
