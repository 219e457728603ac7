#include <atomic>
#include <cstddef>
#include <functional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ThreadLocalState.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

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

TEST(Threads, ThatAreNotRecordedAreWarnedOf) {
  for (const bool all_threads : {false, true}) {
    std::vector<std::string> warnings;
    Profiler profiler({.activities = {Activity::cpu},
                       .schedule = schedule({.warmup = 1, .active = 1}),
                       .all_threads = all_threads,
                       .experimental = {.on_warning = [&](std::string_view sentence) {
                         if (sentence.find("all_threads") != std::string_view::npos) {
                           warnings.emplace_back(sentence);
                         }
                       }}});
    profiler.start();
    for (int step = 0; step < 6; ++step) {
      std::thread([] { torch::ones({3}); }).join();
      profiler.step();
      if (step % 2 == 1) static_cast<void>(profiler.key_averages());
    }
    profiler.stop();
    EXPECT_EQ(warnings.size(), all_threads ? 0U : 1U);
  }
}

TEST(Threads, ThatAreNotRecordedAreWarnedOfByEachExport) {
  const testing::Folder folder;
  const std::vector<std::function<Status(Profiler&)>> exports = {
      [&](Profiler& profiler) { return profiler.export_chrome_trace(folder / "trace.json"); },
      [&](Profiler& profiler) { return profiler.export_memory_timeline(folder / "memory.html"); },
      [&](Profiler& profiler) { return profiler.export_stacks(folder / "stacks.txt"); }};
  for (const auto& exported : exports) {
    std::vector<std::string> warnings;
    Profiler profiler({.activities = {Activity::cpu},
                       .record_shapes = true,
                       .profile_memory = true,
                       .with_stack = true,
                       .experimental = {.on_warning = [&](std::string_view sentence) {
                         warnings.emplace_back(sentence);
                       }}});
    profiler.start();
    std::thread([] { torch::ones({3}); }).join();
    profiler.stop();
    static_cast<void>(exported(profiler));
    EXPECT_THAT(warnings, ::testing::Contains(::testing::StartsWith("nothing ran on the thread")));
  }
}

/// What a callback that was left behind on a thread could do.
TEST(Threads, AProfilerMayBeStoppedByAnotherThread) {
  for (int round = 0; round < 40; ++round) {
    const bool all_threads = round % 2 == 1;
    Profiler profiler({.activities = {Activity::cpu}, .all_threads = all_threads});
    profiler.start();
    mark("this");
    std::thread([&] { profiler.stop(); }).join();
    mark("after");
    EXPECT_EQ(count(profiler, "this"), 1);
    EXPECT_EQ(count(profiler, "after"), 0);
    // Of this thread, whose last callback is still there, and of another one.
    profiler.start();
    mark("again");
    profiler.stop();
    EXPECT_EQ(count(profiler, "again"), 1);
    std::thread([&] {
      profiler.start();
      mark("there");
    }).join();
    mark("here");
    profiler.stop();
    EXPECT_EQ(count(profiler, "there"), 1);
    EXPECT_EQ(count(profiler, "here"), all_threads ? 1 : 0);
  }
}

/// This thread's callback is left behind, and another thread begins a window next.
TEST(Threads, AreNotRecordedByWhatTheirLastWindowLeftBehind) {
  Profiler first({.activities = {Activity::cpu}});
  first.start();
  std::thread([&] { first.stop(); }).join();
  Profiler second({.activities = {Activity::cpu}});
  std::thread([&] {
    second.start();
    mark("there");
  }).join();
  mark("here");
  second.stop();
  EXPECT_EQ(count(second, "there"), 1);
  EXPECT_EQ(count(second, "here"), 0);
}

/// A thread that lives until the object ends, and runs what it is given.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {}
  ~Worker() {
    run(nullptr);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns when the thread has done it.
  void run(std::function<void()> work) {
    work_ = std::move(work);
    begun_.release();
    done_.acquire();
  }

 private:
  void loop() {
    for (bool is_last = false; !is_last;) {
      begun_.acquire();
      is_last = work_ == nullptr;
      if (!is_last) work_();
      done_.release();
    }
  }

  std::function<void()> work_;
  std::binary_semaphore begun_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;
};

/// Each window starts on another thread of a pool, and this thread stops it.
TEST(Threads, OfAPoolRecordAfterEachLeftItsCallbackBehind) {
  constexpr std::size_t kPool = 16;
  std::vector<std::string> warnings;
  Profiler profiler({.activities = {Activity::cpu},
                     .experimental = {.on_warning = [&](std::string_view sentence) {
                       if (sentence.starts_with("nothing is recorded")) {
                         warnings.emplace_back(sentence);
                       }
                     }}});
  std::vector<Worker> pool(kPool);
  const auto record_on = [&](Worker& worker) {
    worker.run([&] {
      profiler.start();
      mark("there");
    });
    profiler.stop();
    return count(profiler, "there");
  };
  for (std::size_t window = 0; window < 3 * kPool; ++window) {
    ASSERT_EQ(record_on(pool[window % kPool]), 1) << "window " << window;
  }
  EXPECT_THAT(warnings, ::testing::IsEmpty());

  // A thread more than there are slots has to wait until one of them is free.
  Worker another;
  EXPECT_EQ(record_on(another), 0);
  EXPECT_THAT(warnings, ::testing::ElementsAre(::testing::HasSubstr("another thread stopped")));
  pool[3].run([&] {
    profiler.start();
    profiler.stop();
  });
  EXPECT_EQ(record_on(another), 1);
}

TEST(Threads, OnlyTheRecordedOneMayToggle) {
  std::vector<std::string> warnings;
  Profiler profiler({.activities = {Activity::cpu},
                     .experimental = {.on_warning = [&](std::string_view sentence) {
                       warnings.emplace_back(sentence);
                     }}});
  profiler.start();
  std::thread([&] {
    profiler.toggle_collection_dynamic(false, {Activity::cpu});
    profiler.toggle_collection_dynamic(true, {Activity::cpu});
    mark("there");
  }).join();
  mark("here");
  profiler.stop();
  EXPECT_EQ(warnings.size(), 2U);
  EXPECT_EQ(count(profiler, "here"), 1);
  EXPECT_EQ(count(profiler, "there"), 0);
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

/// 0: what the thread that forked runs is only recorded where it records.
int record_in_child() {
  Profiler profiler({.activities = {Activity::cpu}});
  std::thread([&] { profiler.start(); }).join();
  mark("forker");
  profiler.stop();
  if (count(profiler, "forker") != 0) return 1;
  profiler.start();
  mark("forker");
  profiler.stop();
  return count(profiler, "forker") == 1 ? 0 : 2;
}

TEST(Threads, OfAForkedChildAreRecordedOnce) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  mark("parent");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(record_in_child());
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profiler.stop();
  EXPECT_EQ(count(profiler, "parent"), 1);
  EXPECT_EQ(count(profiler, "forker"), 0);
}

}  // namespace
}  // namespace tbtrace
