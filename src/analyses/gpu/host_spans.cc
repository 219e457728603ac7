#include "analyses/gpu/host_spans.h"

#include <algorithm>
#include <cstddef>

#include "trace/call_tree.h"
#include "trace/self_times.h"

namespace tbtrace::analyses {
namespace {

/// A place in sorted ranges that only moves on.
template <typename Range>
class Cursor {
 public:
  explicit Cursor(std::span<const Range> ranges) : ranges_(ranges) {}

  /// Calls `give` with each range that overlaps a time. Times must come in order.
  template <typename Give>
  void for_each_in(TimeRange time, Give give) {
    while (at_ < ranges_.size() && time_of(ranges_[at_]).end <= time.start) ++at_;
    for (std::size_t at = at_; at < ranges_.size(); ++at) {
      const TimeRange range = time_of(ranges_[at]);
      if (range.start >= time.end) return;
      give(ranges_[at],
           TimeRange{std::max(range.start, time.start), std::min(range.end, time.end)});
    }
  }

 private:
  static TimeRange time_of(const TimeRange& range) { return range; }
  static TimeRange time_of(const Overhead& overhead) { return overhead.time; }
  static TimeRange time_of(const HostSpan& span) { return span.time; }

  std::span<const Range> ranges_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<HostSpans> host_spans(const Trace& trace, const HostCauses& causes,
                                  const std::vector<bool>& threads,
                                  std::span<const TimeRange> times) {
  struct Place {
    Cursor<TimeRange> times;
    Cursor<Overhead> overheads;
  };
  const Events& events = trace.events();
  std::vector<HostSpans> spans(threads.size());
  std::vector<Place> places(threads.size(),
                            {Cursor<TimeRange>(times), Cursor<Overhead>(causes.overheads())});
  for_each_own_time(
      trace, call_tree_of(trace),
      [&](EventId range) { return threads[index(events.track(range))] && !causes.is_step(range); },
      [&](EventId range, std::int64_t start, std::int64_t end) {
        const std::size_t thread = index(events.track(range));
        HostSpans& its_spans = spans[thread];
        places[thread].times.for_each_in({start, end}, [&](const TimeRange&, TimeRange part) {
          const HostMeaning meaning = causes.meaning(range);
          std::int64_t from = part.start;
          if (trace.kind(range) == EventKind::runtime) {
            places[thread].overheads.for_each_in(part, [&](const Overhead& overhead, TimeRange in) {
              if (in.start > from) its_spans.push_back({{from, in.start}, meaning, range});
              its_spans.push_back({in, {Doing::decided, overhead.cause, range}, range});
              from = in.end;
            });
          }
          if (from < part.end) its_spans.push_back({{from, part.end}, meaning, range});
        });
      });
  return spans;
}

void add_where_free(HostSpans& spans, const HostSpans& more, Doing least, Doing most) {
  HostSpans all;
  all.reserve(spans.size() + more.size());
  std::size_t next = 0;
  for (const HostSpan& span : more) {
    if (span.meaning.doing < least || span.meaning.doing > most) continue;
    std::int64_t from = span.time.start;
    while (next < spans.size() && spans[next].time.end <= from) all.push_back(spans[next++]);
    while (next < spans.size() && spans[next].time.start < span.time.end) {
      if (spans[next].time.start > from) {
        all.push_back({{from, spans[next].time.start}, span.meaning, span.range});
      }
      from = spans[next].time.end;
      if (from > span.time.end) break;  // it may overlap the next one as well
      all.push_back(spans[next++]);
    }
    if (from < span.time.end) all.push_back({{from, span.time.end}, span.meaning, span.range});
  }
  while (next < spans.size()) all.push_back(spans[next++]);
  spans = std::move(all);
}

}  // namespace tbtrace::analyses
