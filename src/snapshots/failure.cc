#include "snapshots/failure.h"

#include <algorithm>
#include <utility>

#include "writers/tables/weight_text.h"

namespace tbtrace::snapshots {
namespace {

/// Whether a range is of the pool of the request. Only private pools are sure not to be another.
bool is_its_pool(const DeviceReplay& replay, const Failure& failure, const ReservedRange& range) {
  const std::uint32_t named = replay.data().entries.pool[replay.row(failure.place)];
  return range.pool == 0 || range.pool == (named == 0 ? SnapshotData::kDefaultPool : named);
}

/// A free piece would have served the request, had it been of that pool.
bool has_room(const Failure& failure) {
  return failure.largest_usable_bytes.value_or(0) >= failure.asked_bytes;
}

/// What a segment for the request takes beyond what the device had free.
std::int64_t missing_bytes(const Failure& failure) {
  return segment_bytes(failure.asked_bytes) - failure.device_free_bytes;
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
    const bool is_unreleased = !is_private && gap.size == range.size;
    if (is_unreleased) failure.unreleased_bytes += gap.size;
    if (!is_its_pool(replay, failure, range)) {
      if (is_private) in_private += gap.size;
    } else if (range.stream != stream) {
      of_streams += gap.size;
      if (!is_unreleased) failure.other_streams_pieces_bytes += gap.size;
    } else {
      failure.own_free_bytes += gap.size;
      if (!is_unreleased) failure.own_pieces_bytes += gap.size;
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
  const std::int64_t missing = missing_bytes(failure);
  // There was room, so something else was in the way.
  if (missing <= 0 || has_room(failure)) return;
  const std::int64_t in_pieces = failure.own_pieces_bytes;
  if (in_pieces >= missing) {
    failure.cause =
        failure.rounding_bytes > in_pieces ? FailureCause::rounding : FailureCause::fragmented;
    return;
  }
  const std::int64_t of_others = failure.other_streams_pieces_bytes + failure.pending_bytes;
  const std::pair<FailureCause, std::int64_t> sources[] = {
      {FailureCause::unreleased, failure.unreleased_bytes},
      {FailureCause::rounding, failure.rounding_bytes},
      {FailureCause::other_streams, of_others},
      {FailureCause::private_pools, in_private}};
  std::int64_t all = in_pieces;
  failure.cause = FailureCause::full;
  for (const auto& [cause, bytes] : sources) {
    all += bytes;
    if (failure.cause == FailureCause::full && in_pieces + bytes >= missing) failure.cause = cause;
  }
  if (failure.cause == FailureCause::full && all >= missing) failure.cause = FailureCause::several;
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
    case FailureCause::unreleased:
      return "unreleased";
    case FailureCause::rounding:
      return "rounding";
    case FailureCause::several:
      return "several";
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

bool is_other_class(const DeviceReplay& replay, const Failure& failure,
                    const ReservedRange& range) {
  return is_its_pool(replay, failure, range) &&
         range.stream == replay.data().entries.stream[replay.row(failure.place)] &&
         range.is_small != (failure.asked_bytes <= kMostSmall);
}

bool is_by_other_class(const Failure& failure) {
  return failure.cause == FailureCause::fragmented &&
         failure.usable_free_bytes.value_or(0) < missing_bytes(failure);
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
      failure.rounding_bytes += replay.rounding().added_bytes(bytes);
      if (replay.is_pending(allocation, place)) failure.pending_bytes += bytes;
    }
    take_reserved(replay, failure);
    failures.push_back(failure);
  }
  return failures;
}

namespace {

/// Each part with its bytes.
std::string advice_on_several(const Failure& failure) {
  const std::pair<std::int64_t, std::string_view> parts[] = {
      {failure.own_pieces_bytes, "in pieces of the request's own pool and stream"},
      {failure.other_streams_pieces_bytes, "on other streams"},
      {failure.pending_bytes, "waiting for other streams"},
      {failure.private_free_bytes.value_or(0), "in private pools (CUDA graphs, MemPool)"},
      {failure.unreleased_bytes, "in segments that nothing uses, which empty_cache() releases"},
      {failure.rounding_bytes, "added to requests by roundup_power2_divisions"}};
  std::string text = "together these would have been enough: ";
  std::string_view between;
  for (const auto& [bytes, where] : parts) {
    if (bytes == 0) continue;
    text += std::string(between) + writers::weight_text(bytes, "bytes") + " " + std::string(where);
    between = "; ";
  }
  return text;
}

std::string advice_on_fragments(const Failure& failure) {
  if (is_by_other_class(failure)) {
    const bool is_small = failure.asked_bytes <= kMostSmall;
    return std::string("the free pieces are in segments for requests ") +
           (is_small ? "above" : "up to") +
           " 1 MiB, which this one cannot use, and no setting joins them: free the blocks that "
           "keep these segments, or allocate what lives long before what does not";
  }
  return failure.is_expandable
             ? "segments are expandable already: free the blocks that keep segments, or "
               "allocate what lives long before what does not"
             : "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; where that is not "
               "supported, max_split_size_mb below the size that was asked for";
}

}  // namespace

std::string advice_on(const Failure& failure) {
  switch (failure.cause) {
    case FailureCause::fragmented:
      return advice_on_fragments(failure);
    case FailureCause::unreleased:
      return "the allocator releases none while a CUDA graph is captured: call "
             "torch.cuda.empty_cache() before the capture";
    case FailureCause::rounding:
      return "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions adds " +
             writers::weight_text(failure.rounding_bytes, "bytes") +
             " to what is allocated: use more divisions, or leave it out";
    case FailureCause::several:
      return advice_on_several(failure);
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
