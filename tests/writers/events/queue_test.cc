#include "writers/events/queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/event_reading.h"
#include "fixtures/scratch_folder.h"
#include "wire/tfrecord.h"

namespace tbtrace::writers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A disk that can be full, and slow: what is in its files outlives them.
class Disk {
 public:
  io::AppendFileMaker maker() {
    return [this](const std::string&) {
      return std::unique_ptr<io::AppendFile>(std::make_unique<File>(*this));
    };
  }

  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  void set_room(std::size_t room) {
    const std::lock_guard lock(mutex_);
    room_ = room;
  }
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

 private:
  class File final : public io::AppendFile {
   public:
    explicit File(Disk& disk) : disk_(disk) {}
    Written append(std::string_view bytes) override {
      std::unique_lock lock(disk_.mutex_);
      disk_.changed_.wait(lock, [&] { return !disk_.held_; });
      const std::size_t taken = std::min(bytes.size(), disk_.room_ - disk_.text_.size());
      disk_.text_ += bytes.substr(0, taken);
      if (taken == bytes.size()) return {taken, {}};
      return {taken, {StatusCode::unwritable_output, "the disk is full"}};
    }

   private:
    Disk& disk_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::size_t room_ = std::size_t{1} << 40;
  bool held_ = false;
};

std::vector<std::int64_t> scalar_steps(const std::vector<proto::Event>& events) {
  std::vector<std::int64_t> steps;
  for (const proto::Event& event : events) {
    if (event.has_summary()) steps.push_back(event.step());
  }
  return steps;
}

void wait_for(const std::function<bool()>& condition) {
  for (int attempt = 0; attempt < 2000 && !condition(); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(condition());
}

TEST(SummaryQueue, WritesInTheOrderOfCalls) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({});
  const std::size_t run = queue.run(folder.root());
  for (int step = 0; step < 1000; ++step) queue.add_scalar(run, {1, step}, "a", 0.5F);
  ASSERT_TRUE(queue.flush().ok());
  std::vector<std::int64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(scalar_steps(fixtures::events_in(folder.root())), expected);
  EXPECT_EQ(queue.dropped(), 0);
}

TEST(SummaryQueue, SaysWhatATagIsOnceInAFile) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({});
  const std::size_t run = queue.run(folder.root());
  for (const char* const tag : {"a", "b", "a", "b"}) queue.add_scalar(run, {1, 0}, tag, 0);
  ASSERT_TRUE(queue.close().ok());
  queue.add_scalar(run, {1, 1}, "a", 0);
  ASSERT_TRUE(queue.close().ok());
  std::vector<bool> said;
  for (const proto::Event& event : fixtures::events_in(folder.root())) {
    if (event.has_summary()) said.push_back(event.summary().value(0).has_metadata());
  }
  EXPECT_THAT(said, ElementsAre(true, true, false, false, true));
  EXPECT_THAT(fixtures::event_files(folder.root()), SizeIs(2));
}

TEST(SummaryQueue, ShowsTheFirstEventsAtOnceAndOthersInTime) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({.flush_secs = 0.05});
  const std::size_t run = queue.run(folder.root());
  for (int step = 0; step < 3; ++step) {
    queue.add_scalar(run, {1, step}, "a", 0);
    wait_for([&] {
      const auto steps = scalar_steps(fixtures::events_in(folder.root()));
      return !steps.empty() && steps.back() == step;
    });
  }
}

TEST(SummaryQueue, LetsCallersWaitForRoom) {
  const fixtures::ScratchFolder folder;
  Disk disk;
  SummaryQueue queue({.max_events = 4, .make_file = disk.maker()});
  const std::size_t run = queue.run(folder.root());
  disk.hold(true);
  std::atomic<int> added = 0;
  std::thread caller([&] {
    for (int step = 0; step < 100; ++step, ++added) queue.add_scalar(run, {1, step}, "a", 0);
  });
  wait_for([&] { return added >= 4; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(added, 9);  // one lot is with the disk, the next one is queued
  disk.hold(false);
  caller.join();
  ASSERT_TRUE(queue.flush().ok());
  EXPECT_THAT(scalar_steps(fixtures::events_of(disk.text())), SizeIs(100));
  EXPECT_EQ(queue.dropped(), 0);
}

TEST(SummaryQueue, DropsAndCountsIfItIsToldTo) {
  const fixtures::ScratchFolder folder;
  Disk disk;
  SummaryQueue queue({.max_events = 4, .when_full = WhenFull::drop, .make_file = disk.maker()});
  const std::size_t run = queue.run(folder.root());
  disk.hold(true);
  for (int step = 0; step < 100; ++step) queue.add_scalar(run, {1, step}, "a", 0);
  EXPECT_GE(queue.dropped(), 90);
  disk.hold(false);
  ASSERT_TRUE(queue.flush().ok());
  EXPECT_EQ(scalar_steps(fixtures::events_of(disk.text())).size() + queue.dropped(), 100);
}

TEST(SummaryQueue, BoundsBytesToo) {
  const fixtures::ScratchFolder folder;
  Disk disk;
  SummaryQueue queue({.max_bytes = 1000, .when_full = WhenFull::drop, .make_file = disk.maker()});
  const std::size_t run = queue.run(folder.root());
  disk.hold(true);
  for (int number = 0; number < 10; ++number) queue.add(run, std::string(900, 'x'));
  EXPECT_GE(queue.dropped(), 6);
  disk.hold(false);
  ASSERT_TRUE(queue.flush().ok());
  EXPECT_EQ(fixtures::payloads(disk.text()).size() - 1 + queue.dropped(), 10);
}

TEST(SummaryQueue, TellsOfAFullDiskAndGoesOnWhenThereIsRoom) {
  const fixtures::ScratchFolder folder;
  Disk disk;
  SummaryQueue queue({.max_events = 50, .make_file = disk.maker()});
  const std::size_t run = queue.run(folder.root());
  for (int step = 0; step < 10; ++step) queue.add_scalar(run, {1, step}, "a", 0);
  ASSERT_TRUE(queue.flush().ok());
  disk.set_room(disk.text().size() + 100);
  for (int step = 10; step < 30; ++step) queue.add_scalar(run, {1, step}, "a", 0);
  EXPECT_FALSE(queue.flush().ok());
  EXPECT_THAT(queue.status().message(), HasSubstr("the disk is full"));
  EXPECT_THAT(scalar_steps(fixtures::events_of(disk.text())), SizeIs(testing::Ge(10)));
  // What comes now waits for its turn, while there is room, and nobody waits for it.
  for (int step = 30; step < 200; ++step) queue.add_scalar(run, {1, step}, "a", 0);
  EXPECT_GE(queue.dropped(), 100);
  EXPECT_FALSE(queue.flush().ok()) << "still full";
  disk.set_room(std::size_t{1} << 40);
  EXPECT_TRUE(queue.flush().ok());
  EXPECT_TRUE(queue.status().ok());
  const auto steps = scalar_steps(fixtures::events_of(disk.text()));
  EXPECT_EQ(steps.size() + queue.dropped(), 200);
  for (std::size_t step = 0; step < steps.size(); ++step) EXPECT_EQ(steps[step], step);
}

TEST(SummaryQueue, SaysThatADirectoryIsTaken) {
  const fixtures::ScratchFolder folder;
  SummaryQueue first({});
  first.run(folder.root());
  SummaryQueue second({});
  const std::size_t run = second.run(folder.root());
  second.add_scalar(run, {1, 1}, "a", 0);
  EXPECT_THAT(second.status().message(), HasSubstr("another writer"));
  EXPECT_FALSE(second.flush().ok());
  EXPECT_EQ(second.dropped(), 1);
  ASSERT_TRUE(first.close().ok());
  EXPECT_FALSE(second.close().ok());
  second.add_scalar(run, {1, 2}, "a", 0);
  EXPECT_TRUE(second.flush().ok());
  EXPECT_THAT(scalar_steps(fixtures::events_in(folder.root())), ElementsAre(2));
}

TEST(SummaryQueue, SaysTwiceFromWhereOnAnEarlierWriterIsWrong) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({.purge_step = 7});
  const std::size_t run = queue.run(folder.root());
  queue.add_scalar(run, {1, 7}, "a", 0);
  ASSERT_TRUE(queue.close().ok());
  queue.add_scalar(run, {1, 8}, "a", 0);  // a second file of the same writer purges nothing
  ASSERT_TRUE(queue.close().ok());
  std::vector<std::int64_t> starts;
  for (const proto::Event& event : fixtures::events_in(folder.root())) {
    if (event.session_log().status() == proto::SessionLog::START) starts.push_back(event.step());
  }
  EXPECT_THAT(starts, ElementsAre(7, 7));
}

TEST(SummaryQueue, ClosesTheFileOfARunThatIsWhole) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({});
  std::string records;
  wire::append_record(records, text_event({1, 5}, "a", "b"));
  queue.add_whole(queue.run(folder.path("whole")), records, 1);
  ASSERT_TRUE(queue.flush().ok());
  EXPECT_THAT(scalar_steps(fixtures::events_in(folder.path("whole"))), ElementsAre(5));
  SummaryQueue other({});
  other.run(folder.path("whole"));
  EXPECT_TRUE(other.status().ok()) << "the directory is free again";
}

TEST(SummaryQueue, TakesEventsFromManyThreadsWhileItIsFlushedAndClosed) {
  const fixtures::ScratchFolder folder;
  constexpr int kThreads = 8;
  constexpr int kEvents = 2000;
  SummaryQueue queue({.max_events = 100});
  const std::size_t run = queue.run(folder.root());
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      const std::string tag = "thread " + std::to_string(number);
      for (int step = 0; step < kEvents; ++step) {
        queue.add_scalar(run, {1, step}, tag, 0);
        if (step % 500 == 100) {
          EXPECT_TRUE(queue.flush().ok());
        } else if (step % 1000 == 700 && number == 0) {
          EXPECT_TRUE(queue.close().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(queue.close().ok());
  EXPECT_EQ(queue.dropped(), 0);
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const proto::Event& event : fixtures::events_in(folder.root())) {
    if (event.has_summary()) steps[event.summary().value(0).tag()].push_back(event.step());
  }
  ASSERT_THAT(steps, SizeIs(kThreads));
  for (const auto& [tag, found] : steps) {
    ASSERT_THAT(found, SizeIs(kEvents)) << tag;
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << tag;
  }
}

TEST(SummaryQueue, WritesNothingInAForkedProcess) {
  const fixtures::ScratchFolder folder;
  SummaryQueue queue({.max_events = 10});
  const std::size_t run = queue.run(folder.root());
  queue.add_scalar(run, {1, 0}, "a", 0);
  ASSERT_TRUE(queue.flush().ok());
  const pid_t child = ::fork();
  if (child == 0) {
    for (int step = 100; step < 200; ++step) queue.add_scalar(run, {1, step}, "a", 0);
    const bool is_told = !queue.flush().ok() && !queue.close().ok() && queue.dropped() > 0;
    ::_exit(is_told ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  queue.add_scalar(run, {1, 1}, "a", 0);
  ASSERT_TRUE(queue.flush().ok());
  EXPECT_THAT(scalar_steps(fixtures::events_in(folder.root())), ElementsAre(0, 1));
  SummaryQueue second({});
  second.run(folder.root());
  EXPECT_FALSE(second.status().ok()) << "the lock is still there";
}

}  // namespace
}  // namespace tbtrace::writers
