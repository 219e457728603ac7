#include "chrome/rows/crossings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <unordered_map>

#include "base/column.h"
#include "base/nearest_integer.h"
#include "chrome/rows/reader_times.h"

namespace tbtrace::chrome {
namespace {

struct Open {
  EventId event;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

/// An open range on a stack where no range ends after those below it.
struct Ranked {
  Open range;
  int rank = 0;
  std::size_t lower = 0;  // index of the nearest lower-ranked one below; its own if none
};

/// The step between neighbouring doubles at the trace's times; smaller differences mean nothing.
std::int64_t rounding_ns(const Trace& trace) {
  const double farthest =
      read_us(std::max(std::abs(trace.window_start_ns()), std::abs(trace.window_end_ns())));
  const double step = std::nextafter(farthest, 1e300) - farthest;
  return std::max<std::int64_t>(1, truncated_integer(std::ceil(step * 1000.0)));
}

/// New ends of shortened ranges.
class RangeEnds {
 public:
  explicit RangeEnds(const Trace& trace) : trace_(trace) {}

  std::int64_t ns(EventId event) const {
    const auto found = ends_.find(static_cast<std::uint32_t>(event));
    return found == ends_.end() ? trace_.events().end_ns(event) : found->second;
  }
  void set(EventId event, std::int64_t end_ns) {
    ends_[static_cast<std::uint32_t>(event)] = end_ns;
  }
  void reset(EventId event) { ends_.erase(static_cast<std::uint32_t>(event)); }

  bool may_shorten(EventId event) const { return !is_device_work(trace_.kind(event)); }

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

/// Finds the ranges that must move, in exact times.
class Sweep {
 public:
  Sweep(const Trace& trace, const Roles& roles, RangeEnds& ends)
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
    bool may_stay = false;  // the remaining ones give way
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

  /// Whether one of the crossed ranges, which are on top of the stack, may not move for this range.
  /// Goes from rank to lower rank, of which there are few, so a deep stack costs no more than a
  /// flat one.
  bool gives_way(const Stack& stack, const Open& range) const {
    const int rank = roles_.rank(range.event);
    std::size_t at = stack.size() - 1;
    while (stack[at].rank > rank && stack[at].lower != at) at = stack[at].lower;
    return stack[at].rank <= rank && stack[at].range.end_ns < range.end_ns;
  }

  const Trace& trace_;
  const Roles& roles_;
  RangeEnds& ends_;
  std::int64_t rounding_ns_;
  std::vector<Stack> stacks_;
  std::vector<EventId> moved_;
};

/// The ends of the ranges around the next one.
class EndsAround {
 public:
  static constexpr double kNone = std::numeric_limits<double>::max();

  /// The earliest of these ends after the start, as readers compute them; ranges that end by then
  /// contain nothing more.
  double first_us(std::int64_t start_ns, double start_us) {
    while (!ends_.empty() && ends_.back().ns <= start_ns) ends_.pop_back();
    auto kept = ends_.end();
    while (kept != ends_.begin() && std::prev(kept)->first_us <= start_us) --kept;
    for (auto end = kept; end != ends_.end(); ++end) {
      if (end->us <= start_us) continue;
      const double outer_us = kept == ends_.begin() ? kNone : std::prev(kept)->first_us;
      *kept++ = {end->ns, end->us, std::min(outer_us, end->us)};
    }
    ends_.erase(kept, ends_.end());
    return ends_.empty() ? kNone : ends_.back().first_us;
  }

  void add(std::int64_t end_ns, double end_us) {
    const double outer_us = ends_.empty() ? kNone : ends_.back().first_us;
    ends_.push_back({end_ns, end_us, std::min(outer_us, end_us)});
  }

  void clear() { ends_.clear(); }

 private:
  struct End {
    std::int64_t ns;  // determines the nesting
    double us;
    double first_us;  // minimum with those around it: work can end after the range around it
  };
  std::vector<End> ends_;
};

/// Shortens ranges whose ends, as readers compute them, are past another range's start or end, on
/// tracks where nothing crosses. look_at() takes all ranges of a track in order, then fit() does,
/// each followed by close(); a range comes after those around it, whose ends are final by then.
class Sums {
 public:
  Sums(const Trace& trace, RangeEnds& ends, std::int64_t origin_ns)
      : trace_(trace), ends_(ends), origin_ns_(origin_ns) {}

  struct Around {
    Open range;
    std::int64_t least_end_ns = kNoWork;  // keeps the work that has started in it inside
    std::int64_t fitted_end_ns = 0;
  };
  struct Stacks {
    std::vector<Around> open;
    std::vector<Open> ended;  // before the next range with a later start for readers
    EndsAround ends;
  };

  void look_at(Stacks& place, EventId event) {
    const Open range{event, trace_.events().start_ns(event), ends_.ns(event)};
    while (!place.open.empty() && place.open.back().range.end_ns <= range.start_ns) pop(place);
    const bool has_length = range.end_ns > range.start_ns;  // otherwise it cannot cross anything
    if (has_length) end_before(place.ended, range.start_ns);
    if (!place.open.empty() && !ends_.may_shorten(event)) {
      std::int64_t& least_end_ns = place.open.back().least_end_ns;
      least_end_ns = std::max({least_end_ns, range.end_ns, range.start_ns + 1});
    }
    place.open.push_back({range});
  }

  void close(Stacks& place) {
    while (!place.open.empty()) pop(place);
    place.ended.clear();
    place.ends.clear();
  }

  void fit(Stacks& place, EventId event) {
    std::vector<Around>& open = place.open;
    Open range{event, trace_.events().start_ns(event), ends_.ns(event)};
    while (!open.empty() && open.back().range.end_ns <= range.start_ns) open.pop_back();
    Around around{range};  // with its old end, which determines the nesting
    const double start_us = read_us(range.start_ns - origin_ns_);
    const double around_us = place.ends.first_us(range.start_ns, start_us);
    if (ends_.may_shorten(event)) {
      const auto next = next_start_us_.find(static_cast<std::uint32_t>(event));
      if (next != next_start_us_.end()) end_by(range, next->second);
      if (!open.empty()) shorten(range, std::max(range.start_ns, open.back().fitted_end_ns));
      end_by(range, around_us);
    }
    around.fitted_end_ns = range.end_ns;
    open.push_back(around);
    place.ends.add(around.range.end_ns, end_us(range));
  }

 private:
  static constexpr std::int64_t kNoWork = std::numeric_limits<std::int64_t>::min();

  /// Work that started in a range also started in the ranges around it.
  void pop(Stacks& place) {
    const Around inner = place.open.back();
    place.open.pop_back();
    if (ends_.may_shorten(inner.range.event)) {
      if (inner.range.end_ns > inner.range.start_ns) place.ended.push_back(inner.range);
      if (inner.least_end_ns != kNoWork) {
        least_end_[static_cast<std::uint32_t>(inner.range.event)] = inner.least_end_ns;
      }
    }
    if (place.open.empty()) return;
    std::int64_t& least_end_ns = place.open.back().least_end_ns;
    least_end_ns = std::max(least_end_ns, inner.least_end_ns);
  }

  /// Ranges with equal starts for readers nest, whatever their ends.
  void end_before(std::vector<Open>& ended, std::int64_t start_ns) {
    const double start_us = read_us(start_ns - origin_ns_);
    std::erase_if(ended, [&](const Open& range) {
      if (read_us(range.start_ns - origin_ns_) >= start_us) return false;
      if (end_us(range) > start_us) {
        next_start_us_[static_cast<std::uint32_t>(range.event)] = start_us;
      }
      return true;
    });
  }

  void end_by(Open& range, double limit_us) {
    const std::int64_t start_ns = range.start_ns - origin_ns_;
    const std::int64_t end_ns = range.end_ns - origin_ns_;
    shorten(range, last_end_ns(start_ns, end_ns, limit_us) + origin_ns_);
  }

  /// Does nothing if that would cut off work inside.
  void shorten(Open& range, std::int64_t end_ns) {
    if (end_ns >= range.end_ns) return;
    const auto least = least_end_.find(static_cast<std::uint32_t>(range.event));
    if (least != least_end_.end() && end_ns < least->second) return;
    range.end_ns = end_ns;
    ends_.set(range.event, end_ns);
  }

  double end_us(const Open& range) const {
    return read_end_us(range.start_ns - origin_ns_, range.end_ns - origin_ns_);
  }

  const Trace& trace_;
  RangeEnds& ends_;
  std::int64_t origin_ns_;
  std::unordered_map<std::uint32_t, double> next_start_us_;  // the next one's, if the sum is later
  std::unordered_map<std::uint32_t, std::int64_t> least_end_;  // of ranges with work in them
};

/// By start, longer ones first. Work is inside a range of the same length, so that this still holds
/// after the longer range has been shortened.
bool comes_before(const Trace& trace, EventId a, EventId b) {
  const Events& events = trace.events();
  if (events.start_ns(a) != events.start_ns(b)) return events.start_ns(a) < events.start_ns(b);
  if (events.duration_ns(a) != events.duration_ns(b)) {
    return events.duration_ns(a) > events.duration_ns(b);
  }
  return !is_device_work(trace.kind(a)) && is_device_work(trace.kind(b));
}

void order(const Trace& trace, std::span<EventId> events) {
  std::stable_sort(events.begin(), events.end(),
                   [&](EventId a, EventId b) { return comes_before(trace, a, b); });
}

Column<EventId> in_order(const Trace& trace, const Roles& roles) {
  const bool has_device_rows = roles.dialect() == Dialect::plugin;
  Column<EventId> events;
  for (const EventId event : trace.by_start()) {
    if (has_device_rows || !is_device_row(trace.kind(event))) events.push_back(event);
  }
  const Events& all = trace.events();
  for (EventId* first = events.begin(); first != events.end();) {
    EventId* last = first + 1;
    while (last != events.end() && all.start_ns(*last) == all.start_ns(*first)) ++last;
    if (last - first > 1) order(trace, {first, last});
    first = last;
  }
  return events;
}

/// Distributes the ranges that are left to lanes without any overlap, if nesting needs too many
/// lanes.
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

/// All tracks: threads without the ranges that moved, then lanes.
void fit_sums(const Trace& trace, std::span<const EventId> in_order,
              const std::vector<Crossings::Move>& moved, Sums& sums) {
  const Events& events = trace.events();
  std::vector<bool> is_moved(events.size());
  for (const Crossings::Move& move : moved) is_moved[index(move.event)] = true;
  for (const auto take : {&Sums::look_at, &Sums::fit}) {
    std::vector<Sums::Stacks> stacks(trace.tracks().size());
    for (const EventId event : in_order) {
      if (!is_moved[index(event)]) (sums.*take)(stacks[index(events.track(event))], event);
    }
    for (Sums::Stacks& place : stacks) sums.close(place);
  }

  std::vector<Crossings::Move> lanes = moved;
  const auto place = [&](const Crossings::Move& move) {
    return std::pair(index(events.track(move.event)), move.lane);
  };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const auto& a, const auto& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return comes_before(trace, a.event, b.event);
  });
  for (const auto take : {&Sums::look_at, &Sums::fit}) {
    Sums::Stacks stacks;
    for (std::size_t row = 0; row < lanes.size(); ++row) {
      if (row > 0 && place(lanes[row]) != place(lanes[row - 1])) sums.close(stacks);
      (sums.*take)(stacks, lanes[row].event);
    }
    sums.close(stacks);
  }
}

/// Distributes the ranges to lanes until none cross.
std::vector<Crossings::Move> find_moves(const Trace& trace, const Roles& roles,
                                        std::span<const EventId> in_order, RangeEnds& ends) {
  constexpr std::uint32_t kMostNested = 16;  // a crafted file could need one lane per range
  Sweep sweep(trace, roles, ends);
  std::vector<Crossings::Move> moved;
  std::vector<EventId> left = sweep.run(in_order);
  for (std::uint32_t lane = 1; !left.empty(); ++lane) {
    order(trace, left);
    if (lane == kMostNested) {
      spread(trace, left, lane, moved);
      break;
    }
    std::vector<EventId> next = sweep.run(left);
    std::vector<EventId> sorted = next;
    std::sort(sorted.begin(), sorted.end());
    for (const EventId event : left) {
      if (!std::binary_search(sorted.begin(), sorted.end(), event)) moved.push_back({event, lane});
    }
    left = std::move(next);
  }
  return moved;
}

Crossings crossings_of(std::vector<Crossings::Move> moved, const RangeEnds& ends) {
  std::sort(moved.begin(), moved.end(),
            [](const auto& a, const auto& b) { return index(a.event) < index(b.event); });
  return {std::move(moved), ends.shortened()};
}

}  // namespace

Crossings find_crossings(const Trace& trace, const Roles& roles, std::int64_t origin_ns) {
  RangeEnds ends(trace);
  const Column<EventId> events = in_order(trace, roles);
  std::vector<Crossings::Move> moved = find_moves(trace, roles, events.view(), ends);
  Sums sums(trace, ends, origin_ns);
  fit_sums(trace, events.view(), moved, sums);
  return crossings_of(std::move(moved), ends);
}

Crossings find_exact_crossings(const Trace& trace, const Roles& roles) {
  RangeEnds ends(trace);
  const Column<EventId> events = in_order(trace, roles);
  return crossings_of(find_moves(trace, roles, events.view(), ends), ends);
}

}  // namespace tbtrace::chrome
