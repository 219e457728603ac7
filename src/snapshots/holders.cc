#include "snapshots/holders.h"

#include <algorithm>
#include <utility>

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

std::uint32_t Grouping::number(const Allocation& allocation) {
  Facts facts;
  facts.stack = by_.line || by_.stack ? replay_.stack(allocation) : 0;
  facts.forward = by_.line && allocation.start != kNone
                      ? replay_.data().entries.forward[replay_.row(allocation.start)]
                      : 0;
  facts.is_before = allocation.start == kNone;
  if (by_.category) facts.category = categories_.of(allocation);
  if (by_.size) facts.size = replay_.size(allocation);
  if (by_.stream) facts.stream = replay_.stream(allocation);
  if (by_.pool) facts.pool = replay_.pool(allocation);
  const auto known = numbers_.find(facts);
  if (known != numbers_.end()) return known->second;
  const auto next = static_cast<std::uint32_t>(keys_.size());
  const auto [key, is_new] = by_key_.emplace(make_key(allocation, facts.category), next);
  if (is_new) keys_.push_back(&key->first);
  numbers_.emplace(facts, key->second);
  return key->second;
}

HolderKey Grouping::make_key(const Allocation& allocation, std::string_view category) {
  HolderKey key;
  const bool is_before = allocation.start == kNone && replay_.stack(allocation) == 0;
  if (by_.line) key.line = line(allocation);
  if (by_.category) key.category = std::string(category);
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
  std::vector<Holder> groups;
  for (const Allocation& allocation : replay.allocations()) {
    if (!DeviceReplay::is_alive(allocation, moment)) continue;
    const std::int64_t bytes = replay.size(allocation);
    const std::uint32_t number = grouping.number(allocation);
    if (groups.size() <= number) groups.resize(number + 1);
    Holder& holder = groups[number];
    holder.bytes += bytes;
    holder.pending_bytes += replay.is_pending(allocation, moment) ? bytes : 0;
    ++holder.allocations;
  }
  for (std::uint32_t number = 0; number < groups.size(); ++number) {
    groups[number].key = grouping.key(number);
  }
  std::erase_if(groups, [](const Holder& holder) { return holder.allocations == 0; });
  std::ranges::sort(groups, [](const Holder& one, const Holder& other) {
    return one.bytes != other.bytes ? one.bytes > other.bytes : one.key < other.key;
  });
  return groups;
}

}  // namespace tbtrace::snapshots
