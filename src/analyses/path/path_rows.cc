#include "analyses/path/path_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyses/attribution/communication.h"
#include "analyses/kernels/families.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

constexpr std::array<std::string_view, kPathKinds> kKindNames = {
    "operator", "call",   "data_loader",     "code",       "kernel", "communication", "copy",
    "launch",   "stream", "synchronization", "unexplained"};

constexpr std::string_view kBetween = "[between ranges]";
constexpr std::string_view kLoaderProcesses = "[processes of the data loader]";
constexpr std::string_view kUnattributed = "[unattributed]";

bool is_device(PathKind kind) {
  return kind == PathKind::kernel || kind == PathKind::communication || kind == PathKind::copy;
}

bool is_host(PathKind kind) { return kind <= PathKind::code; }

}  // namespace

std::string_view path_kind_name(PathKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::int64_t PathRow::path_ns() const {
  return std::accumulate(on_path_ns.begin(), on_path_ns.end(), std::int64_t{0}, bounded_sum);
}

PathRows::PathRows(const Trace& trace, const StepRules& rules, const PathGraph& graph,
                   const PathSteps& steps, PathGrouping grouping)
    : trace_(trace),
      rules_(rules),
      graph_(graph),
      steps_(steps),
      grouping_(grouping),
      communication_(communication_work(trace)),
      is_around_(trace.events().size(), false),
      known_(trace.events().size() + 1) {
  for (const PathStep& step : steps.steps) {
    if (step.step.event != EventId::none) is_around_[index(step.step.event)] = true;
  }
  for (std::size_t work = graph.work().size(); work > 0 && graph.is_on_host(work - 1); --work) {
    is_around_[index(graph.work()[work - 1].activity)] = true;
  }
  if (grouping == PathGrouping::op) context_ = std::make_unique<AnalysisContext>(trace);
  if (grouping == PathGrouping::module) {
    keys_ = std::make_unique<GroupKeys>(trace, GroupKeySet{GroupKey::module});
  } else if (grouping == PathGrouping::line) {
    keys_ = std::make_unique<GroupKeys>(trace, GroupKeySet{GroupKey::line});
  }
}

PathRows::~PathRows() = default;

PathRows::What PathRows::host_work(EventId range, bool is_unknown) const {
  if (range == EventId::none || is_around_[index(range)]) {
    return {is_unknown ? PathKind::unexplained : PathKind::code, EventId::none};
  }
  if (rules_.role(range) == StepRole::data_loader) return {PathKind::data_loader, range};
  switch (trace_.kind(range)) {
    case EventKind::cpu_op:
      return {PathKind::op, range};
    case EventKind::runtime:
      // What a program that asks again and again waits for is not recorded.
      for (const std::string_view query : {"EventQuery", "StreamQuery"}) {
        if (trace_.name(range).find(query) != std::string_view::npos) {
          return {PathKind::unexplained, range};
        }
      }
      return {PathKind::call, range};
    default:
      return {PathKind::code, range};
  }
}

PathRows::What PathRows::device_work(EventId activity) const {
  if (communication_[index(activity)] || is_host_range(trace_.kind(activity)))
    return {PathKind::communication, activity};
  const bool is_kernel = trace_.kind(activity) == EventKind::kernel;
  return {is_kernel ? PathKind::kernel : PathKind::copy, activity};
}

/// Of pieces that are not a thread's time.
PathRows::What PathRows::what_of(const PathPiece& piece) const {
  if (piece.edge == nullptr) return {};
  const PathEdge& edge = *piece.edge;
  const bool is_of_call = edge.kind == EdgeKind::call || edge.kind == EdgeKind::synchronization ||
                          edge.kind == EdgeKind::full_queue;
  if (edge.kind == EdgeKind::order) return {};
  if (edge.kind == EdgeKind::batch) return {PathKind::data_loader, EventId::none};
  const EventId subject =
      is_of_call ? static_cast<EventId>(edge.subject) : graph_.work()[edge.subject].activity;
  if (piece.is_unexplained) return {PathKind::unexplained, subject};
  switch (edge.kind) {
    case EdgeKind::activity:
      return device_work(subject);
    case EdgeKind::call:
      return host_work(subject, false);
    case EdgeKind::launch:
      return {PathKind::launch, graph_.work()[edge.subject].launch};
    case EdgeKind::stream:
    case EdgeKind::stream_wait:
    case EdgeKind::room:
      return {PathKind::stream, subject};
    default:
      return {PathKind::synchronization, subject};
  }
}

bool PathRows::is_unknown(const PathEdge& edge, EventId range, TimeRange time) const {
  if (edge.is_unknown) return true;
  const bool is_between = range == EventId::none || is_around_[index(range)];
  return is_between && edge.kind == EdgeKind::thread &&
         graph_.threads().may_wait(static_cast<TrackId>(edge.subject), time);
}

template <typename Give>
void PathRows::for_each_part(const PathPiece& piece, const PathChanges& changes, Give give) const {
  const bool is_thread = piece.edge != nullptr && (piece.edge->kind == EdgeKind::thread ||
                                                   piece.edge->kind == EdgeKind::hand_over);
  if (!is_thread) {
    give(what_of(piece), piece.time.end - piece.time.start);
    return;
  }
  const PathEdge& edge = *piece.edge;
  std::int64_t at = piece.begins;
  std::int64_t given = 0;
  What last;
  for_each_stretch(graph_.host().of(static_cast<TrackId>(edge.subject)), graph_.time(edge.from),
                   graph_.time(edge.to), [&](EventId range, std::int64_t start, std::int64_t end) {
                     const std::int64_t from = at;
                     add_bounded(at, changes.changed_ns(range, end - start));
                     const std::int64_t ns =
                         std::min(at, piece.time.end) - std::max(from, piece.time.start);
                     if (ns <= 0) return;
                     last = host_work(range, is_unknown(edge, range, {start, end}));
                     add_bounded(given, ns);
                     give(last, ns);
                   });
  // Times of a job are those of one clock, which need not be as fast as the rank's own.
  const std::int64_t rest = piece.time.end - piece.time.start - given;
  if (rest > 0) give(last, rest);
}

std::string PathRows::name_of(What what) {
  const auto own_name = [&] {
    if (what.event != EventId::none) return std::string(trace_.name(what.event));
    if (what.kind == PathKind::data_loader) return std::string(kLoaderProcesses);
    return std::string(what.kind == PathKind::code ? kBetween : kUnattributed);
  };
  switch (grouping_) {
    case PathGrouping::name:
      return what.kind == PathKind::stream ? "[next work]" : own_name();
    case PathGrouping::kind:
      return std::string(path_kind_name(what.kind));
    case PathGrouping::kernel:
      if (is_device(what.kind)) return own_name();
      return is_host(what.kind) ? "[host]" : "[" + std::string(path_kind_name(what.kind)) + "]";
    case PathGrouping::family:
      if (what.kind == PathKind::communication) {
        return std::string(kernel_family_name(KernelFamily::collective));
      }
      if (what.kind == PathKind::kernel) {
        return std::string(kernel_family_name(kernel_family(trace_.name(what.event))));
      }
      if (what.kind == PathKind::copy) return "[memcpy and memset]";
      return is_host(what.kind) ? "[host]" : "[" + std::string(path_kind_name(what.kind)) + "]";
    case PathGrouping::op: {
      const EventId op =
          what.event == EventId::none ? EventId::none : context_->operator_of(what.event);
      return std::string(op == EventId::none ? kUnattributed : trace_.name(op));
    }
    case PathGrouping::module:
    case PathGrouping::line: {
      if (what.event == EventId::none) return std::string(kUnattributed);
      const auto& values = keys_->values(keys_->of(what.event));
      const std::optional<std::string>& name =
          grouping_ == PathGrouping::module ? values->module : values->line;
      return name.value_or(std::string(kUnattributed));
    }
  }
  return own_name();
}

PathRow& PathRows::row_of(What what) {
  const bool by_kind = grouping_ == PathGrouping::name || grouping_ == PathGrouping::kind;
  Known& known = known_[what.event == EventId::none ? trace_.events().size() : index(what.event)];
  if (known.row != UINT32_MAX && known.kind == what.kind) return rows_[known.row];
  const std::string name = name_of(what);
  std::string text = name;
  if (by_kind) text += '\0' + std::to_string(static_cast<int>(what.kind));
  const auto [row, is_first] = row_of_name_.try_emplace(text, rows_.size());
  if (is_first) {
    rows_.emplace_back();
    rows_.back().name = name;
    if (by_kind) rows_.back().kind = what.kind;
  }
  known = {static_cast<std::uint32_t>(row->second), what.kind};
  return rows_[row->second];
}

void PathRows::add(const CriticalPath& path, const PathChanges& changes) {
  add(path.pieces(), path.slack_ns(), changes);
}

void PathRows::add(std::span<const PathPiece> pieces, std::span<const std::int64_t> slack,
                   const PathChanges& changes, std::span<const std::int64_t> waits) {
  std::vector<bool> is_on_path(graph_.edges().size(), false);
  for (const PathPiece& piece : pieces) {
    if (piece.edge != nullptr) is_on_path[graph_.number_of(*piece.edge)] = true;
    for_each_part(piece, changes, [&](What what, std::int64_t ns) {
      PathRow& row = row_of(what);
      row.has_more = row.has_more || what.event == EventId::none;
      add_bounded(row.on_path_ns[static_cast<std::size_t>(what.kind)], ns);
    });
  }
  add_totals(changes, waits);
  add_slack(slack, is_on_path);
}

std::int64_t PathRows::unexplained_ns(std::span<const PathPiece> pieces) const {
  std::int64_t sum = 0;
  for (const PathPiece& piece : pieces) {
    for_each_part(piece, {}, [&](What what, std::int64_t ns) {
      if (what.kind == PathKind::unexplained) add_bounded(sum, ns);
    });
  }
  return sum;
}

void PathRows::add_totals(const PathChanges& changes, std::span<const std::int64_t> waits) {
  const auto add = [&](What what, std::int64_t ns) {
    PathRow& row = row_of(what);
    row.total_ns = bounded_sum(row.total_ns.value_or(0), ns);
  };
  for (std::size_t step = 0; step < steps_.steps.size(); ++step) {
    if (!steps_.is_chosen(step)) continue;
    const TimeRange time = steps_.steps[step].time;
    for (std::size_t thread = 0; thread < trace_.tracks().size(); ++thread) {
      const std::span<const HostStretch> stretches = graph_.host().of(static_cast<TrackId>(thread));
      if (stretches.empty()) continue;
      for_each_stretch(stretches, time.start, time.end,
                       [&](EventId range, std::int64_t start, std::int64_t end) {
                         if (range == EventId::none || is_around_[index(range)]) return;
                         add(host_work(range, false), changes.changed_ns(range, end - start));
                       });
    }
  }
  for (std::uint32_t work = 0; work < graph_.work().size(); ++work) {
    const std::int64_t end = graph_.time(PathGraph::end_of(work));
    const std::int64_t start = std::min(
        end, bounded_sum(graph_.time(PathGraph::start_of(work)), waits.empty() ? 0 : waits[work]));
    const auto first = std::ranges::partition_point(
        steps_.steps, [&](const PathStep& step) { return step.time.end <= start; });
    for (auto step = first; step != steps_.steps.end() && step->time.start < end; ++step) {
      if (!steps_.is_chosen(static_cast<std::size_t>(step - steps_.steps.begin()))) continue;
      const EventId activity = graph_.work()[work].activity;
      add(device_work(activity),
          changes.changed_ns(activity,
                             std::min(end, step->time.end) - std::max(start, step->time.start)));
    }
  }
}

void PathRows::add_slack(std::span<const std::int64_t> slack_ns,
                         const std::vector<bool>& is_on_path) {
  for (std::size_t at = 0; at < graph_.edges().size(); ++at) {
    const PathEdge& edge = graph_.edges()[at];
    const std::int64_t slack = slack_ns[edge.to];
    const std::uint32_t step = steps_.at(graph_.time(edge.to));
    if (is_on_path[at] || slack == INT64_MAX || step == kNoStep || !steps_.is_chosen(step))
      continue;
    if (edge.kind != EdgeKind::thread && edge.kind != EdgeKind::activity) continue;
    // What a thread did before the step may be on the path of the step before.
    const std::int64_t start = std::max(graph_.time(edge.from), steps_.steps[step].time.start);
    for_each_part({.edge = &edge,
                   .time = {start, std::max(start, graph_.time(edge.to))},
                   .begins = graph_.time(edge.from)},
                  {}, [&](What what, std::int64_t) {
                    PathRow& row = row_of(what);
                    row.slack_ns = std::min(row.slack_ns.value_or(INT64_MAX), slack);
                  });
  }
}

std::vector<PathRow> PathRows::run() && {
  // Rows that only a range outside of the steps has.
  for (PathRow& row : rows_) {
    if (row.has_more) row.total_ns.reset();
  }
  std::erase_if(rows_, [](const PathRow& row) { return row.path_ns() == 0 && !row.total_ns; });
  std::ranges::sort(rows_, [](const PathRow& one, const PathRow& two) {
    const auto key = [](const PathRow& row) {
      return std::pair(row.path_ns(), row.total_ns.value_or(0));
    };
    if (key(one) != key(two)) return key(one) > key(two);
    return std::tie(one.name, one.kind) < std::tie(two.name, two.kind);
  });
  return std::move(rows_);
}

}  // namespace tbtrace::analyses
