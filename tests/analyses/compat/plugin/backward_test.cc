#include "analyses/compat/plugin/backward.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/compat/plugin/backward_by_steps.h"
#include "analyses/compat/plugin/tree.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;

constexpr std::string_view kPass = "autograd::engine::evaluate_function: MmBackward0";
constexpr std::string_view kGradient =
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

EventId add_module(TraceBuilder& builder, std::int64_t start, std::int64_t duration,
                   std::int64_t thread = 1) {
  EventRow row;
  row.start_ns = start;
  row.duration_ns = duration;
  row.name = builder.intern("nn.Module: Linear_0");
  row.track = fixtures::track(builder, 1, thread);
  row.category = builder.category(builder.intern("python_function"));
  row.flags = Events::kPythonFrame | Events::kModule;
  return builder.add_event(row);
}

/// An arrow from a forward operator to a backward one.
void add_arrow(TraceBuilder& builder, std::int64_t id, std::int64_t from, std::int64_t to) {
  for (const bool start : {true, false}) {
    FlowEnd end;
    end.id = id;
    end.time_ns = start ? from : to;
    end.track = fixtures::track(builder, 1, start ? 1 : 2);
    end.type = FlowEnd::Type::forward_backward;
    end.start = start;
    builder.add_flow(end);
  }
}

/// Few instants, so that nodes start together, cross and lie in each other.
Trace random_trace(unsigned seed, bool arrows) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  TraceBuilder builder;
  const std::int64_t ranges = 2 + below(30);
  const std::int64_t instants = 20 + below(80);
  for (std::int64_t number = 0; number < ranges; ++number) {
    const std::int64_t start = below(instants);
    const std::int64_t duration = below(3) == 0 ? below(instants) : below(instants / 4);
    const std::int64_t thread = 1 + below(3);
    constexpr std::array<std::string_view, 6> kNames = {kPass,      kPass,       kGradient,
                                                        "aten::mm", "aten::add", "MmBackward0"};
    const std::int64_t kind = below(10);
    if (kind < 3) {
      add_module(builder, start, duration, thread);
    } else if (kind == 3) {
      add(builder, {.category = "user_annotation",
                    .name = "ProfilerStep#1",
                    .start = start,
                    .duration = duration,
                    .thread = thread});
    } else {
      add(builder, {.name = kNames[static_cast<std::size_t>(below(6))],
                    .start = start,
                    .duration = duration,
                    .thread = thread});
    }
  }
  for (std::int64_t id = 0; arrows && id < 8; ++id) {
    const std::int64_t start = below(instants);
    add_arrow(builder, id * 5 % 7, start, below(instants));  // ids in no order, one of them twice
  }
  return finished(builder);
}

TEST(PluginBackward, MatchesThePluginsStepsOnThousandsOfRandomTraces) {
  int rehung = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(20000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace without = random_trace(seed, false);
    const Trace trace = random_trace(seed, true);
    const PluginTree before(without);
    const PluginTree tree(trace);
    const BackwardBySteps expected(trace, {before.nodes().begin(), before.nodes().end()},
                                   {before.roots().begin(), before.roots().end()},
                                   before.root_with_steps());
    ASSERT_EQ(tree.nodes().size(), expected.nodes().size());
    for (PluginNodeId id = 0; id < tree.nodes().size(); ++id) {
      ASSERT_EQ(tree.node(id).children, expected.nodes()[id].children) << id;
      ASSERT_EQ(tree.node(id).start, expected.nodes()[id].start) << id;
      ASSERT_EQ(tree.node(id).end, expected.nodes()[id].end) << id;
    }
    rehung += expected.rehung();
  }
  EXPECT_GT(rehung, fixtures::random_rounds(1500));
}

// Searching a list for every pass takes minutes here, walking up from every arrow hours.
const std::int64_t kMany = fixtures::many_rows<std::int64_t>(400'000);

TEST(PluginBackward, TakesAsManyStepsAsPasses) {
  TraceBuilder builder;
  add_module(builder, 0, 10);
  add(builder, {.name = "aten::mm", .start = 2, .duration = 4});
  for (std::int64_t number = 1; number <= 2 * kMany; ++number) {
    add(builder, {.category = "user_annotation",
                  .name = "ProfilerStep#1",
                  .start = number * 100,
                  .duration = 50,
                  .thread = 2});
    add(builder, {.name = kPass, .start = number * 100 + 10, .duration = 20, .thread = 2});
  }
  add(builder, {.name = "MmBackward0", .start = 115, .duration = 5, .thread = 2});
  add_arrow(builder, 1, 2, 115);
  const Trace trace = finished(builder);
  const PluginTree tree(trace);
  // Of the passes the one that the arrow names is left, with the operator in it.
  EXPECT_EQ(tree.operators().size(), 3u);
}

TEST(PluginBackward, TakesManyArrowsIntoADeepPass) {
  TraceBuilder builder;
  add_module(builder, 0, kMany);
  for (std::int64_t number = 0; number < kMany; ++number) {
    add_arrow(builder, number, number, 3 * kMany);  // to the innermost
  }
  add(builder, {.name = "aten::mm", .start = kMany / 2, .duration = 10});
  add(builder, {.name = kPass, .start = 2 * kMany, .duration = 2 * kMany + 1, .thread = 2});
  for (std::int64_t depth = 1; depth <= kMany; ++depth) {
    add(builder, {.name = depth % 2 == 0 ? "even" : "odd",
                  .start = 2 * kMany + depth,
                  .duration = 2 * (kMany - depth) + 1,
                  .thread = 2});
  }
  const Trace trace = finished(builder);
  const PluginTree tree(trace);
  EXPECT_EQ(tree.operators().size(), 1u) << "the first arrow takes the pass, and starts nowhere";
}

TEST(PluginBackward, TakesAsManyModulesAsPasses) {
  TraceBuilder builder;
  // Backward before forward, so that each module goes to the front of a long list.
  const auto forward = [](std::int64_t number) { return 100 * (kMany + number); };
  for (std::int64_t number = 0; number < kMany; ++number) {
    add_module(builder, forward(number), 50);
    add(builder, {.name = "aten::mm", .start = forward(number) + 10, .duration = 4});
    add(builder, {.name = kPass, .start = 100 * number, .duration = 20, .thread = 2});
    add(builder, {.name = "MmBackward0", .start = 100 * number + 5, .duration = 5, .thread = 2});
    add_arrow(builder, number, forward(number) + 10, 100 * number + 5);
  }
  add(builder, {.name = "first", .start = -100, .duration = 1});
  const Trace trace = finished(builder);
  const PluginTree tree(trace);
  EXPECT_EQ(tree.operators().size(), 3 * static_cast<std::size_t>(kMany) + 1);
}

}  // namespace
}  // namespace tbtrace::analyses
