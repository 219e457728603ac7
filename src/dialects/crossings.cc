#include "dialects/crossings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>

#include "base/column.h"
#include "base/nearest_integer.h"

namespace tbtrace::dialects {
namespace {

/// What a reader of doubles takes a time for.
double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000.0; }

struct Open {
  EventId event;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

/// One that is open, on a stack on which none ends after the ones below it.
struct Ranked {
  Open range;
  int rank = 0;
  std::size_t lower = 0;  // place of the nearest one below of a lower rank; its own if none is
};

/// The step between neighbouring doubles at the trace's own times: less than that says nothing.
std::int64_t rounding_ns(const Trace& trace) {
  const double farthest =
      microseconds(std::max(std::abs(trace.window_start_ns()), std::abs(trace.window_end_ns())));
  const double step = std::nextafter(farthest, 1e300) - farthest;
  return std::max<std::int64_t>(1, truncated_integer(std::ceil(step * 1000.0)));
}

/// New ends of ranges that are shortened.
class Ends {
 public:
  explicit Ends(const Trace& trace) : trace_(trace) {}

  std::int64_t ns(EventId event) const {
    const auto found = ends_.find(static_cast<std::uint32_t>(event));
    return found == ends_.end() ? trace_.events().end_ns(event) : found->second;
  }
  void set(EventId event, std::int64_t end_ns) {
    ends_[static_cast<std::uint32_t>(event)] = end_ns;
  }
  void reset(EventId event) { ends_.erase(static_cast<std::uint32_t>(event)); }

  bool may_shorten(EventId event) const { return is_host_range(trace_.kind(event)); }

  std::vector<Crossings::Shorter> shortened() const {
    std::vector<Crossings::Shorter> list;
    list.reserve(ends_.size());
    for (const auto& [event, end_ns] : ends_) {
      list.push_back({static_cast<EventId>(event),
                      end_ns - trace_.events().start_ns(static_cast<EventId>(event))});
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return index(a.event) < index(b.event); });
    return list;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::int64_t> ends_;
};

/// Finds those that must move, in exact times.
class Sweep {
 public:
  Sweep(const Trace& trace, const Roles& roles, Ends& ends)
      : trace_(trace),
        roles_(roles),
        ends_(ends),
        rounding_ns_(rounding_ns(trace)),
        stacks_(trace.tracks().size()) {}

  /// Takes ranges in the order of their starts, longer ones first; returns those that must move.
  std::vector<EventId> run(std::span<const EventId> events) {
    stacks_.assign(stacks_.size(), {});
    for (const EventId event : events) add(event);
    std::vector<EventId> moved = std::move(moved_);
    moved_.clear();
    return moved;
  }

 private:
  void shorten(Open& range, std::int64_t end_ns) {
    range.end_ns = end_ns;
    ends_.set(range.event, end_ns);
  }

  void move(EventId event) {
    ends_.reset(event);
    moved_.push_back(event);
  }

  using Stack = std::vector<Ranked>;

  static void close(Stack& stack, std::int64_t start_ns) {
    while (!stack.empty() && stack.back().range.end_ns <= start_ns) stack.pop_back();
  }

  void push(Stack& stack, const Open& range) const {
    Ranked ranked{range, roles_.rank(range.event), stack.size()};
    for (std::size_t below = stack.size(); below > 0;) {
      const Ranked& other = stack[below - 1];
      if (other.rank < ranked.rank) {
        ranked.lower = below - 1;
        break;
      }
      if (other.lower == below - 1) break;
      below = other.lower + 1;
    }
    stack.push_back(ranked);
  }

  void add(EventId event) {
    Stack& stack = stacks_[index(trace_.events().track(event))];
    Open range{event, trace_.events().start_ns(event), ends_.ns(event)};
    close(stack, range.start_ns);
    const bool may_be_shorter = ends_.may_shorten(event);
    bool may_stay = false;  // those that are left give way
    while (!stack.empty() && stack.back().range.end_ns < range.end_ns) {
      Open& around = stack.back().range;
      if (may_be_shorter && range.end_ns - around.end_ns <= rounding_ns_) {
        shorten(range, around.end_ns);
      } else if (ends_.may_shorten(around.event) &&
                 around.end_ns - range.start_ns <= rounding_ns_) {
        shorten(around, range.start_ns);
        close(stack, range.start_ns);
      } else if (!may_stay && gives_way(stack, range)) {
        move(event);
        return;
      } else {
        may_stay = true;
        move(around.event);
        stack.pop_back();
      }
    }
    push(stack, range);
  }

  /// Of those that the range crosses, which are on top, one may not move for it. Goes from rank to
  /// lower rank, of which there are few, so a deep stack costs no more than a flat one.
  bool gives_way(const Stack& stack, const Open& range) const {
    const int rank = roles_.rank(range.event);
    std::size_t at = stack.size() - 1;
    while (stack[at].rank > rank && stack[at].lower != at) at = stack[at].lower;
    return stack[at].rank <= rank && stack[at].range.end_ns < range.end_ns;
  }

  const Trace& trace_;
  const Roles& roles_;
  Ends& ends_;
  std::int64_t rounding_ns_;
  std::vector<Stack> stacks_;
  std::vector<EventId> moved_;
};

/// Shortens ranges whose ends, as sums of doubles, would be over another one, in places where
/// nothing crosses. look_at() takes all ranges of a place in order, then fit() does, each ended by
/// close(); ranges come after those around them, whose ends are final by then.
class Sums {
 public:
  Sums(const Trace& trace, Ends& ends, std::int64_t origin_ns)
      : trace_(trace), ends_(ends), origin_ns_(origin_ns), touches_(trace.events().size()) {}

  struct Around {
    Open range;
    std::int64_t least_end_ns;  // of work that started in it so far
  };
  using Stack = std::vector<Around>;

  void look_at(Stack& stack, EventId event) {
    const Open range{event, trace_.events().start_ns(event), ends_.ns(event)};
    const double start = microseconds(range.start_ns - origin_ns_);
    const bool has_length = range.end_ns > range.start_ns;  // else it crosses nothing
    while (!stack.empty() && stack.back().range.end_ns <= range.start_ns) {
      const Open& before = stack.back().range;
      if (has_length && before.end_ns == range.start_ns && end_as_double(before) > start) {
        touches_[index(before.event)] = true;
      }
      pop(stack);
    }
    if (!stack.empty() && !ends_.may_shorten(event)) {
      stack.back().least_end_ns = std::max(stack.back().least_end_ns, range.end_ns);
    }
    stack.push_back({range, kNoWork});
  }

  void close(Stack& stack) {
    while (!stack.empty()) pop(stack);
  }

  void fit(Stack& stack, EventId event) {
    const std::int64_t start_ns = trace_.events().start_ns(event);
    while (!stack.empty() && stack.back().range.end_ns <= start_ns) stack.pop_back();
    const Open range{event, start_ns, ends_.ns(event)};
    if (ends_.may_shorten(event)) {
      if (touches_[index(event)]) shorten(range, range.end_ns - 1);
      if (!stack.empty()) keep_inside(range, stack.back().range);
    }
    stack.push_back({range, kNoWork});  // with its old end, by which the others nest
  }

 private:
  static constexpr std::int64_t kNoWork = std::numeric_limits<std::int64_t>::min();

  /// What started in a range started in those around it, too.
  void pop(Stack& stack) {
    const Around inner = stack.back();
    stack.pop_back();
    if (inner.least_end_ns == kNoWork) return;
    if (ends_.may_shorten(inner.range.event)) {
      least_end_[static_cast<std::uint32_t>(inner.range.event)] = inner.least_end_ns;
    }
    if (stack.empty()) return;
    stack.back().least_end_ns = std::max(stack.back().least_end_ns, inner.least_end_ns);
  }

  void keep_inside(Open range, const Open& old_around) {
    const Open around{old_around.event, old_around.start_ns, ends_.ns(old_around.event)};
    range.end_ns = ends_.ns(range.event);
    if (range.end_ns > around.end_ns) {
      range.end_ns = std::max(range.start_ns, around.end_ns);
      shorten(range, range.end_ns);
    }
    const bool reaches_over =
        range.end_ns == around.end_ns && end_as_double(range) > end_as_double(around);
    if (reaches_over) shorten(range, range.end_ns - 1);
  }

  /// Unless that puts its end before its start, or before that of work in it.
  void shorten(const Open& range, std::int64_t end_ns) {
    const auto least = least_end_.find(static_cast<std::uint32_t>(range.event));
    if (least != least_end_.end() && end_ns < least->second) return;
    if (end_ns >= range.start_ns) ends_.set(range.event, end_ns);
  }

  double end_as_double(const Open& range) const {
    return microseconds(range.start_ns - origin_ns_) + microseconds(range.end_ns - range.start_ns);
  }

  const Trace& trace_;
  Ends& ends_;
  std::int64_t origin_ns_;
  std::vector<bool> touches_;  // another range starts where it ends, before the sum of it
  std::unordered_map<std::uint32_t, std::int64_t> least_end_;  // of ranges with work in them
};

void order(const Trace& trace, std::span<EventId> events) {
  const Events& all = trace.events();
  std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
    if (all.start_ns(a) != all.start_ns(b)) return all.start_ns(a) < all.start_ns(b);
    return all.duration_ns(a) > all.duration_ns(b);
  });
}

/// All ranges by start, longer ones first.
Column<EventId> in_order(const Trace& trace) {
  Column<EventId> events;
  events.append(trace.by_start());
  const Events& all = trace.events();
  for (EventId* first = events.begin(); first != events.end();) {
    EventId* last = first + 1;
    while (last != events.end() && all.start_ns(*last) == all.start_ns(*first)) ++last;
    if (last - first > 1) order(trace, {first, last});
    first = last;
  }
  return events;
}

/// Lanes in which nothing overlaps, for what is left when nesting alone needs too many.
void spread(const Trace& trace, std::span<const EventId> events, std::uint32_t first_lane,
            std::vector<Crossings::Move>& moved) {
  struct Lane {
    std::int64_t end_ns;
    std::uint32_t number;
    bool operator>(const Lane& other) const {
      return std::pair(end_ns, number) > std::pair(other.end_ns, other.number);
    }
  };
  struct Lanes {
    std::priority_queue<Lane, std::vector<Lane>, std::greater<>> by_end;
    std::uint32_t count = 0;
  };
  std::unordered_map<std::size_t, Lanes> tracks;
  for (const EventId event : events) {
    Lanes& lanes = tracks[index(trace.events().track(event))];
    std::uint32_t number = lanes.count;
    if (!lanes.by_end.empty() && lanes.by_end.top().end_ns <= trace.events().start_ns(event)) {
      number = lanes.by_end.top().number;
      lanes.by_end.pop();
    } else {
      ++lanes.count;
    }
    lanes.by_end.push({trace.events().end_ns(event), number});
    moved.push_back({event, first_lane + number});
  }
}

/// All places: threads without what moved from them, then lanes.
void fit_sums(const Trace& trace, std::span<const EventId> in_order,
              const std::vector<Crossings::Move>& moved, Sums& sums) {
  const Events& events = trace.events();
  std::vector<bool> is_moved(events.size());
  for (const Crossings::Move& move : moved) is_moved[index(move.event)] = true;
  for (const auto take : {&Sums::look_at, &Sums::fit}) {
    std::vector<Sums::Stack> stacks(trace.tracks().size());
    for (const EventId event : in_order) {
      if (!is_moved[index(event)]) (sums.*take)(stacks[index(events.track(event))], event);
    }
    for (Sums::Stack& stack : stacks) sums.close(stack);
  }

  std::vector<Crossings::Move> lanes = moved;
  const auto place = [&](const Crossings::Move& move) {
    return std::pair(index(events.track(move.event)), move.lane);
  };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const auto& a, const auto& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    if (events.start_ns(a.event) != events.start_ns(b.event)) {
      return events.start_ns(a.event) < events.start_ns(b.event);
    }
    return events.duration_ns(a.event) > events.duration_ns(b.event);
  });
  for (const auto take : {&Sums::look_at, &Sums::fit}) {
    Sums::Stack stack;
    for (std::size_t row = 0; row < lanes.size(); ++row) {
      if (row > 0 && place(lanes[row]) != place(lanes[row - 1])) sums.close(stack);
      (sums.*take)(stack, lanes[row].event);
    }
    sums.close(stack);
  }
}

}  // namespace

Crossings find_crossings(const Trace& trace, const Roles& roles, std::int64_t origin_ns) {
  constexpr std::uint32_t kMostNested = 16;  // text made for it could need one for every range
  Ends ends(trace);
  Sweep sweep(trace, roles, ends);
  Crossings crossings;
  const Column<EventId> events = in_order(trace);
  std::vector<EventId> left = sweep.run(events.view());
  for (std::uint32_t lane = 1; !left.empty(); ++lane) {
    order(trace, left);
    if (lane == kMostNested) {
      spread(trace, left, lane, crossings.moved);
      break;
    }
    std::vector<EventId> next = sweep.run(left);
    std::vector<EventId> sorted = next;
    std::sort(sorted.begin(), sorted.end());
    for (const EventId event : left) {
      if (!std::binary_search(sorted.begin(), sorted.end(), event)) {
        crossings.moved.push_back({event, lane});
      }
    }
    left = std::move(next);
  }
  Sums sums(trace, ends, origin_ns);
  fit_sums(trace, events.view(), crossings.moved, sums);
  std::sort(crossings.moved.begin(), crossings.moved.end(),
            [](const auto& a, const auto& b) { return index(a.event) < index(b.event); });
  crossings.shortened = ends.shortened();
  return crossings;
}

}  // namespace tbtrace::dialects
