// What one rank contributes to the analysis of its job.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/collectives.h>

#include "analyses/attribution/collective_names.h"
#include "analyses/kernels/collective_operations.h"
#include "analyses/steps/inferred.h"
#include "base/bounded_sum.h"
#include "base/quantile.h"
#include "base/time_ranges.h"
#include "jobs/collectives/activity.h"
#include "jobs/collectives/rank_times.h"
#include "jobs/collectives/ranks.h"
#include "jobs/collectives/recorded.h"
#include "trace/links.h"
#include "trace/step_names.h"
#include "wire/json_tree.h"
#include "wire/stable_hash.h"

namespace tbtrace {
namespace {

/// The job's only process group, if `distributedInfo` lists one that all ranks are in; else an
/// empty one.
ProcessGroup only_group(const Trace& trace) {
  const auto distributed = trace.metadata().find("distributedInfo");
  if (distributed == trace.metadata().end()) return {};
  const std::optional<wire::JsonTree> info = wire::parse_json_tree(distributed->second);
  if (!info) return {};
  using Kind = wire::JsonTree::Kind;
  const wire::JsonTree* const groups = info->find("pg_config", Kind::list);
  const wire::JsonTree* const count = info->find("pg_count", Kind::integer);
  const wire::JsonTree* const ranks = info->find("world_size", Kind::integer);
  if (groups == nullptr || groups->items.size() != 1) return {};
  if (count != nullptr && count->integer != 1) return {};
  const wire::JsonTree& one = groups->items.front();
  const wire::JsonTree* const size = one.find("pg_size", Kind::integer);
  if (size == nullptr || ranks == nullptr || size->integer != ranks->integer) return {};
  ProcessGroup group = {.size = size->integer};
  if (const wire::JsonTree* const name = one.find("pg_name", Kind::text)) group.name = name->text;
  if (const auto* const text = one.find("pg_desc", Kind::text)) group.description = text->text;
  if (const wire::JsonTree* const list = one.find("ranks", Kind::list)) {
    for (const wire::JsonTree& rank : list->items) {
      group.ranks_text += (group.ranks_text.empty() ? "[" : ", ") + std::to_string(rank.integer);
    }
    if (!group.ranks_text.empty()) group.ranks_text += "]";
    group.ranks = jobs::ranks_in_list(group.ranks_text);
  }
  return group;
}

/// The elements of the first input, if it is the only one: `[[528]]`, `[[16, 4]]`.
std::optional<std::int64_t> elements_of(std::string_view dims) {
  const std::optional<wire::JsonTree> list = wire::parse_json_tree(dims);
  if (!list || list->items.empty()) return std::nullopt;
  for (std::size_t other = 1; other < list->items.size(); ++other) {
    if (!list->items[other].items.empty()) return std::nullopt;
  }
  WideInteger product = 1;
  if (list->items.front().items.empty()) return std::nullopt;
  for (const wire::JsonTree& size : list->items.front().items) {
    if (size.kind != wire::JsonTree::Kind::integer || size.integer < 0) return std::nullopt;
    product = bounded(product * size.integer);
  }
  return bounded(product);
}

/// `["float"]`: the first text.
std::string first_type(std::string_view types) {
  const std::optional<wire::JsonTree> list = wire::parse_json_tree(types);
  const bool has_text =
      list && !list->items.empty() && list->items.front().kind == wire::JsonTree::Kind::text;
  return has_text ? list->items.front().text : std::string();
}

class RecordMaker {
 public:
  RecordMaker(const Trace& trace, const std::string& path, const RankRecordOptions& options)
      : options_(options),
        trace_(trace),
        events_(trace.events()),
        recorded_(jobs::recorded_collectives(trace)) {
    const TraceIdentity identity = trace.identity();
    record_.path = path;
    record_.rank = identity.rank;
    record_.world_size = identity.world_size;
    record_.host = identity.host;
    record_.start_ns = of_clock(trace.window_start_ns());
    record_.end_ns = of_clock(trace.window_end_ns());
    for (const DeviceLink& link : links_of(trace).placed_work()) {
      record_.device = device_number(trace.track(events_.track(link.activity)));
      break;
    }
    record_.calls_without_kernel = recorded_.calls_without_kernel;
  }

  RankRecord run() {
    find_steps();
    computing_ = jobs::computing_times(trace_, recorded_.is_part);
    for (const jobs::RecordedCollective& one : recorded_.collectives) add(one);
    add_steps();
    return std::move(record_);
  }

 private:
  std::int64_t of_clock(std::int64_t time_ns) const {
    return bounded_sum(trace_.base_time_ns(), time_ns);
  }

  std::uint32_t text(std::string_view value) {
    const auto [found, is_new] =
        texts_.try_emplace(std::string(value), static_cast<std::uint32_t>(record_.texts.size()));
    if (value.empty()) return 0;
    if (is_new) record_.texts.emplace_back(value);
    return found->second;
  }

  void find_steps() {
    steps_.assign(trace_.steps().begin(), trace_.steps().end());
    if (steps_.empty()) steps_ = analyses::inferred_steps(trace_);
    std::ranges::sort(steps_, {}, [&](const Step& step) { return events_.start_ns(step.event); });
    counts_from_start_ = are_counted_from_start();
  }

  /// Whether the numbers of steps are only counted: ranks may begin to record at different steps.
  bool are_counted_from_start() const {
    const ArgumentColumn& numbers = trace_.argument(Argument::step_number);
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      const bool has_number = is_step_name(trace_.name(steps_[at].event)) ||
                              numbers.integer(steps_[at].event).has_value();
      if (has_number || steps_[at].number != static_cast<std::int64_t>(at)) return false;
    }
    return !steps_.empty();
  }

  std::uint64_t name_of_step(std::int64_t number) const {
    if (!counts_from_start_) return 0;
    StableHash hash;
    hash.add(trace_.name(steps_[static_cast<std::size_t>(number)].event));
    return std::max<std::uint64_t>(hash.value(), 1);
  }

  /// The step that had begun last, if it or a later one had not ended.
  std::optional<std::int64_t> step_at(std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(
        steps_, time_ns, {}, [&](const Step& step) { return events_.start_ns(step.event); });
    if (after == steps_.begin()) return std::nullopt;
    const Step& step = *(after - 1);
    if (after == steps_.end() && time_ns >= events_.end_ns(step.event)) return std::nullopt;
    return step.number;
  }

  std::uint32_t group_of(EventId details) {
    if (details == EventId::none) return number_of_only_group();
    const auto key = std::array{trace_.argument(Argument::group_name).text(details),
                                trace_.argument(Argument::group_description).text(details),
                                trace_.argument(Argument::group_ranks).text(details)};
    const std::optional<std::int64_t> size = trace_.argument(Argument::group_size).integer(details);
    const auto [found, is_new] = groups_.try_emplace(std::pair(key, size.value_or(-1)), 0);
    if (!is_new) return found->second;
    ProcessGroup group;
    group.name = trace_.string(key[0]);
    group.description = trace_.string(key[1]);
    group.ranks_text = trace_.string(key[2]);
    group.ranks = jobs::ranks_in_list(group.ranks_text);
    group.size = size;
    if (!group.size && !group.ranks.empty()) group.size = std::ssize(group.ranks);
    return found->second = group == ProcessGroup() ? number_of_only_group() : number_of(group);
  }

  /// What a record is of that does not say its group.
  std::uint32_t number_of_only_group() {
    if (!only_group_) {
      const ProcessGroup group = only_group(trace_);
      only_group_ = group == ProcessGroup() ? 0 : number_of(group);
    }
    return *only_group_;
  }

  std::uint32_t number_of(const ProcessGroup& group) {
    const auto known = std::ranges::find(record_.groups, group);
    if (known != record_.groups.end()) {
      return static_cast<std::uint32_t>(known - record_.groups.begin());
    }
    record_.groups.push_back(group);
    return static_cast<std::uint32_t>(record_.groups.size() - 1);
  }

  void add(const jobs::RecordedCollective& one) {
    RankCollective part;
    part.start_ns = of_clock(events_.start_ns(one.event));
    const std::int64_t end =
        events_.end_ns(one.last_copy != EventId::none ? one.last_copy : one.event);
    part.end_ns = of_clock(end);
    part.on_device = is_device_work(trace_.kind(one.event));
    part.step = step_at(events_.start_ns(one.launch != EventId::none ? one.launch : one.event));
    part.group = group_of(one.details);
    part.stream = streams_.try_emplace(events_.track(one.event), streams_.size()).first->second;
    name(part, one);
    measure(part, one);
    add_exposed(part, {events_.start_ns(one.event), end});
    record_.collectives.push_back(part);
  }

  void name(RankCollective& part, const jobs::RecordedCollective& one) {
    std::string name(trace_.argument_text(one.details == EventId::none ? one.event : one.details,
                                          Argument::collective_name));
    if (name.empty() && one.annotation != EventId::none) {
      const std::string_view text = trace_.name(one.annotation);
      name = text.substr(analyses::collective_backend(text)->prefix.size());
    }
    const bool is_copied = one.last_copy != EventId::none;
    if (name.empty() && is_copied && one.symmetric != EventId::none) {
      name = trace_.name(one.symmetric).substr(analyses::kSymmetricMemory.size());
    }
    const std::string kernel(part.on_device ? trace_.name(one.event) : std::string_view());
    part.kind = analyses::operation_named(name.empty() ? kernel : name);
    if (part.kind != CollectiveKind::other && !name.empty()) {
      name = collective_kind_name(part.kind);
    }
    if (name.empty()) name = analyses::kernel_operation_name(kernel);
    part.name = text(name);
    if (one.details == EventId::none) return;
    part.sequence = trace_.argument(Argument::collective_sequence).integer(one.details);
    const Argument peer = part.kind == CollectiveKind::send      ? Argument::destination_rank
                          : part.kind == CollectiveKind::receive ? Argument::source_rank
                                                                 : Argument::none;
    if (peer != Argument::none) part.peer = trace_.argument(peer).integer(one.details);
  }

  void measure(RankCollective& part, const jobs::RecordedCollective& one) {
    if (one.details != EventId::none) {
      const std::string_view type = trace_.argument_text(one.details, Argument::collective_type);
      part.type = text(type);
      const std::optional<std::int64_t> size = element_bytes(type);
      const std::optional<std::int64_t> in =
          trace_.argument(Argument::in_elements).integer(one.details);
      const std::optional<std::int64_t> out =
          trace_.argument(Argument::out_elements).integer(one.details);
      const std::int64_t elements = std::max(in.value_or(-1), out.value_or(-1));
      if (size && elements >= 0) part.bytes = bounded(WideInteger{elements} * *size);
      return;
    }
    // Before 2.1 only the annotation has sizes, and only of the input.
    const bool input_is_all = part.kind == CollectiveKind::all_reduce ||
                              part.kind == CollectiveKind::broadcast ||
                              part.kind == CollectiveKind::reduce;
    if (one.annotation == EventId::none || !input_is_all) return;
    const std::string type =
        first_type(trace_.argument_text(one.annotation, Argument::input_types));
    const std::optional<std::int64_t> elements =
        elements_of(trace_.argument_text(one.annotation, Argument::input_dims));
    part.type = text(type);
    const std::optional<std::int64_t> size = element_bytes(type);
    if (size && elements) part.bytes = bounded(WideInteger{*elements} * *size);
  }

  /// The parts of a collective in which nothing computed.
  void add_exposed(RankCollective& part, TimeRange time) {
    part.first_exposed = static_cast<std::uint32_t>(record_.exposed.size());
    auto next = std::ranges::upper_bound(computing_, time.start, {}, &TimeRange::end);
    for (std::int64_t at = time.start; at < time.end;) {
      const bool is_last = next == computing_.end() || next->start >= time.end;
      const std::int64_t until = is_last ? time.end : std::max(at, next->start);
      if (until > at) record_.exposed.push_back({of_clock(at), of_clock(until)});
      if (is_last) break;
      at = next->end;
      ++next;
    }
    part.exposed_ranges = static_cast<std::uint32_t>(record_.exposed.size()) - part.first_exposed;
  }

  /// From the end of the last collective of one step to that of the next.
  void add_steps() {
    std::map<std::int64_t, std::int64_t> last_end;  // by step
    for (const RankCollective& part : record_.collectives) {
      if (!part.step) continue;
      const auto [found, is_new] = last_end.try_emplace(*part.step, part.end_ns);
      if (!is_new) found->second = std::max(found->second, part.end_ns);
    }
    if (last_end.empty()) return;
    const std::int64_t first = start_of_step(last_end.begin()->first);
    const jobs::RankTimes times =
        jobs::rank_times(trace_, recorded_.is_part, computing_, first - trace_.base_time_ns());
    std::vector<RangeLengths> lengths;
    lengths.reserve(kRankTimes);
    for (const std::vector<TimeRange>& ranges : times) lengths.emplace_back(ranges);
    const std::vector<TimeRange> silent =
        jobs::silent_times(trace_, times[static_cast<std::size_t>(RankTime::launch)]);
    const std::vector<const DeviceLink*> kernels = computing_kernels();
    std::int64_t start = first;
    for (const auto& [number, end] : last_end) {
      RankStep one = {.number = number, .start_ns = start, .end_ns = end};
      if (one.end_ns <= one.start_ns || is_unfinished(number)) continue;
      const TimeRange window = {one.start_ns - trace_.base_time_ns(),
                                one.end_ns - trace_.base_time_ns()};
      for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
        one.time_ns[kind] = lengths[kind].within(window);
      }
      one.kernels = add_kernels(kernels, window, number);
      one.silent_ns = longest_in(silent, window);
      one.name = name_of_step(number);
      add_launches(one, window);
      if (options_.with_activity) one.activity = jobs::activity_within(lengths, window);
      record_.steps.push_back(std::move(one));
      start = end;
    }
  }

  /// How long a step that did not end would have been, nobody knows: it is not compared.
  bool is_unfinished(std::int64_t number) const {
    const auto found = std::ranges::find(steps_, number, &Step::number);
    return found != steps_.end() && events_.unfinished(found->event);
  }

  /// On the host.
  std::int64_t start_of_step(std::int64_t number) const {
    const auto found = std::ranges::find(steps_, number, &Step::number);
    return of_clock(events_.start_ns(found->event));
  }

  /// By start.
  std::vector<const DeviceLink*> computing_kernels() const {
    std::vector<const DeviceLink*> kernels;
    for (const DeviceLink& link : links_of(trace_).placed_work()) {
      const bool computes = trace_.kind(link.activity) == EventKind::kernel &&
                            !recorded_.is_part[index(link.activity)];
      if (computes) kernels.push_back(&link);
    }
    return kernels;
  }

  /// The sums of the kernels that begin in a step. Returns how many there are.
  std::uint64_t add_kernels(const std::vector<const DeviceLink*>& kernels, TimeRange window,
                            std::int64_t step) {
    const auto start = [&](const DeviceLink* link) { return events_.start_ns(link->activity); };
    const auto first = std::ranges::lower_bound(kernels, window.start, {}, start);
    const auto last = std::ranges::lower_bound(kernels, window.end, {}, start);
    std::map<std::uint64_t, KernelSum> sums;
    for (auto at = first; at != last; ++at) {
      const EventId event = (*at)->activity;
      KernelSum& sum = sums[key_of(event)];
      ++sum.count;
      add_bounded(sum.total_ns, events_.duration_ns(event));
    }
    for (auto& [key, sum] : sums) {
      sum.step = step;
      sum.key = key;
      record_.kernels.push_back(sum);
    }
    return static_cast<std::uint64_t>(last - first);
  }

  /// How fast the host launches. All work counts, so that what is between two launches is the
  /// host's.
  void add_launches(RankStep& step, TimeRange window) const {
    const std::span<const DeviceLink> work = links_of(trace_).placed_work();
    const auto start = [&](const DeviceLink& link) { return events_.start_ns(link.activity); };
    const auto first = std::ranges::lower_bound(work, window.start, {}, start);
    const auto last = std::ranges::lower_bound(work, window.end, {}, start);
    std::map<TrackId, std::vector<std::int64_t>> launches;  // by thread
    for (auto at = first; at != last; ++at) {
      if (at->launch == EventId::none) continue;
      launches[events_.track(at->launch)].push_back(events_.start_ns(at->launch));
    }
    std::vector<std::int64_t> intervals;
    for (auto& [thread, starts] : launches) {
      std::ranges::sort(starts);
      for (std::size_t next = 1; next < starts.size(); ++next) {
        // Several activities of one call, such as the launch of a graph, are one launch.
        if (starts[next] > starts[next - 1]) intervals.push_back(starts[next] - starts[next - 1]);
      }
    }
    if (intervals.empty()) return;
    step.launch_intervals = intervals.size();
    step.launch_interval_ns = median_of(std::move(intervals));
  }

  std::uint64_t key_of(EventId kernel) const {
    const Dim3 grid = trace_.argument(Argument::grid).dim3(kernel).value_or(Dim3{0, 0, 0});
    StableHash hash;
    hash.add(trace_.name(kernel));
    for (const std::uint32_t size : {grid.x, grid.y, grid.z}) hash.add(size);
    return hash.value();
  }

  static std::int64_t longest_in(const std::vector<TimeRange>& ranges, TimeRange window) {
    constexpr std::size_t kMost = 3;
    std::vector<std::int64_t> lengths;
    auto at = std::ranges::upper_bound(ranges, window.start, {}, &TimeRange::end);
    for (; at != ranges.end() && at->start < window.end; ++at) {
      lengths.push_back(std::min(at->end, window.end) - std::max(at->start, window.start));
    }
    const std::size_t count = std::min(kMost, lengths.size());
    std::ranges::partial_sort(lengths, lengths.begin() + static_cast<std::ptrdiff_t>(count),
                              std::ranges::greater());
    return std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(count),
                           std::int64_t{0});
  }

  const RankRecordOptions options_;
  const Trace& trace_;
  const Events& events_;
  const jobs::RecordedCollectives recorded_;
  std::vector<Step> steps_;
  bool counts_from_start_ = false;
  std::vector<TimeRange> computing_;
  std::map<TrackId, std::uint32_t> streams_;
  std::optional<std::uint32_t> only_group_;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::map<std::pair<std::array<StringId, 3>, std::int64_t>, std::uint32_t> groups_;
  RankRecord record_;
};

}  // namespace

RankRecord rank_record(const Trace& trace, const std::string& path,
                       const RankRecordOptions& options) {
  return RecordMaker(trace, path, options).run();
}

}  // namespace tbtrace
