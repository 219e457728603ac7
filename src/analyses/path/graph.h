// What waits for what in a recording: points in time of host threads and devices, and edges between
// them, each with the evidence it comes from. docs/whatif.md has the rules.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/busy_threads.h"
#include "analyses/path/device_waits.h"
#include "analyses/path/host_time.h"
#include "analyses/path/steps.h"
#include "base/column.h"

namespace tbtrace::analyses {

using PathNode = std::uint32_t;
inline constexpr PathNode kNoNode = UINT32_MAX;

enum class EdgeKind : std::uint8_t {
  thread,           ///< a thread went on: its time is work
  order,            ///< a thread waited for another one, or went on after it
  activity,         ///< device work, from its start to its end
  call,             ///< a call that waits for a device: the time that it takes at least
  launch,           ///< from the start of a call to the start of what it launched
  stream,           ///< from the end of work to the start of the next on its stream
  stream_wait,      ///< the same of a stream that waits for another one
  room,             ///< the same of a kernel that waits for room on the device
  synchronization,  ///< from the end of work to the return of a call that waits for it
  full_queue,       ///< the same of a launch that waits for room
  hand_over,        ///< a thread went on where another one stopped: the time between is work
  batch,            ///< other processes made a batch of data, since they had made one before
};
inline constexpr std::size_t kEdgeKinds = 12;

/// Whether the length of an edge is what was recorded, and not the same wherever it occurs.
constexpr bool is_work(EdgeKind kind) {
  return kind == EdgeKind::thread || kind == EdgeKind::activity || kind == EdgeKind::hand_over ||
         kind == EdgeKind::batch;
}

struct PathEdge {
  PathNode from = 0;
  PathNode to = 0;
  EdgeKind kind = EdgeKind::thread;
  bool is_by_time = false;  ///< no id says so
  bool is_unknown = false;  ///< of a thread that may wait for anything where no range is open
  std::uint32_t group = 0;  ///< edges of one group take equally long, if their kind is not work
  /// A thread (by track), work (by its number), or a call or a range that takes a batch (EventId).
  std::uint32_t subject = 0;
};

class PathGraph {
 public:
  /// `loader_rests`: where that is unclear (BatchWait), processes of the data loader had rested.
  PathGraph(const Trace& trace, const PathSteps& steps, bool loader_rests = false);

  std::size_t size() const { return times_.size(); }
  std::int64_t time(PathNode node) const { return times_[node]; }
  /// By their ends.
  std::span<const PathEdge> edges() const { return edges_; }
  std::span<const PathEdge> edges_to(PathNode node) const {
    return edges().subspan(first_[node], first_[node + 1] - first_[node]);
  }
  std::int64_t recorded_ns(const PathEdge& edge) const {
    return times_[edge.to] - times_[edge.from];
  }
  /// All points, each after those that edges lead from.
  std::span<const PathNode> in_order() const { return order_; }
  std::size_t groups() const { return groups_; }

  std::span<const DeviceLink> work() const { return streams_.work; }
  static PathNode start_of(std::uint32_t work) { return 2 * work; }
  static PathNode end_of(std::uint32_t work) { return 2 * work + 1; }
  /// By step: its start and its end on the host.
  std::span<const std::array<PathNode, 2>> host_ends() const { return host_ends_; }

  /// Whether it would be another one if the processes of the data loader had rested.
  bool is_loader_unclear() const { return is_loader_unclear_; }

  const HostTime& host() const { return host_; }
  const BusyThreads& threads() const { return threads_; }

 private:
  friend class GraphBuilder;

  StreamOrder streams_;
  HostTime host_;
  BusyThreads threads_;
  std::vector<std::int64_t> times_;
  std::vector<PathEdge> edges_;
  std::vector<std::uint32_t> first_;  // by point, and one more
  std::vector<PathNode> order_;
  std::vector<std::array<PathNode, 2>> host_ends_;
  std::size_t groups_ = 0;
  bool is_loader_unclear_ = false;
};

}  // namespace tbtrace::analyses
