#include "recorder/process/running_profilers.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> closed;

class Listener final : public ProcessListener {
 public:
  explicit Listener(std::string name) : name_(std::move(name)) { add_listener(*this); }
  ~Listener() override { remove_listener(*this); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void close(Deadline) noexcept override { closed.push_back(name_); }
  void begin_anew() noexcept override {}

 private:
  std::string name_;
};

TEST(RunningProfilers, AreClosedFromTheNewestOn) {
  closed.clear();
  const Listener a("a");
  { const Listener gone("gone"); }
  const Listener b("b");
  close_profilers(std::nullopt);
  EXPECT_THAT(closed, ElementsAre("b", "a"));
}

TEST(RunningProfilers, MayBeNone) {
  closed.clear();
  close_profilers(std::nullopt);
  EXPECT_THAT(closed, IsEmpty());
}

/// Is closed until it may go on.
class SlowListener final : public ProcessListener {
 public:
  SlowListener() { add_listener(*this); }
  ~SlowListener() override {
    remove_listener(*this);
    was_closed_at_end = is_closed.load();
  }
  SlowListener(const SlowListener&) = delete;
  SlowListener& operator=(const SlowListener&) = delete;

  void close(Deadline) noexcept override {
    begun.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_closed = true;
  }
  void begin_anew() noexcept override {}

  static inline std::atomic<bool> was_closed_at_end = false;
  std::latch begun{1};
  std::atomic<bool> is_closed = false;
};

TEST(RunningProfilers, LeaveOnlyWhenTheyAreClosed) {
  std::jthread closer;
  {
    SlowListener slow;
    closer = std::jthread([] { close_profilers(std::nullopt); });
    slow.begun.wait();
  }
  EXPECT_TRUE(SlowListener::was_closed_at_end);
}

}  // namespace
}  // namespace tbtrace::recorder
