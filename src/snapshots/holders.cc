#include "snapshots/holders.h"

#include <algorithm>
#include <map>

namespace tbtrace::snapshots {

std::string Grouping::line(const Allocation& allocation) {
  const std::uint32_t stack = replay_.stack(allocation);
  if (const std::string& own = origins_.own_line(stack); !own.empty()) return own;
  if (allocation.start == kNone) return stack == 0 ? kBefore : kUnattributed;
  // Memory that a backward allocates belongs to the line of its forward.
  const std::uint32_t forward = replay_.data().entries.forward[replay_.row(allocation.start)];
  const std::string& of_forward = origins_.own_line(forward);
  return of_forward.empty() ? kUnattributed : of_forward;
}

std::string Grouping::pool(std::uint32_t pool) const {
  if (pool == 0) return "";
  if (pool == SnapshotData::kDefaultPool) return "default";
  const auto& [first, second] = replay_.data().pools[pool];
  return "(" + std::to_string(first) + ", " + std::to_string(second) + ")";
}

HolderKey Grouping::key(const Allocation& allocation) {
  HolderKey key;
  const bool is_before = allocation.start == kNone && replay_.stack(allocation) == 0;
  if (by_.line) key.line = line(allocation);
  if (by_.category) key.category = std::string(categories_.of(allocation));
  if (by_.stack) {
    key.stack = origins_.stack_text(replay_.stack(allocation));
    if (key.stack->empty()) key.stack = is_before ? kBefore : kUnattributed;
  }
  if (by_.size) key.size = replay_.size(allocation);
  if (by_.stream) {
    const std::uint32_t stream = replay_.stream(allocation);
    if (stream != 0) key.stream = replay_.data().streams[stream];
  }
  if (by_.pool) {
    if (std::string name = pool(replay_.pool(allocation)); !name.empty())
      key.pool = std::move(name);
  }
  return key;
}

std::vector<Holder> holders_at(const DeviceReplay& replay, Grouping& grouping, Moment moment) {
  std::map<HolderKey, Holder> groups;
  for (const Allocation& allocation : replay.allocations()) {
    if (!replay.is_alive(allocation, moment)) continue;
    const std::int64_t bytes = replay.size(allocation);
    Holder& holder = groups[grouping.key(allocation)];
    holder.bytes += bytes;
    holder.pending_bytes += replay.is_pending(allocation, moment) ? bytes : 0;
    ++holder.allocations;
  }
  std::vector<Holder> holders;
  holders.reserve(groups.size());
  for (auto& [key, holder] : groups) {
    holders.push_back(std::move(holder));
    holders.back().key = key;
  }
  std::ranges::stable_sort(holders, std::ranges::greater(), &Holder::bytes);
  return holders;
}

}  // namespace tbtrace::snapshots
