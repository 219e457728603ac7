// Ends that are nowhere near their beginnings. A window that looked for them one by one would take
// hours for some of these, far more than a test may.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "recorder/window/hand_written.h"

namespace tbtrace::recorder {
namespace {

const std::uint64_t kManyEnds = fixtures::many_rows<std::uint64_t>(500'000);

/// Ranges that are not as long as `length` ticks, or have no end.
std::size_t wrong_lengths(const Window& window, std::uint64_t length) {
  std::size_t wrong = 0;
  for (const Window::Range& range : window.ranges()) {
    if (range.is_open || range.end_ticks != range.start_ticks + length) ++wrong;
  }
  return wrong;
}

TEST(WindowEnds, TwoThreadsEndEachOthersRanges) {
  HandWritten written;
  std::vector<HandWritten::Thread> threads = {written.thread(1), written.thread(2)};
  for (std::uint64_t at = 0; at < kManyEnds; ++at) {
    for (std::uint64_t thread = 0; thread < 2; ++thread) {
      threads[thread].begin(at, 2 * at + thread, "a");
    }
  }
  for (std::uint64_t at = 0; at < kManyEnds; ++at) {
    for (std::uint64_t thread = 0; thread < 2; ++thread) {
      threads[thread].end(kManyEnds + at, 2 * at + 1 - thread, true);
    }
  }
  const auto window = written.window();
  EXPECT_EQ(window->ranges().size(), 2 * kManyEnds);
  EXPECT_EQ(wrong_lengths(*window, kManyEnds), 0U);
}

TEST(WindowEnds, RangesEndInTheOrderOfBeginning) {
  for (const bool is_async : {false, true}) {
    HandWritten written;
    auto thread = written.thread();
    for (std::uint64_t at = 0; at < 2 * kManyEnds; ++at) thread.begin(at, at, "a");
    for (std::uint64_t at = 0; at < 2 * kManyEnds; ++at)
      thread.end(2 * kManyEnds + at, at, is_async);
    const auto window = written.window();
    EXPECT_EQ(window->ranges().size(), 2 * kManyEnds);
    EXPECT_EQ(wrong_lengths(*window, 2 * kManyEnds), 0U);
  }
}

TEST(WindowEnds, NestedRangesEndAboveManyThatNeverDo) {
  HandWritten written;
  auto thread = written.thread();
  for (std::uint64_t at = 0; at < kManyEnds; ++at) thread.begin(at, at, "open");
  for (std::uint64_t at = 0; at < kManyEnds; ++at) {
    thread.begin(kManyEnds + 2 * at, kManyEnds + 1, "outer");
    thread.begin(kManyEnds + 2 * at, kManyEnds + 2, "inner");
    thread.end(kManyEnds + 2 * at + 1, kManyEnds + 1);  // crosswise, so that it is looked for
    thread.end(kManyEnds + 2 * at + 1, kManyEnds + 2);
  }
  const auto window = written.window();
  std::size_t open = 0;
  for (const Window::Range& range : window->ranges()) open += range.is_open ? 1 : 0;
  EXPECT_EQ(open, kManyEnds);
  EXPECT_EQ(wrong_lengths(*window, 1), kManyEnds);
}

}  // namespace
}  // namespace tbtrace::recorder
