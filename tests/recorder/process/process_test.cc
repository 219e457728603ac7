// What a process holds once across a fork, also while another thread takes a lock for the first
// time. Not with the thread sanitizer, which does not follow a program with threads through a fork.
#include "recorder/process/process.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tbtrace::recorder {
namespace {

std::mutex& first_used_during_the_fork() { return process_mutex<PartOrder::names>(); }

/// What the test does between the lock of `names` and the fork itself: a part that comes later.
std::atomic<bool> is_test_of_fork = false;
std::atomic<bool> is_fork_under_way = false;
std::atomic<bool> is_taken = false;

std::atomic<int> locked = 0;

constexpr ProcessPart kLater = {.order = PartOrder::pictures, .lock = [] {
                                  ++locked;
                                  if (!is_test_of_fork) return;
                                  is_fork_under_way = true;
                                  const auto end = std::chrono::steady_clock::now() +
                                                   std::chrono::milliseconds(200);
                                  while (!is_taken && std::chrono::steady_clock::now() < end)
                                    std::this_thread::yield();
                                }};
const AddedPart kLaterAdded(kLater);
const int kLockedBeforeMain = locked;

TEST(ProcessParts, AreMadeBeforeMainSoThatNoForkHasToAllocate) { EXPECT_EQ(kLockedBeforeMain, 1); }

TEST(ProcessParts, ALockThatIsFirstTakenDuringAForkIsFreeInTheChild) {
  // The real part with this order is there, too, if the linker took what has it.
  static const AddedPart kInItsPlace(kLater);
  std::atomic<bool> has_forked = false;
  is_test_of_fork = true;
  std::jthread other([&] {
    while (!is_fork_under_way) std::this_thread::yield();
    const std::lock_guard lock(first_used_during_the_fork());
    is_taken = true;
    while (!has_forked) std::this_thread::yield();
  });
  const pid_t child = ::fork();
  if (child == 0) ::_exit(first_used_during_the_fork().try_lock() ? 0 : 1);
  has_forked = true;
  is_test_of_fork = false;
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tbtrace::recorder
