// Crossing ranges, found by the same rules as in crossings.cc with plain lists: every range is
// compared with all that are open on its track.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "chrome/rows/crossings.h"
#include "chrome/rows/reader_times.h"
#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

class CrossingsBySteps {
 public:
  CrossingsBySteps(const Trace& trace, const Roles& roles, std::int64_t origin_ns)
      : trace_(trace), roles_(roles), origin_ns_(origin_ns) {
    const std::int64_t farthest =
        std::max(std::abs(trace.window_start_ns()), std::abs(trace.window_end_ns()));
    const double us = static_cast<double>(farthest) / 1000.0;
    rounding_ns_ = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil((std::nextafter(us, 1e300) - us) * 1000.0)));
    std::vector<EventId> all(trace.by_start().begin(), trace.by_start().end());
    if (roles.dialect() == Dialect::kineto) {
      std::erase_if(all, [&](EventId event) { return is_device_row(trace.kind(event)); });
    }
    order(all);
    std::vector<EventId> left = sweep(all);
    for (std::uint32_t lane = 1; !left.empty() && lane < 16; ++lane) {
      order(left);
      const std::vector<EventId> next = sweep(left);
      for (const EventId event : left) {
        if (std::find(next.begin(), next.end(), event) == next.end()) lanes_[event] = lane;
      }
      left = next;
    }
    deep_ = !left.empty();
    fit(all);
  }

  bool needs_more_lanes() const { return deep_; }

  std::map<EventId, std::uint32_t> lanes() const { return lanes_; }
  std::map<EventId, std::int64_t> durations() const {
    std::map<EventId, std::int64_t> durations;
    for (const auto& [event, end] : ends_) durations[event] = end - start(event);
    return durations;
  }

 private:
  struct Open {
    EventId event;
    std::int64_t end;
  };
  using Stack = std::vector<Open>;

  std::int64_t start(EventId event) const { return trace_.events().start_ns(event); }
  std::int64_t end(EventId event) const {
    const auto found = ends_.find(event);
    return found == ends_.end() ? trace_.events().end_ns(event) : found->second;
  }
  bool may_shorten(EventId event) const { return !is_device_work(trace_.kind(event)); }

  void order(std::vector<EventId>& events) const {
    std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
      if (start(a) != start(b)) return start(a) < start(b);
      const std::int64_t longer = trace_.events().duration_ns(a) - trace_.events().duration_ns(b);
      if (longer != 0) return longer > 0;
      return may_shorten(a) && !may_shorten(b);
    });
  }

  std::vector<EventId> sweep(const std::vector<EventId>& events) {
    std::map<std::size_t, Stack> stacks;
    std::vector<EventId> moved;
    for (const EventId event : events) {
      Stack& stack = stacks[index(trace_.events().track(event))];
      Open range = {event, end(event)};
      close(stack, start(event));
      bool may_stay = false;
      bool moves = false;
      while (!stack.empty() && stack.back().end < range.end) {
        Open& around = stack.back();
        if (may_shorten(event) && range.end - around.end <= rounding_ns_) {
          range.end = around.end;
          ends_[event] = range.end;
        } else if (may_shorten(around.event) && around.end - start(event) <= rounding_ns_) {
          around.end = start(event);
          ends_[around.event] = around.end;
          close(stack, start(event));
        } else if (!may_stay && gives_way(stack, range)) {
          moves = true;
          break;
        } else {
          may_stay = true;
          ends_.erase(around.event);
          moved.push_back(around.event);
          stack.pop_back();
        }
      }
      if (moves) {
        ends_.erase(event);
        moved.push_back(event);
      } else {
        stack.push_back(range);
      }
    }
    return moved;
  }

  static void close(Stack& stack, std::int64_t start) {
    while (!stack.empty() && stack.back().end <= start) stack.pop_back();
  }

  bool gives_way(const Stack& stack, const Open& range) const {
    for (const Open& around : stack) {
      const bool crossed = around.end < range.end;
      if (crossed && roles_.rank(around.event) <= roles_.rank(range.event)) return true;
    }
    return false;
  }

  double start_us(EventId event) const { return read_us(start(event) - origin_ns_); }
  double sum(EventId event, std::int64_t end) const {
    return start_us(event) + read_us(end - start(event));
  }

  /// Place by place, in the order of starts.
  void fit(const std::vector<EventId>& all) {
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<EventId>> places;
    for (const EventId event : all) {
      const auto lane = lanes_.find(event);
      places[{index(trace_.events().track(event)), lane == lanes_.end() ? 0 : lane->second}]
          .push_back(event);
    }
    std::vector<std::int64_t> old_ends(trace_.events().size());
    for (const auto& [place, events] : places) {
      for (const EventId event : events) old_ends[index(event)] = end(event);
      for (std::size_t row = 0; row < events.size(); ++row) {
        if (may_shorten(events[row])) fit(events, row, old_ends);
      }
    }
  }

  void fit(const std::vector<EventId>& events, std::size_t row,
           const std::vector<std::int64_t>& old_ends) {
    const EventId event = events[row];
    const auto is_in = [&](EventId inner, EventId outer) {
      return start(inner) >= start(outer) && start(inner) < old_ends[index(outer)];
    };
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    for (std::size_t later = row + 1; later < events.size(); ++later) {
      const EventId work = events[later];
      if (may_shorten(work) || !is_in(work, event)) continue;
      least = std::max({least, old_ends[index(work)], start(work) + 1});
    }
    const auto end_by = [&](double limit) {
      std::int64_t to = end(event);
      while (to > start(event) && sum(event, to) > limit) --to;
      if (to < end(event) && to >= least) ends_[event] = to;
    };
    for (std::size_t later = row + 1; later < events.size(); ++later) {
      const EventId next = events[later];
      const bool has_length = old_ends[index(next)] > start(next);
      if (!has_length || start(next) < old_ends[index(event)]) continue;
      if (start_us(next) <= start_us(event)) continue;
      end_by(start_us(next));
      break;
    }
    for (std::size_t before = 0; before < row; ++before) {
      const EventId around = events[before];
      if (!is_in(event, around)) continue;
      const std::int64_t to = std::max(start(event), end(around));
      if (to < end(event)) ends_[event] = to;
    }
    double limit = std::numeric_limits<double>::infinity();
    for (std::size_t before = 0; before < row; ++before) {
      const EventId around = events[before];
      const double end_us = sum(around, end(around));
      if (is_in(event, around) && end_us > start_us(event)) limit = std::min(limit, end_us);
    }
    end_by(limit);
  }

  const Trace& trace_;
  const Roles& roles_;
  std::int64_t origin_ns_;
  std::int64_t rounding_ns_ = 1;
  std::map<EventId, std::uint32_t> lanes_;
  std::map<EventId, std::int64_t> ends_;
  bool deep_ = false;
};

}  // namespace tbtrace::chrome
