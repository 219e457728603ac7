// What a recorded window says, as events that plain TensorBoard shows: the time of each step and
// what it went to, tables of operators, kernels and memory, durations, flame graphs.
// A ProfileSummaries keeps a reference to its trace; records are owned. One thread at a time.
// Figures are the exact ones. What a trace does not have is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/step_breakdown.h>
#include <tbtrace/trace.h>

#include "writers/summary_messages.h"

namespace tbtrace::dialects {

/// How all tags of a profile begin whose steps grow.
inline constexpr std::string_view kProfileTags = "profile";

/// Whether the details of a run's window (the first is 1) are worth keeping: TensorBoard's Python
/// loader keeps ten of a tag, of more a random choice and the last. These are ten of a thousand:
/// the first five, the 10th, 30th, 100th, 300th and so on.
bool keeps_details(std::int64_t window);

/// What a window says besides its steps' scalars, with pictures not drawn yet, which takes a few
/// hundredths of a second. Owns all it needs.
class ProfileDetails {
 public:
  std::string records() const;

 private:
  friend class ProfileSummaries;
  struct Picture {
    const char* tag;
    const char* title;
    std::string covered;
    StackTree stacks;
  };

  writers::SummaryMoment moment_;
  std::string tables_;  // and durations, as records
  std::vector<Picture> pictures_;
};

/// Scalars and tables are below `profile/`, durations and pictures, of which each run has its own,
/// beside it. Each function gives records of events without the first one of a file.
class ProfileSummaries {
 public:
  /// With `infer_steps`, annotations such as `Iteration 7` are the steps of a trace without steps.
  explicit ProfileSummaries(const Trace& trace, bool infer_steps = false);

  /// Gives the window its place in a run, where the steps of a tag have to grow: steps before
  /// `first_step` are moved up to it. A window without steps takes one. Returns the first step
  /// behind.
  std::int64_t place_at(std::int64_t first_step);
  /// The first step of its place.
  std::int64_t first_step() const { return steps_.front(); }
  /// How many steps do not stand at their numbers.
  std::uint64_t moved_steps() const { return moved_; }
  /// Devices whose share of a step, or whose memory, is not shown.
  std::uint64_t devices_left_out() const {
    return breakdown_.devices_left_out + breakdown_.memory_devices_left_out;
  }

  /// When the window begins, in seconds since 1970.
  double start() const;

  /// What stands in a run once: the dashboard's layout, hyperparameters.
  std::string about_run() const;
  /// Scalars, at each step.
  std::string steps() const;
  /// Tables, durations and pictures, at the last step. Pictures: see capabilities().pictures.
  ProfileDetails details() const;

 private:
  double wall_time(std::int64_t time_ns) const;
  /// `Steps 2 to 5`, as tables and pictures, which stand at the last of them, say it.
  std::string covered_steps() const;

  const Trace& trace_;
  StepBreakdown breakdown_;
  bool has_steps_;
  std::vector<std::int64_t> steps_ = {0};  // of the breakdown's, on the axis
  std::uint64_t moved_ = 0;
};

}  // namespace tbtrace::dialects
