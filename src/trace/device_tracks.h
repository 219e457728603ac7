// Where ranges ran if their writer gives them no category, from the names of processes and threads.
// To support another writer, add a row to the table in device_tracks.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tbtrace {

/// The names of a track; empty where the file has none.
struct TrackNames {
  std::string_view process_id;  ///< if it is text
  std::string_view process;
  std::string_view thread;
};

/// What a track without categories contains.
enum class TrackContent : unsigned char {
  host,
  work,         ///< kernels, memcpys and memsets of a GPU, told apart by their names
  nested_work,  ///< the same, where rows may lie inside one another (see repeats_others())
  derived,      ///< ranges of a device that repeat or group its work
  tpu_work,     ///< operations of a TPU
  ascend_work,  ///< work of Ascend NPUs
  ascend_host,  ///< CANN and other layers below torch
};

/// Whether this process shows that the file is from Ascend's profiler, which only gives categories
/// to torch's own rows.
bool is_of_ascend(std::string_view process_name);

/// `in_ascend_file`: is_of_ascend() is true for a process in the file.
TrackContent content_of(const TrackNames& track, bool in_ascend_file);

/// The category to assign to a range on such a track; empty: a host operator.
std::string_view category_on(TrackContent content, std::string_view event_name);

struct DeviceRow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// For rows of one track, in file order: whether a row repeats or groups what others are counted
/// for, so that nothing counts twice. A row whose contents fill at least half of it groups them;
/// any other row counts with all that is inside it: an operator that allocates its output contains
/// a row for that, too. Rows that only overlap count each. Of equal rows the last one counts.
std::vector<bool> repeats_others(std::span<const DeviceRow> rows);

}  // namespace tbtrace
