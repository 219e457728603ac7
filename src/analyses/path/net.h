// Points in time and edges between them: the part of a graph that is replayed, whatever its points
// are.
// Owns its rows. Immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  arrival,          ///< from the start of a collective on another rank to its end: the transfer
};
inline constexpr std::size_t kEdgeKinds = 13;

/// Whether the length of an edge is what was recorded, and not the same wherever it occurs.
constexpr bool is_work(EdgeKind kind) {
  return kind == EdgeKind::thread || kind == EdgeKind::activity || kind == EdgeKind::hand_over ||
         kind == EdgeKind::batch || kind == EdgeKind::arrival;
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

class PathNet {
 public:
  PathNet() = default;
  PathNet(std::vector<std::int64_t> times, std::vector<PathEdge> edges);

  std::size_t size() const { return times_.size(); }
  std::int64_t time(PathNode node) const { return times_[node]; }
  std::span<const std::int64_t> times() const { return times_; }
  /// By their ends.
  std::span<const PathEdge> edges() const { return edges_; }
  std::span<const PathEdge> edges_to(PathNode node) const {
    return edges().subspan(first_[node], first_[node + 1] - first_[node]);
  }
  std::size_t number_of(const PathEdge& edge) const {
    return static_cast<std::size_t>(&edge - edges_.data());
  }
  std::int64_t recorded_ns(const PathEdge& edge) const {
    return times_[edge.to] - times_[edge.from];
  }
  /// All points, each after those that edges lead from.
  std::span<const PathNode> in_order() const { return order_; }
  /// Whether edges were left out, since they closed a circle.
  bool had_circle() const { return had_circle_; }

 private:
  void sort_edges();
  void order_points();

  std::vector<std::int64_t> times_;
  std::vector<PathEdge> edges_;
  std::vector<std::uint32_t> first_;  // by point, and one more
  std::vector<PathNode> order_;
  bool had_circle_ = false;
};

}  // namespace tbtrace::analyses
