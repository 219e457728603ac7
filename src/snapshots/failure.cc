#include "snapshots/failure.h"

#include <algorithm>

namespace tbtrace::snapshots {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMostSmall = kMiB;  // kSmallSize of c10

/// The segment that the allocator asks the device for, as get_allocation_size() of c10's
/// CUDACachingAllocator.cpp has it.
std::int64_t segment_bytes(std::int64_t asked) {
  if (asked <= kMostSmall) return 2 * kMiB;
  if (asked < 10 * kMiB) return 20 * kMiB;
  return (asked + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

/// Whether a range is of the pool of the request. Only private pools are sure not to be another.
bool is_its_pool(const DeviceReplay& replay, const Failure& failure, const ReservedRange& range) {
  const std::uint32_t named = replay.data().entries.pool[replay.row(failure.place)];
  return range.pool == 0 || range.pool == (named == 0 ? SnapshotData::kDefaultPool : named);
}

/// A free piece would have served the request, had it been of that pool.
bool has_room(const Failure& failure) {
  return failure.largest_usable_bytes.value_or(0) >= failure.asked_bytes;
}

void take_reserved(const DeviceReplay& replay, Failure& failure) {
  const auto memory = reserved_memory(replay, failure.place);
  if (!memory) return;
  const std::uint32_t stream = replay.data().entries.stream[replay.row(failure.place)];
  std::int64_t largest = 0;
  std::int64_t usable = 0;
  std::int64_t largest_usable = 0;
  std::int64_t in_private = 0;
  std::int64_t of_streams = 0;
  for (const Gap& gap : memory->gaps) {
    const ReservedRange& range = memory->ranges[gap.range];
    largest = std::max(largest, gap.size);
    const bool is_private = range.pool > SnapshotData::kDefaultPool;
    if (!is_its_pool(replay, failure, range)) {
      if (is_private) in_private += gap.size;
    } else if (range.stream != stream) {
      of_streams += gap.size;
    } else {
      failure.own_free_bytes += gap.size;
      if (!could_use(replay, failure, range)) continue;
      usable += gap.size;
      largest_usable = std::max(largest_usable, gap.size);
    }
  }
  std::int64_t private_reserved = 0;
  for (const ReservedRange& range : memory->ranges) {
    if (range.pool > SnapshotData::kDefaultPool) private_reserved += range.size;
    failure.is_expandable = failure.is_expandable || range.is_expandable;
  }
  failure.reserved_bytes = memory->reserved_bytes();
  failure.free_bytes = memory->free_bytes();
  failure.largest_free_bytes = largest;
  failure.usable_free_bytes = usable;
  failure.largest_usable_bytes = largest_usable;
  failure.private_reserved_bytes = private_reserved;
  failure.private_free_bytes = in_private;
  failure.other_streams_free_bytes = of_streams;
  const std::int64_t missing = segment_bytes(failure.asked_bytes) - failure.device_free_bytes;
  // There was room, so something else was in the way.
  if (missing <= 0 || has_room(failure)) return;
  const std::int64_t own = failure.own_free_bytes;
  failure.cause = own >= missing ? FailureCause::fragmented
                  : own + of_streams + failure.pending_bytes >= missing
                      ? FailureCause::other_streams
                  : own + in_private >= missing ? FailureCause::private_pools
                                                : FailureCause::full;
}

}  // namespace

std::string_view cause_name(FailureCause cause) {
  switch (cause) {
    case FailureCause::full:
      return "full";
    case FailureCause::fragmented:
      return "fragmented";
    case FailureCause::other_streams:
      return "other_streams";
    case FailureCause::private_pools:
      return "private_pools";
    case FailureCause::unknown:
      break;
  }
  return "unknown";
}

bool could_use(const DeviceReplay& replay, const Failure& failure, const ReservedRange& range) {
  return is_its_pool(replay, failure, range) &&
         range.stream == replay.data().entries.stream[replay.row(failure.place)] &&
         range.is_small == (failure.asked_bytes <= kMostSmall);
}

std::vector<Failure> failures_of(const DeviceReplay& replay) {
  std::vector<Failure> failures;
  const Entries& entries = replay.data().entries;
  for (const std::uint32_t place : replay.out_of_memory()) {
    Failure failure;
    failure.place = place;
    const std::uint32_t row = replay.row(place);
    failure.asked_bytes = entries.size[row];
    failure.device_free_bytes = static_cast<std::int64_t>(
        std::min<std::uint64_t>(entries.address[row], std::uint64_t{1} << 60));
    for (const Allocation& allocation : replay.allocations()) {
      if (!DeviceReplay::is_alive(allocation, place)) continue;
      const std::int64_t bytes = replay.size(allocation);
      failure.allocated_bytes += bytes;
      if (replay.is_pending(allocation, place)) failure.pending_bytes += bytes;
    }
    take_reserved(replay, failure);
    failures.push_back(failure);
  }
  return failures;
}

std::string advice_on(const Failure& failure) {
  switch (failure.cause) {
    case FailureCause::fragmented:
      return failure.is_expandable
                 ? "segments are expandable already: free the blocks that keep segments, or "
                   "allocate what lives long before what does not"
                 : "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; where that is not "
                   "supported, max_split_size_mb below the size that was asked for";
    case FailureCause::other_streams:
      return "memory of another stream cannot be used: wait for that stream, use fewer streams, or "
             "call torch.cuda.empty_cache() between phases";
    case FailureCause::private_pools:
      return "free memory is in private pools (CUDA graphs, MemPool), which keep theirs as long as "
             "they live: let graphs share a pool, or delete those that are not used";
    case FailureCause::full:
      if (failure.asked_bytes > failure.device_free_bytes + failure.reserved_bytes.value_or(0)) {
        return "what was asked for is more than all that the allocator had reserved and the device "
               "had free: the request itself has to become smaller";
      }
      return "no setting of the allocator helps: what is allocated has to become smaller, the "
             "largest holders first";
    case FailureCause::unknown:
      break;
  }
  if (has_room(failure)) {
    return "a free piece of that size was there, so the request was of another pool (CUDA graphs, "
           "MemPool), which the file does not say";
  }
  return failure.reserved_bytes
             ? "the device had room for it; look for a limit of the process "
               "(torch.cuda.set_per_process_memory_fraction), or for another process that used the "
               "memory meanwhile"
             : "the file does not say what was reserved";
}

}  // namespace tbtrace::snapshots
