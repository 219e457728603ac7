// Where ranges ran if their writer gives them no category, from the names of processes and threads.
// To support another writer, add a row to the table in device_tracks.cc.
#pragma once

#include <string_view>

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
  nested_work,  ///< the same, where rows may lie inside one another (nested_work.h)
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

}  // namespace tbtrace
