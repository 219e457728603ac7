// Where ranges ran if their writer gives them no category that torch knows, from the names of
// processes and threads.
// To support another writer, add a row to each of the two tables in device_tracks.cc: how its files
// are known, and what its tracks hold.
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

/// Programs that write Chrome traces, besides those that give categories as torch does.
enum class Writer : unsigned char {
  unknown,
  autograd_profiler,   ///< torch.autograd.profiler until torch 1.12
  ascend,              ///< torch_npu, which only gives categories to torch's own rows
  xla,                 ///< JAX, TensorFlow 2
  tensorflow,          ///< TensorFlow 1's timeline
  tensorflow_streams,  ///< the same, which also lists the work of each stream
  rocm,                ///< rocprof, rpd2tracing
  nsys2json,
  nvprof2json,
  onnx_runtime,
  unitrace,  ///< Intel's, for Level Zero and OpenCL
};

/// Who wrote a file with these tracks and categories.
Writer writer_of(std::span<const TrackNames> tracks, std::span<const std::string_view> categories);

/// What a track without known categories contains.
enum class TrackContent : unsigned char {
  host,
  annotations,  ///< ranges that the program named
  work,         ///< kernels, memcpys and memsets of a GPU, told apart by their names
  nested_work,  ///< the same, where rows may lie inside one another (see repeats_others())
  copies,       ///< memcpys of a GPU
  derived,      ///< ranges of a device that repeat or group its work
  tpu_work,     ///< operations of a TPU
  ascend_work,  ///< work of Ascend NPUs
  ascend_host,  ///< CANN and other layers below torch
};

struct TrackPlace {
  TrackContent content = TrackContent::host;
  std::int64_t device = -1;  ///< the number in its name; -1: none
};

TrackPlace place_of(const TrackNames& track, Writer writer);

/// The category to assign to a range on such a track; empty: it keeps its own.
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
