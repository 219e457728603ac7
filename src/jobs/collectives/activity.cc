#include "jobs/collectives/activity.h"

#include <cstddef>
#include <cstdint>

#include "base/bounded_sum.h"

namespace tbtrace {

std::vector<ActivityRun> jobs::activity_within(std::span<const RangeLengths> lengths,
                                               TimeRange window) {
  std::vector<ActivityRun> runs;
  const auto border = [&](std::uint16_t part) {
    const WideInteger duration = WideInteger{window.end} - window.start;
    return bounded(window.start + duration * part / kActivityParts);
  };
  for (std::uint16_t part = 0; part < kActivityParts; ++part) {
    const TimeRange time = {border(part), border(static_cast<std::uint16_t>(part + 1))};
    if (time.end <= time.start) continue;  // shorter than a part is 1 ns
    RankTime most = RankTime::unknown;
    std::int64_t longest = 0;
    for (std::size_t kind = 0; kind < lengths.size(); ++kind) {
      const std::int64_t length = lengths[kind].within(time);
      if (length <= longest) continue;
      longest = length;
      most = static_cast<RankTime>(kind);
    }
    if (runs.empty() || runs.back().time != most) runs.push_back({.end = 0, .time = most});
    runs.back().end = static_cast<std::uint16_t>(part + 1);
  }
  return runs;
}

}  // namespace tbtrace
