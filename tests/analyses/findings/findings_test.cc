// Findings on made traces: each fault planted alone at three strengths, and traces without faults.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;

constexpr std::int64_t kUs = 1'000;

/// A training loop: the host launches kernels from operators, the device runs them in order. Times
/// in ns; a host that is ahead keeps the device busy.
class Loop {
 public:
  explicit Loop(std::int64_t compute_major = 8) {
    builder_.set_metadata("deviceProperties", R"([{"id": 0, "name": "A100", "computeMajor": )" +
                                                  std::to_string(compute_major) + "}]");
  }

  void begin_step() { step_start_ = host_; }

  void end_step() {
    add(builder_, {.category = "user_annotation",
                   .name = "ProfilerStep#" + std::to_string(number_++),
                   .start = step_start_,
                   .duration = host_ - step_start_});
  }

  /// An operator of `host_ns` that launches a kernel of `kernel_ns`.
  void run(std::int64_t host_ns, std::int64_t kernel_ns,
           std::string_view kernel = "ampere_sgemm_16816_tensorop_nn") {
    const std::int64_t correlation = ++correlation_;
    add(builder_, {.name = "aten::mm", .start = host_, .duration = host_ns});
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaLaunchKernel",
                   .start = host_ + host_ns / 2,
                   .duration = 3 * kUs,
                   .correlation = correlation});
    device_ = std::max(device_, host_ + host_ns / 2 + 4 * kUs);
    add(builder_, {.category = "kernel",
                   .name = kernel,
                   .start = device_,
                   .duration = kernel_ns,
                   .thread = 7,
                   .process = 0,
                   .correlation = correlation});
    device_ += kernel_ns;
    host_ += host_ns;
  }

  /// `.item()`: the host waits until the copy is done.
  void copy_and_wait() {
    const std::int64_t correlation = ++correlation_;
    const std::int64_t start = host_;
    const std::int64_t copied = std::max(device_, host_ + 6 * kUs) + 2 * kUs;
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaMemcpyAsync",
                   .start = start + 2 * kUs,
                   .duration = 4 * kUs,
                   .correlation = correlation});
    add(builder_, {.category = "gpu_memcpy",
                   .name = "Memcpy DtoH (Device -> Pageable)",
                   .start = copied - 2 * kUs,
                   .duration = 2 * kUs,
                   .thread = 7,
                   .process = 0,
                   .correlation = correlation});
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaStreamSynchronize",
                   .start = start + 6 * kUs,
                   .duration = copied - start - 5 * kUs});
    host_ = copied + 2 * kUs;
    device_ = copied;
    add(builder_, {.name = "aten::_local_scalar_dense", .start = start, .duration = host_ - start});
  }

  /// A prefetcher loads while the host goes on.
  void prefetch_data(std::int64_t ns) {
    add(builder_, {.category = "user_annotation",
                   .name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   .start = host_,
                   .duration = ns,
                   .thread = 2});
  }

  /// A call of the driver that launches nothing.
  void call(std::string_view name, std::int64_t ns) {
    add(builder_, {.category = "cuda_runtime", .name = name, .start = host_, .duration = ns});
    host_ += ns;
  }

  void load_data(std::int64_t ns) {
    add(builder_, {.category = "user_annotation",
                   .name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   .start = host_,
                   .duration = ns});
    host_ += ns;
  }

  /// The host does something that is not recorded.
  void pause(std::int64_t ns) { host_ += ns; }

  /// The host waits for the device, as at the end of a step that is measured.
  void synchronize() {
    const std::int64_t end = std::max(host_ + 2 * kUs, device_ + kUs);
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaDeviceSynchronize",
                   .start = host_,
                   .duration = end - host_});
    host_ = end;
  }

  void allocate(std::int64_t total) {
    MemoryRecord record;
    record.time_ns = host_;
    record.bytes = 512;
    record.total_allocated_bytes = total;
    record.device_type = DeviceType::cuda;
    record.device_id = 0;
    record.track = fixtures::track(builder_, 1, 1);
    builder_.add_memory(record);
  }

  std::int64_t host() const { return host_; }

  Trace trace() { return fixtures::finished(builder_); }

 private:
  TraceBuilder builder_;
  std::int64_t host_ = 0;
  std::int64_t device_ = 0;
  std::int64_t correlation_ = 0;
  std::int64_t number_ = 0;
  std::int64_t step_start_ = 0;
};

constexpr int kSteps = 6;
constexpr int kOperators = 40;

/// Steps that keep the device busy, with something at the end of each.
Trace with_fault(const std::function<void(Loop&, int step)>& fault,
                 std::int64_t kernel_ns = 100 * kUs) {
  Loop loop;
  for (int step = 0; step < kSteps; ++step) {
    loop.begin_step();
    for (int each = 0; each < kOperators; ++each) loop.run(20 * kUs, kernel_ns);
    fault(loop, step);
    loop.end_step();
  }
  return loop.trace();
}

std::vector<std::string> ids(const Trace& trace) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings(trace)) ids.push_back(finding.id);
  return ids;
}

std::string first(const Trace& trace) {
  const std::vector<std::string> all = ids(trace);
  return all.empty() ? "" : all.front();
}

constexpr std::int64_t kStepNs = kOperators * 100 * kUs;

TEST(Findings, AWaitForDataIsTheFirst) {
  for (const int percent : {10, 30, 80}) {
    const Trace trace = with_fault([&](Loop& loop, int) {
      loop.synchronize();
      loop.load_data(kStepNs * percent / 100);
    });
    EXPECT_EQ(first(trace), "data_loader_bound") << percent;
  }
}

TEST(Findings, DataThatIsLoadedWhileTheDeviceWorksIsNone) {
  const Trace trace = with_fault([](Loop& loop, int) { loop.load_data(kStepNs / 2); });
  EXPECT_EQ(ids(trace), std::vector<std::string>());
}

TEST(Findings, CopiesThatTheHostWaitsForAreTheFirst) {
  for (const int copies : {8, 13, 40}) {
    Loop loop;
    for (int step = 0; step < kSteps; ++step) {
      loop.begin_step();
      for (int each = 0; each < kOperators; ++each) {
        loop.run(60 * kUs, 80 * kUs);
        if (each % (kOperators / copies) == 0) loop.copy_and_wait();
      }
      loop.end_step();
    }
    EXPECT_EQ(first(loop.trace()), "blocking_copies") << copies;
  }
}

TEST(Findings, WhatALibraryDoesOnceAfterACopyIsNoPattern) {
  for (const char* const call :
       {"cudaStreamCreateWithFlags", "cuModuleLoadData", "hipModuleLoad"}) {
    Loop loop;
    for (int each = 0; each < kOperators; ++each) {
      loop.run(100 * kUs, 100 * kUs);
      if (each % 10 == 0) loop.copy_and_wait();
      if (each % 20 == 0) loop.call(call, 50'000 * kUs);
    }
    const Trace trace = loop.trace();
    EXPECT_THAT(ids(trace), testing::ElementsAre("cold_start")) << call;
    EXPECT_FALSE(findings(trace)[0].gain_ns) << "it does not come again";
  }
}

TEST(Findings, OneLongGapAfterManyShortCopiesIsNoPattern) {
  Loop loop;
  for (int each = 0; each < kOperators; ++each) {
    loop.run(100 * kUs, 100 * kUs);
    if (each % 10 == 0) loop.copy_and_wait();
    if (each == 20) loop.pause(50'000 * kUs);
  }
  EXPECT_EQ(ids(loop.trace()), std::vector<std::string>{"low_gpu_utilization"});
}

TEST(Findings, CodeAfterAShortWaitIsNotTheCopys) {
  Loop loop;
  for (int each = 0; each < kOperators; ++each) {
    loop.run(100 * kUs, 100 * kUs);
    if (each % 10 == 0) {
      loop.copy_and_wait();
      loop.pause(each % 20 == 0 ? 50'000 * kUs : 0);
    }
  }
  const std::vector<Finding> all = findings(loop.trace());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, "low_gpu_utilization");
  EXPECT_EQ(all[0].evidence[1].what, "while nothing recorded ran on the host");
}

TEST(Findings, AHostThatLaunchesTooLateIsTheFirst) {
  for (const int host_us : {150, 200, 500}) {
    Loop loop;
    for (int step = 0; step < kSteps; ++step) {
      loop.begin_step();
      for (int each = 0; each < kOperators; ++each) loop.run(host_us * kUs, 100 * kUs);
      loop.end_step();
    }
    EXPECT_EQ(first(loop.trace()), "launch_bound") << host_us;
  }
}

TEST(Findings, SmallKernelsAreTheFirst) {
  for (const int kernel_us : {8, 5, 2}) {
    Loop loop;
    for (int step = 0; step < kSteps; ++step) {
      loop.begin_step();
      for (int each = 0; each < kOperators; ++each) loop.run(15 * kUs, kernel_us * kUs);
      loop.end_step();
    }
    EXPECT_EQ(first(loop.trace()), "small_kernels") << kernel_us;
  }
}

/// Collectives that run alone on the device.
Trace with_communication(std::int64_t communication_us) {
  return with_fault([&](Loop& loop, int) {
    loop.run(20 * kUs, communication_us * kUs, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  });
}

TEST(Findings, CommunicationAloneIsTheFirst) {
  for (const int percent : {15, 40, 100}) {
    EXPECT_EQ(first(with_communication(kStepNs / kUs * percent / 100)), "exposed_communication")
        << percent;
  }
  EXPECT_EQ(ids(with_communication(kStepNs / kUs * 8 / 100)), std::vector<std::string>());
}

/// A part of the time in kernels that do not use tensor cores.
Trace without_tensor_cores(std::int64_t compute_major, int percent) {
  Loop loop(compute_major);
  for (int step = 0; step < kSteps; ++step) {
    loop.begin_step();
    for (int each = 0; each < kOperators; ++each) {
      loop.run(20 * kUs, percent * kUs, "volta_sgemm_128x64_nn");
      loop.run(20 * kUs, (100 - percent) * kUs, "elementwise_kernel");
    }
    loop.end_step();
  }
  return loop.trace();
}

TEST(Findings, MatrixProductsWithoutTensorCoresAreTheFirst) {
  for (const int percent : {20, 50, 90}) {
    EXPECT_EQ(first(without_tensor_cores(8, percent)), "no_tensor_cores") << percent;
  }
  EXPECT_EQ(ids(without_tensor_cores(8, 10)), std::vector<std::string>());
  EXPECT_EQ(ids(without_tensor_cores(6, 90)), std::vector<std::string>()) << "Pascal has none";
}

Trace with_memory(std::int64_t growth_mib, int drop_at = -1) {
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  return with_fault([&](Loop& loop, int step) {
    loop.allocate((1000 + growth_mib * step) * kMib);
    if (step == drop_at) loop.allocate(1000 * kMib);
  });
}

TEST(Findings, MemoryThatGrowsInEveryStepIsTheFirst) {
  for (const int growth : {20, 100, 1000}) {
    EXPECT_EQ(first(with_memory(growth)), "memory_growth") << growth;
    EXPECT_EQ(findings(with_memory(growth))[0].share_of, ShareOf::peak_memory);
    EXPECT_EQ(share_of_name(ShareOf::peak_memory), "peak_memory");
    EXPECT_EQ(share_of_text(ShareOf::peak_memory), " of the peak memory");
  }
  EXPECT_EQ(ids(with_memory(0)), std::vector<std::string>());
  EXPECT_EQ(ids(with_memory(5)), std::vector<std::string>()) << "below a hundredth of the peak";
  EXPECT_EQ(ids(with_memory(100, 3)), std::vector<std::string>()) << "falls once";
}

TEST(Findings, IdleTimeThatNothingExplainsIsTheFirst) {
  for (const int percent : {120, 200, 400}) {
    const Trace trace = with_fault([&](Loop& loop, int) { loop.pause(kStepNs * percent / 100); });
    EXPECT_EQ(first(trace), "low_gpu_utilization") << percent;
  }
  const Trace busy = with_fault([](Loop& loop, int) { loop.pause(kStepNs / 5); });
  EXPECT_EQ(ids(busy), std::vector<std::string>()) << "the device has work until the host goes on";
}

TEST(Findings, SayWhatTheyLookedFor) {
  const auto looked_for = [](const Trace& trace) {
    return findings_looked_for(trace, step_breakdown(trace), *gpu_use(trace), *memory_use(trace));
  };
  EXPECT_THAT(looked_for(Loop().trace()),
              testing::ElementsAre("waits for the data loader", "waits for other processes"));
  const Trace sound = with_fault([](Loop&, int) {});
  EXPECT_THAT(looked_for(sound), testing::Contains("an idle GPU"));
  EXPECT_THAT(looked_for(sound), testing::Contains("products without tensor cores"));
}

TEST(Findings, OfSoundTracesAreNone) {
  for (const int kernel_us : {25, 40, 100, 500, 2000}) {
    EXPECT_EQ(ids(with_fault([](Loop&, int) {}, kernel_us * kUs)), std::vector<std::string>())
        << kernel_us;
    EXPECT_EQ(ids(with_fault([](Loop& loop, int) { loop.synchronize(); }, kernel_us * 3 * kUs)),
              std::vector<std::string>())
        << kernel_us;
  }
}

TEST(Findings, APrefetchersLoadingIsNotAWaitOfTheProgram) {
  const Trace trace = with_fault([](Loop& loop, int) {
    loop.prefetch_data(kStepNs / 2);
    loop.pause(kStepNs / 2);
  });
  EXPECT_THAT(ids(trace), testing::Not(testing::Contains("data_loader_bound")));
}

/// Three steps of 900 us on the CPU with an operator of 600 us from `operator_us` on, and a range.
Trace on_cpu(std::int64_t operator_us, const fixtures::Range& range) {
  TraceBuilder builder;
  for (int step = 0; step < 3; ++step) {
    const std::int64_t start = step * 1000 * kUs;
    add(builder, {.category = "user_annotation",
                  .name = "ProfilerStep#" + std::to_string(step),
                  .start = start,
                  .duration = 900 * kUs});
    fixtures::Range row = range;
    row.category = "user_annotation";
    row.start += start;
    add(builder, row);
    add(builder, {.name = "aten::mm", .start = start + operator_us * kUs, .duration = 600 * kUs});
  }
  return fixtures::finished(builder);
}

TEST(Findings, OnACpuTheLoadersShareOfTheStepsCounts) {
  for (const int data_us : {2, 20, 200}) {
    const Trace trace =
        on_cpu(300, {.name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                     .duration = data_us * kUs});
    const bool expected = data_us >= 45;
    EXPECT_EQ(first(trace), expected ? "data_loader_bound" : "") << data_us;
  }
}

TEST(Findings, OnACpuCollectivesWithoutOperatorsBesideThemCount) {
  for (const int alone_us : {0, 50, 200}) {
    const Trace trace = on_cpu(0, {.name = "gloo:all_reduce",
                                   .start = 400 * kUs,
                                   .duration = (200 + alone_us) * kUs,
                                   .thread = 2});
    const std::vector<Finding> found = findings(trace);
    ASSERT_EQ(found.size(), alone_us >= 90 ? 1U : 0U) << alone_us;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].id, "host_communication");
    EXPECT_EQ(found[0].gain_ns, alone_us * kUs);
    EXPECT_EQ(std::get<std::int64_t>(found[0].evidence[1].value), 3 * 400 * kUs);
  }
}

TEST(Findings, AWaitOfTheDeviceForAnotherRankIsNotTheHosts) {
  TraceBuilder builder;
  for (std::int64_t number = 0; number < 10; ++number) {  // all launched at once
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaLaunchKernel",
                  .start = number * 5 * kUs,
                  .duration = 3 * kUs,
                  .correlation = number + 1});
    add(builder, {.category = "kernel",
                  .name = "ncclDevKernel_SendRecv",
                  .start = 100 * kUs + number * 1000 * kUs,
                  .duration = 10 * kUs,
                  .thread = 7,
                  .process = 0,
                  .correlation = number + 1});
  }
  EXPECT_EQ(ids(fixtures::finished(builder)), std::vector<std::string>{"low_gpu_utilization"});
}

TEST(Findings, ShortCopiesOnTheDeviceDoNotBlockTheHost) {
  TraceBuilder builder;
  for (std::int64_t number = 0; number < 50; ++number) {
    const std::int64_t start = number * 100 * kUs;
    add(builder, {.name = "aten::copy_", .start = start, .duration = 90 * kUs});
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaMemcpyAsync",
                  .start = start,
                  .duration = 12 * kUs,
                  .correlation = number + 1});
    add(builder, {.category = "gpu_memcpy",
                  .name = "Memcpy DtoD (Device -> Device)",
                  .start = start + 6 * kUs,
                  .duration = 3 * kUs,
                  .thread = 7,
                  .process = 0,
                  .correlation = number + 1});
  }
  const std::vector<std::string> found = ids(fixtures::finished(builder));
  EXPECT_THAT(found, testing::Not(testing::Contains("blocking_copies")));
}

TEST(Findings, OneLongGapSuchAsTheLoadingOfALibraryIsNotLaunching) {
  Loop loop;
  loop.run(100 * kUs, 100 * kUs);
  loop.run(100'000 * kUs, 100 * kUs);
  for (int each = 0; each < 40; ++each) loop.run(20 * kUs, 100 * kUs);
  EXPECT_EQ(ids(loop.trace()), std::vector<std::string>{"cold_start"});
}

TEST(Findings, WhatComesAfterAColdStartCountsWithoutIt) {
  Loop loop;
  loop.run(100 * kUs, 100 * kUs);
  loop.run(100'000 * kUs, 100 * kUs);
  for (int each = 0; each < 100; ++each) loop.run(200 * kUs, 100 * kUs);
  EXPECT_THAT(ids(loop.trace()),
              testing::UnorderedElementsAre("cold_start", "launch_bound", "low_gpu_utilization"))
      << "idle for half of a sixth of the time";
}

TEST(Findings, DoublePrecisionHasNoUseForTensorCoresOfHalfPrecision) {
  Loop loop;
  for (int each = 0; each < 40; ++each) loop.run(20 * kUs, 100 * kUs, "ampere_dgemm_64x64_nn");
  EXPECT_EQ(ids(loop.trace()), std::vector<std::string>());
}

TEST(Findings, HaveEvidenceWithAnEvent) {
  const Trace trace = with_fault([](Loop& loop, int) {
    loop.synchronize();
    loop.load_data(kStepNs);
  });
  const std::vector<Finding> all = findings(trace);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].id, "low_gpu_utilization") << "what explains its time comes before it";
  // The idle time, its causes, and the longest gaps, which are alike, with what the host did in
  // them.
  ASSERT_EQ(all[1].evidence.size(), 4U);
  EXPECT_EQ(all[1].evidence[1].what, "while the host waited for its data loader");
  EXPECT_THAT(all[1].evidence[3].event,
              testing::MatchesRegex("at [0-9.]+ ms, ([0-9.]+ ms )?while the host waited for its "
                                    "data loader: enumerate\\(DataLoader\\)#.*; 4 more like it"));
  EXPECT_GE(all[1].gain_ns, all[0].gain_ns);
  EXPECT_STREQ(all[0].severity(), "warning");
  ASSERT_EQ(all[0].evidence.size(), 3U);
  const Evidence& gap = all[0].evidence[2];
  EXPECT_THAT(gap.event, testing::MatchesRegex("at [0-9.]+ ms, in a gap of [0-9.]+ ms, "
                                               "enumerate\\(DataLoader\\)#.*, before aten::mm"));
  EXPECT_LT(std::get<std::int64_t>(gap.value), *gap.end_ns - *gap.start_ns) << "a part of the gap";
  EXPECT_EQ(gap.start_ns, all[1].evidence[3].start_ns) << "one time for one gap";
  EXPECT_EQ(Cell(*gap.end_ns - *gap.start_ns), all[1].evidence[3].value) << "and one length";
  EXPECT_FALSE(all[0].remedy.empty());
}

}  // namespace
}  // namespace tbtrace
