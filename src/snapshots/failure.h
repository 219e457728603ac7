// Why an allocation failed: what was asked for, and where the memory was.
// Results own their data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapshots/free_memory.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

enum class FailureCause : std::uint8_t {
  full,           ///< no free memory that the allocator holds would have been enough
  fragmented,     ///< enough is free for the request, in pieces that are too small
  other_streams,  ///< enough is free or about to be free, on other streams
  private_pools,  ///< enough is free in private pools
  unreleased,     ///< enough is in segments that nothing uses, and that were not released
  rounding,       ///< enough is what the allocator's setting adds to requests
  several,        ///< enough of these together
  /// The file does not say what was reserved; or the device or a free piece had room for it.
  unknown,
};
std::string_view cause_name(FailureCause cause);

struct Failure {
  std::uint32_t place = 0;
  std::int64_t asked_bytes = 0;
  std::int64_t device_free_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t pending_bytes = 0;  ///< freed, and waits for another stream
  // nullopt: the file does not say what was reserved.
  std::optional<std::int64_t> reserved_bytes = {};
  std::optional<std::int64_t> free_bytes = {};  ///< in what is reserved
  std::optional<std::int64_t> largest_free_bytes = {};
  /// Of the same pool, stream and class of sizes as the request.
  std::optional<std::int64_t> usable_free_bytes = {};
  std::optional<std::int64_t> largest_usable_bytes = {};
  /// Of the same pool and stream, whatever the class of sizes.
  std::int64_t own_free_bytes = 0;
  std::optional<std::int64_t> private_reserved_bytes = {};
  std::optional<std::int64_t> private_free_bytes = {};
  std::optional<std::int64_t> other_streams_free_bytes = {};
  // Without segments that nothing uses: pieces of the same pool and stream, and of other streams.
  std::int64_t own_pieces_bytes = 0;
  std::int64_t other_streams_pieces_bytes = 0;
  /// In segments of the default pool that nothing uses.
  std::int64_t unreleased_bytes = 0;
  /// What roundup_power2_divisions adds to what is allocated.
  std::int64_t rounding_bytes = 0;
  FailureCause cause = FailureCause::unknown;
  bool is_expandable = false;  ///< some segments are
};

std::vector<Failure> failures_of(const DeviceReplay& replay);

/// Whether free memory in a range could have served the request: its pool, stream and class of
/// sizes.
bool could_use(const DeviceReplay& replay, const Failure& failure, const ReservedRange& range);

/// Whether free memory in a range is of the request's pool and stream, and of the other class of
/// sizes, whose pieces were in its way.
bool is_other_class(const DeviceReplay& replay, const Failure& failure, const ReservedRange& range);

/// Whether memory was fragmented by pieces of the other class.
bool is_by_other_class(const Failure& failure);

/// What would help, a sentence or two for people.
std::string advice_on(const Failure& failure);

}  // namespace tbtrace::snapshots
