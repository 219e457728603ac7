// Crossing ranges, found by the same rules as in crossings.cc with plain lists: every range is
// compared with all that are open on its track.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "dialects/crossings.h"
#include "dialects/roles.h"

namespace tbtrace::dialects {

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
  bool may_shorten(EventId event) const { return is_host_range(trace_.kind(event)); }

  void order(std::vector<EventId>& events) const {
    std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
      if (start(a) != start(b)) return start(a) < start(b);
      return trace_.events().duration_ns(a) > trace_.events().duration_ns(b);
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

  double us(std::int64_t ns) const { return static_cast<double>(ns) / 1000.0; }
  double sum(EventId event, std::int64_t end) const {
    return us(start(event) - origin_ns_) + us(end - start(event));
  }

  /// Place by place, in the order of starts.
  void fit(const std::vector<EventId>& all) {
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<EventId>> places;
    for (const EventId event : all) {
      const auto lane = lanes_.find(event);
      places[{index(trace_.events().track(event)), lane == lanes_.end() ? 0 : lane->second}]
          .push_back(event);
    }
    for (const auto& [place, events] : places) {
      std::map<EventId, bool> touches;
      std::map<EventId, std::int64_t> least;
      Stack stack;
      for (const EventId event : events) {
        for (; !stack.empty() && stack.back().end <= start(event); stack.pop_back()) {
          const Open& before = stack.back();
          const bool over = sum(before.event, before.end) > us(start(event) - origin_ns_);
          if (end(event) > start(event) && before.end == start(event) && over) {
            touches[before.event] = true;
          }
        }
        for (const Open& around : stack) {
          if (may_shorten(event)) continue;
          const auto [found, added] = least.try_emplace(around.event, end(event));
          found->second = std::max(found->second, end(event));
        }
        stack.push_back({event, end(event)});
      }
      stack.clear();
      const auto shorten = [&](EventId event, std::int64_t to) {
        const auto found = least.find(event);
        if (found != least.end() && to < found->second) return;
        if (to >= start(event)) ends_[event] = to;
      };
      for (const EventId event : events) {
        close(stack, start(event));
        const Open old = {event, end(event)};
        if (may_shorten(event)) {
          if (touches[event]) shorten(event, old.end - 1);
          if (!stack.empty()) {
            const EventId around = stack.back().event;
            std::int64_t own = end(event);
            if (own > end(around)) {
              own = std::max(start(event), end(around));
              shorten(event, own);
            }
            const bool over = own == end(around) && sum(event, own) > sum(around, end(around));
            if (over) shorten(event, own - 1);
          }
        }
        stack.push_back(old);
      }
    }
  }

  const Trace& trace_;
  const Roles& roles_;
  std::int64_t origin_ns_;
  std::int64_t rounding_ns_ = 1;
  std::map<EventId, std::uint32_t> lanes_;
  std::map<EventId, std::int64_t> ends_;
  bool deep_ = false;
};

}  // namespace tbtrace::dialects
