#include "analyses/torch/tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

/// The tree of one thread after another: a stack of open ranges, looked through from end to end.
struct Expected {
  std::vector<EventId> parent;
  std::vector<bool> closed;

  explicit Expected(const Trace& trace)
      : parent(trace.events().size(), EventId::none), closed(trace.events().size(), false) {
    for (std::size_t thread = 0; thread < trace.tracks().size(); ++thread) {
      walk(trace, static_cast<TrackId>(thread));
    }
  }

  void walk(const Trace& trace, TrackId thread) {
    const Events& events = trace.events();
    std::vector<EventId> stack;
    const auto close_before = [&](std::int64_t start) {
      // In the order of their ends; those above one that closes are closed with it.
      for (;;) {
        auto first = stack.end();
        for (auto event = stack.begin(); event != stack.end(); ++event) {
          if (events.unfinished(*event) || events.end_ns(*event) >= start) continue;
          if (first == stack.end() || events.end_ns(*event) < events.end_ns(*first)) first = event;
        }
        if (first == stack.end()) return;
        for (auto event = first; event != stack.end(); ++event) closed[index(*event)] = true;
        stack.erase(first, stack.end());
      }
    };
    for (const EventId event : trace.by_start()) {
      const EventKind kind = trace.kind(event);
      if (kind > EventKind::python_function || events.track(event) != thread) continue;
      close_before(events.start_ns(event));
      if (!stack.empty()) parent[index(event)] = stack.back();
      if (events.unfinished(event) || events.duration_ns(event) > 0) {
        stack.push_back(event);
      } else {
        closed[index(event)] = true;
      }
    }
    close_before(INT64_MAX);
  }

  std::int64_t end_ns(const Trace& trace, EventId event) const {
    if (!trace.events().unfinished(event)) return trace.events().end_ns(event);
    const EventId up = parent[index(event)];
    const bool inherits = closed[index(event)] && up != EventId::none;
    return inherits ? end_ns(trace, up) : trace.window_end_ns();
  }

  EventId python_parent(const Trace& trace, EventId event) const {
    EventId up = parent[index(event)];
    while (up != EventId::none && !trace.events().is_python_frame(up)) up = parent[index(up)];
    return up;
  }
};

TEST(TorchTree, IsWhatAStackMakesOnThousandsOfRandomTraces) {
  std::size_t inherited = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(4000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {.devices = false, .unfinished = true}).make();
    const TorchTree tree(trace, ForwardThreads(trace));
    const Expected expected(trace);
    for (const EventId event : trace.by_start()) {
      if (trace.kind(event) > EventKind::python_function) continue;
      ASSERT_EQ(tree.parent(event), expected.parent[index(event)]) << index(event);
      ASSERT_EQ(tree.python_parent(event), expected.python_parent(trace, event)) << index(event);
      ASSERT_EQ(tree.end_ns(event), expected.end_ns(trace, event)) << index(event);
      const bool unfinished = trace.events().unfinished(event);
      inherited += unfinished && tree.end_ns(event) != trace.window_end_ns();
    }
  }
  EXPECT_GT(inherited, fixtures::random_rounds(200u));
}

EventId add_unfinished(TraceBuilder& builder, std::int64_t start, std::int64_t duration,
                       std::int64_t thread = 1) {
  EventRow row;
  row.start_ns = start;
  row.duration_ns = duration;
  row.track = fixtures::track(builder, 1, thread);
  row.category = builder.category(builder.intern("cpu_op"));
  row.flags = Events::kUnfinished;
  return builder.add_event(row);
}

TEST(TorchTree, EndsWhatNeverEndedWithItsParent) {
  TraceBuilder builder;
  fixtures::add(builder, {.start = 0, .duration = 50});
  const EventId inner = add_unfinished(builder, 10, 90);
  const EventId innermost = add_unfinished(builder, 20, 80);
  fixtures::add(builder, {.start = 60, .duration = 40});
  const Trace trace = fixtures::finished(builder);
  const TorchTree tree(trace, ForwardThreads(trace));
  EXPECT_EQ(tree.parent(innermost), inner);
  EXPECT_EQ(tree.end_ns(inner), 50);
  EXPECT_EQ(tree.end_ns(innermost), 50);
}

TEST(TorchTree, EndsWhatNeverEndedAndHasNoParentWithTheWindow) {
  TraceBuilder builder;
  const EventId outer = add_unfinished(builder, 10, 5);
  const EventId next = fixtures::add(builder, {.start = 60, .duration = 40});
  const Trace trace = fixtures::finished(builder);
  const TorchTree tree(trace, ForwardThreads(trace));
  EXPECT_EQ(tree.end_ns(outer), 100);
  EXPECT_EQ(tree.parent(next), outer) << "it is still open";
}

TEST(TorchTree, ClosesARangeOnlyAfterItsLastInstant) {
  TraceBuilder builder;
  const EventId first = fixtures::add(builder, {.start = 0, .duration = 10});
  const EventId at_its_end = fixtures::add(builder, {.start = 10, .duration = 5});
  const EventId later = fixtures::add(builder, {.start = 16, .duration = 5});
  const Trace trace = fixtures::finished(builder);
  const TorchTree tree(trace, ForwardThreads(trace));
  EXPECT_EQ(tree.parent(at_its_end), first);
  EXPECT_EQ(tree.parent(later), EventId::none);
}

/// A forward operator on thread 1, its backward one on thread 2, and the arrow between them.
struct BackwardPass {
  TraceBuilder builder;
  EventId frame;
  EventId node;

  explicit BackwardPass(bool with_arrow) {
    frame = fixtures::add(builder, {.category = "python_function", .start = 0, .duration = 100});
    fixtures::add(builder, {.start = 10, .duration = 5});
    node = fixtures::add(builder, {.start = 40, .duration = 20, .thread = 2});
    builder.add_argument(node, Argument::sequence_number, std::int64_t{3});
    builder.add_argument(node, Argument::forward_thread, std::int64_t{7});
    for (const bool start : {true, false}) {
      FlowEnd end;
      end.id = 5;
      end.time_ns = start ? 10 : 40;
      end.track = fixtures::track(builder, 1, start ? 1 : 2);
      end.type = FlowEnd::Type::forward_backward;
      end.start = start;
      if (with_arrow) builder.add_flow(end);
    }
  }
};

TEST(TorchTree, PutsABackwardPassUnderWhatItsForwardThreadRuns) {
  BackwardPass pass(true);
  const Trace trace = fixtures::finished(pass.builder);
  const TorchTree tree(trace, ForwardThreads(trace));
  EXPECT_EQ(tree.parent(pass.node), pass.frame);
}

TEST(TorchTree, LeavesABackwardPassAloneWithoutAnArrow) {
  BackwardPass pass(false);
  const Trace trace = fixtures::finished(pass.builder);
  const TorchTree tree(trace, ForwardThreads(trace));
  EXPECT_EQ(tree.parent(pass.node), EventId::none);
}

TEST(ForwardThreads, AreKnownByTheArrowsThatEndAtANode) {
  BackwardPass pass(true);
  const Trace trace = fixtures::finished(pass.builder);
  const ForwardThreads threads(trace);
  TrackId track = {};
  ASSERT_TRUE(threads.find(pass.node, track));
  EXPECT_EQ(track, trace.events().track(pass.frame));
  EXPECT_FALSE(threads.find(pass.frame, track)) << "it names none";
}

TEST(ForwardThreads, AreThoseOfTheirProcess) {
  // The joined traces of two ranks: all ids and torch's numbers of threads are there twice.
  TraceBuilder builder;
  std::vector<EventId> nodes;
  for (const std::int64_t process : {1, 2}) {
    fixtures::add(builder, {.start = 0, .duration = 30, .process = process, .external_id = 1});
    nodes.push_back(fixtures::add(
        builder, {.start = 40, .duration = 5, .thread = 2, .process = process, .external_id = 2}));
    builder.add_argument(nodes.back(), Argument::forward_thread, std::int64_t{7});
    for (const bool start : {true, false}) {
      FlowEnd end;
      end.id = 5;
      end.time_ns = start ? 10 : 40;
      end.track = fixtures::track(builder, process, start ? 1 : 2);
      end.type = FlowEnd::Type::forward_backward;
      end.start = start;
      builder.add_flow(end);
    }
  }
  const Trace trace = fixtures::finished(builder);
  const ForwardThreads threads(trace);
  for (const EventId node : nodes) {
    TrackId track = {};
    ASSERT_TRUE(threads.find(node, track));
    const TrackId own = trace.events().track(node);
    EXPECT_EQ(trace.track(track).process.number, trace.track(own).process.number);
    EXPECT_NE(track, own);
  }
}

TEST(SequenceNumber, IsNegativeForAnEventWithoutOne) {
  BackwardPass pass(true);
  const Trace trace = fixtures::finished(pass.builder);
  EXPECT_EQ(sequence_number(trace, pass.node), 3);
  EXPECT_EQ(sequence_number(trace, pass.frame), -1);
}

TEST(ForwardThread, IsZeroForAnEventWithoutOne) {
  BackwardPass pass(true);
  const Trace trace = fixtures::finished(pass.builder);
  EXPECT_EQ(forward_thread(trace, pass.node), 7);
  EXPECT_EQ(forward_thread(trace, pass.frame), 0);
}

}  // namespace
}  // namespace tbtrace::analyses
