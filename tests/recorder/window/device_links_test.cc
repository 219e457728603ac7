#include "recorder/window/device_links.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "recorder/window/hand_written.h"

namespace tbtrace::recorder {
namespace {

constexpr std::uint32_t kNone = DeviceLinks::kNone;

std::string name_of(const Window& window, std::uint32_t range) {
  return range == kNone ? "-" : window.name(window.ranges()[range]).text;
}

class DeviceLinksOf : public testing::Test {
 protected:
  ApiCall call(std::uint64_t at, std::uint32_t thread, std::uint32_t correlation) {
    return {.start_ticks = written_.start() + at,
            .end_ticks = written_.start() + at + 1,
            .thread = thread,
            .correlation = correlation};
  }
  DeviceActivity activity(std::uint64_t from, std::uint64_t to, std::uint32_t correlation,
                          std::uint32_t stream = 7) {
    return {.start_ticks = written_.start() + from,
            .end_ticks = written_.start() + to,
            .correlation = correlation,
            .place = {.stream = stream}};
  }

  HandWritten written_;
  DeviceTrace trace_;
};

TEST_F(DeviceLinksOf, CallsBelongToTheInnermostOperatorOfTheirThread) {
  auto main = written_.thread(1);
  auto other = written_.thread(2);
  main.begin(10, 1, "outer");
  main.begin(20, 2, "inner");
  main.end(30, 2);
  main.end(40, 1);
  other.begin(0, 3, "elsewhere");
  other.end(100, 3);
  for (const std::uint64_t at : {5, 15, 20, 25, 30, 35, 45}) {
    trace_.calls.push_back(call(at, 1, static_cast<std::uint32_t>(at)));
  }
  trace_.calls.push_back(call(25, 2, 100));
  trace_.calls.push_back(call(25, 3, 101));  // nobody recorded this thread
  written_.device(trace_);
  const auto window = written_.window();
  std::vector<std::string> names;
  for (const std::uint32_t range : window->device_links().call_operator) {
    names.push_back(name_of(*window, range));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"-", "outer", "inner", "inner", "inner", "outer", "-",
                                             "elsewhere", "-"}));
}

TEST_F(DeviceLinksOf, RangesOfTheUserAreAnnotationsAndFramesAreNeither) {
  auto thread = written_.thread(1);
  thread.begin(0, 1, "ProfilerStep#1", {.scope = Scope::user});
  thread.begin(5, 2, "Net", {.scope = Scope::module});
  thread.begin(10, 3, "forward", {.scope = Scope::user});
  thread.begin(20, 4, "op");
  thread.end(30, 4);
  thread.end(40, 3);
  thread.end(45, 2);
  thread.end(50, 1);
  trace_.calls = {call(25, 1, 1), call(35, 1, 2), call(48, 1, 3)};
  for (const DeviceActivity& row : {activity(200, 210, 1), activity(100, 110, 2),
                                    activity(300, 310, 2, 8), activity(400, 410, 3)}) {
    trace_.activities.push_back(row);
  }
  written_.device(trace_);
  const auto window = written_.window();
  const DeviceLinks& links = window->device_links();
  EXPECT_EQ(name_of(*window, links.call_operator[0]), "op");
  EXPECT_EQ(links.call_operator[1], kNone);
  EXPECT_EQ(links.call_operator[2], kNone);
  ASSERT_EQ(links.annotations.size(), 3U);  // by range and stream, by start
  EXPECT_EQ(name_of(*window, links.annotations[0].range), "forward");
  EXPECT_EQ(links.annotations[0].stream, 7U);
  EXPECT_EQ(links.annotations[0].start_ticks, written_.start() + 100);
  EXPECT_EQ(links.annotations[0].end_ticks, written_.start() + 210);
  EXPECT_EQ(links.annotations[1].stream, 8U);
  EXPECT_EQ(name_of(*window, links.annotations[2].range), "ProfilerStep#1");
}

TEST_F(DeviceLinksOf, RangesThatEndOnAnotherThreadAreAroundNothing) {
  auto thread = written_.thread(1);
  auto other = written_.thread(2);
  thread.begin(10, 1, "nccl:all_reduce", {.scope = Scope::user});
  thread.begin(20, 2, "op");
  thread.end(30, 2);
  other.end(90, 1, true);
  trace_.calls = {call(25, 1, 1), call(50, 1, 2)};
  written_.device(trace_);
  const auto window = written_.window();
  EXPECT_EQ(name_of(*window, window->device_links().call_operator[0]), "op");
  EXPECT_EQ(window->device_links().call_annotation[0], kNone);
  EXPECT_EQ(window->device_links().call_operator[1], kNone);
}

/// As c10d has it with NCCL, where the range of the user is to end some time later, and ends when
/// the kernel is launched.
TEST_F(DeviceLinksOf, AsynchronousRangesThatEndOnTheirThreadAreAnnotations) {
  auto thread = written_.thread(1);
  thread.begin(10, 1, "record_param_comms");
  thread.begin(20, 2, "nccl:all_reduce", {.scope = Scope::user});
  thread.end(30, 2, true);
  thread.end(40, 1);
  trace_.calls = {call(25, 1, 1), call(35, 1, 2)};
  for (const DeviceActivity& row : {activity(100, 200, 1), activity(200, 300, 2)}) {
    trace_.activities.push_back(row);
  }
  written_.device(trace_);
  const auto window = written_.window();
  const DeviceLinks& links = window->device_links();
  EXPECT_EQ(name_of(*window, links.call_operator[0]), "record_param_comms");
  EXPECT_EQ(name_of(*window, links.call_annotation[0]), "nccl:all_reduce");
  EXPECT_EQ(name_of(*window, links.call_operator[1]), "record_param_comms");
  EXPECT_EQ(links.call_annotation[1], kNone);
  ASSERT_EQ(links.annotations.size(), 1U);
  EXPECT_EQ(links.annotations[0].end_ticks, written_.start() + 200);
}

TEST_F(DeviceLinksOf, ManyActivitiesMayBelongToOneCallAndSomeToNone) {
  trace_.calls = {call(10, 1, 5), call(20, 1, 0xffffffff)};
  for (const DeviceActivity& row :
       {activity(1, 2, 5), activity(3, 4, 0xffffffff), activity(5, 6, 5), activity(7, 8, 6)}) {
    trace_.activities.push_back(row);
  }
  written_.device(trace_);
  const auto window = written_.window();
  EXPECT_EQ(window->device_links().activity_call, (std::vector<std::uint32_t>{0, 1, 0, kNone}));
}

TEST_F(DeviceLinksOf, WhatTheDriverWasToldIsCompared) {
  auto thread = written_.thread(1);
  thread.range(10, 20, "a");
  thread.range(30, 40, "b");
  trace_.calls = {call(15, 1, 1), call(35, 1, 2), call(50, 1, 3)};
  trace_.checks = {{.correlation = 1, .begin_ticks = written_.start() + 10},
                   {.correlation = 2, .begin_ticks = written_.start() + 10},
                   {.correlation = 3, .begin_ticks = written_.start() + 30},
                   {.correlation = 9, .begin_ticks = written_.start() + 10}};
  written_.device(trace_);
  const auto window = written_.window();
  EXPECT_EQ(window->device_links().checked, 3U);
  EXPECT_EQ(window->device_links().different, 2U);
}

/// Programs of random shape: what they did is known, and has to be found from times and threads.
class Program {
 public:
  Program(HandWritten& written, DeviceTrace& trace, std::mt19937& random)
      : written_(written), trace_(trace), random_(random) {}

  struct Truth {
    std::vector<std::string> operators;                                    // of each call
    std::vector<std::string> annotations;                                  // likewise
    std::vector<std::uint32_t> calls;                                      // of each activity
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> spans;  // annotation@stream
  };

  void run(std::uint32_t thread, bool is_recorded) {
    thread_ = thread;
    clock_ = below(50);
    if (is_recorded) log_.emplace(written_.thread(thread));
    operators_.assign(1, "-");
    annotations_.assign(1, "-");
    for (int i = 0; i < 20; ++i) {
      if (is_recorded) {
        range(0);
      } else {
        launch();
      }
    }
    log_.reset();
  }

  const Truth& truth() const { return truth_; }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::uint64_t next() { return clock_ += 1 + below(4); }

  void range(int depth) {
    const std::string name = std::to_string(++ranges_);
    const std::uint64_t kind = below(8);
    BeginRecord more;
    if (kind == 0) more.scope = Scope::user;
    if (kind == 1) more.scope = Scope::module;
    if (kind == 2) more.scope = Scope::backward_function;
    if (kind == 3) more.scope = Scope::user;  // and it ends by chance where it began
    const std::uint64_t key = ranges_;
    log_->begin(next(), key, name, more);
    const bool is_async = kind == 3;
    if (more.scope == Scope::user) annotations_.push_back(name);
    const bool is_operator = more.scope != Scope::user && more.scope != Scope::module;
    if (is_operator) operators_.push_back(name);
    const std::uint64_t parts = below(4);
    for (std::uint64_t part = 0; part < parts; ++part) {
      if (depth < 6 && below(2) == 0) {
        range(depth + 1);
      } else {
        launch();
      }
    }
    log_->end(next(), key, is_async);
    if (is_operator) operators_.pop_back();
    if (more.scope == Scope::user) annotations_.pop_back();
    if (below(3) == 0) launch();
  }

  void launch() {
    const std::uint32_t correlation = ++correlation_;
    const std::uint64_t at = next();
    trace_.calls.push_back({.start_ticks = written_.start() + at,
                            .end_ticks = written_.start() + next(),
                            .thread = thread_,
                            .correlation = correlation});
    const auto row = static_cast<std::uint32_t>(truth_.operators.size());
    truth_.operators.push_back(operators_.back());
    truth_.annotations.push_back(annotations_.back());
    // No activity at all (a wait), one, or a graph's many, whenever the device likes: its clock may
    // be off, too.
    const std::uint64_t activities = below(10) == 0 ? below(20) : below(2);
    for (std::uint64_t activity = 0; activity < activities; ++activity) {
      const auto stream = static_cast<std::uint32_t>(below(3));
      const std::uint64_t start = written_.start() + below(50'000);
      const std::uint64_t end = start + below(1000);
      trace_.activities.push_back({.start_ticks = start,
                                   .end_ticks = end,
                                   .correlation = correlation,
                                   .place = {.stream = stream}});
      truth_.calls.push_back(row);
      if (annotations_.back() == "-") continue;
      const std::string key = annotations_.back() + "@" + std::to_string(stream);
      const auto [span, is_new] = truth_.spans.try_emplace(key, start, end);
      span->second.first = std::min(span->second.first, start);
      span->second.second = std::max(span->second.second, end);
    }
  }

  HandWritten& written_;
  DeviceTrace& trace_;
  std::mt19937& random_;
  std::optional<HandWritten::Thread> log_;
  std::uint32_t thread_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t ranges_ = 0;
  std::uint32_t correlation_ = 0;
  std::vector<std::string> operators_;
  std::vector<std::string> annotations_;
  Truth truth_;
};

TEST(DeviceLinksRandom, AreTheGroundTruthAlways) {
  std::size_t linked = 0;
  std::size_t spans = 0;
  for (unsigned seed = 1; seed <= fixtures::random_rounds(300u); ++seed) {
    std::mt19937 random(seed);
    HandWritten written;
    DeviceTrace trace;
    Program program(written, trace, random);
    const std::uint32_t threads = 1 + random() % 4;
    for (std::uint32_t thread = 1; thread <= threads; ++thread) {
      program.run(thread, thread != 3);
    }
    // Records come in no order.
    const DeviceTrace in_order = trace;
    std::vector<std::uint32_t> order(trace.calls.size());
    for (std::uint32_t row = 0; row < order.size(); ++row) order[row] = row;
    std::shuffle(order.begin(), order.end(), random);
    for (std::uint32_t row = 0; row < order.size(); ++row) {
      trace.calls[row] = in_order.calls[order[row]];
    }
    written.device(trace);
    const auto window = written.window();
    const DeviceLinks& links = window->device_links();
    const Program::Truth& truth = program.truth();
    for (std::uint32_t row = 0; row < order.size(); ++row) {
      ASSERT_EQ(name_of(*window, links.call_operator[row]), truth.operators[order[row]]) << seed;
      ASSERT_EQ(name_of(*window, links.call_annotation[row]), truth.annotations[order[row]])
          << seed;
      linked += links.call_operator[row] == kNone ? 0 : 1;
    }
    for (std::size_t row = 0; row < trace.activities.size(); ++row) {
      ASSERT_NE(links.activity_call[row], kNone);
      ASSERT_EQ(order[links.activity_call[row]], truth.calls[row]) << seed;
    }
    ASSERT_EQ(links.annotations.size(), truth.spans.size()) << seed;
    for (const auto& annotation : links.annotations) {
      const auto span = truth.spans.find(name_of(*window, annotation.range) + "@" +
                                         std::to_string(annotation.stream));
      ASSERT_NE(span, truth.spans.end());
      ASSERT_EQ(annotation.start_ticks, span->second.first);
      ASSERT_EQ(annotation.end_ticks, span->second.second);
      ++spans;
    }
  }
  EXPECT_GT(linked, fixtures::random_rounds(10'000U));
  EXPECT_GT(spans, fixtures::random_rounds(1000U));
}

}  // namespace
}  // namespace tbtrace::recorder
