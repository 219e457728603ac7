#include "recorder/process/export_thread.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What an export thread told of failures.
class Sentences {
 public:
  ExportThread::OnFailure listener() {
    return [this](std::string_view sentence) {
      const std::lock_guard lock(mutex_);
      sentences_.emplace_back(sentence);
    };
  }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> sentences_;
};

std::function<Status()> failing(const std::string& sentence) {
  return [sentence] { return Status(StatusCode::unwritable_output, sentence); };
}

Status success() { return {}; }

ExportThread::BytesOf keeping(std::size_t bytes) {
  return [bytes] { return bytes; };
}

TEST(ExportThread, HasALowerPriorityThanTheCaller) {
  const auto niceness = [] {
    return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
  };
  const int of_caller = niceness();
  int of_job = of_caller;
  Sentences sentences;
  ExportThread exports(sentences.listener());
  exports.add([&] {
    of_job = niceness();
    return Status();
  });
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_GE(of_job, 10);
  EXPECT_EQ(niceness(), of_caller);
}

TEST(ExportThread, RunsJobsInTheirOrderBesideTheCaller) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  std::vector<int> done;
  std::atomic<bool> beside = true;
  for (int job = 0; job < 50; ++job) {
    exports.add([&done, &beside, job, caller = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == caller) beside = false;
      done.push_back(job);
      return Status();
    });
  }
  EXPECT_TRUE(exports.wait().ok());
  ASSERT_EQ(done.size(), 50U);
  for (int job = 0; job < 50; ++job) EXPECT_EQ(done[static_cast<std::size_t>(job)], job);
  EXPECT_TRUE(beside);
  EXPECT_THAT(sentences.heard(), IsEmpty());
}

TEST(ExportThread, TheCallerGoesOnWhileAJobRuns) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  std::latch caller_went_on(1);
  bool done = false;
  exports.add([&] {
    caller_went_on.wait();
    done = true;
    return Status();
  });
  caller_went_on.count_down();
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_TRUE(done);
}

TEST(ExportThread, WaitingGivesTheFirstFailureOnce) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  exports.add(success);
  exports.add(failing("the disk is full"));
  exports.add(failing("the cable was pulled"));
  exports.add(success);
  const Status first = exports.wait();
  EXPECT_EQ(first.code(), StatusCode::unwritable_output);
  EXPECT_EQ(first.message(), "the disk is full");
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_THAT(sentences.heard(), ElementsAre("the disk is full", "the cable was pulled"));

  exports.add(failing("no such folder"));
  EXPECT_EQ(exports.wait().message(), "no such folder");
}

TEST(ExportThread, WaitingForNothingReturnsAtOnce) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_TRUE(exports.wait().ok());
}

TEST(ExportThread, AJobThatThrowsHasFailed) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  exports.add([]() -> Status { throw std::runtime_error("what a mess"); });
  exports.add([]() -> Status { throw std::bad_alloc(); });
  exports.add([]() -> Status { throw 7; });
  bool went_on = false;
  exports.add([&went_on] {
    went_on = true;
    return Status();
  });
  const Status status = exports.wait();
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
  EXPECT_THAT(status.message(), HasSubstr("what a mess"));
  EXPECT_THAT(sentences.heard(), ElementsAre(HasSubstr("what a mess"), HasSubstr("memory"),
                                             HasSubstr("the export failed")));
  EXPECT_TRUE(went_on);
}

TEST(ExportThread, TheDestructorFinishesAllJobs) {
  Sentences sentences;
  int done = 0;
  std::latch all_added(1);
  {
    ExportThread exports(sentences.listener());
    for (int job = 0; job < 20; ++job) {
      exports.add([&] {
        all_added.wait();
        ++done;
        return done == 20 ? Status(StatusCode::unwritable_output, "the last one") : Status();
      });
    }
    all_added.count_down();
  }
  EXPECT_EQ(done, 20);
  EXPECT_THAT(sentences.heard(), ElementsAre("the last one"));
}

TEST(ExportThread, WhatAJobOwnsIsFreedBeforeWaitingEnds) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  for (int round = 0; round < fixtures::random_rounds(50); ++round) {
    auto owned = std::make_shared<int>(round);
    const std::weak_ptr<int> watched = owned;
    exports.add([owned = std::move(owned)] { return Status(); });
    EXPECT_TRUE(exports.wait().ok());
    EXPECT_TRUE(watched.expired()) << round;
  }
}

TEST(ExportThread, AnyThreadMayAddAndWait) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (int job = 0; job < 20; ++job) {
          exports.add([&done] {
            ++done;
            return Status();
          });
          EXPECT_TRUE(exports.wait().ok());
        }
      });
    }
  }
  EXPECT_EQ(done, 160);
}

TEST(ExportThread, TakesNoJobBeyondItsBytes) {
  Sentences sentences;
  ExportThread exports(sentences.listener(), 100);
  std::latch may_end(1);
  const auto slow = [&] {
    may_end.wait();
    return Status();
  };
  EXPECT_TRUE(exports.add(slow, keeping(1000))) << "one alone is always taken";
  EXPECT_FALSE(exports.add(success, keeping(1)));
  EXPECT_EQ(exports.bytes(), 1000U);
  may_end.count_down();
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_EQ(exports.bytes(), 0U);

  std::latch may_end_too(1);
  const auto slow_too = [&] {
    may_end_too.wait();
    return Status();
  };
  EXPECT_TRUE(exports.add(slow_too, keeping(60)));
  EXPECT_TRUE(exports.add(success, keeping(40)));
  EXPECT_FALSE(exports.add(success, keeping(1)));
  EXPECT_TRUE(exports.add(success, keeping(0)));
  may_end_too.count_down();
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_THAT(sentences.heard(), IsEmpty());
}

/// The records of devices come later than the window's end.
TEST(ExportThread, AsksJobsAgainWhatTheyKeep) {
  Sentences sentences;
  ExportThread exports(sentences.listener(), 100);
  std::latch may_end(1);
  std::atomic<std::size_t> first = 0;
  EXPECT_TRUE(exports.add(
      [&] {
        may_end.wait();
        return Status();
      },
      [&] { return first.load(); }));
  EXPECT_TRUE(exports.add(success, keeping(0)));
  first = 101;
  EXPECT_EQ(exports.bytes(), 101U);
  EXPECT_FALSE(exports.add(success, keeping(0))) << "what it keeps is not known yet";
  EXPECT_TRUE(exports.add(success)) << "it keeps nothing";
  may_end.count_down();
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_TRUE(exports.add(success, keeping(0)));
  EXPECT_TRUE(exports.wait().ok());
}

/// What random jobs of random sizes may take, held against a sum that the test keeps itself.
TEST(ExportThread, NeverKeepsMoreThanItsBytes) {
  constexpr std::size_t kMost = 1000;
  Sentences sentences;
  ExportThread exports(sentences.listener(), kMost);
  std::mt19937 random(7);
  std::atomic<std::size_t> kept = 0;  // of jobs that were taken and did not end
  std::size_t taken = 0;
  std::size_t refused = 0;
  for (int job = 0; job < 2000; ++job) {
    const std::size_t bytes = random() % 400;
    kept += bytes;
    const bool was_taken = exports.add(
        [&kept, bytes] {
          std::this_thread::yield();
          kept -= bytes;
          return Status();
        },
        keeping(bytes));
    if (!was_taken) kept -= bytes;
    ++(was_taken ? taken : refused);
    EXPECT_LE(exports.bytes(), kMost);
    if (job % 100 == 0) {
      exports.wait_until_done();
      EXPECT_EQ(kept, 0U);
    }
  }
  EXPECT_TRUE(exports.wait().ok());
  EXPECT_EQ(taken + refused, 2000U);
  EXPECT_GT(taken, 0U);
}

TEST(ExportThread, AJobThatWaitsForJobsGoesOn) {
  Sentences sentences;
  ExportThread exports(sentences.listener(), 100);
  exports.add(
      [&] {
        EXPECT_EQ(exports.wait().code(), StatusCode::check_failed);
        exports.wait_until_done();
        EXPECT_FALSE(exports.wait_until(ExportThread::Clock::now() + std::chrono::hours(1)));
        return Status();
      },
      keeping(1000));
  EXPECT_TRUE(exports.add(success)) << "what keeps nothing is taken beside a job that is too large";
  EXPECT_TRUE(exports.wait().ok());
}

TEST(ExportThread, WaitsNoLongerThanAsked) {
  Sentences sentences;
  ExportThread exports(sentences.listener());
  std::latch may_end(1);
  exports.add([&] {
    may_end.wait();
    return Status(StatusCode::unwritable_output, "late");
  });
  EXPECT_FALSE(exports.wait_until(ExportThread::Clock::now()));
  may_end.count_down();
  EXPECT_TRUE(exports.wait_until(ExportThread::Clock::now() + std::chrono::minutes(1)));
  EXPECT_THAT(exports.wait().message(), HasSubstr("late")) << "failures stay";
}

}  // namespace
}  // namespace tbtrace::recorder
