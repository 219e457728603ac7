// Python stacks of operators, and those that backward passes take from their forward passes.
#include "analyses/torch/stacks.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;
using testing::IsEmpty;

using Stack = std::vector<std::string>;

ChromeEvent with_stack(ChromeEvent event, std::string_view stack) {
  return event.arg("Call stack", in_quotes(stack));
}

ChromeEvent frame(std::string_view name, std::string_view start, std::string_view duration) {
  return op(name, start, duration).with("cat", "\"python_function\"").arg("Python id", "1");
}

/// The stack of the one event that is called so.
Stack stack_of(const Trace& trace, std::string_view name) {
  for (const FunctionEvent& event : events(trace)) {
    if (event.key == name) return event.stack;
  }
  ADD_FAILURE() << "there is no " << name;
  return {};
}

TEST(TorchStacks, AreSplitAtSemicolons) {
  EXPECT_THAT(stack_of(read(trace_text({with_stack(op("a"), "f;g;main;")})), "a"),
              ElementsAre("f", "g", "main"));
  EXPECT_THAT(stack_of(read(trace_text({with_stack(op("a"), "f;g")})), "a"), ElementsAre("f", "g"));
  EXPECT_THAT(stack_of(read(trace_text({with_stack(op("a"), "f;;main;")})), "a"),
              ElementsAre("f", "", "main"));
}

TEST(TorchStacks, OfEventsWithoutATextAreEmptyEvenInAFunction) {
  const Trace trace = read(trace_text(
      {frame("main", "0", "50"), op("a", "10", "5"), with_stack(op("b", "20", "5"), "main;")}));
  EXPECT_THAT(stack_of(trace, "a"), IsEmpty());
  EXPECT_THAT(stack_of(trace, "b"), ElementsAre("main"));
}

TEST(TorchStacks, KeepASemicolonThatIsPartOfAFunctionsName) {
  const Trace trace = read(trace_text({frame("main", "0", "50"), frame("odd;name", "5", "40"),
                                       with_stack(op("a", "10", "5"), "odd;name;main;")}));
  EXPECT_THAT(stack_of(trace, "a"), ElementsAre("odd;name", "main"));
}

TEST(TorchStacks, AreSplitIfTheFunctionsAroundSayOtherwise) {
  const Trace trace = read(trace_text({frame("main", "0", "50"), frame("odd;name", "5", "40"),
                                       with_stack(op("a", "10", "5"), "jit.py(3): f;main;")}));
  EXPECT_THAT(stack_of(trace, "a"), ElementsAre("jit.py(3): f", "main"));
}

TEST(TorchStacks, GiveLostNamesBack) {
  const Trace trace = read(trace_text({with_stack(frame("main", "0", "50"), ""),
                                       with_stack(frame("unknown", "5", "40"), "main;"),
                                       with_stack(op("a", "10", "5"), "\u6f22.py(1): f;main;")}));
  EXPECT_THAT(stack_of(trace, "a"), ElementsAre("\u6f22.py(1): f", "main"));
  EXPECT_THAT(stack_of(trace, "\u6f22.py(1): f"), ElementsAre("main")) << "the row has it too";
}

TEST(TorchStacks, LeaveOutTheProfilersAndAutogradsOwnFrames) {
  const Trace trace = read(trace_text({with_stack(
      op("a"),
      "f;torch/autograd/__init__.py(9): _make_grads;torch/autograd/__init__.py(1): backward;"
      "torch/tensor.py(2): backward;torch/_internal/common_utils.py(1): prof_callable;"
      "torch/autograd/__init__.py(1): grad;main;")}));
  EXPECT_THAT(stack_of(trace, "a"),
              ElementsAre("f", "torch/autograd/__init__.py(1): grad", "main"));
}

/// A forward operator with sequence number 3 on thread 1, and its node on thread 2 that names
/// torch's thread number 7, with an arrow between them.
std::vector<ChromeEvent> backward_pass(std::string_view node_name) {
  std::vector<ChromeEvent> events = {
      with_stack(op("forward", "0", "10"), "f;main;").arg("Sequence number", "3"),
      with_stack(op("again", "20", "10"), "late;main;").arg("Sequence number", "3"),
      with_stack(op(node_name, "100", "50"), "engine;").with("tid", "2"),
      with_stack(op("below", "110", "10"), "engine;").with("tid", "2")};
  events[2].arg("Sequence number", "3").arg("Fwd thread id", "7");
  for (const bool start : {true, false}) {
    ChromeEvent arrow;
    arrow.with("ph", start ? "\"s\"" : "\"f\"").with("id", "5").with("cat", "\"fwdbwd\"");
    arrow.with("name", "\"fwdbwd\"").with("pid", "1").with("tid", start ? "1" : "2");
    events.push_back(arrow.with("ts", start ? "0" : "100"));
  }
  return events;
}

TEST(BackwardStacks, AreThoseOfTheForwardPass) {
  const Trace trace = read(trace_text(backward_pass("MmBackward0")));
  EXPECT_THAT(stack_of(trace, "MmBackward0"), ElementsAre("f", "main"))
      << "the first of its number";
  EXPECT_THAT(stack_of(trace, "below"), ElementsAre("f", "main"));
  EXPECT_THAT(stack_of(trace, "again"), ElementsAre("late", "main"));
}

TEST(BackwardStacks, AreEmptyWithoutAnArrow) {
  std::vector<ChromeEvent> events = backward_pass("MmBackward0");
  events.resize(4);
  EXPECT_THAT(stack_of(read(trace_text(events)), "below"), IsEmpty());
}

TEST(BackwardStacks, AreNotOfTheEnginesOwnRange) {
  const Trace trace =
      read(trace_text(backward_pass("autograd::engine::evaluate_function: MmBackward0")));
  EXPECT_THAT(stack_of(trace, "below"), ElementsAre("engine"));
}

TEST(BackwardStacks, AreEmptyForANodeWithoutANumber) {
  // A node is known by the engine's range around it, which bears its name.
  const std::string node = "torch::autograd::AccumulateGrad";
  const Trace trace = read(trace_text(
      {with_stack(op("autograd::engine::evaluate_function: " + node, "0", "50"), "engine;"),
       with_stack(op(node, "10", "20"), "engine;"),
       with_stack(op("aten::add_", "12", "3"), "engine;")}));
  EXPECT_THAT(stack_of(trace, node), IsEmpty());
  EXPECT_THAT(stack_of(trace, "aten::add_"), IsEmpty());
  EXPECT_THAT(stack_of(trace, "autograd::engine::evaluate_function: " + node),
              ElementsAre("engine"));
}

}  // namespace
}  // namespace tbtrace
