#include "recorder/process/call_gate.h"

#include <chrono>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

using Clock = CallGate::Clock;

TEST(CallGate, LetsOneThreadInAtATime) {
  CallGate gate;
  int inside = 0;  // without a lock of its own
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int call = 0; call < 1000; ++call) {
        const CallGate::Pass pass = gate.enter();
        EXPECT_FALSE(pass.is_nested());
        EXPECT_EQ(++inside, 1);
        --inside;
      }
    });
  }
}

TEST(CallGate, KnowsCallsFromWithin) {
  CallGate gate;
  {
    const CallGate::Pass outer = gate.enter();
    {
      const CallGate::Pass inner = gate.enter();
      EXPECT_TRUE(inner.is_nested());
      EXPECT_TRUE(gate.enter_until(Clock::now())->is_nested());
    }
    std::jthread([&] { EXPECT_FALSE(gate.enter_until(Clock::now()).has_value()); }).join();
  }
  EXPECT_FALSE(gate.enter().is_nested());
}

TEST(CallGate, WaitsUntilTheOtherThreadLeaves) {
  CallGate gate;
  std::latch is_inside(1);
  bool has_left = false;
  const std::jthread other([&] {
    const CallGate::Pass pass = gate.enter();
    is_inside.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_left = true;
  });
  is_inside.wait();
  const auto pass = gate.enter_until(Clock::now() + std::chrono::minutes(1));
  ASSERT_TRUE(pass.has_value());
  EXPECT_TRUE(has_left);
}

TEST(CallGate, IsOpenAfterAnewBeginning) {
  CallGate gate;
  std::optional<CallGate::Pass> pass(gate.enter());
  gate.begin_anew();
  std::jthread([&] { EXPECT_TRUE(gate.enter_until(Clock::now()).has_value()); }).join();
}

}  // namespace
}  // namespace tbtrace::recorder
