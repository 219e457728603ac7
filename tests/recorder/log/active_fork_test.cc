// Programs that fork while they record. Not with the thread sanitizer, which does not follow a
// program with threads through a fork.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/log/active.h"
#include "recorder/log/chunk.h"
#include "recorder/log/started.h"

namespace tbtrace::recorder {
namespace {

using testing::Contains;
using testing::ElementsAre;

/// The child's exit status, or -1 if it hung or crashed.
template <typename Child>
int status_of_child(Child&& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // ends a child that hangs
    ::_exit(child());
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// Threads that record, and take memory for it, while one of these lives.
class BusyThreads {
 public:
  BusyThreads() {
    for (int thread = 0; thread < 4; ++thread) {
      threads_.emplace_back([this] {
        while (!stop_) {
          std::jthread([] { note(0, 1); }).join();
          for (int chunk = 0; chunk < 100; ++chunk) give_chunk(take_chunk());
        }
      });
    }
  }
  ~BusyThreads() { stop_ = true; }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;
};

TEST(Active, AForkedChildRecordsNothingOfItsParents) {
  Started started;
  EXPECT_TRUE(note(started.slot, 1));
  const BusyThreads busy;
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(status_of_child([&] { return note(started.slot, 2) ? 1 : 0; }), 0);
  }
  EXPECT_TRUE(note(started.slot, 3));
  started.stop();
  EXPECT_THAT(notes_of(*started.recording), Contains(ElementsAre(1, 3)));
}

TEST(Active, AForkedChildMayRecordForItself) {
  Started started;
  EXPECT_TRUE(note(started.slot, 1));
  const BusyThreads busy;
  for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
    const int status = status_of_child([&] {
      Started own;
      if (own.slot != 0 || !note(own.slot, 5)) return 1;
      own.stop();
      return notes_of(*own.recording) == std::vector<std::vector<std::int64_t>>{{5}} ? 0 : 2;
    });
    EXPECT_EQ(status, 0) << round;
  }
}

}  // namespace
}  // namespace tbtrace::recorder
