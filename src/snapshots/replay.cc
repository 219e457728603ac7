#include "snapshots/replay.h"

#include <algorithm>
#include <set>

#include "base/id_map.h"

namespace tbtrace::snapshots {
namespace {

const RowList kNoRows;

constexpr std::uint32_t kEnded = kNone - 1;

/// What a segment's entry adds to the reserved bytes.
std::int64_t reserved_by(const Entries& entries, std::uint32_t row) {
  switch (entries.action[row]) {
    case Action::segment_alloc:
    case Action::segment_map:
      return entries.size[row];
    case Action::segment_free:
    case Action::segment_unmap:
      return -entries.size[row];
    default:
      return 0;
  }
}

}  // namespace

DeviceReplay::DeviceReplay(const SnapshotData& data, std::int64_t device)
    : data_(&data),
      device_(device),
      rounding_(data.settings),
      trace_(device >= 0 && static_cast<std::size_t>(device) < data.traces.size()
                 ? &data.traces[static_cast<std::size_t>(device)]
                 : &kNoRows) {
  find_segments();
  replay();
  take_blocks();
  find_peak();
}

void DeviceReplay::find_segments() {
  for (std::uint32_t segment = 0; segment < data_->segments.size(); ++segment) {
    if (data_->segments[segment].device == device_) segments_.push_back(segment);
  }
  std::ranges::sort(segments_, {},
                    [&](std::uint32_t each) { return data_->segments[each].address; });
}

bool DeviceReplay::has_pending_blocks() const {
  bool any = false;
  for (const std::uint32_t segment : segments_) {
    data_->segments[segment].blocks.for_each(
        [&](std::uint32_t row) { any = any || data_->blocks[row].state == BlockState::pending; });
  }
  return any;
}

void DeviceReplay::replay() {
  const Entries& entries = data_->entries;
  bool any_requested = false;
  bool any_completed = false;
  trace_->for_each([&](std::uint32_t row) {
    any_requested = any_requested || entries.action[row] == Action::free_requested;
    any_completed = any_completed || entries.action[row] == Action::free_completed;
  });
  // A block that waits shows that memory is not free when that is asked for.
  frees_are_requests_ = any_requested && !any_completed && !has_pending_blocks();
  IdMap live;  // by address
  std::uint32_t place = 0;
  trace_->for_each([&](std::uint32_t row) {
    const std::uint32_t here = place++;
    const Action action = entries.action[row];
    if (action == Action::oom) out_of_memory_.push_back(here);
    const bool is_free = action == Action::free_requested || action == Action::free_completed;
    if (action != Action::alloc && !is_free) return;
    const auto address = static_cast<std::int64_t>(entries.address[row]);
    const auto next = static_cast<std::uint32_t>(allocations_.size());
    if (action == Action::alloc) {
      const std::uint32_t before = live.replace(address, next);
      if (before < kEnded) {
        allocations_[before].freed = here;
        ++replaced_;
      }
      allocations_.push_back({.start = here});
      return;
    }
    std::uint32_t allocation = live.find(address);
    if (allocation >= kEnded) {  // it is from before the recording
      allocation = next;
      allocations_.push_back({});
      live.replace(address, next);
    }
    if (action == Action::free_requested) allocations_[allocation].requested = here;
    if (action == Action::free_completed || frees_are_requests_) {
      allocations_[allocation].freed = here;
      live.replace(address, kEnded);
    }
  });
  for (std::uint32_t allocation = 0; allocation < allocations_.size(); ++allocation) {
    if (allocations_[allocation].freed != kNone) continue;
    at_end_.emplace_back(address(allocations_[allocation]), allocation);
  }
  std::ranges::sort(at_end_);
}

/// Blocks that the trace did not allocate are from before the recording. Where the trace is cut,
/// its end is not that of the blocks.
void DeviceReplay::take_blocks() {
  if (!data_->has_segments || data_->is_cut) return;
  std::vector<bool> is_found(at_end_.size(), false);
  for (const std::uint32_t number : segments_) {
    const Segment& segment = data_->segments[number];
    segment.blocks.for_each([&](std::uint32_t row) {
      const Block& block = data_->blocks[row];
      if (block.state == BlockState::inactive) return;
      const auto found = std::ranges::lower_bound(at_end_, block.address, {},
                                                  &std::pair<std::uint64_t, std::uint32_t>::first);
      if (found != at_end_.end() && found->first == block.address) {
        allocations_[found->second].block = row;
        is_found[static_cast<std::size_t>(found - at_end_.begin())] = true;
      } else {
        allocations_.push_back({.block = row});
      }
    });
  }
  for (std::size_t each = 0; each < at_end_.size(); ++each) {
    if (!is_found[each]) missing_at_end_bytes_ += size(allocations_[at_end_[each].second]);
  }
  at_end_ = {};
}

void DeviceReplay::find_peak() {
  for (const Allocation& allocation : allocations_) {
    if (allocation.start == kNone) before_bytes_ += size(allocation);
  }
  peak_bytes_ = before_bytes_;
  const std::vector<std::int64_t> curve = allocated_curve();
  for (std::size_t place = 0; place < curve.size(); ++place) {
    if (curve[place] <= peak_bytes_) continue;
    peak_bytes_ = curve[place];
    peak_ = static_cast<Moment>(place + 1);
  }
}

bool DeviceReplay::has_beginning() const {
  const bool is_overflowed = std::ranges::any_of(data_->settings, [](const auto& setting) {
    return setting.first == "trace_alloc_overflowed" && setting.second == "True";
  });
  return !is_overflowed && before_bytes_ == 0 && reserved_at(0).value_or(0) == 0;
}

bool DeviceReplay::is_pending(const Allocation& allocation, Moment moment) const {
  if (!is_alive(allocation, moment)) return false;
  if (allocation.requested != kNone) return allocation.requested < moment;
  return allocation.block != kNone && data_->blocks[allocation.block].state == BlockState::pending;
}

std::uint32_t DeviceReplay::entry_row(const Allocation& allocation) const {
  for (const std::uint32_t place : {allocation.start, allocation.requested, allocation.freed}) {
    if (place != kNone) return row(place);
  }
  return kNone;
}

std::int64_t DeviceReplay::size(const Allocation& allocation) const {
  const std::uint32_t entry = entry_row(allocation);
  if (entry != kNone) return data_->entries.size[entry];
  return data_->blocks[allocation.block].requested;
}

std::uint64_t DeviceReplay::address(const Allocation& allocation) const {
  const std::uint32_t entry = entry_row(allocation);
  if (entry != kNone) return data_->entries.address[entry];
  return data_->blocks[allocation.block].address;
}

/// Of a free it would be the stack of who freed it.
std::uint32_t DeviceReplay::stack(const Allocation& allocation) const {
  if (allocation.start != kNone) return data_->entries.stack[row(allocation.start)];
  return allocation.block == kNone ? 0 : data_->blocks[allocation.block].stack;
}

std::uint32_t DeviceReplay::stream(const Allocation& allocation) const {
  const std::uint32_t entry = entry_row(allocation);
  if (entry != kNone) return data_->entries.stream[entry];
  const Segment* const segment = segment_at(address(allocation));
  return segment == nullptr ? 0 : segment->stream;
}

std::uint32_t DeviceReplay::pool(const Allocation& allocation) const {
  const std::uint32_t entry = entry_row(allocation);
  if (entry != kNone && data_->entries.pool[entry] != 0) return data_->entries.pool[entry];
  const Segment* const segment = segment_at(address(allocation));
  return segment == nullptr ? 0 : segment->pool;
}

const Segment* DeviceReplay::segment_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(
      segments_, address, {}, [&](std::uint32_t each) { return data_->segments[each].address; });
  if (after == segments_.begin()) return nullptr;
  const Segment& segment = data_->segments[*(after - 1)];
  const bool is_inside = address - segment.address < static_cast<std::uint64_t>(segment.size);
  return is_inside ? &segment : nullptr;
}

std::vector<std::int64_t> DeviceReplay::allocated_curve() const {
  std::vector<std::int64_t> curve(trace_->size(), 0);
  for (const Allocation& allocation : allocations_) {
    const std::int64_t bytes = size(allocation);
    if (allocation.start != kNone) curve[allocation.start] += bytes;
    if (allocation.freed != kNone) curve[allocation.freed] -= bytes;
  }
  std::int64_t total = before_bytes_;
  for (std::int64_t& point : curve) point = total += point;
  return curve;
}

std::int64_t DeviceReplay::allocated_at(Moment moment) const {
  std::int64_t bytes = 0;
  for (const Allocation& allocation : allocations_) {
    if (is_alive(allocation, moment)) bytes += size(allocation);
  }
  return bytes;
}

std::vector<std::int64_t> DeviceReplay::reserved_curve() const {
  std::vector<std::int64_t> curve;
  if (!data_->has_segments || data_->is_cut) return curve;
  std::int64_t total = 0;
  for (const std::uint32_t segment : segments_) total += data_->segments[segment].size;
  curve.reserve(trace_->size());
  trace_->for_each([&](std::uint32_t row) {
    const std::int64_t added = reserved_by(data_->entries, row);
    curve.push_back(added);
    total -= added;
  });
  for (std::int64_t& point : curve) point = total += point;
  return curve;
}

std::optional<std::int64_t> DeviceReplay::reserved_at(Moment moment) const {
  if (!data_->has_segments || data_->is_cut) return std::nullopt;
  std::int64_t total = 0;
  for (const std::uint32_t segment : segments_) total += data_->segments[segment].size;
  std::uint32_t place = 0;
  trace_->for_each([&](std::uint32_t row) {
    if (place++ >= moment) total -= reserved_by(data_->entries, row);
  });
  return total;
}

std::vector<DeviceReplay> replays_of(const SnapshotData& data) {
  std::set<std::int64_t> devices;
  for (const Segment& segment : data.segments) devices.insert(segment.device);
  for (std::size_t device = 0; device < data.traces.size(); ++device) {
    if (data.traces[device].size() > 0) devices.insert(static_cast<std::int64_t>(device));
  }
  std::vector<DeviceReplay> replays;
  replays.reserve(devices.size());
  for (const std::int64_t device : devices) replays.emplace_back(data, device);
  return replays;
}

}  // namespace tbtrace::snapshots
