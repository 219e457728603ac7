// The summary of a recorded window as events for plain TensorBoard: the time and breakdown of each
// step, tables of operators, kernels and memory, durations, flame graphs.
// A ProfileSummaries keeps a reference to its trace; records are owned. One thread at a time.
// Uses the exact definition of all numbers. What a trace does not have is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "writers/events/messages.h"

namespace tbtrace::logdir {

/// Prefix of all tags of a profile whose steps increase.
inline constexpr std::string_view kProfileTags = "profile";

/// What summaries need of a trace: as `tbtrace flamegraph` for its pictures and `tbtrace summary`
/// for its findings.
inline constexpr ArgumentSet kSummaryArguments =
    (kOperatorArguments - ArgumentSet{ArgumentGroup::inputs}) |
    ArgumentSet{ArgumentGroup::graphs, ArgumentGroup::copies, ArgumentGroup::placement,
                ArgumentGroup::synchronization} |
    ArgumentSet{Argument::input_types};

/// Whether to keep the details of a run's window (the first is 1). TensorBoard's Python loader
/// keeps ten values per tag; of more, a random choice and the last. These are ten in a thousand
/// windows: the first five, the 10th, 30th, 100th, 300th and so on.
bool keeps_details(std::int64_t window);

/// The summary of a window except its steps' scalars. Pictures are not drawn yet, which takes a few
/// hundredths of a second. Owns all its data.
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
  std::string tables_;  // tables and durations, as records
  std::vector<Picture> pictures_;
};

/// Scalars and tables are below `profile/`; durations and pictures, which each run has for itself,
/// are beside it. Each function returns event records, without the first record of a file.
class ProfileSummaries {
 public:
  /// With `infer_steps`, annotations such as `Iteration 7` are the steps of a trace that has none.
  explicit ProfileSummaries(const Trace& trace, bool infer_steps = false);

  /// chrome::Places the window in a run, where a tag's steps have to increase: steps before
  /// `first_step` are moved up to it. A window without steps takes one. Returns the first step
  /// after the window.
  std::int64_t place_at(std::int64_t first_step);
  /// The window's first step in the run.
  std::int64_t first_step() const { return steps_.front(); }
  /// How many steps do not keep their own numbers.
  std::uint64_t moved_steps() const { return moved_; }
  /// Number of devices whose utilization or memory is not shown.
  std::uint64_t devices_left_out() const {
    return breakdown_.devices_left_out + breakdown_.memory_devices_left_out;
  }

  /// Start of the window, in seconds since 1970.
  double start() const;

  /// Records that occur once in a run: the dashboard's layout, hyperparameters.
  std::string about_run() const;
  /// Scalars, at each step.
  std::string steps() const;
  /// Tables, durations and pictures, at the last step. For pictures see capabilities().pictures.
  ProfileDetails details() const;

 private:
  double wall_time(std::int64_t time_ns) const;
  /// `Steps 2 to 5`: the heading of tables and pictures, which are at the last of these steps.
  std::string covered_steps() const;

  const Trace& trace_;
  StepBreakdown breakdown_;
  bool has_steps_;
  std::vector<std::int64_t> steps_ = {0};  // of the breakdown, on TensorBoard's axis
  std::uint64_t moved_ = 0;
};

}  // namespace tbtrace::logdir
