#include "snapshots/free_memory.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tbtrace::snapshots {
namespace {

/// Ranges of addresses, which entries are undone on.
class Ranges {
 public:
  void add(const ReservedRange& range) { ranges_.insert_or_assign(range.address, range); }

  /// Expandable ranges that meet are one; entries may not say the pool.
  void join() {
    for (auto each = ranges_.begin(); each != ranges_.end();) {
      const auto next = std::next(each);
      ReservedRange& range = each->second;
      const bool is_one =
          next != ranges_.end() && range.is_expandable && next->second.is_expandable &&
          end_of(range) == next->first &&
          (range.pool == next->second.pool || range.pool == 0 || next->second.pool == 0);
      if (is_one) {
        range.size += next->second.size;
        range.pool = std::max(range.pool, next->second.pool);
        ranges_.erase(next);
      } else {
        each = next;
      }
    }
  }

  void remove(std::uint64_t from, std::int64_t size) {
    const std::uint64_t to = from + static_cast<std::uint64_t>(size);
    auto each = ranges_.upper_bound(from);
    if (each != ranges_.begin()) --each;
    while (each != ranges_.end() && each->first < to) {
      const ReservedRange range = each->second;
      if (end_of(range) <= from) {
        ++each;
        continue;
      }
      each = ranges_.erase(each);
      if (range.address < from) {
        ReservedRange before = range;
        before.size = static_cast<std::int64_t>(from - range.address);
        add(before);
      }
      if (end_of(range) > to) {
        ReservedRange after = range;
        after.address = to;
        after.size = static_cast<std::int64_t>(end_of(range) - to);
        add(after);
      }
    }
  }

  std::vector<ReservedRange> list() const {
    std::vector<ReservedRange> all;
    all.reserve(ranges_.size());
    for (const auto& [address, range] : ranges_) all.push_back(range);
    return all;
  }

 private:
  static std::uint64_t end_of(const ReservedRange& range) {
    return range.address + static_cast<std::uint64_t>(range.size);
  }

  std::map<std::uint64_t, ReservedRange> ranges_;
};

/// Of ranges that do not have them: by the last entry that reserved their beginning.
void find_stacks(const DeviceReplay& replay, Moment moment, std::vector<ReservedRange>& ranges) {
  const Entries& entries = replay.data().entries;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;
  for (Moment place = 0; place < moment; ++place) {
    const std::uint32_t row = replay.row(place);
    const Action action = entries.action[row];
    if (action == Action::segment_alloc || action == Action::segment_map) {
      stacks[entries.address[row]] = entries.stack[row];
    }
  }
  for (ReservedRange& range : ranges) {
    if (const auto found = stacks.find(range.address); range.stack == 0 && found != stacks.end()) {
      range.stack = found->second;
    }
  }
}

std::vector<ReservedRange> ranges_at(const DeviceReplay& replay, Moment moment) {
  const SnapshotData& data = replay.data();
  const Entries& entries = data.entries;
  Ranges ranges;
  for (const std::uint32_t number : replay.segments()) {
    const Segment& segment = data.segments[number];
    ranges.add({segment.address, segment.size, segment.stream, segment.pool, segment.is_small,
                segment.is_expandable, segment.stack});
  }
  for (Moment place = replay.end(); place-- > moment;) {
    const std::uint32_t row = replay.row(place);
    const Action action = entries.action[row];
    if (action == Action::segment_alloc || action == Action::segment_map) {
      ranges.remove(entries.address[row], entries.size[row]);
    } else if (action == Action::segment_free || action == Action::segment_unmap) {
      ranges.add({entries.address[row], entries.size[row], entries.stream[row], entries.pool[row],
                  entries.size[row] <= kSmallSegment, action == Action::segment_unmap});
    }
  }
  ranges.join();
  std::vector<ReservedRange> all = ranges.list();
  find_stacks(replay, moment, all);
  return all;
}

}  // namespace

std::int64_t block_bytes(const DeviceReplay& replay, const Allocation& allocation) {
  if (allocation.block != kNone) return replay.data().blocks[allocation.block].size;
  return replay.rounding().block_bytes(replay.size(allocation));
}

std::int64_t ReservedMemory::reserved_bytes() const {
  std::int64_t bytes = 0;
  for (const ReservedRange& range : ranges) bytes += range.size;
  return bytes;
}

std::int64_t ReservedMemory::free_bytes() const {
  std::int64_t bytes = 0;
  for (const Gap& gap : gaps) bytes += gap.size;
  return bytes;
}

std::optional<ReservedMemory> reserved_memory(const DeviceReplay& replay, Moment moment) {
  if (!replay.data().has_segments || replay.data().is_cut) return std::nullopt;
  ReservedMemory memory;
  memory.ranges = ranges_at(replay, moment);
  memory.allocations.resize(memory.ranges.size());
  struct Used {
    std::uint64_t address;
    std::uint64_t end;
    std::uint32_t allocation;
  };
  std::vector<Used> used;
  for (std::uint32_t each = 0; each < replay.allocations().size(); ++each) {
    const Allocation& allocation = replay.allocations()[each];
    if (!DeviceReplay::is_alive(allocation, moment)) continue;
    const std::uint64_t address = replay.address(allocation);
    used.push_back(
        {address, address + static_cast<std::uint64_t>(block_bytes(replay, allocation)), each});
  }
  std::ranges::sort(used, {}, &Used::address);
  std::size_t next = 0;
  std::uint64_t used_to = 0;  // blocks may reach into the next range
  for (std::uint32_t number = 0; number < memory.ranges.size(); ++number) {
    const ReservedRange& range = memory.ranges[number];
    const std::uint64_t end = range.address + static_cast<std::uint64_t>(range.size);
    for (; next < used.size() && used[next].address < range.address; ++next) {
      used_to = std::max(used_to, used[next].end);
    }
    std::uint64_t free_from = std::clamp(used_to, range.address, end);
    for (; next < used.size() && used[next].address < end; ++next) {
      if (used[next].address > free_from) {
        memory.gaps.push_back({static_cast<std::int64_t>(used[next].address - free_from), number});
      }
      used_to = std::max(used_to, used[next].end);
      free_from = std::max(free_from, std::min(used[next].end, end));
      memory.allocations[number].push_back(used[next].allocation);
    }
    if (end > free_from)
      memory.gaps.push_back({static_cast<std::int64_t>(end - free_from), number});
  }
  return memory;
}

}  // namespace tbtrace::snapshots
