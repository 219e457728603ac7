#include "jobs/collectives/activity.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

class ActivityRuns {
 public:
  ActivityRuns(std::span<const RangeLengths> lengths, TimeRange window)
      : lengths_(lengths), window_(window) {}

  /// Adds the parts from `first` to `last`, which is the one after. Where one kind fills them all,
  /// they are not looked at one by one.
  void add(std::uint16_t first, std::uint16_t last) {
    const TimeRange time = {border(first), border(last)};
    if (time.end <= time.start) return;  // shorter than 1 ns
    RankTime most = RankTime::unknown;
    std::int64_t longest = 0;
    bool is_empty = true;
    for (std::size_t kind = 0; kind < lengths_.size(); ++kind) {
      const std::int64_t length = lengths_[kind].within(time);
      is_empty = is_empty && length == 0;
      if (length <= longest) continue;
      longest = length;
      most = static_cast<RankTime>(kind);
    }
    if (last - first > 1 && !is_empty && longest < time.end - time.start) {
      const auto middle = static_cast<std::uint16_t>((first + last) / 2);
      add(first, middle);
      add(middle, last);
      return;
    }
    if (runs_.empty() || runs_.back().time != most) runs_.push_back({.end = 0, .time = most});
    runs_.back().end = last;
  }

  std::vector<ActivityRun> take() { return std::move(runs_); }

 private:
  std::int64_t border(std::uint16_t part) const {
    const WideInteger duration = WideInteger{window_.end} - window_.start;
    return bounded(window_.start + duration * part / kActivityParts);
  }

  std::span<const RangeLengths> lengths_;  // by RankTime
  TimeRange window_;
  std::vector<ActivityRun> runs_;
};

}  // namespace

std::vector<ActivityRun> jobs::activity_within(std::span<const RangeLengths> lengths,
                                               TimeRange window) {
  ActivityRuns runs(lengths, window);
  runs.add(0, kActivityParts);
  return runs.take();
}

}  // namespace tbtrace
