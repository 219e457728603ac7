#include "analyses/timeline/timeline.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "analyses/timeline/flows.h"
#include "analyses/timeline/rows.h"
#include "base/utf8.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

bool touches(const TimelinePart& part, std::int64_t start_ns, std::int64_t end_ns) {
  return start_ns < part.to_ns && (end_ns > part.from_ns || start_ns >= part.from_ns);
}

/// Numbers names with their categories, the most frequent first.
class NameNumbers {
 public:
  explicit NameNumbers(const Trace& trace) : trace_(trace) {}

  std::uint32_t number(EventId event) {
    const std::size_t name = index_of(trace_.events().name(event));
    const CategoryId category = trace_.events().category(event);
    if (name >= first_.size()) first_.resize(std::max(name + 1, 2 * first_.size()), kNone);
    std::uint32_t* place = &first_[name];
    while (*place != kNone && entries_[*place].category != category) {
      place = &entries_[*place].next;
    }
    if (*place == kNone) {
      const auto added = static_cast<std::uint32_t>(entries_.size());
      *place = added;  // before the entries may move
      entries_.push_back({trace_.events().name(event), category, 0, kNone});
      ++entries_.back().count;
      return added;
    }
    ++entries_[*place].count;
    return *place;
  }

  void finish(Timeline& timeline) const {
    std::vector<std::uint32_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::uint32_t entry) { return entries_[entry].count; });
    std::vector<std::uint32_t> number_of(entries_.size());
    for (std::size_t number = 0; number < order.size(); ++number) {
      const Entry& entry = entries_[order[number]];
      number_of[order[number]] = static_cast<std::uint32_t>(number);
      timeline.names.push_back({std::string(trace_.string(entry.name)),
                                static_cast<std::uint32_t>(index(entry.category))});
    }
    for (std::uint32_t& name : timeline.name) name = number_of[name];
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Entry {
    StringId name;
    CategoryId category;
    std::size_t count;
    std::uint32_t next;  // of the same name
  };

  static std::size_t index_of(StringId id) { return static_cast<std::size_t>(id); }

  const Trace& trace_;
  std::vector<std::uint32_t> first_;  // by name: its first entry
  std::vector<Entry> entries_;
};

/// Takes out all ranges but these.
void keep(Timeline& timeline, std::vector<EventId>& events,
          const std::vector<std::uint32_t>& kept) {
  std::size_t at = 0;
  std::size_t behind = 0;
  std::size_t next = 0;
  for (TimelineTrack& track : timeline.tracks) {
    behind += track.ranges;
    const std::size_t first = next;
    while (at < kept.size() && kept[at] < behind) {
      const std::uint32_t range = kept[at++];
      events[next] = events[range];
      timeline.start_ns[next] = timeline.start_ns[range];
      timeline.duration_ns[next] = timeline.duration_ns[range];
      timeline.name[next] = timeline.name[range];
      timeline.row[next] = timeline.row[range];
      ++next;
    }
    track.ranges = next - first;
  }
  events.resize(next);
  timeline.start_ns.resize(next, 0);
  timeline.duration_ns.resize(next, 0);
  timeline.name.resize(next, 0);
  timeline.row.resize(next, 0);
}

void keep_longest(Timeline& timeline, std::vector<EventId>& events, std::size_t count) {
  if (timeline.size() <= count) return;
  const std::vector<std::uint32_t> kept = longest_ranges(timeline.duration_ns, count);
  timeline.left_out = timeline.size() - count;
  std::size_t at = 0;
  for (std::size_t range = 0; range < timeline.size(); ++range) {
    if (at < kept.size() && kept[at] == range) {
      ++at;
    } else {
      timeline.left_out_ns = std::max(timeline.left_out_ns, timeline.duration_ns[range]);
    }
  }
  keep(timeline, events, kept);
}

void add_ranges(const Trace& trace, const TimelineOptions& options, Timeline& timeline,
                std::vector<EventId>& events) {
  const Events& all = trace.events();
  const std::vector<EventId> order = drawing_order(trace, timeline.tracks);
  NameNumbers names(trace);
  timeline.start_ns.reserve(order.size());
  timeline.duration_ns.reserve(order.size());
  timeline.name.reserve(order.size());
  timeline.row.reserve(order.size());
  std::size_t at = 0;
  for (TimelineTrack& track : timeline.tracks) {
    TimelineRows rows;
    const std::size_t behind = at + track.ranges;
    const std::size_t first = timeline.size();
    for (; at < behind; ++at) {
      const EventId event = order[at];
      const std::int64_t start = since_start(trace, all.start_ns(event));
      const std::int64_t duration = all.duration_ns(event);
      const std::uint32_t row = rows.place(start, duration);
      if (options.part && !touches(*options.part, start, start + duration)) continue;
      timeline.start_ns.push_back(start);
      timeline.duration_ns.push_back(duration);
      timeline.row.push_back(row);
      timeline.name.push_back(names.number(event));
      events.push_back(event);
    }
    track.ranges = timeline.size() - first;
    track.rows = rows.rows();
  }
  names.finish(timeline);
}

void add_extent(const Trace& trace, Timeline& timeline) {
  const Events& all = trace.events();
  timeline.window_ns = since_start(trace, trace.window_end_ns());
  if (all.size() == 0) return;
  timeline.from_ns = since_start(trace, all.start_ns(trace.by_start().front()));
  timeline.to_ns = timeline.from_ns;
  for (std::size_t row = 0; row < all.size(); ++row) {
    const std::int64_t end = all.end_ns(static_cast<EventId>(row));
    timeline.to_ns = std::max(timeline.to_ns, since_start(trace, end));
  }
}

}  // namespace

std::vector<EventId> drawing_order(const Trace& trace, const std::vector<TimelineTrack>& tracks) {
  const Events& events = trace.events();
  std::vector<std::size_t> next(trace.tracks().size());
  std::size_t sum = 0;
  for (const TimelineTrack& track : tracks) {
    if (track.ranges == 0) continue;
    next[index(track.id)] = sum;
    sum += track.ranges;
  }
  std::vector<EventId> order(sum);
  for (const EventId event : trace.by_start()) order[next[index(events.track(event))]++] = event;
  const auto is_longer = [&](EventId one, EventId other) {
    return events.duration_ns(one) > events.duration_ns(other);
  };
  std::size_t begin = 0;
  for (const TimelineTrack& track : tracks) {
    const std::size_t behind = begin + track.ranges;
    while (begin < behind) {
      std::size_t end = begin + 1;
      while (end < behind && events.start_ns(order[end]) == events.start_ns(order[begin])) ++end;
      if (end > begin + 1) {
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end), is_longer);
      }
      begin = end;
    }
  }
  return order;
}

std::vector<std::uint32_t> longest_ranges(const Column<std::int64_t>& durations_ns,
                                          std::size_t count) {
  std::vector<std::uint32_t> kept(durations_ns.size());
  std::iota(kept.begin(), kept.end(), 0U);
  if (count >= kept.size()) return kept;
  const auto is_longer = [&](std::uint32_t one, std::uint32_t other) {
    const std::int64_t a = durations_ns[one];
    const std::int64_t b = durations_ns[other];
    return a != b ? a > b : one < other;
  };
  std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(),
                   is_longer);
  kept.resize(count);
  std::sort(kept.begin(), kept.end());
  return kept;
}

Timeline timeline(const Trace& trace, const TimelineOptions& options) {
  Timeline made;
  made.tracks = timeline_tracks(trace);
  std::vector<EventId> events;
  add_ranges(trace, options, made, events);
  keep_longest(made, events, options.ranges);
  for (std::size_t range = 0; range < events.size(); ++range) {
    if (trace.events().unfinished(events[range])) {
      made.unfinished.push_back(static_cast<std::uint32_t>(range));
    }
  }
  for (const Category& category : trace.categories()) {
    made.categories.push_back({std::string(trace.string(category.name)), category.kind});
  }
  made.flows = timeline_flows(trace, made.tracks, events);
  for (const Step& step : trace.steps()) {
    made.steps.push_back({step.number, since_start(trace, trace.events().start_ns(step.event)),
                          since_start(trace, trace.events().end_ns(step.event))});
  }
  const TimelinePart all = {std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max()};
  const TimelinePart part = options.part.value_or(all);
  made.counters = timeline_counters(trace, part.from_ns, part.to_ns);
  made.marks = timeline_marks(trace, made.tracks, part.from_ns, part.to_ns);
  if (options.arguments) {
    made.arguments = timeline_arguments(trace, events);
  } else {
    made.has_more_arguments = has_arguments(trace);
  }
  add_extent(trace, made);
  return made;
}

EventId range_at(const Trace& trace, const TimelinePlace& place) {
  constexpr std::string_view kCut = "\u2026";
  const std::vector<TimelineTrack> tracks = timeline_tracks(trace);
  if (place.track >= tracks.size() || tracks[place.track].ranges == 0) return EventId::none;
  const TrackId track = tracks[place.track].id;
  const Events& events = trace.events();
  const auto has_name = [&](EventId event) {
    const std::string name = to_utf8(trace.name(event));
    if (name == place.name) return true;
    if (!place.name.ends_with(kCut)) return false;
    return name.starts_with(
        std::string_view(place.name).substr(0, place.name.size() - kCut.size()));
  };
  const auto starts_before = [&](EventId event, std::int64_t start_ns) {
    return since_start(trace, events.start_ns(event)) < start_ns;
  };
  const std::span<const EventId> order = trace.by_start();
  std::size_t before = place.nth;
  for (auto event = std::lower_bound(order.begin(), order.end(), place.start_ns, starts_before);
       event != order.end() && since_start(trace, events.start_ns(*event)) == place.start_ns;
       ++event) {
    if (events.track(*event) != track || events.duration_ns(*event) != place.duration_ns ||
        !has_name(*event)) {
      continue;
    }
    if (before-- == 0) return *event;
  }
  return EventId::none;
}

}  // namespace tbtrace::analyses
