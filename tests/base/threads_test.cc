#include "base/threads.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(ThreadCount, IsThatOfTheCoresUnlessItIsGiven) {
  EXPECT_EQ(thread_count(1), 1);
  EXPECT_EQ(thread_count(7), 7);
  EXPECT_GE(thread_count(0), 1);
}

TEST(RunOnThreads, RunsOnThisThreadAndOthersUntilAllHaveEnded) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    std::atomic<std::size_t> running = 0;
    run_on_threads(threads, [&] {
      // Each waits for the others, so one thread cannot stand for two.
      for (++running; running < threads;) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(ids.size(), threads);
    EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
  }
}

TEST(RunSideBySide, RunsEachWorkOnce) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
    std::array<int, 3> runs = {};
    run_side_by_side(threads, {[&] { ++runs[0]; }, [&] { ++runs[1]; }, [&] { ++runs[2]; }});
    EXPECT_THAT(runs, testing::ElementsAre(1, 1, 1));
  }
}

TEST(RunSideBySide, RunsSeveralAtOnce) {
  std::atomic<int> running = 0;
  const auto meet = [&] {
    for (++running; running < 2;) std::this_thread::yield();
  };
  run_side_by_side(2, {meet, meet});
  EXPECT_EQ(running, 2);
}

TEST(RunSideBySide, KeepsTheOrderOnOneThread) {
  std::string order;
  run_side_by_side(1, {[&] { order += 'a'; }, [&] { order += 'b'; }, [&] { order += 'c'; }});
  EXPECT_EQ(order, "abc");
}

TEST(RunSideBySide, ThrowsWhatTheFirstThrewWhenAllHaveEnded) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    bool has_run = false;
    const auto run = [&] {
      run_side_by_side(threads,
                       {[] {}, [] { throw std::bad_alloc(); },
                        [] { throw std::runtime_error("later"); }, [&] { has_run = true; }});
    };
    EXPECT_THROW(run(), std::bad_alloc);
    EXPECT_TRUE(has_run);
  }
}

TEST(RunNumbered, CallsWithEachNumberOnceAndThrowsWhatTheFirstThrew) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    std::array<std::atomic<int>, 20> calls = {};
    run_numbered(threads, calls.size(), [&](std::size_t number) { ++calls[number]; });
    for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
    const auto work = [](std::size_t number) {
      if (number == 3) throw std::length_error("third");
      if (number == 7) throw std::runtime_error("seventh");
    };
    EXPECT_THROW(run_numbered(threads, 20, work), std::length_error);
    run_numbered(threads, 0, work);
  }
}

}  // namespace
}  // namespace tbtrace
