#include "analyses/path/device_waits.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyses/attribution/runtime_calls.h"
#include "base/bounded_sum.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;

/// Of a row of `cuda_sync`.
struct SyncRow {
  enum class What : std::uint8_t { all, stream, event };
  What what = What::all;
  TrackId stream = {};                      // of `stream` and of a stream that waits
  std::optional<std::int64_t> waited = {};  // number of the stream that an event is of
};

class SyncRows {
 public:
  explicit SyncRows(const Trace& trace) {
    if (links_of(trace).scopes() > 1) return;  // ids count for one process
    trace.argument(Argument::synchronization_kind).for_each([&](EventId row) {
      const std::string_view kind = trace.argument_text(row, Argument::synchronization_kind);
      SyncRow sync = {.stream = trace.events().track(row),
                      .waited = trace.argument(Argument::waited_stream).integer(row)};
      if (kind.find("Event") != std::string_view::npos) {
        sync.what = SyncRow::What::event;
      } else if (kind.find("Stream") != std::string_view::npos) {
        sync.what = SyncRow::What::stream;
      }
      if (trace.correlation(row) != 0) rows_.emplace(trace.correlation(row), sync);
    });
  }

  const SyncRow* of(const Trace& trace, EventId call) const {
    const auto found = rows_.find(trace.correlation(call));
    return found == rows_.end() ? nullptr : &found->second;
  }
  bool empty() const { return rows_.empty(); }

 private:
  std::unordered_map<std::int64_t, SyncRow> rows_;  // by correlation
};

/// The track of a stream on the device that another one is on.
std::optional<TrackId> stream_beside(const Trace& trace, TrackId beside, std::int64_t number) {
  const Track& known = trace.track(beside);
  for (std::size_t track = 0; track < trace.tracks().size(); ++track) {
    const Track& other = trace.tracks()[track];
    if (other.process == known.process && other.thread.text == StringId::empty &&
        other.thread.number == number) {
      return static_cast<TrackId>(track);
    }
  }
  return std::nullopt;
}

/// Whether a call that was not seen to wait may wait for the device.
bool may_wait(RuntimeCall call, std::string_view name) {
  return call == RuntimeCall::wait ||
         (call == RuntimeCall::allocation && name.find("Free") != std::string_view::npos);
}

class CallWaits {
 public:
  CallWaits(const Trace& trace, const StreamOrder& order)
      : trace_(trace), events_(trace.events()), order_(order), rows_(trace), calls_(trace) {}

  std::vector<DeviceWait> run() && {
    const bool with_kernels = !blocking_launches(trace_).empty();
    std::unordered_map<EventId, std::uint32_t> copies;  // by call: the last copy that it began
    for (std::uint32_t work = 0; work < order_.work.size(); ++work) {
      const DeviceLink& link = order_.work[work];
      const bool may_block = with_kernels || trace_.kind(link.activity) == EventKind::gpu_memcpy;
      if (link.launch == EventId::none || !may_block) continue;
      const auto [copy, is_new] = copies.try_emplace(link.launch, work);
      if (!is_new && end_of(work) > end_of(copy->second)) copy->second = work;
    }
    for (const EventId event : call_tree_of(trace_).ranges()) {
      if (trace_.kind(event) != EventKind::runtime || events_.duration_ns(event) == 0) continue;
      const auto copy = copies.find(event);
      if (copy != copies.end()) {
        if (end_of(copy->second) <= events_.end_ns(event)) {
          waits_.push_back({WaitKind::copy, event, copy->second, false});
        }
        continue;
      }
      if (may_wait(calls_.of(event), trace_.name(event))) add(event);
    }
    return std::move(waits_);
  }

 private:
  std::int64_t end_of(std::uint32_t work) const {
    return events_.end_ns(order_.work[work].activity);
  }

  bool was_launched_before(std::uint32_t work, std::int64_t time) const {
    const EventId launch = order_.work[work].launch;
    return events_.start_ns(launch == EventId::none ? order_.work[work].activity : launch) < time;
  }

  void add(EventId call) {
    if (const SyncRow* const row = rows_.of(trace_, call)) {
      if (row->what == SyncRow::What::stream) return add_last_of(row->stream, call);
      if (row->what == SyncRow::What::all) return add_last_of_all(call);
      return add_by_time(call);
    }
    const std::string_view name = trace_.name(call);
    const bool is_of_all = name.find("DeviceSync") != std::string_view::npos ||
                           name.find("CtxSync") != std::string_view::npos;
    return is_of_all ? add_last_of_all(call) : add_by_time(call);
  }

  void add_last_of_all(EventId call) {
    for (std::size_t track = 0; track < order_.streams.size(); ++track) {
      add_last_of(static_cast<TrackId>(track), call);
    }
  }

  /// The last work on a stream that was launched before the call.
  void add_last_of(TrackId stream, EventId call) {
    const std::vector<std::uint32_t>& works = order_.streams[index(stream)];
    auto next = std::ranges::partition_point(works, [&](std::uint32_t work) {
      return was_launched_before(work, events_.start_ns(call));
    });
    // What ends after the call was not waited for, whatever the clocks say.
    while (next != works.begin()) {
      const std::uint32_t work = *--next;
      if (end_of(work) > events_.end_ns(call)) continue;
      waits_.push_back({WaitKind::synchronization, call, work, false});
      return;
    }
  }

  std::vector<std::uint32_t>::const_iterator first_end_after(std::int64_t time) const {
    return std::ranges::partition_point(order_.by_end,
                                        [&](std::uint32_t work) { return end_of(work) <= time; });
  }

  void add_by_time(EventId call) {
    const std::int64_t start = events_.start_ns(call);
    auto next = first_end_after(events_.end_ns(call));
    while (next != order_.by_end.begin()) {
      const std::uint32_t work = *--next;
      if (end_of(work) <= start) return;
      if (!was_launched_before(work, start)) continue;
      waits_.push_back({WaitKind::synchronization, call, work, true});
      return;
    }
  }

  const Trace& trace_;
  const Events& events_;
  const StreamOrder& order_;
  SyncRows rows_;
  RuntimeCalls calls_;
  std::vector<DeviceWait> waits_;
};

/// A device accepts a number of launches ahead; the next one waits until earlier work has started.
class QueueWaits {
 public:
  QueueWaits(const Trace& trace, const StreamOrder& order)
      : trace_(trace), events_(trace.events()), order_(order) {}

  void add_to(std::vector<DeviceWait>& waits) {
    for (const std::vector<std::uint32_t>& works : order_.streams) add_of_stream(works, waits);
  }

 private:
  /// The place of the last work of a stream that has ended at a time; SIZE_MAX if none has.
  static std::size_t last_ended(const std::vector<std::int64_t>& ends, std::int64_t time) {
    const auto next = std::ranges::upper_bound(ends, time);
    return static_cast<std::size_t>(next - ends.begin()) - 1;
  }

  void add_of_stream(const std::vector<std::uint32_t>& works, std::vector<DeviceWait>& waits) {
    constexpr std::size_t kLeastQueue = 256;
    constexpr std::size_t kFewestBlocked = 5;
    if (works.size() < 2 * kLeastQueue) return;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> durations;
    std::int64_t end = INT64_MIN;
    for (const std::uint32_t work : works) {
      end = std::max(end, events_.end_ns(order_.work[work].activity));
      ends.push_back(end);
      const EventId launch = order_.work[work].launch;
      if (launch != EventId::none) durations.push_back(events_.duration_ns(launch));
    }
    if (durations.empty()) return;
    // Most launches of a program that is far ahead of its device may be held up.
    const auto short_one = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 10);
    std::ranges::nth_element(durations, short_one);
    const std::int64_t blocked_ns =
        std::max(bounded(WideInteger{10} * *short_one), 50 * kMicrosecond);
    std::vector<std::size_t> depths;  // of launches that took long
    for (std::size_t place = 0; place < works.size(); ++place) {
      const EventId launch = order_.work[works[place]].launch;
      if (launch == EventId::none || events_.duration_ns(launch) < blocked_ns) continue;
      const std::size_t ended = last_ended(ends, events_.end_ns(launch));
      if (ended == SIZE_MAX || ended >= place || place - ended < kLeastQueue) continue;
      depths.push_back(place - ended);
    }
    if (depths.size() < kFewestBlocked) return;
    std::ranges::sort(depths);
    const std::size_t depth = depths[depths.size() / 2];
    for (std::size_t place = depth; place < works.size(); ++place) {
      const EventId launch = order_.work[works[place]].launch;
      const std::uint32_t until = works[place - depth];
      if (launch == EventId::none || events_.duration_ns(launch) == 0) continue;
      // The depth is a median: of calls that returned before, it was another work.
      if (events_.end_ns(order_.work[until].activity) > events_.end_ns(launch)) continue;
      waits.push_back({WaitKind::full_queue, launch, until, true});
    }
  }

  const Trace& trace_;
  const Events& events_;
  const StreamOrder& order_;
};

}  // namespace

StreamOrder::StreamOrder(const Trace& trace)
    : work(links_of(trace).placed_work()), streams(trace.tracks().size()), by_end(work.size()) {
  std::iota(by_end.begin(), by_end.end(), 0U);
  std::ranges::stable_sort(by_end, {}, [&](std::uint32_t number) {
    return trace.events().end_ns(work[number].activity);
  });
  for (std::uint32_t number = 0; number < work.size(); ++number) {
    streams[index(trace.events().track(work[number].activity))].push_back(number);
  }
}

std::vector<DeviceWait> find_call_waits(const Trace& trace, const StreamOrder& order) {
  std::vector<DeviceWait> waits = CallWaits(trace, order).run();
  QueueWaits(trace, order).add_to(waits);
  return waits;
}

std::vector<DeviceWait> find_stream_waits(const Trace& trace, const StreamOrder& order) {
  constexpr std::int64_t kSoon = 50 * kMicrosecond;  // from the end of work to what waited for it
  constexpr std::int64_t kLater = 1000 * kMicrosecond;
  constexpr std::int64_t kClock = 2 * kMicrosecond;  // how exact the times are
  const Events& events = trace.events();
  const SyncRows rows(trace);
  // Calls that make a stream wait, by thread and start.
  std::map<TrackId, std::vector<EventId>> calls;
  for (const EventId event : call_tree_of(trace).ranges()) {
    if (trace.kind(event) != EventKind::runtime) continue;
    if (trace.name(event).find("StreamWaitEvent") == std::string_view::npos) continue;
    calls[events.track(event)].push_back(event);
  }
  std::vector<DeviceWait> waits;
  if (calls.empty()) return waits;
  const auto launched_at = [&](std::uint32_t work) {
    const DeviceLink& link = order.work[work];
    return events.start_ns(link.launch == EventId::none ? link.activity : link.launch);
  };
  const auto end_of = [&](std::uint32_t work) { return events.end_ns(order.work[work].activity); };
  for (const std::vector<std::uint32_t>& works : order.streams) {
    std::int64_t launched_before = INT64_MIN;  // the launch before on this stream
    for (const std::uint32_t work : works) {
      const DeviceLink& link = order.work[work];
      if (link.launch == EventId::none) continue;
      const std::int64_t launched = events.start_ns(link.launch);
      const std::int64_t started = events.start_ns(link.activity);
      const auto thread = calls.find(events.track(link.launch));
      const std::int64_t since = launched_before;
      launched_before = launched;
      if (thread == calls.end()) continue;
      auto call = std::ranges::partition_point(
          thread->second, [&](EventId each) { return events.start_ns(each) < launched; });
      bool may_be_by_time = false;
      std::optional<std::int64_t> latest_call;
      while (call != thread->second.begin()) {
        --call;
        if (events.start_ns(*call) < since) break;
        const SyncRow* const row = rows.of(trace, *call);
        if (row == nullptr) {
          may_be_by_time = may_be_by_time || rows.empty();
          if (!latest_call) latest_call = events.start_ns(*call);
          continue;
        }
        if (row->stream != events.track(link.activity) || !row->waited) continue;
        const auto waited = stream_beside(trace, row->stream, *row->waited);
        if (!waited) continue;
        const std::vector<std::uint32_t>& others = order.streams[index(*waited)];
        auto last = std::ranges::partition_point(others, [&](std::uint32_t other) {
          return launched_at(other) < events.start_ns(*call);
        });
        while (last != others.begin()) {
          const std::uint32_t other = *--last;
          if (end_of(other) > started) continue;
          waits.push_back({WaitKind::stream, link.activity, other, false});
          break;
        }
      }
      if (!may_be_by_time) continue;
      // A program has a stream wait for what it launched last on another one.
      std::optional<std::uint32_t> waited;
      for (const std::vector<std::uint32_t>& others : order.streams) {
        if (&others == &works) continue;
        const auto next = std::ranges::partition_point(
            others, [&](std::uint32_t other) { return launched_at(other) < *latest_call; });
        if (next == others.begin()) continue;
        const std::uint32_t other = *(next - 1);
        if (end_of(other) > started + kClock || end_of(other) < started - kLater) continue;
        if (!waited || end_of(other) > end_of(*waited)) waited = other;
      }
      if (waited) {
        waits.push_back({WaitKind::stream, link.activity, *waited, true});
        continue;
      }
      auto last = std::ranges::partition_point(
          order.by_end, [&](std::uint32_t other) { return end_of(other) <= started + kClock; });
      while (last != order.by_end.begin()) {
        const std::uint32_t other = *--last;
        if (end_of(other) < started - kSoon) break;
        const bool is_other =
            events.track(order.work[other].activity) != events.track(link.activity);
        if (!is_other || launched_at(other) > *latest_call) continue;
        waits.push_back({WaitKind::stream, link.activity, other, true});
        break;
      }
    }
  }
  return waits;
}

std::vector<DeviceWait> find_room_waits(const Trace& trace, const StreamOrder& order) {
  constexpr std::int64_t kLate = 20 * kMicrosecond;
  constexpr std::int64_t kLongestMs = 100;  // that is looked for, of a kernel's last blocks
  const Events& events = trace.events();
  std::vector<DeviceWait> waits;
  for (const std::vector<std::uint32_t>& works : order.streams) {
    std::int64_t end_before = INT64_MIN;
    for (const std::uint32_t work : works) {
      const DeviceLink& link = order.work[work];
      const std::int64_t start = events.start_ns(link.activity);
      const std::int64_t before =
          std::exchange(end_before, std::max(end_before, events.end_ns(link.activity)));
      if (link.launch == EventId::none || trace.kind(link.activity) != EventKind::kernel) continue;
      const std::int64_t ready = std::max(before, events.end_ns(link.launch));
      if (start - ready < kLate) continue;
      const std::int64_t device = device_number(trace.track(events.track(link.activity)));
      auto other = std::ranges::partition_point(order.by_end, [&](std::uint32_t each) {
        return events.end_ns(order.work[each].activity) < start - kLate;
      });
      std::optional<std::uint32_t> nearest;
      std::int64_t distance = INT64_MAX;
      constexpr std::size_t kMostLooks = 256;
      for (std::size_t looks = 0; other != order.by_end.end() && looks < kMostLooks;
           ++other, ++looks) {
        const EventId activity = order.work[*other].activity;
        const std::int64_t end = events.end_ns(activity);
        if (end > start + kLongestMs * 1000 * kMicrosecond) break;
        const std::int64_t last_blocks = std::max(kLate, events.duration_ns(activity) / 10);
        const TrackId stream = events.track(activity);
        const bool is_other = stream != events.track(link.activity) &&
                              device_number(trace.track(stream)) == device &&
                              trace.kind(activity) == EventKind::kernel;
        if (!is_other || events.start_ns(activity) > ready || end > start + last_blocks) continue;
        if (std::abs(end - start) >= distance) continue;
        distance = std::abs(end - start);
        nearest = *other;
      }
      if (nearest) waits.push_back({WaitKind::room, link.activity, *nearest, true});
    }
  }
  return waits;
}

}  // namespace tbtrace::analyses
