// Records that come while memory runs out. Allocations of the threads that ask for it fail here, so
// these tests are a program of their own.
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <gtest/gtest.h>

#include "cupti/clock.h"
#include "cupti/fake_gpu.h"
#include "cupti/record_stream.h"
#include "fixtures/failing_new.h"
#include "recorder/log/ticks.h"

namespace tbtrace::cupti {
namespace {

constexpr std::uint64_t kLaunches = 2000;

TEST(CuptiRecordStreamMemory, EachRecordIsReadOrCounted) {
  bool something_failed = false;
  int needed = 0;
  for (bool enough = false; !enough; ++needed) {
    ASSERT_LT(needed, 200);
    FakeGpu gpu;
    const Calls calls(gpu.library());
    RecordStream stream(gpu.library(), {.buffer_bytes = 64 << 10, .most_buffers = 64}, [] {});
    ASSERT_EQ(stream.connect(), results::kSuccess);
    for (const ActivityKind kind : {ActivityKind::runtime, ActivityKind::kernel})
      gpu.library().enable(kind);
    clock_ns();
    gpu.library().register_timestamp(clock_ns);
    const auto window = std::make_shared<WindowActivity>(calls, recorder::ticks());
    stream.open(window);
    for (std::uint64_t i = 0; i < kLaunches; ++i) gpu.cupti().launch({.name = "k"});
    gpu.cupti().synchronize(-1);
    gpu.library().flush_all(kFlushForced);

    allocations_left = needed;
    try {
      stream.drain();
    } catch (const std::bad_alloc&) {
      something_failed = true;
    }
    enough = allocations_left > 0;
    allocations_left = kEndless;
    stream.drain();

    stream.close(window);
    const recorder::DeviceTrace trace = window->take();
    something_failed = something_failed || trace.lost > 0;
    EXPECT_EQ(trace.activities.size() + trace.calls.size() + trace.lost, 2 * kLaunches) << needed;
    EXPECT_EQ(stream.pool().in_flight(0, stream.pool().taken()), 0U) << needed;
  }
  EXPECT_TRUE(something_failed);
}

}  // namespace
}  // namespace tbtrace::cupti
