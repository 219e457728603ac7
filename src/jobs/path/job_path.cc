#include "jobs/path/job_path.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyses/path/path_rows.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "jobs/collectives/recorded.h"
#include "jobs/path/host_collectives.h"
#include "trace/times.h"

namespace tbtrace::jobs {

using analyses::EdgeKind;
using analyses::PathChanges;
using analyses::PathEdge;
using analyses::PathGraph;
using analyses::PathNode;
using analyses::PathPart;
using analyses::PathPiece;
using analyses::PathRecording;
using analyses::StepSpan;

namespace {

/// The edge from the start of work to its end.
const PathEdge* activity_edge(const PathGraph& graph, std::uint32_t work) {
  for (const PathEdge& edge : graph.edges_to(PathGraph::end_of(work))) {
    if (edge.kind == EdgeKind::activity) return &edge;
  }
  return nullptr;
}

/// By number of a rank's collective, its work in the graph.
std::vector<std::uint32_t> work_of(const PathGraph& graph, const RecordedCollectives& recorded) {
  std::unordered_map<EventId, std::uint32_t> numbers;
  for (std::uint32_t work = 0; work < graph.work().size(); ++work) {
    numbers.emplace(graph.work()[work].activity, work);
  }
  std::vector<std::uint32_t> found;
  for (const RecordedCollective& one : recorded.collectives) {
    const bool is_one = one.last_copy == EventId::none || one.last_copy == one.event;
    const auto work = numbers.find(one.event);
    const bool is_known =
        is_one && work != numbers.end() && activity_edge(graph, work->second) != nullptr;
    found.push_back(is_known ? work->second : kNoWork);
  }
  return found;
}

}  // namespace

JobPath::JobPath(std::span<const RankTrace> traces, const std::optional<StepRange>& steps,
                 bool loader_rests) {
  read(traces, steps, loader_rests);
  if (is_job_ && problem_.empty()) join();
}

void JobPath::read(std::span<const RankTrace> traces, const std::optional<StepRange>& steps,
                   bool loader_rests) {
  std::vector<RankRecord> records;
  for (const RankTrace& each : traces) {
    if (Status read = each.trace->check_read(kRankArguments, "whatif"); !read.ok()) {
      is_job_ = true;  // for all that is known
      problem_ = read.message();
      return;
    }
    records.push_back(rank_record(*each.trace, each.path));
  }
  job_ = match_collectives(std::move(records));
  const auto with_collectives = std::ranges::count_if(job_.ranks, [](const JobRank& rank) {
    return !rank.record.collectives.empty() || rank.record.calls_without_kernel > 0;
  });
  is_job_ = with_collectives > 1;
  if (!is_job_) return;
  if (job_.repeats_ranks || job_.ranks.size() != traces.size()) {
    problem_ = "a rank has several recordings, or a recording is not of a rank";
    return;
  }
  for (const JobRank& rank : job_.ranks) {
    // Texts that were read from memory all have the same path.
    const auto is_own = [&](const RankTrace& each) { return each.path == rank.record.path; };
    const auto is_its_rank = [&](const RankTrace& each) {
      return is_own(each) && each.trace->identity().rank == rank.rank;
    };
    auto own = std::ranges::find_if(traces, is_own);
    if (std::ranges::count_if(traces, is_own) > 1) own = std::ranges::find_if(traces, is_its_rank);
    if (own == traces.end()) {
      problem_ = "several recordings have the same name, and do not say which rank they are of";
      return;
    }
    const Trace& trace = *own->trace;
    const RecordedCollectives recorded = recorded_collectives(trace);
    const std::vector<analyses::HostCollective> on_host = host_collectives(trace, recorded);
    const std::int64_t added = rank.record.recordings.front().added_to_steps;
    std::optional<StepRange> chosen = steps;
    if (chosen) chosen = StepRange{chosen->first - added, chosen->last - added};
    auto recording = PathRecording::of(
        trace,
        {.steps = chosen, .loader_rests = loader_rests, .collectives = on_host, .is_of_job = true});
    if (!recording.ok()) {
      problem_ = rank.record.path + ": " + recording.status().message();
      return;
    }
    recordings_.push_back(*std::move(recording));
    work_.push_back(work_of(recordings_.back()->graph(), recorded));
  }
}

void JobPath::join() {
  clocks_ = align_clocks(job_);
  joined_ = join_collectives(job_, clocks_, work_);
  problem_ = joined_.problem;
  if (!problem_.empty()) return;
  if (!find_steps()) {
    problem_ = "the ranks have no complete step in common";
    return;
  }
  make_net();
  if (net_.had_circle()) {
    problem_ = "the ranks recorded their collectives in orders that contradict each other";
    return;
  }
  unchanged_.of_rank.resize(ranks());
  unchanged_.lengths = lengths_of(unchanged_.of_rank);
  path_ = std::make_unique<analyses::CriticalPath>(path_after(net_.times(), unchanged_));
  judge();
}

bool JobPath::find_steps() {
  std::map<std::int64_t, Step> steps;
  for (std::size_t place = 0; place < ranks(); ++place) {
    const analyses::PathSteps& own = recordings_[place]->steps();
    const std::int64_t added = job_.ranks[place].record.recordings.front().added_to_steps;
    for (std::uint32_t step = 0; step < own.steps.size(); ++step) {
      const std::int64_t number = own.steps[step].step.number + added;
      Step& of_job = steps[number];
      of_job.number = number;
      of_job.is_chosen = own.is_chosen(step);
      if (of_job.of_rank.size() == place) of_job.of_rank.push_back(step);
    }
  }
  for (auto& [number, step] : steps) {
    if (step.of_rank.size() == ranks()) steps_.push_back(std::move(step));
  }
  return !steps_.empty();
}

void JobPath::make_net() {
  std::vector<std::int64_t> times;
  std::vector<PathEdge> edges;
  transfers_.resize(ranks());
  waits_.resize(ranks());
  for (std::size_t place = 0; place < ranks(); ++place) {
    const PathGraph& graph = recordings_[place]->graph();
    const std::int64_t base_ns = recordings_[place]->trace().base_time_ns();
    const auto base = static_cast<PathNode>(times.size());
    base_.push_back(base);
    for (const std::int64_t time : graph.times()) {
      times.push_back(clocks_[place].aligned_ns(bounded_sum(base_ns, time)));
    }
    for (PathEdge edge : graph.edges()) {
      edge.from += base;
      edge.to += base;
      edges.push_back(edge);
    }
    transfers_[place].resize(graph.work().size(), -1);
    waits_[place].resize(graph.work().size(), 0);
  }
  base_.push_back(static_cast<PathNode>(times.size()));
  const auto start_of = [&](const JoinedPart& part) {
    return base_[part.rank] + PathGraph::start_of(part.work);
  };
  for (const JoinedCollective& one : joined_.collectives) {
    // The point at which all ranks have come.
    const auto all = static_cast<PathNode>(times.size());
    if (one.is_for_all) {
      times.push_back(std::ranges::max(one.parts, {}, &JoinedPart::start_ns).start_ns);
    }
    for (const JoinedPart& part : one.parts) {
      transfers_[part.rank][part.work] = part.transfer_ns;
      waits_[part.rank][part.work] = part.wait_ns;
      PathEdge edge = {.from = all,
                       .to = base_[part.rank] + PathGraph::end_of(part.work),
                       .kind = EdgeKind::arrival,
                       .subject = part.work};
      if (one.is_for_all) {
        edges.push_back(edge);
        edges.push_back({.from = start_of(part), .to = all, .kind = EdgeKind::arrival});
      }
      for (const std::uint32_t other : part.waits_for) {
        edge.from = start_of(one.parts[other]);
        edges.push_back(edge);
      }
    }
  }
  net_ = analyses::PathNet(std::move(times), std::move(edges));
  std::vector<std::uint32_t> next(ranks(), 0);
  edge_of_rank_.reserve(net_.edges().size());
  for (const PathEdge& edge : net_.edges()) {
    edge_of_rank_.push_back(edge.kind == EdgeKind::arrival ? kNoWork : next[rank_of(edge.to)]++);
  }
}

std::size_t JobPath::rank_of(PathNode node) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(base_, node) - base_.begin()) - 1;
}

std::span<const std::int64_t> JobPath::of_rank(std::span<const std::int64_t> by_node,
                                               std::size_t place) const {
  return by_node.subspan(base_[place], base_[place + 1] - base_[place]);
}

std::vector<std::int64_t> JobPath::lengths_of(const std::vector<PathChanges>& of_rank) const {
  std::vector<std::vector<std::int64_t>> own;
  for (std::size_t place = 0; place < ranks(); ++place) {
    const PathRecording& recording = *recordings_[place];
    own.push_back(analyses::replay_lengths(recording.graph(), recording.delays(), of_rank[place]));
    for (std::uint32_t work = 0; work < transfers_[place].size(); ++work) {
      const std::int64_t transfer = transfers_[place][work];
      const PathEdge* const edge = activity_edge(recording.graph(), work);
      if (transfer < 0 || edge == nullptr) continue;
      own[place][recording.graph().number_of(*edge)] =
          of_rank[place].changed_ns(recording.graph().work()[work].activity, transfer);
    }
  }
  std::vector<std::int64_t> lengths;
  lengths.reserve(net_.edges().size());
  for (std::size_t at = 0; at < net_.edges().size(); ++at) {
    const PathEdge& edge = net_.edges()[at];
    const std::size_t place = rank_of(edge.to);
    if (edge.kind != EdgeKind::arrival) {
      lengths.push_back(own[place][edge_of_rank_[at]]);
    } else if (place == ranks()) {
      lengths.push_back(0);
    } else {
      const PathEdge* const activity = activity_edge(recordings_[place]->graph(), edge.subject);
      lengths.push_back(own[place][recordings_[place]->graph().number_of(*activity)]);
    }
  }
  return lengths;
}

std::vector<StepSpan> JobPath::spans(std::span<const std::int64_t> times) const {
  std::vector<std::vector<StepSpan>> own;
  std::int64_t before = -kFarthestNs;
  for (std::size_t place = 0; place < ranks(); ++place) {
    const PathRecording& recording = *recordings_[place];
    const std::span<const std::int64_t> of_one = of_rank(times, place);
    own.push_back(analyses::step_spans(recording.graph(), recording.steps(), of_one));
    const std::uint32_t first = steps_.front().of_rank[place];
    if (first > 0) {
      before = std::max(before, own.back()[first - 1].time.end);
    } else if (recording.steps().before) {
      before = std::max(before, of_one[PathGraph::end_of(*recording.steps().before)]);
    }
  }
  std::vector<StepSpan> spans;
  for (const Step& step : steps_) {
    StepSpan span;
    std::int64_t start = before;
    for (std::size_t place = 0; place < ranks(); ++place) {
      const std::uint32_t number = step.of_rank[place];
      const auto& host = recordings_[place]->graph().host_ends()[number];
      start = std::max(start, times[base_[place] + host[0]]);
      const PathNode last = base_[place] + own[place][number].last;
      if (span.last == analyses::kNoNode || times[last] > times[span.last]) span.last = last;
    }
    if (!spans.empty() && times[span.last] < start && start == before)
      span.last = spans.back().last;
    before = std::max(start, times[span.last]);
    span.time = {start, before};
    spans.push_back(span);
  }
  return spans;
}

analyses::PathTargets JobPath::targets(std::span<const std::int64_t> times) const {
  analyses::PathTargets targets;
  targets.spans = spans(times);
  for (const Step& step : steps_) targets.is_chosen.push_back(step.is_chosen);
  for (std::size_t place = 0; place < ranks(); ++place) {
    const PathRecording& recording = *recordings_[place];
    std::vector<std::uint32_t> of_job(recording.steps().steps.size(), analyses::kNoStep);
    for (std::uint32_t step = 0; step < steps_.size(); ++step) {
      const std::uint32_t number = steps_[step].of_rank[place];
      of_job[number] = step;
      targets.ends.push_back({base_[place] + recording.graph().host_ends()[number][1], step});
    }
    for (std::uint32_t work = 0; work < recording.graph().work().size(); ++work) {
      const std::uint32_t own = recording.steps().of_work[work];
      if (own == analyses::kNoStep || of_job[own] == analyses::kNoStep) continue;
      targets.ends.push_back({base_[place] + PathGraph::end_of(work), of_job[own]});
    }
  }
  return targets;
}

void JobPath::judge() {
  quality_.recorded_ns = analyses::durations(spans(net_.times()));
  quality_.replayed_ns = analyses::durations(spans(replayed(unchanged_)));
  std::int64_t unexplained = 0;
  bool lacks_work = false;
  bool has_steps = false;
  for (const PathPart& part : recorded_path()) {
    const PathRecording& one = *part.recording;
    const analyses::PathRows rows(one.trace(), one.rules(), one.graph(), one.steps(),
                                  analyses::PathGrouping::kind);
    add_bounded(unexplained, rows.unexplained_ns(part.pieces));
    lacks_work = lacks_work || analyses::lacks_device_work(one.trace(), one.graph());
    has_steps = has_steps || one.steps().steps.front().step.event != EventId::none;
  }
  quality_.unexplained_share = share(unexplained, sum_of_chosen(quality_.recorded_ns));
  quality_.judge(has_steps, lacks_work);
}

std::vector<PathPart> JobPath::parts(const analyses::CriticalPath& path,
                                     const JobChange& change) const {
  std::vector<PathPart> parts;
  for (std::size_t place = 0; place < ranks(); ++place) {
    parts.push_back({.recording = recordings_[place].get(),
                     .rank = rank(place),
                     .pieces = {},
                     .slack_ns = of_rank(path.slack_ns(), place),
                     .changes = &change.of_rank[place],
                     .waits = waits_[place]});
  }
  std::size_t place = 0;
  for (PathPiece piece : path.pieces()) {
    if (piece.edge != nullptr) {
      const std::size_t at = net_.number_of(*piece.edge);
      place = rank_of(piece.edge->to);
      const bool is_arrival = piece.edge->kind == EdgeKind::arrival;
      // What leads to the point at which all have come takes no time.
      if (place == ranks()) place = rank_of(piece.edge->from);
      const PathGraph& graph = recordings_[place]->graph();
      piece.edge = is_arrival ? activity_edge(graph, piece.edge->subject)
                              : &graph.edges()[edge_of_rank_[at]];
    }
    parts[place].pieces.push_back(piece);
  }
  return parts;
}

Result<JobChange> JobPath::change(const std::vector<analyses::PathChange>& changes,
                                  const std::vector<double>& factors,
                                  std::vector<std::string>& notes) const {
  JobChange made;
  std::vector<bool> missing(changes.size(), true);
  for (std::size_t place = 0; place < ranks(); ++place) {
    const PathRecording& one = *recordings_[place];
    analyses::TransferTimes transfers;
    for (std::uint32_t work = 0; work < transfers_[place].size(); ++work) {
      if (transfers_[place][work] < 0) continue;
      transfers.emplace(one.graph().work()[work].activity, transfers_[place][work]);
    }
    made.of_rank.push_back(PathChanges::of_rank(one.trace(), one.rules(), one.graph(), changes,
                                                transfers, factors[place], missing));
  }
  for (std::size_t number = 0; number < changes.size(); ++number) {
    if (!missing[number] || changes[number].kind == analyses::ChangeKind::rank) continue;
    if (!changes[number].name.empty()) {
      return analyses::missing_of_change(changes[number], "the traces of the job have");
    }
    notes.push_back(analyses::note_of_nothing(changes[number]));
  }
  made.lengths = lengths_of(made.of_rank);
  return made;
}

std::int64_t JobPath::own_ns(std::size_t place) const {
  const PathRecording& one = *recordings_[place];
  std::vector<std::int64_t> lengths = analyses::replay_lengths(one.graph(), one.delays());
  for (std::uint32_t work = 0; work < transfers_[place].size(); ++work) {
    const PathEdge* const edge = activity_edge(one.graph(), work);
    if (transfers_[place][work] >= 0 && edge != nullptr) lengths[one.graph().number_of(*edge)] = 0;
  }
  const std::vector<std::int64_t> times = analyses::replay(one.graph(), lengths);
  return one.chosen_steps() == 0 ? 0
                                 : bounded(WideInteger{one.wall_ns(times)} /
                                           static_cast<std::int64_t>(one.chosen_steps()));
}

bool JobPath::is_loader_unclear() const {
  return std::ranges::any_of(recordings_,
                             [](const auto& one) { return one->graph().is_loader_unclear(); });
}

std::size_t JobPath::chosen_steps() const {
  return static_cast<std::size_t>(std::ranges::count(steps_, true, &Step::is_chosen));
}

std::int64_t JobPath::sum_of_chosen(std::span<const std::int64_t> by_step) const {
  std::int64_t all = 0;
  for (std::size_t step = 0; step < by_step.size(); ++step) {
    if (steps_[step].is_chosen) add_bounded(all, by_step[step]);
  }
  return all;
}

std::int64_t JobPath::wall_ns(std::span<const std::int64_t> times) const {
  std::vector<bool> is_chosen;
  for (const Step& step : steps_) is_chosen.push_back(step.is_chosen);
  return analyses::wall_ns(spans(times), is_chosen);
}

}  // namespace tbtrace::jobs
