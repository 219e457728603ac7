#include "trace/launch_search.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tbtrace {
namespace {

/// Votes of a device's tracks for processes.
class Votes {
 public:
  void add(std::uint32_t scope) { ++counts_[scope]; }
  bool empty() const { return counts_.empty(); }

  /// The process with the most votes; the first in a tie. Without a clear majority, preferably one
  /// that is not in `taken`.
  std::uint32_t winner(const std::vector<bool>& taken) const {
    std::size_t all = 0;
    for (const auto& [scope, count] : counts_) all += count;
    const auto [first, votes] = most([](std::uint32_t) { return true; });
    if (5 * votes >= 3 * all) return first;
    const std::uint32_t free = most([&](std::uint32_t scope) { return !taken[scope]; }).first;
    return free != ProcessScopes::kUnknown ? free : first;
  }

 private:
  template <typename Test>
  std::pair<std::uint32_t, std::size_t> most(Test test) const {
    std::pair<std::uint32_t, std::size_t> best = {ProcessScopes::kUnknown, 0};
    for (const auto& [scope, count] : counts_) {
      if (test(scope) && count > best.second) best = {scope, count};
    }
    return best;
  }

  std::map<std::uint32_t, std::size_t> counts_;
};

}  // namespace

LaunchSearch::LaunchSearch(const Trace& trace, ProcessScopes& scopes,
                           std::span<const EventId> calls, std::span<const EventId> work)
    : trace_(trace), scopes_(scopes) {
  sort_calls(calls);
  sort_work(work);
  find_neighbours();
  assign_devices(work);
}

void LaunchSearch::sort_calls(std::span<const EventId> calls) {
  for (const EventId event : calls) {
    const std::int64_t correlation = trace_.correlation(event);
    if (correlation == 0) continue;
    by_start_.push_back({correlation, scopes_.of(trace_.events().track(event)),
                         trace_.events().start_ns(event), event});
  }
  std::stable_sort(by_start_.begin(), by_start_.end(), [](const Call& a, const Call& b) {
    return std::pair(a.correlation, a.start_ns) < std::pair(b.correlation, b.start_ns);
  });
  for (std::uint32_t row = 0; row < by_start_.size(); ++row) {
    const bool goes_on = row > 0 && by_start_[row].correlation == by_start_[row - 1].correlation &&
                         by_start_[row].scope == by_start_[row - 1].scope;
    run_start_.push_back(goes_on ? run_start_[row - 1] : row);
  }
  by_scope_.append(by_start_.view());
  std::stable_sort(by_scope_.begin(), by_scope_.end(), [](const Call& a, const Call& b) {
    return std::pair(a.correlation, a.scope) < std::pair(b.correlation, b.scope);
  });
}

LaunchSearch::Candidates LaunchSearch::candidates(std::int64_t correlation) const {
  const auto of_correlation = [&](const Column<Call>& calls) {
    const auto found = std::equal_range(
        calls.begin(), calls.end(), Call{.correlation = correlation},
        [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
    return std::span<const Call>(found.first, found.second);
  };
  return {of_correlation(by_scope_), of_correlation(by_start_)};
}

/// The first call by a process.
const LaunchSearch::Call* LaunchSearch::of_scope(const Candidates& calls, std::uint32_t scope) {
  const auto found =
      std::lower_bound(calls.by_scope.begin(), calls.by_scope.end(), scope,
                       [](const Call& call, std::uint32_t wanted) { return call.scope < wanted; });
  return found != calls.by_scope.end() && found->scope == scope ? &*found : nullptr;
}

/// The process if all calls that started by then belong to the same one.
std::uint32_t LaunchSearch::only_scope_before(const Candidates& calls, std::int64_t time_ns) const {
  const auto after =
      std::upper_bound(calls.by_start.begin(), calls.by_start.end(), time_ns,
                       [](std::int64_t time, const Call& call) { return time < call.start_ns; });
  if (after == calls.by_start.begin()) return ProcessScopes::kUnknown;
  const Call* const last = &*std::prev(after);
  const auto row = static_cast<std::size_t>(last - by_start_.data());
  const auto first = static_cast<std::size_t>(calls.by_start.data() - by_start_.data());
  return run_start_[row] <= first ? last->scope : ProcessScopes::kUnknown;
}

/// Files that were joined one after another keep the rows of a process and of its work together.
void LaunchSearch::find_neighbours() {
  constexpr std::size_t kMostTurns = 4;  // per process
  const Events& events = trace_.events();
  neighbour_.resize(events.size(), ProcessScopes::kUnknown);
  // The first file shows whether work comes before or after its process's rows.
  const auto tells = [&](std::size_t row) {
    const EventKind kind = trace_.kind(static_cast<EventId>(row));
    return is_of_process(kind) || is_device_work(kind);
  };
  std::size_t first = 0;
  while (first < events.size() && !tells(first)) ++first;
  const bool is_work_first =
      first < events.size() && is_device_work(trace_.kind(static_cast<EventId>(first)));
  std::uint32_t last = ProcessScopes::kUnknown;
  std::size_t turns = 0;
  for (std::size_t step = 0; step < events.size(); ++step) {
    const std::size_t row = is_work_first ? events.size() - 1 - step : step;
    const auto event = static_cast<EventId>(row);
    if (is_of_process(trace_.kind(event))) {
      const std::uint32_t scope = scopes_.of(events.track(event));
      turns += scope != last ? 1 : 0;
      last = scope;
    }
    neighbour_[row] = last;
  }
  is_joined_ = turns <= kMostTurns * scopes_.count() && work_stands_with_calls();
}

/// Whether pieces of work with the same correlation, as many as there are calls from different
/// processes, are mostly next to different processes.
bool LaunchSearch::work_stands_with_calls() const {
  std::size_t same = 0;
  std::size_t different = 0;
  for (std::size_t row = 0; row + 1 < work_.size(); ++row) {
    const EventId work = work_[row].event;
    const EventId next = work_[row + 1].event;
    if (work_[row].correlation != work_[row + 1].correlation) continue;
    if (turn_[index(work)] == kNoTurn || turn_[index(next)] == kNoTurn) continue;
    const Candidates calls = candidates(work_[row].correlation);
    if (calls.by_scope.front().scope == calls.by_scope.back().scope) continue;
    ++(neighbour_[index(work)] == neighbour_[index(next)] ? same : different);
  }
  return same <= different;
}

void LaunchSearch::sort_work(std::span<const EventId> work) {
  for (const EventId event : work) {
    const std::int64_t correlation = trace_.correlation(event);
    if (correlation != 0) work_.push_back({correlation, event});
  }
  std::stable_sort(work_.begin(), work_.end(),
                   [](const Work& a, const Work& b) { return a.correlation < b.correlation; });
  turn_.resize(trace_.events().size(), kNoTurn);
  for (std::size_t first = 0; first < work_.size();) {
    std::size_t last = first;
    while (last < work_.size() && work_[last].correlation == work_[first].correlation) ++last;
    const bool is_one_each = candidates(work_[first].correlation).by_start.size() == last - first;
    for (std::size_t row = first; is_one_each && row < last; ++row) {
      turn_[index(work_[row].event)] = static_cast<std::uint32_t>(row - first);
    }
    first = last;
  }
}

/// A device belongs to the process whose calls its work needs. If several processes used the
/// correlation, those that had not used it before the work began do not count; among the rest, work
/// is assumed to run in launch order.
void LaunchSearch::assign_devices(std::span<const EventId> work) {
  struct Device {
    std::vector<TrackId> tracks;
    Votes sure;
    Votes likely;
  };
  std::map<std::pair<std::int64_t, std::size_t>, std::size_t> numbers;  // by process id
  std::vector<Device> devices;
  for (std::size_t track = 0; track < trace_.tracks().size(); ++track) {
    if (scopes_.of(static_cast<TrackId>(track)) != ProcessScopes::kUnknown) continue;
    const TrackKey& process = trace_.tracks()[track].process;
    const auto [found, added] =
        numbers.try_emplace({process.number, index(process.text)}, devices.size());
    if (added) devices.emplace_back();
    devices[found->second].tracks.push_back(static_cast<TrackId>(track));
  }
  for (const EventId event : work) {
    const Track& track = trace_.track(trace_.events().track(event));
    const auto found = numbers.find({track.process.number, index(track.process.text)});
    if (found == numbers.end()) continue;
    const Candidates calls = candidates(trace_.correlation(event));
    if (calls.by_start.empty()) continue;
    const std::uint32_t only = only_scope_before(calls, trace_.events().start_ns(event));
    if (is_joined_) {
      const std::uint32_t neighbour = neighbour_[index(event)];
      if (neighbour != ProcessScopes::kUnknown) devices[found->second].sure.add(neighbour);
    } else if (only != ProcessScopes::kUnknown) {
      devices[found->second].sure.add(only);
    } else if (turn_[index(event)] != kNoTurn) {
      devices[found->second].likely.add(calls.by_start[turn_[index(event)]].scope);
    }
  }
  std::vector<bool> taken(scopes_.count(), false);
  for (const bool is_sure : {true, false}) {
    for (const Device& device : devices) {
      if (device.sure.empty() == is_sure) continue;
      const std::uint32_t scope = (is_sure ? device.sure : device.likely).winner(taken);
      if (scope == ProcessScopes::kUnknown) continue;
      taken[scope] = true;
      for (const TrackId track : device.tracks) scopes_.assign(track, scope);
    }
  }
}

EventId LaunchSearch::launch_of(EventId work) const {
  const Candidates calls = candidates(trace_.correlation(work));
  if (calls.by_start.empty()) return EventId::none;
  const std::uint32_t own = scopes_.of(trace_.events().track(work));
  const std::uint32_t neighbour = is_joined_ ? neighbour_[index(work)] : ProcessScopes::kUnknown;
  for (const std::uint32_t scope : {neighbour, own}) {
    if (scope == ProcessScopes::kUnknown) continue;
    if (const Call* const call = of_scope(calls, scope)) return call->event;
  }
  const auto after =
      std::upper_bound(calls.by_start.begin(), calls.by_start.end(), trace_.events().start_ns(work),
                       [](std::int64_t time, const Call& call) { return time < call.start_ns; });
  return after == calls.by_start.begin() ? calls.by_start.front().event : std::prev(after)->event;
}

}  // namespace tbtrace
