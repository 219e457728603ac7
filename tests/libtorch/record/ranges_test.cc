#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <ATen/ThreadLocalState.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::ElementsAre;
using testing::names;

TEST(RecordFunction, MarksAScope) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  {
    const record_function outer("outer");
    TBTRACE_RECORD_FUNCTION("inner");
    torch::ones({1});
  }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_GE(events.size(), 3);
  EXPECT_EQ(events[0].key, "outer");
  EXPECT_EQ(events[1].key, "inner");
  EXPECT_EQ(events[1].parent, 0);
  EXPECT_EQ(events[2].key, "aten::ones");
  EXPECT_EQ(events[2].parent, 1);
  EXPECT_TRUE(events[0].is_user_annotation);
  EXPECT_FALSE(events[2].is_user_annotation);
}

TEST(RecordFunction, NamesAreAnyBytes) {
  const std::string zero("a\0b", 3);
  const std::string large(1 << 20, 'x');
  const std::string hostile = "\"quoted\" \\back\\ \n\t <b> \xf0\x9f\x94\xa5";
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  for (const std::string& name : {zero, large, hostile, std::string()}) {
    const record_function range(name);
  }
  profiler.stop();
  EXPECT_THAT(names(profiler), ElementsAre(zero, large, hostile, ""));
}

TEST(RecordFunction, EndsWithAnException) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  try {
    const record_function range("throws");
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  { const record_function range("after"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[1].key, "after");
  EXPECT_FALSE(events[1].parent.has_value());
}

TEST(RecordFunction, ARangeThatWasOpenIsUnfinished) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  {
    const record_function range("open");
    profiler.stop();
  }
  profiler.start();
  profiler.stop();  // and its end is not part of this recording
  EXPECT_THAT(names(profiler), ElementsAre());
}

TEST(AsyncRange, EndsOnAnotherThread) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  async_range request("request");
  {
    const record_function other("other");
    std::thread([range = std::move(request)]() mutable { range.end(); }).join();
  }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].key, "request");
  EXPECT_TRUE(events[0].is_async);
  EXPECT_LT(events[0].end_ns, events[1].end_ns);
  EXPECT_EQ(events[1].key, "other");
  EXPECT_FALSE(events[1].is_async);
  EXPECT_FALSE(events[1].parent.has_value());
}

// As collectives of Gloo do.
TEST(AsyncRange, BeginsAndEndsOnAThreadOfAPool) {
  constexpr std::chrono::milliseconds kTime(5);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  const at::ThreadLocalState state;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    async_range collective("collective");
    std::this_thread::sleep_for(kTime);
    collective.end();
    const record_function after("after");
  }).join();
  { const record_function here("here"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].key, "collective");
  EXPECT_TRUE(events[0].is_async);
  EXPECT_GE(events[0].end_ns - events[0].start_ns, std::chrono::nanoseconds(kTime).count());
  EXPECT_LE(events[0].end_ns, events[1].start_ns);
  EXPECT_EQ(events[1].key, "after");
  EXPECT_FALSE(events[1].parent.has_value());
  EXPECT_EQ(events[0].tid, events[1].tid);
  EXPECT_NE(events[0].tid, events[2].tid);
}

TEST(AsyncRange, ByteForByteAsynchronousAlsoOnItsOwnThread) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  { const async_range range("request"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 1);
  EXPECT_TRUE(events[0].is_async);
}

}  // namespace
}  // namespace tbtrace
