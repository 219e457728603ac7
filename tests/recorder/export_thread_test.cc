#include "recorder/export_thread.h"

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (int round = 0; round < 50; ++round) {
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

}  // namespace
}  // namespace tbtrace::recorder
