#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ThreadLocalState.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "recorded.h"

namespace tbtrace {
namespace {

using testing::count;

void mark(const std::string& name) { const record_function range(name); }

TEST(Threads, AreRecordedWhereTheThreadLocalStateReaches) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  std::thread([] { mark("plain thread"); }).join();
  const at::ThreadLocalState state;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    mark("reached thread");
  }).join();
  profiler.stop();
  EXPECT_EQ(count(profiler, "plain thread"), 0);
  EXPECT_EQ(count(profiler, "reached thread"), 1);
}

TEST(Threads, AreAllRecordedOnRequest) {
  Profiler profiler({.activities = {Activity::cpu}, .profile_memory = true, .all_threads = true});
  std::atomic<bool> stop = false;
  std::thread early([&] {
    while (!stop) mark("early thread");
  });
  profiler.start();
  std::thread([] {
    mark("late thread");
    torch::ones({7});
  }).join();
  profiler.stop();
  stop = true;
  early.join();
  EXPECT_EQ(count(profiler, "late thread"), 1);
  EXPECT_EQ(count(profiler, "aten::ones"), 1);
}

TEST(Threads, TwoProfilersRecordTheirOwn) {
  std::vector<std::ptrdiff_t> counts(4);
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([number, &counts] {
      for (int round = 0; round < 20; ++round) {
        Profiler profiler({.activities = {Activity::cpu}, .profile_memory = true});
        profiler.start();
        for (int times = 0; times < 10; ++times) {
          mark(number == 0 ? "first" : "second");
          torch::ones({3});
        }
        profiler.stop();
        counts[2 * number] += count(profiler, "first");
        counts[2 * number + 1] += count(profiler, "second");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(counts, ::testing::ElementsAre(200, 0, 0, 200));
}

TEST(Threads, BackwardIsLinkedToItsForward) {
  Profiler profiler({.activities = {Activity::cpu}});
  const torch::Tensor weight = torch::ones({3}, torch::requires_grad());
  profiler.start();
  (weight * 2).sum().backward();
  profiler.stop();
  std::int64_t forward = -1;
  std::int64_t backward = -2;
  for (const FunctionEvent& event : profiler.events()) {
    if (event.key == "aten::mul" && forward < 0) forward = event.sequence_nr;
    if (event.key.starts_with("MulBackward")) backward = event.sequence_nr;
  }
  EXPECT_EQ(forward, backward) << ::testing::PrintToString(testing::names(profiler));
}

TEST(Threads, AForkedChildGoesOnWithoutRecording) {
  const testing::Folder folder;
  Profiler profiler(
      {.activities = {Activity::cpu}, .on_trace_ready = tensorboard_trace_handler(folder.path())});
  profiler.start();
  mark("parent");
  const pid_t child = ::fork();
  if (child == 0) {
    mark("child");
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profiler.stop();
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_EQ(folder.log_files().size(), 1);
  EXPECT_EQ(count(profiler, "child"), 0);
}

}  // namespace
}  // namespace tbtrace
