// The exact summary, flame graphs and owners of memory against their definition.
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>

#include "analyses/attribution/owners.h"
#include "analyses/operators/exact_by_definition.h"
#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

using fixtures::random_rounds;

using RowKey = std::tuple<std::string, bool, bool>;  // name, of a device, annotation

struct ExactFigures {
  std::int64_t count = 0, total = 0, self = 0, device_total = 0, device_self = 0;
  std::int64_t bytes = 0, self_bytes = 0, device_bytes = 0, self_device_bytes = 0;

  bool operator==(const ExactFigures&) const = default;
};

std::ostream& operator<<(std::ostream& out, const ExactFigures& f) {
  return out << f.count << " calls, " << f.total << " total, " << f.self << " self, device "
             << f.device_total << ' ' << f.device_self << ", bytes " << f.bytes << ' '
             << f.self_bytes << ' ' << f.device_bytes << ' ' << f.self_device_bytes;
}

class Expected {
 public:
  explicit Expected(const Trace& trace) : trace_(trace), exact_(trace) {
    add_host_time();
    add_device_time();
    add_memory();
  }

  std::map<RowKey, ExactFigures> rows;
  std::int64_t window = 0;

 private:
  RowKey key_of(EventId event) const {
    const EventKind kind = trace_.kind(event);
    return {exact_.name(event), trace_.category(event).device != DeviceType::cpu,
            kind == EventKind::user_annotation};
  }

  void add_host_time() {
    std::set<TrackId> threads;
    for (const EventId event : exact_.ranges()) {
      ++rows[key_of(event)].count;
      threads.insert(trace_.events().track(event));
    }
    ExactFigures& idle = rows[{"[idle]", false, false}];
    exact_.for_each_piece([&](std::int64_t start, std::int64_t length) {
      window += length;
      for (const TrackId thread : threads) {
        const EventId owner = exact_.owner(thread, start);
        if (owner == EventId::none) {
          idle.self += length;
          idle.total += length;
          continue;
        }
        rows[key_of(owner)].self += length;
        std::set<RowKey> open;
        for (const EventId event : exact_.ranges()) {
          const bool here = trace_.events().track(event) == thread;
          if (here && exact_.is_open(event, start)) open.insert(key_of(event));
        }
        for (const RowKey& key : open) rows[key].total += length;
      }
    });
    idle.count = static_cast<std::int64_t>(threads.size());
  }

  /// Adds to the owner's row, and to the rows of all that it lies in once each.
  template <typename Add>
  void add_upwards(EventId owner, Add add) {
    if (owner == EventId::none) {
      ExactFigures& unattributed = rows[{"[unattributed]", false, false}];
      add(unattributed, true);
      add(unattributed, false);
      return;
    }
    add(rows[key_of(owner)], true);
    std::set<RowKey> above;
    for (EventId up = owner; up != EventId::none; up = exact_.parent(up)) above.insert(key_of(up));
    for (const RowKey& key : above) add(rows[key], false);
  }

  void add_device_time() {
    rows[{"[unattributed]", false, false}];
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      const std::int64_t duration = trace_.events().duration_ns(link.activity);
      add_upwards(exact_.owner_of_work(link), [&](ExactFigures& row, bool own) {
        (own ? row.device_self : row.device_total) += duration;
      });
      ExactFigures& work = rows[key_of(link.activity)];
      ++work.count;
      work.device_total += duration;
      work.device_self += duration;
    }
  }

  void add_memory() {
    for (const MemoryRecord& record : trace_.memory()) {
      if (record.out_of_memory) continue;
      add_upwards(exact_.owner_of_memory(record), [&](ExactFigures& row, bool own) {
        if (record.device_type == DeviceType::cpu)
          (own ? row.self_bytes : row.bytes) += record.bytes;
        if (record.device_type == DeviceType::cuda ||
            record.device_type == DeviceType::privateuse1) {
          (own ? row.self_device_bytes : row.device_bytes) += record.bytes;
        }
      });
    }
  }

  const Trace& trace_;
  ExactByDefinition exact_;
};

struct Seen {
  std::int64_t linked = 0, unattributed = 0, memory = 0, idle = 0;
};

void expect_definition(const Trace& trace, Seen& seen) {
  const OperatorSummary summary = exact_operator_summary(trace);
  const Expected expected(trace);
  std::map<RowKey, ExactFigures> found;
  for (const OperatorRow& row : summary.rows()) {
    const RowKey key = {row.key, row.device_type != DeviceType::cpu, row.is_user_annotation};
    ASSERT_FALSE(found.contains(key)) << row.key << " twice";
    found[key] = {row.count,
                  row.cpu_time_total.ns,
                  row.self_cpu_time_total.ns,
                  row.device_time_total.ns,
                  row.self_device_time_total.ns,
                  row.cpu_memory_usage_bytes,
                  row.self_cpu_memory_usage_bytes,
                  row.device_memory_usage_bytes,
                  row.self_device_memory_usage_bytes};
    ASSERT_LE(row.self_cpu_time_total.ns, row.cpu_time_total.ns) << row.key;
  }
  ASSERT_EQ(found.size(), expected.rows.size());
  for (const auto& [key, figures] : expected.rows) {
    ASSERT_EQ(found[key], figures) << std::get<0>(key);
  }
  ASSERT_EQ(summary.window_ns(), expected.window);
  const ExactFigures& unattributed = found[{"[unattributed]", false, false}];
  seen.linked += trace.links().linked_ns > 0;
  seen.unattributed += unattributed.device_self > 0;
  seen.memory += unattributed.self_bytes != 0;
  seen.idle += found[{"[idle]", false, false}].self > 0;
}

TEST(ExactSummary, MatchesItsDefinitionOnThousandsOfRandomTraces) {
  Seen seen;
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {}).make();
    ASSERT_NO_FATAL_FAILURE(expect_definition(trace, seen));
  }
  EXPECT_GT(seen.linked, random_rounds(500));
  EXPECT_GT(seen.unattributed, random_rounds(500));
  EXPECT_GT(seen.memory, random_rounds(500));
  EXPECT_GT(seen.idle, random_rounds(500));
}

TEST(ExactSummary, MatchesItsDefinitionOnLargerRandomTraces) {
  Seen seen;
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {.ranges = 120, .longest = 150}).make();
    ASSERT_NO_FATAL_FAILURE(expect_definition(trace, seen));
  }
}

using Paths = std::map<std::vector<std::string>, std::int64_t>;

Paths exact_paths(const Trace& trace, const std::string& weight) {
  const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
  Paths paths;
  for (StackTree::Node node = 1; node < stacks->size(); ++node) {
    if (stacks->self(node) == 0) continue;
    std::vector<std::string> frames;
    for (StackTree::Node up = node; up != StackTree::kRoot; up = stacks->parent(up)) {
      frames.insert(frames.begin(), std::string(stacks->frame(up)));
    }
    paths[frames] += stacks->self(node);
  }
  return paths;
}

std::vector<std::string> path_to(const ExactByDefinition& exact, EventId event) {
  std::vector<std::string> frames;
  for (; event != EventId::none; event = exact.parent(event)) {
    frames.insert(frames.begin(), exact.name(event));
  }
  return frames;
}

void expect_graphs(const Trace& trace) {
  const ExactByDefinition exact(trace);
  Paths time;
  exact.for_each_piece([&](std::int64_t start, std::int64_t length) {
    for (std::size_t thread = 0; thread < trace.tracks().size(); ++thread) {
      const EventId owner = exact.owner(static_cast<TrackId>(thread), start);
      if (owner != EventId::none) time[path_to(exact, owner)] += length;
    }
  });
  ASSERT_EQ(exact_paths(trace, "self_cpu_time_total"), time);

  Paths device;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const EventId owner = exact.owner_of_work(link);
    const std::int64_t duration = trace.events().duration_ns(link.activity);
    if (duration == 0) continue;
    std::vector<std::string> frames = {"[unattributed]"};
    if (owner != EventId::none) frames = path_to(exact, owner);
    frames.push_back(exact.name(link.activity));
    device[frames] += duration;
  }
  ASSERT_EQ(exact_paths(trace, "self_device_time_total"), device);

  Paths memory;
  for (const MemoryRecord& record : trace.memory()) {
    const EventId owner = exact.owner_of_memory(record);
    const bool allocated =
        record.bytes > 0 && !record.out_of_memory && record.device_type == DeviceType::cpu;
    if (owner != EventId::none && allocated) memory[path_to(exact, owner)] += record.bytes;
  }
  ASSERT_EQ(exact_paths(trace, "cpu_memory"), memory);
}

TEST(FlameGraph, MatchesItsDefinitionOnThousandsOfRandomTraces) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(expect_graphs(RandomRecording(seed, {}).make()));
  }
}

TEST(MemoryOwners, MatchTheirDefinitionOnThousandsOfRandomTraces) {
  std::size_t owned = 0;
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {}).make();
    const ExactByDefinition exact(trace);
    std::size_t next = 0;
    for_each_memory_owner(
        trace, call_tree_of(trace), [&](const MemoryRecord& record, EventId owner) {
          EXPECT_EQ(&record, &trace.memory()[next++]) << "every record once, by time";
          EXPECT_EQ(owner, exact.owner_of_memory(record)) << "at " << record.time_ns;
          owned += owner != EventId::none;
        });
    ASSERT_EQ(next, trace.memory().size());
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(owned, random_rounds(1000u));
}

}  // namespace
}  // namespace tbtrace::analyses
