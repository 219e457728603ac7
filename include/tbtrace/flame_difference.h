// The flame graph of a comparison: the stacks of two sides merged by call path, with what each
// frame took before and now. Frames that are gone are kept. Results own all their data; plain
// values that any number of threads may read. docs/compare.md says how the picture is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// By what stacks are weighted: two of the weights of flame_graph().
enum class StackWeight : std::uint8_t {
  cpu,     ///< self_cpu_time_total
  device,  ///< self_device_time_total
};
inline constexpr std::size_t kStackWeights = 2;

/// The stacks of a run, which is one recording or those of all its ranks, of all steps together.
struct RunStacks {
  std::string name;  ///< such as the path of the file
  /// Of all ranks. 0 without steps in any of them: then the stacks are of the whole recordings.
  std::uint64_t steps = 0;
  bool has_steps = true;  ///< all ranks have steps
  StackTree cpu{"ns"};
  StackTree device{"ns"};

  const StackTree& stacks(StackWeight weight) const& {
    return weight == StackWeight::cpu ? cpu : device;
  }
  const StackTree& stacks(StackWeight) const&& = delete;
};

/// What add_stacks() reads.
ArgumentSet run_stacks_arguments();

/// Adds the stacks of a rank, those of flame_graph(): from the start of the first step to the end
/// of the last one, whichever `tbtrace diff` compares, or of the whole recording if it has no
/// steps. Fails if the trace was read without run_stacks_arguments().
Status add_stacks(RunStacks& run, const Trace& rank);

/// A frame below the frames around it, on either side or on both.
struct DifferenceNode {
  std::uint32_t frame = 0;   ///< in FlameDifference::frames: as the new side has it
  std::uint32_t parent = 0;  ///< smaller than its own number; 0 of the root
  /// Times of the frame with what it calls, and of itself. The time of a node is exactly its own
  /// and that of its children.
  std::int64_t base_ns = 0;
  std::int64_t new_ns = 0;
  std::int64_t base_self_ns = 0;
  std::int64_t new_self_ns = 0;
  bool in_base = false;  ///< it took time there, even if that rounds to 0
  bool in_new = false;
  /// What the base calls it, if only the line differs.
  std::optional<std::uint32_t> base_frame = {};

  bool operator==(const DifferenceNode&) const = default;
};

struct FlameDifference {
  StackWeight weight = StackWeight::cpu;
  /// Per step, if all runs have steps. Otherwise of everything that was recorded.
  bool is_per_step = true;
  /// What shares are of: the step of the base, or the total of the base.
  double whole_ns = 0;
  std::vector<std::string> frames;  ///< texts, each once; the first one is empty: the root's
  std::vector<DifferenceNode> nodes = {{}};  ///< the root, then parents before their children

  const DifferenceNode& root() const& { return nodes.front(); }
  DifferenceNode root() && { return nodes.front(); }
};

struct FlameDifferenceOptions {
  StackWeight weight = StackWeight::cpu;
  /// Of the base, such as StepChange::base_ns. Not used if a run has no steps.
  std::optional<double> step_ns = {};
};

/// Means of the runs' means per step, rounded so that sums are exact. Siblings are the same frame
/// if their texts are equal. Of the others, those with the same function in the same file are, if
/// both sides have as many of them: only the line differs, and they are matched in the order of
/// their lines. Fails without runs on a side. Pure; the same bits on every machine.
Result<FlameDifference> flame_difference(std::span<const RunStacks> base,
                                         std::span<const RunStacks> changed,
                                         const FlameDifferenceOptions& options = {});

/// The weight to look at first: device time, if it changed at least half as much as the host's.
StackWeight telling_weight(const FlameDifference& cpu, const FlameDifference& device);

struct DifferenceSvgOptions {
  std::string title = "What changed";
  std::vector<std::string> subtitles = {};  ///< lines of their own
  /// px, from 200 to 100,000. Without it as wide as the window of a browser that shows the file,
  /// and 1200 px wide elsewhere.
  std::optional<int> width = {};
  bool inverted = true;  ///< the root on top (icicle) instead of at the bottom
};

/// One self-contained SVG with zoom and search, for any browser, without network access. A frame is
/// as wide as the longer of its two own times and the frames that it calls, so that those that are
/// gone have their place. The colour says how its own time changed. It has the 200,000 widest
/// frames, and says how many more there are. Without scripts it is a still picture of the 5000
/// widest. Fails for a width out of range.
Result<std::string> difference_svg(const FlameDifference& difference,
                                   const DifferenceSvgOptions& options = {});

}  // namespace tbtrace
