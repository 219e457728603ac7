#include "snapshots/keepers.h"

#include <algorithm>
#include <map>

namespace tbtrace::snapshots {

const Allocation* keeper_of(const DeviceReplay& replay, const ReservedMemory& memory,
                            std::size_t range) {
  const Allocation* keeper = nullptr;
  for (const std::uint32_t each : memory.allocations[range]) {
    const Allocation& allocation = replay.allocations()[each];
    if (keeper == nullptr || replay.size(allocation) > replay.size(*keeper)) keeper = &allocation;
  }
  return keeper;
}

std::vector<Keeper> keepers_of(const DeviceReplay& replay, const ReservedMemory& memory,
                               Grouping& grouping,
                               const std::function<bool(const ReservedRange&)>& counts) {
  std::vector<std::int64_t> free(memory.ranges.size(), 0);
  for (const Gap& gap : memory.gaps) free[gap.range] += gap.size;
  std::map<std::string, Keeper> by_line;
  for (std::size_t range = 0; range < free.size(); ++range) {
    if (free[range] == 0 || !counts(memory.ranges[range])) continue;
    std::map<std::string, std::int64_t> held;  // by line
    for (const std::uint32_t each : memory.allocations[range]) {
      const Allocation& allocation = replay.allocations()[each];
      held[grouping.line(allocation)] += replay.size(allocation);
    }
    const auto most =
        std::ranges::max_element(held, {}, [](const auto& line) { return line.second; });
    if (most == held.end()) continue;
    Keeper& keeper = by_line[most->first];
    ++keeper.segments;
    keeper.free_bytes += free[range];
    keeper.bytes += most->second;
  }
  std::vector<Keeper> keepers;
  for (auto& [line, keeper] : by_line) {
    keepers.push_back(keeper);
    keepers.back().line = line;
  }
  std::ranges::stable_sort(keepers, std::ranges::greater(), &Keeper::free_bytes);
  return keepers;
}

std::optional<Keeper> keeper_at(const DeviceReplay& replay, const Failure& failure,
                                Grouping& grouping) {
  if (failure.cause != FailureCause::fragmented) return std::nullopt;
  const auto memory = reserved_memory(replay, failure.place);
  if (!memory) return std::nullopt;
  const std::vector<Keeper> keepers =
      keepers_of(replay, *memory, grouping, [&](const ReservedRange& range) {
        return is_by_other_class(failure) ? is_other_class(replay, failure, range)
                                          : could_use(replay, failure, range);
      });
  return keepers.empty() ? std::nullopt : std::optional(keepers.front());
}

std::vector<PrivatePool> private_pools(const ReservedMemory& memory, Origins& origins) {
  struct Sums {
    PrivatePool pool;
    std::map<std::string, std::int64_t> lines;
  };
  std::map<std::uint32_t, Sums> sums;
  for (const ReservedRange& range : memory.ranges) {
    if (range.pool <= SnapshotData::kDefaultPool) continue;
    Sums& of_pool = sums[range.pool];
    of_pool.pool.pool = range.pool;
    of_pool.pool.reserved_bytes += range.size;
    const std::string& line = origins.own_line(range.stack);
    if (!line.empty()) of_pool.lines[line] += range.size;
  }
  for (const Gap& gap : memory.gaps) {
    const auto found = sums.find(memory.ranges[gap.range].pool);
    if (found != sums.end()) found->second.pool.free_bytes += gap.size;
  }
  std::vector<PrivatePool> pools;
  for (auto& [number, of_pool] : sums) {
    const auto most =
        std::ranges::max_element(of_pool.lines, {}, [](const auto& each) { return each.second; });
    if (most != of_pool.lines.end()) of_pool.pool.line = most->first;
    pools.push_back(std::move(of_pool.pool));
  }
  std::ranges::stable_sort(pools, std::ranges::greater(), &PrivatePool::reserved_bytes);
  return pools;
}

}  // namespace tbtrace::snapshots
