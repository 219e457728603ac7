#include "snapshots/growth.h"

#include <algorithm>
#include <map>

namespace tbtrace::snapshots {
namespace {

/// The moment after the last entry at or before a time.
Moment moment_at(const DeviceReplay& replay, std::int64_t time_us) {
  const Entries& entries = replay.data().entries;
  Moment low = 0;
  Moment high = replay.end();
  while (low < high) {
    const Moment middle = low + (high - low) / 2;
    if (entries.time_us[replay.row(middle)] <= time_us) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::vector<Moment> ends_of_ranges(const DeviceReplay& replay, std::string_view prefix) {
  const SnapshotData& data = replay.data();
  std::vector<Moment> moments;
  for (const Annotation& annotation : data.annotations) {
    if (!annotation.is_end || annotation.device != replay.device()) continue;
    if (!data.texts[annotation.name].starts_with(prefix)) continue;
    // What was held before the first entry is not known.
    const Moment moment = moment_at(replay, annotation.time_us);
    if (moment > 0) moments.push_back(moment);
  }
  return moments;
}

/// Where allocations of an optimizer are followed by others.
std::vector<Moment> ends_of_optimizers(const DeviceReplay& replay, Origins& origins) {
  const Entries& entries = replay.data().entries;
  std::vector<Moment> moments;
  bool was_in = false;
  std::uint32_t place = 0;
  replay.trace().for_each([&](std::uint32_t row) {
    const std::uint32_t here = place++;
    if (entries.action[row] != Action::alloc) return;
    const bool is_in = origins.signs(entries.stack[row]).doing == Doing::optimizer;
    if (was_in && !is_in) moments.push_back(here);
    was_in = is_in;
  });
  return moments;
}

}  // namespace

StepEnds step_ends(const DeviceReplay& replay, Origins& origins) {
  constexpr std::size_t kLeast = 2;
  for (const std::string_view name : {"ProfilerStep#", "Optimizer.step#"}) {
    StepEnds ends = {ends_of_ranges(replay, name), name.substr(0, name.size() - 1)};
    if (ends.moments.size() < kLeast) continue;
    std::ranges::sort(ends.moments);
    return ends;
  }
  StepEnds ends = {ends_of_optimizers(replay, origins), "optimizer frames"};
  return ends.moments.size() < kLeast ? StepEnds() : ends;
}

std::int64_t mean_difference(std::span<const std::int64_t> values) {
  if (values.size() < 2) return 0;
  return (values.back() - values.front()) / static_cast<std::int64_t>(values.size() - 1);
}

std::vector<Growth> growth_of(const DeviceReplay& replay, Grouping& grouping,
                              const StepEnds& steps) {
  const std::vector<Moment>& moments = steps.moments;
  // What each group gains and loses between the ends of steps.
  std::vector<std::vector<std::int64_t>> groups;
  const auto first_end_with = [&](std::uint32_t place) {
    return static_cast<std::size_t>(std::ranges::upper_bound(moments, place) - moments.begin());
  };
  for (const Allocation& allocation : replay.allocations()) {
    const std::size_t from = allocation.start == kNone ? 0 : first_end_with(allocation.start);
    const std::size_t to =
        allocation.freed == kNone ? moments.size() : first_end_with(allocation.freed);
    if (from >= to) continue;
    const std::uint32_t number = grouping.number(allocation);
    if (groups.size() <= number) groups.resize(number + 1);
    std::vector<std::int64_t>& at_ends = groups[number];
    at_ends.resize(moments.size() + 1, 0);
    at_ends[from] += replay.size(allocation);
    at_ends[to] -= replay.size(allocation);
  }
  std::vector<Growth> all;
  for (std::uint32_t number = 0; number < groups.size(); ++number) {
    std::vector<std::int64_t>& at_ends = groups[number];
    if (at_ends.empty()) continue;  // of another moment
    at_ends.pop_back();
    std::int64_t total = 0;
    for (std::int64_t& bytes : at_ends) bytes = total += bytes;
    Growth growth;
    growth.key = grouping.key(number);
    growth.first_bytes = at_ends.front();
    growth.last_bytes = at_ends.back();
    growth.steps = static_cast<std::int64_t>(at_ends.size());
    std::size_t since = at_ends.size() - 1;
    while (since > 0 && at_ends[since - 1] <= at_ends[since]) --since;
    while (since + 1 < at_ends.size() && at_ends[since] == at_ends[since + 1]) ++since;
    growth.since_step = static_cast<std::int64_t>(since + 1);
    std::size_t first_rise = 0;
    std::size_t before = 0;  // the step of the rise before
    for (std::size_t each = 1; each < at_ends.size(); ++each) {
      growth.falls += at_ends[each] < at_ends[each - 1] ? 1 : 0;
      if (at_ends[each] <= at_ends[each - 1]) continue;
      ++growth.rises;
      growth.since_rise = static_cast<std::int64_t>(at_ends.size() - 1 - each);
      if (first_rise == 0) {
        first_rise = each;
      } else {
        const auto pause = static_cast<std::int64_t>(each - before);
        growth.longest_pause = std::max(growth.longest_pause, pause);
        growth.shortest_pause = growth.rises == 2 ? pause : std::min(growth.shortest_pause, pause);
      }
      before = each;
    }
    const std::span<const std::int64_t> values(at_ends);
    growth.per_step_bytes = mean_difference(
        growth.is_steady() ? values.subspan(first_rise, before - first_rise + 1) : values);
    if (growth.last_bytes > growth.first_bytes) all.push_back(std::move(growth));
  }
  std::ranges::sort(all, [](const Growth& one, const Growth& other) {
    const auto gained = [](const Growth& growth) { return growth.last_bytes - growth.first_bytes; };
    const auto order_one = std::pair(one.per_step_bytes, gained(one));
    const auto order_other = std::pair(other.per_step_bytes, gained(other));
    return order_one != order_other ? order_one > order_other : one.key < other.key;
  });
  return all;
}

}  // namespace tbtrace::snapshots
