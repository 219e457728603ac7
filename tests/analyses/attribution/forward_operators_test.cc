#include "analyses/attribution/forward_operators.h"

#include <gtest/gtest.h>

#include "analyses/modules/model_rows.h"

namespace tbtrace::analyses {
namespace {

TEST(ForwardOperators, AreTheLastWithTheNumber) {
  ModelRows rows;
  rows.op("aten::linear", 0, 20, 5);
  const EventId creator = rows.op("aten::addmm", 5, 10, 5);
  rows.op("aten::relu", 30, 5, 6);
  const EventId node = rows.node("AddmmBackward0", 100, 10, 5);
  const EventId unknown = rows.node("OddBackward0", 120, 10, 99);
  const Trace trace = rows.finished();
  const ForwardOperators forward(trace);
  EXPECT_EQ(forward.of(node), creator);
  EXPECT_EQ(forward.of(unknown), EventId::none);
  EXPECT_EQ(forward.of(creator), EventId::none);
}

/// Two threads with the same number, and the node of one of them.
struct TwoThreads {
  explicit TwoThreads(bool with_flow) {
    rows.op("aten::mm", 0, 10, 5, {}, 1);
    forward = rows.op("aten::mm", 0, 10, 5, {}, 3);
    node = rows.node("MmBackward0", 100, 10, 5);
    for (const bool start : {true, false}) {
      FlowEnd end;
      end.id = 1;
      end.start = start;
      end.type = FlowEnd::Type::forward_backward;
      end.time_ns = start ? 0 : 100;
      end.track = fixtures::track(rows.builder(), 1, start ? 3 : 2);
      if (with_flow) rows.builder().add_flow(end);
    }
  }

  ModelRows rows;
  EventId forward = EventId::none;
  EventId node = EventId::none;
};

TEST(ForwardOperators, OfSeveralThreadsNeedAFlowEvent) {
  TwoThreads unknown(false);
  const Trace without = unknown.rows.finished();
  EXPECT_EQ(ForwardOperators(without).of(unknown.node), EventId::none) << "it may be either";
  TwoThreads known(true);
  const Trace with = known.rows.finished();
  EXPECT_EQ(ForwardOperators(with).of(known.node), known.forward);
}

TEST(ForwardOperators, AreThoseOfAutogradsRangeToo) {
  ModelRows rows;
  const EventId creator = rows.op("aten::mm", 0, 10, 5);
  const EventId around =
      rows.op("autograd::engine::evaluate_function: MmBackward0", 100, 20, -1, {}, 2);
  const EventId node = rows.op("MmBackward0", 105, 10, 5, {}, 2);
  rows.number(node, Argument::forward_thread, 1);
  const Trace trace = rows.finished();
  EXPECT_EQ(ForwardOperators(trace).of(around), creator);
}

}  // namespace
}  // namespace tbtrace::analyses
