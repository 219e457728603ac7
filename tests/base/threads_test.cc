#include "base/threads.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <set>
#include <thread>

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

}  // namespace
}  // namespace tbtrace
