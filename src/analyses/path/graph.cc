#include "analyses/path/graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/path/batch_waits.h"
#include "analyses/path/hand_overs.h"
#include "analyses/path/host_waits.h"
#include "analyses/steps/step_threads.h"
#include "trace/links.h"

namespace tbtrace::analyses {

namespace {

std::vector<bool> threads_of(const Trace& trace, const PathSteps& steps) {
  std::vector<EventId> ranges;
  ranges.reserve(steps.steps.size());
  for (const PathStep& step : steps.steps) ranges.push_back(step.step.event);
  return step_threads(trace, ranges);
}

}  // namespace

/// Collects points and edges; what a thread does is a chain of its points.
class GraphBuilder {
 public:
  GraphBuilder(const Trace& trace, const PathSteps& steps, bool loader_rests,
               std::span<const HostCollective> collectives, PathGraph& graph)
      : trace_(trace),
        events_(trace.events()),
        steps_(steps),
        loader_rests_(loader_rests),
        collectives_(collectives),
        graph_(graph) {
    points_.resize(trace.tracks().size());
    stands_still_.resize(trace.tracks().size());
    works_again_.resize(trace.tracks().size());
    stops_.resize(trace.tracks().size());
  }

  void run() {
    for (const DeviceLink& link : graph_.work()) {
      const std::int64_t start = events_.start_ns(link.activity);
      times_.push_back(start);
      times_.push_back(std::max(start, events_.end_ns(link.activity)));
    }
    add_work();
    add_launches();
    add_waits();
    add_batches();
    add_step_ends();
    add_hand_overs();
    add_host_waits();
    for (std::size_t thread = 0; thread < points_.size(); ++thread) chain(thread);
    graph_.groups_ = groups_.size();
    static_cast<PathNet&>(graph_) = PathNet(std::move(times_), std::move(edges_));
  }

 private:
  enum class Side : std::uint8_t { end, plain, start };  // in the order of points at one time
  struct Point {
    std::int64_t time;
    Side side;
    PathNode node;
    EventId call;  // that begins or ends here and waits
  };

  PathNode add_point(TrackId thread, std::int64_t time, Side side, EventId call = EventId::none) {
    const auto node = static_cast<PathNode>(times_.size());
    times_.push_back(time);
    points_[index(thread)].push_back({time, side, node, call});
    return node;
  }

  std::uint32_t group(EdgeKind kind, std::uint32_t one, std::uint32_t two = 0) {
    return groups_.try_emplace({kind, one, two}, static_cast<std::uint32_t>(groups_.size()))
        .first->second;
  }

  std::int64_t time(PathNode node) const { return times_[node]; }
  std::uint32_t name_of(EventId event) const {
    return static_cast<std::uint32_t>(index(events_.name(event)));
  }
  std::uint32_t kind_of(std::uint32_t work) const {
    return static_cast<std::uint32_t>(trace_.kind(graph_.work()[work].activity));
  }

  void add_edge(PathEdge edge) { edges_.push_back(edge); }

  void add_work() {
    for (std::uint32_t work = 0; work < graph_.work().size(); ++work) {
      add_edge({.from = PathGraph::start_of(work),
                .to = PathGraph::end_of(work),
                .kind = EdgeKind::activity,
                .subject = work});
    }
    const auto add_stream = [&](const std::vector<std::uint32_t>& stream) {
      for (std::size_t place = 1; place < stream.size(); ++place) add_before(stream, place);
    };
    for (const std::vector<std::uint32_t>& stream : graph_.streams_.streams) add_stream(stream);
    std::map<TrackId, std::vector<std::uint32_t>> threads;  // with collectives
    for (std::size_t work = graph_.streams_.work.size(); work < graph_.work().size(); ++work) {
      threads[events_.track(graph_.work()[work].activity)].push_back(
          static_cast<std::uint32_t>(work));
    }
    for (const auto& [thread, stream] : threads) add_stream(stream);
  }

  /// The work that a stream did before: the one that ended last before this one began. Branches of
  /// a CUDA graph, and kernels that start early, run beside the one that started before.
  void add_before(const std::vector<std::uint32_t>& stream, std::size_t place) {
    constexpr std::size_t kFarthest = 64;
    constexpr std::int64_t kClock = 2'000;  // how exact the times are, in ns
    const std::uint32_t work = stream[place];
    const std::int64_t start = time(PathGraph::start_of(work));
    std::optional<std::uint32_t> before;
    for (std::size_t back = 1; back <= std::min(place, kFarthest); ++back) {
      const std::uint32_t other = stream[place - back];
      const std::int64_t end = time(PathGraph::end_of(other));
      if (end > start + (back == 1 ? kClock : 0)) continue;
      if (!before || end > time(PathGraph::end_of(*before))) before = other;
      if (back == 1) break;
    }
    if (!before) return;
    const EventId launch = graph_.work()[work].launch;
    const bool is_same = launch != EventId::none && launch == graph_.work()[*before].launch;
    add_edge(
        {.from = PathGraph::end_of(*before),
         .to = PathGraph::start_of(work),
         .kind = EdgeKind::stream,
         .group = group(EdgeKind::stream, kind_of(*before) * 16 + kind_of(work), is_same ? 1 : 0),
         .subject = work});
  }

  void add_launches() {
    std::unordered_map<EventId, PathNode> points;  // by call
    for (std::uint32_t work = 0; work < graph_.work().size(); ++work) {
      const EventId launch = graph_.work()[work].launch;
      if (launch == EventId::none) continue;
      const std::int64_t start = events_.start_ns(launch);
      // Clocks may differ; then the launch says nothing about when the work could start.
      if (start > time(PathGraph::start_of(work))) continue;
      const auto [point, is_new] = points.try_emplace(launch, kNoNode);
      if (is_new) point->second = add_point(events_.track(launch), start, Side::start, launch);
      add_edge({.from = point->second,
                .to = PathGraph::start_of(work),
                .kind = EdgeKind::launch,
                .group = group(EdgeKind::launch, name_of(launch), kind_of(work)),
                .subject = work});
    }
    launch_points_ = std::move(points);
  }

  void add_waits() {
    std::unordered_map<EventId, PathNode> ends;
    for (const DeviceWait& wait : find_call_waits(trace_, graph_.streams_)) {
      const auto [end, is_new] = ends.try_emplace(wait.waits, kNoNode);
      const TrackId thread = events_.track(wait.waits);
      if (is_new) {
        if (!launch_points_.contains(wait.waits)) {
          add_point(thread, events_.start_ns(wait.waits), Side::start, wait.waits);
        }
        end->second = add_point(thread, events_.end_ns(wait.waits), Side::end, wait.waits);
      }
      const EdgeKind kind =
          wait.kind == WaitKind::full_queue ? EdgeKind::full_queue : EdgeKind::synchronization;
      add_edge({.from = PathGraph::end_of(wait.until),
                .to = end->second,
                .kind = kind,
                .is_by_time = wait.is_by_time,
                .group = group(kind, name_of(wait.waits), static_cast<std::uint32_t>(wait.kind)),
                .subject = static_cast<std::uint32_t>(wait.waits)});
    }
    std::unordered_map<EventId, std::uint32_t> numbers;
    std::vector<DeviceWait> waits = find_stream_waits(trace_, graph_.streams_);
    const std::vector<DeviceWait> room = find_room_waits(trace_, graph_.streams_);
    waits.insert(waits.end(), room.begin(), room.end());
    if (waits.empty()) return;
    for (std::uint32_t work = 0; work < graph_.work().size(); ++work) {
      numbers.emplace(graph_.work()[work].activity, work);
    }
    for (const DeviceWait& wait : waits) {
      const std::uint32_t work = numbers.at(wait.waits);
      const bool is_stream = wait.kind == WaitKind::stream;
      const EdgeKind kind = is_stream ? EdgeKind::stream_wait : EdgeKind::room;
      add_edge({.from = PathGraph::end_of(wait.until),
                .to = PathGraph::start_of(work),
                .kind = kind,
                .is_by_time = wait.is_by_time,
                // How long the last blocks of a kernel take depends on the kernel.
                .group = group(kind, is_stream ? 0 : name_of(graph_.work()[wait.until].activity)),
                .subject = work});
    }
  }

  void add_batches() {
    std::unordered_map<EventId, PathNode> ends;
    for (const BatchWait& wait : find_batch_waits(trace_, graph_.threads_)) {
      const TrackId thread = events_.track(wait.range);
      const PathNode start =
          add_point(thread, events_.start_ns(wait.range), Side::start, wait.range);
      const PathNode end = add_point(thread, events_.end_ns(wait.range), Side::end, wait.range);
      ends.emplace(wait.range, end);
      graph_.is_loader_unclear_ = graph_.is_loader_unclear_ || wait.is_unclear;
      const bool has_cause = wait.before != EventId::none && !(wait.is_unclear && loader_rests_);
      add_edge({.from = has_cause ? ends.at(wait.before) : start,
                .to = end,
                .kind = EdgeKind::batch,
                .subject = static_cast<std::uint32_t>(wait.range)});
    }
  }

  void add_step_ends() {
    for (const PathStep& step : steps_.steps) {
      graph_.host_ends_.push_back({add_point(step.thread, step.host.start, Side::plain),
                                   add_point(step.thread, step.host.end, Side::plain)});
    }
  }

  /// Steps begin and end where the thread stands still, too: then it stops, or goes on, there.
  /// False if a step does so while the other thread works, or if the thread does not go on.
  bool fit_to_steps(HandOver& each) const {
    for (const PathStep& step : steps_.steps) {
      if (step.thread != each.from) continue;
      for (const std::int64_t time : {step.host.start, step.host.end}) {
        if (time <= each.stops || time >= each.resumes) continue;
        if (time > each.begins && time < each.ends) return false;
        (time <= each.begins ? each.stops : each.resumes) = time;
      }
    }
    return each.resumes != kNeverResumes;
  }

  void add_hand_overs() {
    std::map<std::tuple<TrackId, std::int64_t, std::int64_t>, std::array<PathNode, 2>> stops;
    for (HandOver each : find_hand_overs(graph_.threads_)) {
      if (!fit_to_steps(each)) continue;
      const auto [stop, is_new] = stops.try_emplace({each.from, each.stops, each.resumes});
      if (is_new) {
        // At the end of a step it has gone on before the step ends.
        const bool is_step_end = std::ranges::any_of(steps_.steps, [&](const PathStep& step) {
          return step.thread == each.from && step.host.end == each.resumes;
        });
        stop->second = {add_point(each.from, each.stops, Side::end),
                        add_point(each.from, each.resumes, is_step_end ? Side::end : Side::start)};
        stands_still_[index(each.from)].push_back(stop->second[1]);
      }
      const PathNode begins = add_point(each.to, each.begins, Side::start);
      const PathNode ends = add_point(each.to, each.ends, Side::end);
      works_again_[index(each.to)].push_back(begins);
      stops_[index(each.to)].push_back(ends);
      for (const auto& [from, to] :
           {std::pair(stop->second[0], begins), std::pair(ends, stop->second[1])}) {
        add_edge({.from = from,
                  .to = to,
                  .kind = EdgeKind::hand_over,
                  .subject = static_cast<std::uint32_t>(index(each.from))});
      }
    }
  }

  /// Where the thread that started collectives stands still until they have ended.
  void add_host_waits() {
    const std::vector<HostWait> waits = find_host_waits(trace_, graph_.host_, collectives_);
    std::map<TrackId, std::vector<std::int64_t>> others;  // times of all other points
    for (const HostWait& wait : waits) {
      const auto [times, is_new] = others.try_emplace(wait.thread);
      if (!is_new) continue;
      for (const Point& point : points_[index(wait.thread)]) times->second.push_back(point.time);
      std::ranges::sort(times->second);
    }
    for (const HostWait& wait : waits) {
      // A step that begins or ends there, or another thread that it waits for.
      const std::vector<std::int64_t>& times = others.at(wait.thread);
      const auto next = std::ranges::upper_bound(times, wait.stops);
      if (next != times.end() && *next <= wait.resumes) continue;
      add_point(wait.thread, wait.stops, Side::end);
      const PathNode resume = add_point(wait.thread, wait.resumes, Side::start);
      stands_still_[index(wait.thread)].push_back(resume);
      for (const std::uint32_t each : wait.collectives) {
        const auto work = static_cast<std::uint32_t>(graph_.streams_.work.size() + each);
        add_edge({.from = PathGraph::end_of(work),
                  .to = resume,
                  .kind = EdgeKind::order,
                  .is_by_time = true,
                  .group = group(EdgeKind::order, 0)});
      }
    }
  }

  void chain(std::size_t thread) {
    std::vector<Point>& points = points_[thread];
    std::ranges::stable_sort(points, {},
                             [](const Point& point) { return std::tuple(point.time, point.side); });
    std::vector<PathNode>& after_other = stands_still_[thread];
    after_other.insert(after_other.end(), works_again_[thread].begin(), works_again_[thread].end());
    std::ranges::sort(after_other);
    std::ranges::sort(stops_[thread]);
    bool is_known = graph_.threads_.runs_steps(thread);
    for (std::size_t place = 1; place < points.size(); ++place) {
      const Point& from = points[place - 1];
      if (!graph_.threads_.runs_steps(thread)) {
        if (std::ranges::binary_search(works_again_[thread], from.node)) is_known = true;
        if (std::ranges::binary_search(stops_[thread], from.node)) is_known = false;
      }
      const Point& to = points[place];
      PathEdge edge = {
          .from = from.node, .to = to.node, .subject = static_cast<std::uint32_t>(thread)};
      if (to.side == Side::end && to.call != EventId::none && to.call == from.call) {
        edge.kind = EdgeKind::call;
        edge.group = group(EdgeKind::call, name_of(to.call));
        edge.subject = static_cast<std::uint32_t>(to.call);
      } else if (std::ranges::binary_search(after_other, to.node)) {
        edge.kind = EdgeKind::order;
        edge.group = group(EdgeKind::order, 0);
      } else {
        edge.is_unknown = !is_known;
      }
      add_edge(edge);
    }
  }

  const Trace& trace_;
  const Events& events_;
  const PathSteps& steps_;
  const bool loader_rests_;
  const std::span<const HostCollective> collectives_;
  PathGraph& graph_;
  std::vector<std::int64_t> times_;  // by point
  std::vector<PathEdge> edges_;
  std::vector<std::vector<Point>> points_;           // by thread
  std::vector<std::vector<PathNode>> stands_still_;  // by thread: where it goes on after another
  std::vector<std::vector<PathNode>> works_again_;   // by thread: where another one has it begin
  std::vector<std::vector<PathNode>> stops_;         // by thread: where it has done that
  std::unordered_map<EventId, PathNode> launch_points_;
  std::map<std::tuple<EdgeKind, std::uint32_t, std::uint32_t>, std::uint32_t> groups_;
};

PathGraph::PathGraph(const Trace& trace, const PathSteps& steps, bool loader_rests,
                     std::span<const HostCollective> collectives)
    : streams_(trace), host_(trace), threads_(trace, threads_of(trace, steps)) {
  work_.assign(streams_.work.begin(), streams_.work.end());
  for (const HostCollective& each : collectives) {
    work_.push_back({.activity = each.range, .launch = each.call});
  }
  GraphBuilder(trace, steps, loader_rests, collectives, *this).run();
}

}  // namespace tbtrace::analyses
