#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyses/attribution/source_lines.h"
#include "analyses/gpu/idle_account.h"
#include "base/bounded_sum.h"
#include "trace/call_tree.h"
#include "trace/times.h"

namespace tbtrace {
namespace {

struct CauseTexts {
  IdleCause cause;
  std::string_view name;
  std::string_view label;
  std::string_view text;
};

constexpr std::array<CauseTexts, kIdleCauses> kCauses = {{
    {IdleCause::data, "data", "data loader", "while the host waited for its data loader"},
    {IdleCause::cold_start, "cold_start", "cold start",
     "while the host did what it does only once"},
    {IdleCause::profiler, "profiler", "profiler", "while the profiler worked"},
    {IdleCause::garbage_collection, "garbage_collection", "garbage collection",
     "while Python collected garbage"},
    {IdleCause::compiler, "compiler", "torch.compile",
     "while torch.compile checked guards or compiled"},
    {IdleCause::host_communication, "host_communication", "other processes",
     "while the host waited for other processes"},
    {IdleCause::allocation, "allocation", "allocator calls",
     "while the host allocated or freed memory"},
    {IdleCause::copies, "copies", "blocking copies", "after the host had waited for copies"},
    {IdleCause::synchronization, "synchronization", "synchronization",
     "after the host had waited for the GPU"},
    {IdleCause::launches, "launches", "operators, launches",
     "while the host ran operators or launched"},
    {IdleCause::code, "code", "host code", "while the host was outside of operators"},
    {IdleCause::other_device, "other_device", "another GPU",
     "while another GPU of the process worked"},
    {IdleCause::device, "device", "already launched",
     "although its next work was launched already"},
    {IdleCause::unrecorded_work, "unrecorded_work", "unrecorded work",
     "while the host waited for work that is not in the file"},
    {IdleCause::nothing_recorded, "nothing_recorded", "nothing recorded",
     "while nothing recorded ran on the host"},
    {IdleCause::unknown, "unknown", "unknown launches",
     "before activities whose launch is unknown"},
}};

}  // namespace

std::string_view idle_cause_name(IdleCause cause) {
  return kCauses[static_cast<std::size_t>(cause)].name;
}

std::string_view idle_cause_text(IdleCause cause) {
  return kCauses[static_cast<std::size_t>(cause)].text;
}

std::string_view idle_cause_label(IdleCause cause) {
  return kCauses[static_cast<std::size_t>(cause)].label;
}

IdlePart GpuUse::idle(IdleCause cause) const {
  const auto found = std::ranges::find(idle_causes, cause, &IdlePart::cause);
  if (found != idle_causes.end()) return *found;
  IdlePart none;
  none.cause = cause;
  return none;
}

namespace analyses {
namespace {

constexpr std::size_t kMostRanges = 3;
constexpr std::size_t kMostGaps = 5;
constexpr std::int64_t kShortGap = 200'000;  // ns

/// The range whose name says what the host did.
EventId named(const IdleSpan& span) {
  const bool is_call = span.cause < IdleCause::launches;
  return is_call && span.call != EventId::none ? span.call : span.range;
}

/// Sums up the spans of an account, by start.
class Parts {
 public:
  explicit Parts(const Trace& trace) : trace_(trace) {
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      parts_[cause].cause = static_cast<IdleCause>(cause);
    }
  }

  void add(const IdleSpan& span, TimeRange part, const DeviceGap& gap) {
    const auto cause = static_cast<std::size_t>(span.cause);
    const std::int64_t ns = part.end - part.start;
    parts_[cause].ns += ns;
    if (span.is_on_cpu) parts_[cause].cpu_operators_ns += ns;
    if (span.is_long_view) parts_[cause].long_views_ns += ns;
    const bool is_outside = span.cause == IdleCause::allocation && span.call != EventId::none &&
                            operator_around(trace_, span.call) == EventId::none;
    if (is_outside) parts_[cause].outside_operators_ns += ns;
    if (span.gap != gap_) {
      end_gap();
      gap_ = span.gap;
      gap_times_ = &gap;
    }
    InGap& in_gap = in_gap_[cause];
    if (in_gap.ns == 0) in_gap.start_ns = part.start;
    in_gap.ns += ns;
    const EventId range = named(span);
    if (range == EventId::none) return;
    const StringId name = trace_.events().name(range);
    ranges_[cause][name] += ns;
    if (span.cause < IdleCause::launches) calls_[cause].insert(range);
  }

  void take(const IdleAccount& account, TimeRange window, GpuUse& use) {
    end_gap();
    use.idle_causes.clear();
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (parts_[cause].ns == 0) continue;
      IdlePart& part = use.idle_causes.emplace_back(std::move(parts_[cause]));
      part.calls = calls_[cause].size();
      part.ranges = longest_ranges(ranges_[cause]);
      describe(part.largest, account, window);
    }
    std::ranges::stable_sort(use.idle_causes, std::ranges::greater(), &IdlePart::ns);
    use.longest_gaps = std::move(longest_);
    for (IdleGap& gap : use.longest_gaps) describe(gap, account, window);
  }

 private:
  struct InGap {
    std::int64_t ns = 0;
    std::int64_t start_ns = 0;
  };

  void end_gap() {
    if (gap_times_ == nullptr) return;
    const auto most = std::ranges::max_element(in_gap_, {}, &InGap::ns);  // of equal ones the first
    if (gap_times_->ended_by.activity != EventId::none) {
      add_long_gap(gap_of(static_cast<std::size_t>(most - in_gap_.begin())));
    }
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (in_gap_[cause].ns == 0) continue;
      IdlePart& part = parts_[cause];
      ++part.gaps;
      const bool is_short = gap_times_->time.end - gap_times_->time.start < kShortGap;
      if (is_short) part.short_gaps_ns += in_gap_[cause].ns;
      if (in_gap_[cause].ns > part.largest.ns) part.largest = gap_of(cause);
    }
    in_gap_ = {};
  }

  /// The gap that ends, with its part of one cause.
  IdleGap gap_of(std::size_t cause) const {
    IdleGap gap;
    gap.cause = static_cast<IdleCause>(cause);
    gap.ns = in_gap_[cause].ns;
    gap.start_ns = since_start(trace_, in_gap_[cause].start_ns);
    gap.gap_start_ns = since_start(trace_, gap_times_->time.start);
    gap.gap_end_ns = since_start(trace_, gap_times_->time.end);
    gap.ended_by = gap_times_->ended_by.activity;
    return gap;
  }

  /// Of equal ones the first.
  void add_long_gap(IdleGap gap) {
    const auto length = [](const IdleGap& each) { return each.gap_end_ns - each.gap_start_ns; };
    if (longest_.size() == kMostGaps && length(longest_.back()) >= length(gap)) return;
    if (longest_.size() == kMostGaps) longest_.pop_back();
    const auto after =
        std::ranges::upper_bound(longest_, length(gap), std::ranges::greater(), length);
    longest_.insert(after, std::move(gap));
  }

  using NamedTimes = std::unordered_map<StringId, std::int64_t>;
  std::vector<IdlePart::Range> longest_ranges(const NamedTimes& times) const {
    std::vector<std::pair<StringId, std::int64_t>> all(times.begin(), times.end());
    const std::size_t most = std::min(all.size(), kMostRanges);
    // Of equal ones the first in the file.
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(most),
                              [](const auto& one, const auto& other) {
                                return std::pair(-one.second, one.first) <
                                       std::pair(-other.second, other.first);
                              });
    std::vector<IdlePart::Range> ranges;
    for (std::size_t at = 0; at < most; ++at) {
      ranges.push_back({std::string(trace_.string(all[at].first)), all[at].second});
    }
    return ranges;
  }

  /// Where the host was in most of the part.
  void describe(IdleGap& gap, const IdleAccount& account, TimeRange window) const {
    const std::int64_t origin = trace_.window_start_ns();
    const TimeRange time = {std::max(gap.gap_start_ns + origin, window.start),
                            std::min(gap.gap_end_ns + origin, window.end)};
    std::unordered_map<EventId, std::int64_t> times;
    std::unordered_map<EventId, std::int64_t> after;  // the wait
    EventId host = EventId::none;
    auto span = std::ranges::partition_point(
        account.spans, [&](const IdleSpan& each) { return each.time.end <= time.start; });
    EventId most = EventId::none;
    EventId most_range = EventId::none;
    std::int64_t most_ns = 0;
    for (; span != account.spans.end() && span->time.start < time.end; ++span) {
      if (span->cause != gap.cause || named(*span) == EventId::none) continue;
      if (span->call != span->range && span->range != EventId::none && is_after_wait(gap.cause)) {
        const std::int64_t ns = after[span->range] += span->time.end - span->time.start;
        if (ns > gap.host_ns) {
          gap.host_ns = ns;
          host = span->range;
        }
      }
      const std::int64_t ns = times[named(*span)] += span->time.end - span->time.start;
      if (ns <= most_ns) continue;
      most_ns = ns;
      most = named(*span);
      most_range =
          gap.cause < IdleCause::launches || span->range == EventId::none ? most : span->range;
    }
    if (most == EventId::none) return;
    if (host != EventId::none) gap.host = trace_.name(host);
    gap.call = trace_.name(most);
    gap.call_ns = most_ns;
    const CallTree& tree = call_tree_of(trace_);
    for (EventId around = most_range; around != EventId::none; around = tree.parent(around)) {
      const bool is_op = trace_.kind(around) == EventKind::cpu_op;
      if (is_op && gap.op.empty()) gap.op = trace_.name(around);
      // Modules and built-in functions have no line.
      if (trace_.kind(around) != EventKind::python_function) continue;
      if (!line_of_frame(trace_.name(around))) continue;
      gap.line = trace_.name(around);
      break;
    }
  }

  const Trace& trace_;
  std::array<IdlePart, kIdleCauses> parts_;
  std::array<InGap, kIdleCauses> in_gap_ = {};
  std::array<NamedTimes, kIdleCauses> ranges_;
  std::array<std::unordered_set<EventId>, kIdleCauses> calls_;
  std::vector<IdleGap> longest_;  // the longest first
  std::uint32_t gap_ = UINT32_MAX;
  const DeviceGap* gap_times_ = nullptr;
};

}  // namespace

void add_idle_causes(const Trace& trace, const IdleAccount& account, TimeRange window, GpuUse& use,
                     std::span<const TimeRange> left_out) {
  const auto is_left_out = [&](const TimeRange& gap) {
    return std::ranges::any_of(left_out, [&](const TimeRange& time) {
      return gap.start <= time.start && time.end <= gap.end;
    });
  };
  Parts parts(trace);
  auto first = std::ranges::partition_point(
      account.spans, [&](const IdleSpan& span) { return span.time.end <= window.start; });
  for (; first != account.spans.end() && first->time.start < window.end; ++first) {
    const IdleSpan& span = *first;
    const TimeRange part = {std::max(span.time.start, window.start),
                            std::min(span.time.end, window.end)};
    if (part.start >= part.end) continue;
    const DeviceGap& gap = account.gaps[span.gap];
    if (!left_out.empty() && is_left_out(gap.time)) continue;
    parts.add(span, part, gap);
  }
  parts.take(account, window, use);
}

void join_idle_parts(std::vector<IdlePart>& all, const std::vector<IdlePart>& more) {
  for (const IdlePart& part : more) {
    const auto same = std::ranges::find(all, part.cause, &IdlePart::cause);
    if (same == all.end()) {
      all.push_back(part);
      continue;
    }
    add_bounded(same->ns, part.ns);
    add_bounded(same->cpu_operators_ns, part.cpu_operators_ns);
    add_bounded(same->long_views_ns, part.long_views_ns);
    add_bounded(same->short_gaps_ns, part.short_gaps_ns);
    add_bounded(same->outside_operators_ns, part.outside_operators_ns);
    if (part.largest.ns > same->largest.ns) same->largest = part.largest;
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &IdlePart::ns);
}

}  // namespace analyses
}  // namespace tbtrace
