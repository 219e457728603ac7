#include "analyses/attribution/idle_threads.h"

#include <gtest/gtest.h>

#include "analyses/attribution/frame_rows.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {
namespace {

TEST(Waits, AreFunctionsThatWait) {
  for (const char* frame :
       {"threading.py(327): wait", "/usr/lib/python3.11/threading.py(1): join",
        "queue.py(180): get", R"(C:\Python311\Lib\queue.py(180): get)", "selectors.py(468): select",
        "concurrent/futures/_base.py(451): result", "concurrent/futures/thread.py(81): _worker",
        "multiprocessing/connection.py(947): wait", "subprocess.py(1264): wait",
        "<built-in method acquire of _thread.lock object at 0x7fe25bfa3ab0>",
        "<built-in method poll of select.epoll object at 0x7fe25bfa3ab0>",
        "<built-in method get of _queue.SimpleQueue object at 0x7fe25bfa3ab0>",
        "<built-in function sleep>", "<built-in method sleep of module object at 0x7f>"}) {
    EXPECT_TRUE(is_wait(frame)) << frame;
  }
  for (const char* frame :
       {"train.py(3): wait", "my/queue.py(3): get", "threading.py(1002): _bootstrap",
        "<built-in method get of dict object at 0x7f>",
        "<built-in method acquire of my.Pool object at 0x7f>",
        "<built-in function perf_counter_ns>", "aten::mm", "", "<built-in method wait>",
        "queue.py(1): put_many"}) {
    EXPECT_FALSE(is_wait(frame)) << frame;
  }
}

TEST(IdleThreads, AreNotThoseOfTheSteps) {
  TraceBuilder builder;
  fixtures::add(builder,
                {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 100});
  const EventId waits = add_frame(builder, "queue.py(180): get", 10, 50);
  const EventId monitor = add_frame(builder, "queue.py(180): get", 10, 50, 2);
  const EventId work = add_frame(builder, "loader.py(4): decode", 70, 20, 2);
  // A prefetcher's operators do not make its waits cost.
  fixtures::add(builder, {.name = "aten::stack", .start = 5, .duration = 10, .thread = 3});
  const EventId prefetcher = add_frame(builder, "threading.py(327): wait", 20, 50, 3);
  // Autograd's thread works for the steps.
  fixtures::add(builder, {.name = "autograd::engine::evaluate_function: MmBackward0",
                          .start = 5,
                          .duration = 90,
                          .thread = 4});
  const EventId backward = add_frame(builder, "threading.py(327): wait", 20, 50, 4);
  const Trace trace = fixtures::finished(builder);
  const IdleThreads idle(trace);
  EXPECT_FALSE(idle.is_idle(waits));
  EXPECT_TRUE(idle.is_idle(monitor));
  EXPECT_FALSE(idle.is_idle(work));
  EXPECT_TRUE(idle.is_idle(prefetcher));
  EXPECT_FALSE(idle.is_idle(backward));
}

TEST(IdleThreads, WithoutStepsAreNotThatOfTheMainScript) {
  TraceBuilder builder;
  add_frame(builder, "train.py(1): <module>", 0, 100);
  const EventId waits = add_frame(builder, "threading.py(327): wait", 10, 80);
  fixtures::add(builder, {.name = "aten::mm", .duration = 10, .thread = 2});
  const EventId other = add_frame(builder, "threading.py(327): wait", 10, 80, 2);
  const Trace trace = fixtures::finished(builder);
  const IdleThreads idle(trace);
  EXPECT_FALSE(idle.is_idle(waits));
  EXPECT_TRUE(idle.is_idle(other));
}

TEST(IdleThreads, AreNoneWhereNothingSaysWhoWorks) {
  TraceBuilder builder;
  const EventId waits = add_frame(builder, "threading.py(327): wait", 0, 80);
  const Trace trace = fixtures::finished(builder);
  EXPECT_FALSE(IdleThreads(trace).is_idle(waits));
}

TEST(IdleThreads, HaveFramesThatCallNothingAllTheTime) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "aten::mm", .duration = 1000});
  const EventId around = add_frame(builder, "threading.py(982): run", 1, 999, 2);
  const EventId stuck = add_frame(builder, "train.py(8): monitor", 2, 998, 2);
  const EventId later = add_frame(builder, "train.py(20): compute", 100, 900, 3);
  const Trace trace = fixtures::finished(builder);
  const IdleThreads idle(trace);
  EXPECT_FALSE(idle.is_idle(around));
  EXPECT_TRUE(idle.is_idle(stuck));
  EXPECT_FALSE(idle.is_idle(later));
}

}  // namespace
}  // namespace tbtrace::analyses
