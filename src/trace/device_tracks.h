// Where ranges ran whose writer gives them no category: told by the names of processes and threads.
// To know another writer, add a row to the table in device_tracks.cc. Pure functions.
#pragma once

#include <string_view>

namespace tbtrace {

/// The names of a track; empty where the file has none.
struct TrackNames {
  std::string_view process_id;  ///< where it is a text
  std::string_view process;
  std::string_view thread;
};

/// What a track without categories holds.
enum class TrackContent : unsigned char {
  host,
  work,         ///< kernels, memcpys and memsets of a GPU, told apart by their names
  derived,      ///< ranges of a device that repeat or group its work
  tpu_work,     ///< operations of a TPU
  ascend_work,  ///< of Ascend's NPUs
  ascend_host,  ///< CANN and other layers below torch
};

/// Whether a process makes its file one of Ascend's profiler, which gives categories to torch's own
/// rows only.
bool is_of_ascend(std::string_view process_name);

/// `in_ascend_file`: a process of the file is_of_ascend().
TrackContent content_of(const TrackNames& track, bool in_ascend_file);

/// The category that a range on such a track is given; empty: an operator of the host.
std::string_view category_on(TrackContent content, std::string_view event_name);

}  // namespace tbtrace
