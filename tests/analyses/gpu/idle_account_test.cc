// Why a device was idle: a made recording for each cause, and the rules between them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/gpu.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kMicrosecond = 1000;

/// Times in us. The main thread is 1, autograd's is 2, another process has thread 3.
class Host {
 public:
  void range(std::string_view category, std::string_view name, std::int64_t start,
             std::int64_t duration, std::int64_t thread = 1) {
    add(builder_, {.category = category,
                   .name = name,
                   .start = start * kMicrosecond,
                   .duration = duration * kMicrosecond,
                   .thread = thread});
  }
  void call(std::string_view name, std::int64_t start, std::int64_t duration) {
    range("cuda_runtime", name, start, duration);
  }

  struct Kernel {
    std::int64_t launch = 0, launch_duration = 5;
    std::int64_t start = 0, duration = 10;
    std::int64_t device = 0, thread = 1;
    std::string_view name = "k", category = "kernel", call = "cudaLaunchKernel";
  };
  void kernel(const Kernel& kernel) {
    const std::int64_t correlation = ++last_id_;
    add(builder_, {.category = "cuda_runtime",
                   .name = kernel.call,
                   .start = kernel.launch * kMicrosecond,
                   .duration = kernel.launch_duration * kMicrosecond,
                   .thread = kernel.thread,
                   .correlation = correlation});
    work(kernel, correlation);
  }
  void work(const Kernel& kernel, std::int64_t correlation) {
    add(builder_, {.category = kernel.category,
                   .name = kernel.name,
                   .start = kernel.start * kMicrosecond,
                   .duration = kernel.duration * kMicrosecond,
                   .thread = 7,
                   .process = kernel.device,
                   .correlation = correlation});
  }
  /// A kernel at 0 to 10 us, and one at `start` that is launched 15 us before.
  void around(std::int64_t start) {
    kernel({.launch = -10, .start = 0});
    kernel({.launch = start - 15, .start = start});
  }

  /// Once.
  Trace trace() { return fixtures::finished(builder_); }
  std::map<std::string, std::int64_t> causes();

 private:
  TraceBuilder builder_;
  std::int64_t last_id_ = 0;
};

/// In us.
std::map<std::string, std::int64_t> causes_of(const GpuUse& device) {
  std::map<std::string, std::int64_t> causes;
  for (const IdlePart& part : device.idle_causes) {
    causes[std::string(idle_cause_name(part.cause))] = part.ns / kMicrosecond;
  }
  return causes;
}

/// Of the first device.
std::map<std::string, std::int64_t> Host::causes() { return causes_of(gpu_use(trace())->front()); }

/// Of a gap from 10 to 1000 us, in which the host does one thing from 0 to 900.
std::map<std::string, std::int64_t> causes_with(std::string_view category, std::string_view name) {
  Host host;
  host.range(category, name, 0, 900);
  host.around(1000);
  return host.causes();
}

/// The rest of that gap: 85 us of nothing, 5 of launching, 10 of the device's own delay.
void expect_main_cause(std::string_view category, std::string_view name, const std::string& cause) {
  std::map<std::string, std::int64_t> expected = {
      {"nothing_recorded", 85}, {"launches", 5}, {"device", 10}};
  expected[cause] += 890;
  EXPECT_EQ(causes_with(category, name), expected) << name;
}

TEST(IdleAccount, EachKindOfRangeHasItsCause) {
  expect_main_cause("user_annotation",
                    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data");
  expect_main_cause("cuda_runtime", "cudaStreamCreateWithFlags", "cold_start");
  expect_main_cause("cuda_driver", "cuModuleLoadData", "cold_start");
  expect_main_cause("python_function", "torch/profiler/profiler.py(700): step", "profiler");
  expect_main_cause("python_function", "Python GC", "garbage_collection");
  expect_main_cause("user_annotation", "TorchDynamo Cache Lookup", "compiler");
  expect_main_cause("cpu_op", "compile_fx_inner (dynamo_timed)", "compiler");
  expect_main_cause("user_annotation", "gloo:all_reduce", "host_communication");
  expect_main_cause("cuda_runtime", "cudaMalloc", "allocation");
  expect_main_cause("cuda_runtime", "hipFree", "allocation");
  expect_main_cause("cpu_op", "aten::mm", "launches");
  expect_main_cause("cuda_runtime", "cudaEventRecord", "launches");
  expect_main_cause("python_function", "train.py(3): prepare", "code");
  expect_main_cause("user_annotation", "tokenize", "code");
  expect_main_cause("user_annotation", "ProfilerStep#1", "nothing_recorded");
  expect_main_cause("user_annotation", "execute_context_1(8)_generation_0(0)", "nothing_recorded");
}

TEST(IdleAccount, WaitsOfAllRuntimesAreWaits) {
  // From 0 to 900 us: 10 us of it before the gap, so 10 us after it are the wait's as well.
  const std::map<std::string, std::int64_t> expected = {
      {"device", 10}, {"launches", 5}, {"nothing_recorded", 75}, {"synchronization", 900}};
  for (const std::string_view call :
       {"cudaDeviceSynchronize", "hipStreamSynchronize", "cuEventSynchronize",
        "aclrtSynchronizeStream", "zeCommandQueueSynchronize", "synchronizeStream"}) {
    EXPECT_EQ(causes_with("cuda_runtime", call), expected) << call;
  }
  EXPECT_EQ(causes_with("xpu_runtime", "urQueueFinish"), expected);
}

TEST(IdleAccount, TheInnermostRangeThatDecidesCounts) {
  Host host;
  host.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
             900);
  host.range("cpu_op", "aten::stack", 100, 200);         // still loading
  host.range("python_function", "Python GC", 400, 100);  // not loading
  host.around(1000);
  EXPECT_THAT(host.causes(),
              ElementsAre(Pair("data", 790), Pair("device", 10), Pair("garbage_collection", 100),
                          Pair("launches", 5), Pair("nothing_recorded", 85)));
}

TEST(IdleAccount, WhatWasLaunchedInTimeIsTheDevices) {
  Host host;
  host.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
             900);
  host.kernel({.launch = -20, .start = 0});
  host.kernel({.launch = -10, .start = 1000});
  EXPECT_THAT(host.causes(), ElementsAre(Pair("device", 990)));
}

TEST(IdleAccount, ALaunchThatBlocksIsNotInTime) {
  Host host;
  host.kernel({.launch = -20, .start = 0});
  host.kernel({.launch = 5, .launch_duration = 900, .start = 1000});
  EXPECT_THAT(host.causes(), ElementsAre(Pair("device", 95), Pair("launches", 895)));
}

TEST(IdleAccount, UnknownLaunchesAreUnknown) {
  Host host;
  host.range("cpu_op", "aten::mm", 0, 900);
  host.range("user_annotation", "ProfilerStep#1", -20, 1100);
  host.kernel({.launch = -10, .start = 0});
  host.work({.start = 1000}, 0);
  EXPECT_THAT(host.causes(), ElementsAre(Pair("unknown", 990)));
}

TEST(IdleAccount, AThreadThatWaitsForAnotherDoesWhatThatDoes) {
  Host host;
  host.range("python_function", "train.py(5): backward", 0, 960);
  host.range("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 100, 300, 2);
  host.kernel({.launch = -10, .start = 0, .thread = 2});
  host.kernel({.launch = 985, .start = 1000});
  EXPECT_THAT(host.causes(), ElementsAre(Pair("code", 650), Pair("device", 10),
                                         Pair("launches", 305), Pair("nothing_recorded", 25)));
}

TEST(IdleAccount, AfterAWaitTheHostWouldHaveBeenThereEarlier) {
  Host host;
  host.kernel({.launch = -220, .start = -210, .duration = 220});  // until 10
  host.call("cudaDeviceSynchronize", -200, 215);                  // 210 us before the gap, 5 in it
  host.kernel({.launch = 985, .start = 1000});
  EXPECT_THAT(host.causes(),
              ElementsAre(Pair("device", 10), Pair("launches", 5), Pair("nothing_recorded", 760),
                          Pair("synchronization", 215)));
}

TEST(IdleAccount, AWaitLongAfterAllWorkIsForWorkThatTheFileLacks) {
  Host host;
  host.call("cudaStreamSynchronize", -5, 2000);
  host.around(3000);
  // It may have put the host back by all of the 1985 us.
  EXPECT_THAT(host.causes(), ElementsAre(Pair("device", 10), Pair("synchronization", 995),
                                         Pair("unrecorded_work", 1985)));
}

TEST(IdleAccount, CopiesThatTheHostWaitsForAreCountedOnce) {
  Host host;
  host.kernel({.launch = -10, .start = 0});
  host.range("cpu_op", "aten::_local_scalar_dense", 0, 200);
  host.kernel({.launch = 2,
               .launch_duration = 30,
               .start = 10,
               .duration = 5,
               .name = "Memcpy DtoH (Device -> Pageable)",
               .category = "gpu_memcpy",
               .call = "cudaMemcpyAsync"});
  host.call("cudaStreamSynchronize", 40, 100);
  host.kernel({.launch = 985, .start = 1000});
  // 17 us in the copy, 13 more that it lasted before the gap, 100 us in the wait.
  const GpuUse device = gpu_use(host.trace())->front();
  EXPECT_THAT(causes_of(device), ElementsAre(Pair("copies", 130), Pair("device", 10),
                                             Pair("launches", 60), Pair("nothing_recorded", 785)));
  const IdlePart copies = device.idle(IdleCause::copies);
  EXPECT_EQ(copies.calls, 1U);
  EXPECT_EQ(copies.gaps, 1U);
}

TEST(IdleAccount, AnotherDeviceOfTheProcessIsNotTheHost) {
  Host host;
  host.kernel({.launch = -10, .start = 0});
  host.kernel({.launch = 20, .start = 100, .duration = 600, .device = 1});
  host.kernel({.launch = 985, .start = 1000});
  EXPECT_THAT(host.causes(), ElementsAre(Pair("device", 10), Pair("launches", 10),
                                         Pair("nothing_recorded", 370), Pair("other_device", 600)));
}

TEST(IdleAccount, FirstCallsAreThoseThatDoNotTakeSoLongAgain) {
  for (const bool always : {false, true}) {
    Host host;
    host.kernel({.launch = -20, .start = 0});
    for (std::int64_t number = 0; number < 6; ++number) {
      const std::int64_t duration = number == 0 || always ? 2000 : 5;
      const std::int64_t launch = 100 + number * 10'000;
      host.kernel({.launch = launch,
                   .launch_duration = duration,
                   .start = launch + duration + 10,
                   .duration = 5,
                   .name = "late"});
    }
    std::map<std::string, std::int64_t> causes = host.causes();
    EXPECT_EQ(causes["cold_start"], always ? 0 : 2000);
    EXPECT_EQ(causes["launches"], always ? 12'000 : 25);
  }
}

TEST(IdleAccount, TheProfilersOverheadCountsWhileTheHostIsInACall) {
  Host host;
  host.kernel({.launch = -10, .start = 0});
  host.range("overhead", "Activity Buffer Request", 100, 300, 9);
  host.kernel({.launch = 200, .launch_duration = 600, .start = 1000});
  EXPECT_THAT(host.causes(), ElementsAre(Pair("device", 200), Pair("launches", 400),
                                         Pair("nothing_recorded", 190), Pair("profiler", 200)));
}

TEST(IdleAccount, SaysWhereMostOfEachPartWas) {
  Host host;
  host.range("python_function", "train.py(3): main", -50, 2000);
  host.range("cpu_op", "aten::empty", 50, 700);
  host.call("cudaFree", 60, 500);
  host.call("cudaMalloc", 570, 100);
  host.around(1000);
  const IdlePart part = gpu_use(host.trace())->front().idle(IdleCause::allocation);
  EXPECT_EQ(part.ns, 600 * kMicrosecond);
  EXPECT_EQ(part.calls, 2U);
  EXPECT_EQ(part.largest.call, "cudaFree");
  EXPECT_EQ(part.largest.op, "aten::empty");
  EXPECT_EQ(part.largest.line, "train.py(3): main");
  EXPECT_EQ(part.largest.start_ns, 110 * kMicrosecond) << "since the window's start, at -50 us";
  EXPECT_EQ(part.largest.call_ns, 500 * kMicrosecond) << "not all of the part";
  ASSERT_EQ(part.ranges.size(), 2U);
  EXPECT_EQ(part.ranges[1].name, "cudaMalloc");
  EXPECT_EQ(part.ranges[1].ns, 100 * kMicrosecond);
}

TEST(IdleAccount, CountsAllocationsOutsideOfOperators) {
  Host host;
  host.range("cpu_op", "aten::empty", 50, 400);
  host.call("cudaMalloc", 60, 300);
  host.call("cudaFree", 500, 200);
  host.around(1000);
  const IdlePart part = gpu_use(host.trace())->front().idle(IdleCause::allocation);
  EXPECT_EQ(part.ns, 500 * kMicrosecond);
  EXPECT_EQ(part.outside_operators_ns, 200 * kMicrosecond);
}

TEST(IdleAccount, CountsOperatorsThatComputeOnTheCpu) {
  Host host;
  host.range("cpu_op", "aten::mul_", 50, 400);   // launches nothing
  host.range("cpu_op", "aten::view", 500, 20);   // so does this, but it is short
  host.range("cpu_op", "aten::add_", 530, 300);  // what it launches is missing
  host.call("cudaLaunchKernel", 600, 10);
  host.around(1000);
  const IdlePart part = gpu_use(host.trace())->front().idle(IdleCause::launches);
  EXPECT_EQ(part.cpu_operators_ns, 400 * kMicrosecond);
  EXPECT_GE(part.ns, 720 * kMicrosecond);
}

TEST(IdleAccount, TheFiveLongestGapsHaveTheCauseOfMostOfEach) {
  Host host;
  std::int64_t start = 0;
  host.kernel({.launch = -20, .start = start});
  for (const std::int64_t length : {300, 100, 700, 200, 600, 400, 500}) {
    host.call("cudaFree", start + 20, length * 2 / 3);
    start += 10 + length;
    host.kernel({.launch = start - 20, .start = start});
  }
  const GpuUse use = gpu_use(host.trace())->front();
  std::vector<std::int64_t> lengths;
  for (const IdleGap& gap : use.longest_gaps) {
    lengths.push_back((gap.gap_end_ns - gap.gap_start_ns) / kMicrosecond);
    EXPECT_EQ(gap.cause, IdleCause::allocation);
    EXPECT_EQ(gap.call, "cudaFree");
    EXPECT_NE(gap.ended_by, EventId::none);
  }
  EXPECT_THAT(lengths, ElementsAre(700, 600, 500, 400, 300));
}

TEST(IdleAccount, EachCauseHasTextsOfItsOwn) {
  std::set<std::string_view> texts;
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    texts.insert(idle_cause_name(static_cast<IdleCause>(cause)));
    texts.insert(idle_cause_label(static_cast<IdleCause>(cause)));
    texts.insert(idle_cause_text(static_cast<IdleCause>(cause)));
  }
  EXPECT_EQ(texts.size(), 3 * kIdleCauses - 2)
      << "names that are labels: profiler, synchronization";
}

TEST(IdleAccount, StreamsHaveNone) {
  Host host;
  host.around(1000);
  const std::vector<GpuUse> streams = *gpu_use(host.trace(), {.by_stream = true});
  ASSERT_FALSE(streams.empty());
  for (const GpuUse& stream : streams) {
    EXPECT_TRUE(stream.idle_causes.empty());
  }
}

}  // namespace
}  // namespace tbtrace
