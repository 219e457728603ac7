// The call tree against its definition, taken literally: every instant of a thread belongs to the
// open range that started last, and a parent is open from the start of its child to its end.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "trace/call_tree.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

using fixtures::random_rounds;

constexpr std::array<std::string_view, 7> kCategories = {
    "cpu_op",     "user_annotation", "python_function", "cuda_runtime",
    "unheard_of", "kernel",          "overhead"};

/// Which of two ranges that start and end together is the outer one.
int level(EventKind kind) {
  if (kind == EventKind::user_annotation) return 0;
  if (kind == EventKind::python_function) return 1;
  return kind == EventKind::runtime ? 3 : 2;
}

struct Expected {
  std::vector<EventId> parent;
  std::vector<std::int64_t> self_ns;
  std::vector<std::int64_t> busy_ns;
};

/// Host ranges of one thread, each after all that started before it.
std::vector<EventId> opened_in_order(const Trace& trace, TrackId track) {
  const Events& events = trace.events();
  std::vector<EventId> opened;
  for (const EventId event : trace.by_start()) {
    if (events.track(event) == track && is_host_range(trace.kind(event))) opened.push_back(event);
  }
  std::stable_sort(opened.begin(), opened.end(), [&](EventId a, EventId b) {
    if (events.start_ns(a) != events.start_ns(b)) return events.start_ns(a) < events.start_ns(b);
    if (events.end_ns(a) != events.end_ns(b)) return events.end_ns(a) > events.end_ns(b);
    return level(trace.kind(a)) < level(trace.kind(b));
  });
  return opened;
}

Expected by_definition(const Trace& trace) {
  const Events& events = trace.events();
  Expected expected;
  expected.parent.resize(events.size(), EventId::none);
  expected.self_ns.resize(events.size(), 0);
  for (std::size_t number = 0; number < trace.tracks().size(); ++number) {
    const std::vector<EventId> opened = opened_in_order(trace, static_cast<TrackId>(number));
    std::set<std::int64_t> instants;
    for (const EventId event : opened) {
      instants.insert({events.start_ns(event), events.end_ns(event)});
    }
    const auto owner = [&](std::int64_t instant, std::size_t among) {
      for (std::size_t row = among; row-- > 0;) {
        const EventId event = opened[row];
        if (events.start_ns(event) <= instant && instant < events.end_ns(event)) return event;
      }
      return EventId::none;
    };
    std::int64_t busy = 0;
    for (auto instant = instants.begin(); instant != instants.end(); ++instant) {
      const EventId owned_by = owner(*instant, opened.size());
      if (owned_by == EventId::none) continue;
      const std::int64_t piece = *std::next(instant) - *instant;
      expected.self_ns[index(owned_by)] += piece;
      busy += piece;
    }
    expected.busy_ns.push_back(busy);
    for (std::size_t row = 0; row < opened.size(); ++row) {
      const EventId event = opened[row];
      EventId& parent = expected.parent[index(event)];
      parent = owner(events.start_ns(event), row);
      if (trace.kind(event) == EventKind::runtime) continue;
      parent = EventId::none;
      for (std::size_t around = row; around-- > 0 && parent == EventId::none;) {
        const bool open_at_start = events.end_ns(opened[around]) > events.start_ns(event);
        const bool open_at_end = events.end_ns(opened[around]) >= events.end_ns(event);
        if (open_at_start && open_at_end) parent = opened[around];
      }
    }
  }
  return expected;
}

std::string rows_of(const Trace& trace) {
  std::ostringstream text;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    text << row << ": " << trace.string(trace.category(event).name) << " on "
         << index(trace.events().track(event)) << " [" << trace.events().start_ns(event) << ", "
         << trace.events().end_ns(event) << ")\n";
  }
  return text.str();
}

Trace random_trace(std::mt19937& random, int most_ranges, int longest_time) {
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  TraceBuilder builder;
  const int ranges = 1 + below(most_ranges);
  const int threads = 1 + below(3);
  const int first_time = below(4) == 0 ? -longest_time : 0;
  for (int range = 0; range < ranges; ++range) {
    const int duration = below(3) == 0 ? below(3) : below(longest_time);
    const bool has_rank = below(2) != 0;
    fixtures::add(builder, {.category = kCategories[static_cast<std::size_t>(below(7))],
                            .start = first_time + below(longest_time),
                            .duration = duration,
                            .thread = below(threads),
                            .rank = static_cast<std::uint32_t>(has_rank ? 1 + below(ranges) : 0)});
  }
  return fixtures::finished(builder);
}

void expect_definition(const Trace& trace) {
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  const Expected expected = by_definition(trace);
  std::int64_t self = 0;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    ASSERT_EQ(times.ns(event), expected.self_ns[row]) << "of " << row << " in\n" << rows_of(trace);
    ASSERT_EQ(tree.parent(event), expected.parent[row]) << "of " << row << " in\n"
                                                        << rows_of(trace);
    self += times.ns(event);
  }
  std::int64_t busy = 0;
  for (std::size_t track = 0; track < trace.tracks().size(); ++track) {
    ASSERT_EQ(times.busy_ns()[track], expected.busy_ns[track]) << "of track " << track << " in\n"
                                                               << rows_of(trace);
    busy += times.busy_ns()[track];
  }
  ASSERT_EQ(self, busy) << rows_of(trace);
}

TEST(CallTree, MatchesItsDefinitionOnThousandsOfSmallRandomTraces) {
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int longest_time = 2 + static_cast<int>(random() % 30);
    ASSERT_NO_FATAL_FAILURE(expect_definition(random_trace(random, 12, longest_time)));
  }
}

TEST(CallTree, MatchesItsDefinitionOnLargerRandomTraces) {
  for (unsigned seed = 0; seed < random_rounds(20u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ASSERT_NO_FATAL_FAILURE(expect_definition(random_trace(random, 400, 500)));
  }
}

TEST(CallTree, ListsEachRangeAfterItsParentAndByStart) {
  for (unsigned seed = 0; seed < random_rounds(1000u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Trace trace = random_trace(random, 30, 20);
    const CallTree tree(trace);
    std::set<EventId> seen;
    std::vector<std::int64_t> last_start(trace.tracks().size(), INT64_MIN);
    for (const EventId range : tree.ranges()) {
      ASSERT_TRUE(is_host_range(trace.kind(range)));
      const EventId parent = tree.parent(range);
      ASSERT_TRUE(parent == EventId::none || seen.contains(parent)) << rows_of(trace);
      std::int64_t& last = last_start[index(trace.events().track(range))];
      ASSERT_LE(last, trace.events().start_ns(range));
      last = trace.events().start_ns(range);
      ASSERT_TRUE(seen.insert(range).second) << "listed twice";
    }
    std::size_t host_ranges = 0;
    for (const EventId event : trace.by_start()) host_ranges += is_host_range(trace.kind(event));
    ASSERT_EQ(seen.size(), host_ranges);
  }
}

}  // namespace
}  // namespace tbtrace
