#include "recorder/window/window.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorder/window/hand_written.h"

namespace tbtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The ranges as `name start-end`, `?` for an open one and `~` for an asynchronous one.
std::vector<std::string> ranges_of(const Window& window) {
  std::vector<std::string> texts;
  const std::uint64_t start = window.recording().started().ticks;
  for (const Window::Range& range : window.ranges()) {
    if (range.is_open) {
      EXPECT_EQ(range.end_ticks, window.recording().ended().ticks);
    }
    texts.push_back(window.name(range).text + " " + std::to_string(range.start_ticks - start) +
                    (range.is_open ? "?" : "-" + std::to_string(range.end_ticks - start)) +
                    (range.is_async ? "~" : ""));
  }
  return texts;
}

/// The arrows as `forward > backward`.
std::vector<std::string> arrows_of(const Window& window) {
  std::vector<std::string> texts;
  const auto name = [&](std::uint32_t row) { return window.name(window.ranges()[row]).text; };
  for (const Window::Arrow& arrow : window.arrows()) {
    texts.push_back(name(arrow.forward) + " > " + name(arrow.backward));
  }
  return texts;
}

BeginRecord forward(std::int64_t number) { return {.sequence_number = number}; }

BeginRecord backward(std::int64_t number, std::uint64_t forward_thread) {
  return {.scope = Scope::backward_function,
          .sequence_number = number,
          .forward_thread = forward_thread};
}

TEST(Window, OfNothingIsEmptyAndHasItsTimes) {
  const auto window = HandWritten().window();
  EXPECT_THAT(window->ranges(), IsEmpty());
  EXPECT_THAT(window->memory(), IsEmpty());
  EXPECT_THAT(window->arrows(), IsEmpty());
  EXPECT_EQ(window->start_ns(), window->recording().started().unix_ns);
  EXPECT_GT(window->end_ns(), window->start_ns());
}

TEST(Window, RangesNestAndStandByTheirStart) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "outer");
  thread.begin(2, 11, "inner");
  thread.begin(3, 12, "innermost");
  thread.end(4, 12);
  thread.end(5, 11);
  thread.begin(6, 11, "next");
  thread.end(7, 11);
  thread.end(8, 10);
  EXPECT_THAT(ranges_of(*written.window()),
              ElementsAre("outer 1-8", "inner 2-5", "innermost 3-4", "next 6-7"));
}

TEST(Window, RangesOfAllThreadsStandByTheirStart) {
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  other.range(1, 2, "a");
  one.range(3, 4, "b");
  other.range(5, 6, "c");
  one.range(5, 7, "of the first thread, so first");
  const auto window = written.window();
  EXPECT_THAT(ranges_of(*window),
              ElementsAre("a 1-2", "b 3-4", "of the first thread, so first 5-7", "c 5-6"));
  EXPECT_EQ(window->ranges()[0].log, 1U);
  EXPECT_EQ(window->ranges()[1].log, 0U);
}

TEST(Window, EndsMayComeInAnyOrder) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "first");
  thread.begin(2, 11, "second");
  thread.begin(3, 12, "third");
  thread.end(4, 10);
  thread.end(5, 12);
  thread.end(6, 11);
  EXPECT_THAT(ranges_of(*written.window()), ElementsAre("first 1-4", "second 2-6", "third 3-5"));
}

TEST(Window, AnEndBelongsToTheInnermostRangeOfItsKey) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "outer");
  thread.begin(2, 10, "inner");
  thread.end(3, 10);
  thread.end(4, 10);
  EXPECT_THAT(ranges_of(*written.window()), ElementsAre("outer 1-4", "inner 2-3"));
}

TEST(Window, RangesWithoutAnEndAreOpen) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "outer");
  thread.range(2, 3, "whole");
  thread.begin(4, 11, "inner");
  EXPECT_THAT(ranges_of(*written.window()), ElementsAre("outer 1?", "whole 2-3", "inner 4?"));
}

TEST(Window, EndsWithoutABeginAreDropped) {
  HandWritten written;
  auto thread = written.thread();
  thread.end(1, 10);
  thread.range(2, 3, "whole");
  thread.end(4, 10, true);
  thread.end(5, 999);
  thread.begin(6, 10, "later than all of its ends");
  EXPECT_THAT(ranges_of(*written.window()),
              ElementsAre("whole 2-3", "later than all of its ends 6?"));
}

TEST(Window, AnEndOnAnotherThreadMakesARangeAsynchronous) {
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  one.begin(1, 10, "sent away");
  one.range(2, 3, "stays");
  other.begin(4, 11, "around");
  other.end(5, 10);
  other.end(6, 11);
  const auto window = written.window();
  EXPECT_THAT(ranges_of(*window), ElementsAre("sent away 1-5~", "stays 2-3", "around 4-6"));
  EXPECT_EQ(window->ranges()[0].log, 0U);
}

TEST(Window, AnAsynchronousRangeMayEndOnItsThread) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "outer");
  thread.begin(2, 11, "async");
  thread.end(3, 10);
  thread.end(4, 11, true);
  EXPECT_THAT(ranges_of(*written.window()), ElementsAre("outer 1-3", "async 2-4~"));
}

TEST(Window, AKeyMayBeUsedAgain) {
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  for (std::uint64_t round = 0; round < 3; ++round) {
    one.begin(10 * round + 1, 10, "a");
    other.end(10 * round + 2, 10, true);
  }
  one.begin(40, 10, "b");
  one.end(41, 10);
  other.begin(42, 10, "c");
  other.end(43, 10);
  EXPECT_THAT(ranges_of(*written.window()),
              ElementsAre("a 1-2~", "a 11-12~", "a 21-22~", "b 40-41", "c 42-43"));
}

// The memory of a range that another thread ended is where that thread begins its next one.
TEST(Window, AKeyMayWanderBetweenThreads) {
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  one.begin(1, 10, "there");
  other.end(2, 10, true);
  other.begin(3, 10, "and back");
  one.end(4, 10, true);
  one.begin(5, 10, "and there again");
  other.end(6, 10, true);
  EXPECT_THAT(ranges_of(*written.window()),
              ElementsAre("there 1-2~", "and back 3-4~", "and there again 5-6~"));
}

TEST(Window, OfManyAsynchronousRangesOfOneKeyIsMadeInATimeThatGrowsWithThem) {
  constexpr std::uint64_t kMany = 300'000;  // squared: minutes
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  for (std::uint64_t at = 0; at < kMany; ++at) {
    one.begin(2 * at, 10, "a");
    other.end(2 * at + 1, 10, true);
  }
  const auto window = written.window();
  std::size_t wrong = 0;
  for (const Window::Range& range : window->ranges()) {
    if (range.is_open || range.end_ticks != range.start_ticks + 1) ++wrong;
  }
  EXPECT_EQ(window->ranges().size(), kMany);
  EXPECT_EQ(wrong, 0U);
}

TEST(Window, TheRangeAroundANodeTakesItsNumbers) {
  HandWritten written;
  auto thread = written.thread();
  thread.begin(1, 10, "autograd::engine::evaluate_function: AddBackward0");
  thread.begin(2, 11, "AddBackward0", backward(7, 3));
  thread.end(3, 11);
  thread.end(4, 10);
  thread.begin(5, 10, "autograd::engine::evaluate_function: MulBackward0");
  thread.begin(6, 11, "SubBackward0", backward(8, 3));
  thread.end(7, 11);
  thread.end(8, 10);
  const auto window = written.window();
  EXPECT_EQ(begin_record(window->ranges()[0].numbers).sequence_number, 7);
  EXPECT_EQ(begin_record(window->ranges()[0].numbers).forward_thread, 3U);
  EXPECT_EQ(window->ranges()[2].numbers, window->ranges()[2].record) << "another node's";
  EXPECT_EQ(begin_record(window->ranges()[3].numbers).sequence_number, 8);
}

TEST(Window, ArrowsLeadFromForwardOperatorsToTheirNodes) {
  HandWritten written;
  auto main = written.thread(1, 1);
  auto autograd = written.thread(2, 2);
  main.range(1, 2, "add", forward(5));
  main.range(3, 4, "mul", forward(6));
  autograd.range(11, 12, "MulBackward0", backward(6, 1));
  autograd.range(13, 14, "AddBackward0", backward(5, 1));
  EXPECT_THAT(arrows_of(*written.window()),
              ElementsAre("mul > MulBackward0", "add > AddBackward0"));
}

TEST(Window, ANodeTakesTheOperatorOfItsNumberThatBeganLast) {
  HandWritten written;
  auto main = written.thread(1, 1);
  main.begin(1, 10, "outer", forward(5));
  main.begin(2, 11, "inner", forward(5));
  main.end(3, 11);
  main.end(4, 10);
  main.range(11, 12, "Node", backward(5, 1));
  main.range(13, 14, "Node again", backward(5, 1));
  EXPECT_THAT(arrows_of(*written.window()), ElementsAre("inner > Node"));
}

TEST(Window, ArrowsAreOfOneThreadAndNumberOnly) {
  HandWritten written;
  auto main = written.thread(1, 1);
  auto other = written.thread(2, 2);
  main.range(1, 2, "add", forward(5));
  other.range(3, 4, "sub", forward(6));
  other.range(11, 12, "of the other thread", backward(5, 2));
  other.range(13, 14, "of another number", backward(7, 1));
  other.range(15, 16, "without a number", backward(-1, 1));
  main.range(17, 18, "SubBackward0", backward(6, 2));
  main.range(20, 21, "too late", forward(7));
  EXPECT_THAT(arrows_of(*written.window()), ElementsAre("sub > SubBackward0"));
}

TEST(Window, OfANodeAndTheRangeAroundItTheNodeGetsTheArrow) {
  HandWritten written;
  auto main = written.thread(1, 1);
  main.range(1, 2, "add", forward(5));
  main.begin(11, 10, "autograd::engine::evaluate_function: AddBackward0");
  main.range(12, 13, "AddBackward0", backward(5, 1));
  main.end(14, 10);
  EXPECT_THAT(arrows_of(*written.window()), ElementsAre("add > AddBackward0"));
}

TEST(Window, MemoryTotalsRunOverAllThreads) {
  const std::int64_t before = watched_bytes.exchange(1000);
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  one.memory(1, 100);
  one.memory(5, -100);
  other.memory(3, 50);
  other.memory(7, -2000);
  const auto window = written.window();
  watched_bytes.store(before);
  std::vector<std::int64_t> totals;
  std::vector<std::uint32_t> logs;
  for (const Window::Memory& memory : window->memory()) {
    totals.push_back(memory.total_allocated);
    logs.push_back(memory.log);
  }
  EXPECT_THAT(totals, ElementsAre(1100, 1150, 1050, -950));
  EXPECT_THAT(logs, ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace tbtrace::recorder
