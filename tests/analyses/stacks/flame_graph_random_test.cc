// Flame graphs of random recordings against their definition: what the options change in the paths
// of all frames, and the time inside a window, instant by instant.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>

#include "analyses/attribution/owners.h"
#include "analyses/operators/exact_by_definition.h"
#include "analyses/random_recording.h"
#include "analyses/stacks/stack_paths.h"
#include "analyses/steps/selection.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::random_rounds;

constexpr std::array<const char*, 3> kWeights = {"self_cpu_time_total", "self_device_time_total",
                                                 "cpu_memory"};

/// Python functions that call each other, some of which only pass a call on.
Trace python_calls(unsigned seed) {
  constexpr std::array<std::string_view, 8> kNames = {
      "torch/nn/modules/module.py(10): _wrapped_call_impl",
      "torch/nn/modules/module.py(20): _call_impl",
      "/venv/torch/nn/modules/container.py(5): forward",
      "net.py(1): forward",
      "net.py(2): loss",
      "<built-in method f of X object at 0x7f01>",
      "<built-in method f of X object at 0x7f02>",
      "nn.Module: Net_0"};
  std::mt19937 random(seed);
  TraceBuilder builder;
  for (int thread = 1; thread <= 2; ++thread) {
    for (int range = 0; range < 12; ++range) {
      const std::int64_t start = random() % 40;
      const std::int64_t duration = random() % 20;
      const bool is_op = random() % 3 == 0;
      const std::string name = std::string(kNames[random() % kNames.size()]) + (is_op ? " op" : "");
      fixtures::add(builder, {.category = is_op ? "cpu_op" : "python_function",
                              .name = name,
                              .start = start,
                              .duration = duration,
                              .thread = thread});
    }
  }
  return fixtures::finished(builder);
}

StackTree stacks_of(const Trace& trace, const FlameGraphOptions& options) {
  Result<StackTree> stacks = flame_graph(trace, options);
  EXPECT_TRUE(stacks.ok()) << stacks.status().message();
  return stacks.ok() ? *std::move(stacks) : StackTree("ns");
}

/// Without frames that only pass on, unless nothing calls them, and without addresses. Operators
/// stay as they are.
StackPath without_noise(const StackPath& path) {
  StackPath result;
  for (std::string frame : path) {
    if (frame.ends_with(" op")) {
      result.push_back(frame);
      continue;
    }
    const bool passes = frame.find("module.py") != std::string::npos ||
                        frame.find("container.py") != std::string::npos;
    if (passes && !result.empty()) continue;
    const std::size_t address = frame.find(" at 0x");
    if (address != std::string::npos) frame = frame.substr(0, address) + ">";
    result.push_back(frame);
  }
  return result;
}

TEST(FlameGraphOptionsOnRandomTraces, FramesThatPassOnGiveTheirTimeToTheirCallers) {
  int changes = 0;
  for (unsigned seed = 0; seed < random_rounds(1000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = python_calls(seed);
    const StackPaths all = paths_of(stacks_of(trace, {.all_frames = true}));
    const StackPaths expected = changed(all, without_noise);
    ASSERT_EQ(paths_of(stacks_of(trace, {})), expected);
    if (expected != all) ++changes;
  }
  EXPECT_GT(changes, random_rounds(800));
}

TEST(FlameGraphOptionsOnRandomTraces, OptionsGoTogether) {
  for (unsigned seed = 0; seed < random_rounds(1000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = seed % 2 == 0 ? python_calls(seed) : RandomRecording(seed, {}).make();
    for (const char* const weight : kWeights) {
      const StackPaths joined = paths_of(stacks_of(trace, {.weight = weight}));
      ASSERT_EQ(paths_of(stacks_of(trace, {.weight = weight, .in_time_order = true})), joined);
      const StackPaths merged = changed(joined, without_recursion);
      ASSERT_EQ(paths_of(stacks_of(trace, {.weight = weight, .merge_recursion = true})), merged);
      ASSERT_EQ(paths_of(stacks_of(
                    trace, {.weight = weight, .merge_recursion = true, .in_time_order = true})),
                merged);
    }
  }
}

TEST(FlameGraphOptionsOnRandomTraces, InTimeOrderSiblingsAreByStart) {
  for (unsigned seed = 0; seed < random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {.odd_names = false}).make();
    const StackTree stacks = stacks_of(trace, {.all_frames = true, .in_time_order = true});
    std::vector<EventId> ranges = ExactByDefinition(trace).ranges();
    // Ranges without any time are not in the picture.
    std::erase_if(ranges, [&](EventId range) { return trace.events().duration_ns(range) == 0; });
    ASSERT_EQ(stacks.size(), ranges.size() + 1) << "one node per range";
    std::stable_sort(ranges.begin(), ranges.end(), [&](EventId a, EventId b) {
      return trace.events().start_ns(a) < trace.events().start_ns(b);
    });
    for (StackTree::Node node = 1; node < stacks.size(); ++node) {
      ASSERT_LT(stacks.parent(node), node);
    }
    // Ranges with equal starts may swap; their names say which they are as far as it matters.
    std::vector<std::string> expected, found;
    std::int64_t last = INT64_MIN;
    StackTree::Node node = 1;
    for (const EventId range : ranges) {
      if (trace.events().start_ns(range) != last) {
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        ASSERT_EQ(found, expected);
        last = trace.events().start_ns(range);
      }
      expected.emplace_back(trace.name(range));
      found.emplace_back(stacks.frame(node++));
    }
  }
}

TEST(FlameGraphOptionsOnRandomTraces, InTimeOrderDeviceWorkOfACallIsByItsStart) {
  using Works = std::vector<std::pair<std::string, std::int64_t>>;  // names and times
  std::size_t count = 0;
  for (unsigned seed = 0; seed < random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {.odd_names = false}).make();
    const Events& events = trace.events();
    const ExactByDefinition exact(trace);
    std::vector<DeviceLink> links(links_of(trace).device_work().begin(),
                                  links_of(trace).device_work().end());
    std::stable_sort(links.begin(), links.end(), [&](const DeviceLink& a, const DeviceLink& b) {
      return events.start_ns(a.activity) < events.start_ns(b.activity);
    });
    std::map<EventId, Works> of_owner;
    for (const DeviceLink& link : links) {
      const std::int64_t time = events.duration_ns(link.activity);
      if (time > 0)
        of_owner[exact.owner_of_work(link)].emplace_back(exact.name(link.activity), time);
    }
    const StackTree stacks = stacks_of(
        trace, {.weight = "self_device_time_total", .all_frames = true, .in_time_order = true});
    std::map<StackTree::Node, Works> of_node;
    for (StackTree::Node node = 1; node < stacks.size(); ++node) {
      if (stacks.self(node) == 0) continue;
      of_node[stacks.parent(node)].emplace_back(stacks.frame(node), stacks.self(node));
    }
    std::multiset<Works> expected, found;
    for (const auto& [owner, works] : of_owner) expected.insert(works);
    for (const auto& [node, works] : of_node) found.insert(works);
    ASSERT_EQ(found, expected);
    for (const Works& works : expected) count += works.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(count, random_rounds(100u)) << "calls with several kernels";
}

/// Stacks of the time inside a window, on one thread or on all.
class StacksByDefinition {
 public:
  StacksByDefinition(const Trace& trace, TimeRange window, std::optional<TrackId> thread)
      : trace_(trace), exact_(trace), window_(window), thread_(thread) {}

  StackPaths host() const {
    StackPaths paths;
    exact_.for_each_piece([&](std::int64_t start, std::int64_t length) {
      const std::int64_t part = inside(start, start + length);
      if (part <= 0) return;
      for (std::size_t track = 0; track < trace_.tracks().size(); ++track) {
        const auto thread = static_cast<TrackId>(track);
        if (thread_ && thread != *thread_) continue;
        const EventId owner = exact_.owner(thread, start);
        if (owner != EventId::none) paths[path(owner)] += part;
      }
    });
    return paths;
  }

  StackPaths device() const {
    StackPaths paths;
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      const std::int64_t part = trace_.events().duration_ns(link.activity);
      const EventId owner = exact_.owner_of_work(link);
      const EventId cause = link.launch != EventId::none ? link.launch
                            : link.op != EventId::none   ? link.op
                                                         : link.activity;
      const std::int64_t began = trace_.events().start_ns(cause);
      if (part <= 0 || began < window_.start || began >= window_.end) continue;
      if (thread_ && (owner == EventId::none || trace_.events().track(owner) != *thread_)) continue;
      StackPath stack = owner == EventId::none ? StackPath{"[unattributed]"} : path(owner);
      stack.push_back(exact_.name(link.activity));
      paths[stack] += part;
    }
    return paths;
  }

  StackPaths memory() const {
    StackPaths paths;
    for (const MemoryRecord& record : trace_.memory()) {
      if (record.out_of_memory || record.bytes <= 0 || !is_cpu_memory(record.device_type)) continue;
      if (record.time_ns < window_.start || record.time_ns >= window_.end) continue;
      if (thread_ && record.track != *thread_) continue;
      const EventId owner = exact_.owner_of_memory(record);
      if (owner != EventId::none) paths[path(owner)] += record.bytes;
    }
    return paths;
  }

 private:
  std::int64_t inside(std::int64_t start, std::int64_t end) const {
    return std::min(end, window_.end) - std::max(start, window_.start);
  }

  StackPath path(EventId event) const {
    StackPath path;
    for (; event != EventId::none; event = exact_.parent(event)) {
      path.insert(path.begin(), exact_.name(event));
    }
    return path;
  }

  const Trace& trace_;
  ExactByDefinition exact_;
  TimeRange window_;
  std::optional<TrackId> thread_;
};

TEST(FlameGraphOptionsOnRandomTraces, StepsAndThreadsCountWhatIsInside) {
  int with_steps = 0;
  int cut = 0;
  for (unsigned seed = 0; seed < random_rounds(4000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {}).make();
    const std::optional<StepRange> steps = StepRange{1, 1 + seed % 2};
    const Result<std::optional<TimeRange>> window = host_time_of_steps(trace, steps);
    if (!window.ok()) continue;
    ++with_steps;
    std::optional<TrackId> thread;
    FlameGraphOptions options = {.steps = steps};
    if (seed % 3 == 0) {
      thread = trace.events().track(ExactByDefinition(trace).ranges().front());
      options.thread = std::to_string(trace.track(*thread).thread.number);
    }
    const StacksByDefinition expected(trace, **window, thread);
    ASSERT_EQ(paths_of(stacks_of(trace, options)), expected.host());
    options.weight = "self_device_time_total";
    ASSERT_EQ(paths_of(stacks_of(trace, options)), expected.device());
    options.weight = "cpu_memory";
    ASSERT_EQ(paths_of(stacks_of(trace, options)), expected.memory());
    if (stacks_of(trace, {.steps = steps}).total() != stacks_of(trace, {}).total()) ++cut;
  }
  EXPECT_GT(with_steps, random_rounds(500));
  EXPECT_GT(cut, random_rounds(300));
}

}  // namespace
}  // namespace tbtrace::analyses
