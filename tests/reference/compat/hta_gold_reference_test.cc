// Device use and launches against figures that HolisticTraceAnalysis 0.5.0 printed for its own test
// data, with HTA_DISABLE_NS_ROUNDING=1 and include_last_profiler_step=True.
// tests/e2e/hta/gpu_test.py runs it on all traces.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>

#include "analyses/compat/hta/gpu_use.h"
#include "analyses/compat/hta/kernels.h"

namespace tbtrace::reference {
namespace {

// It prints microseconds; idle time and shares with two decimals.
constexpr double kTwoDecimals = 0.005 + 1e-6;
// Its times are doubles, here rounded to the nanosecond.
constexpr double kMostApartUs = 0.002;

struct TimeByKind {
  double kernel_time, compute_time, non_compute_time, idle_time;
};

struct Launches {
  std::size_t count;
  double cpu_duration, gpu_duration, launch_delay;  // sums
};

struct IdleTime {
  double host_wait, kernel_wait, other;
};

struct Queue {
  std::uint64_t count;
  double mean, quartile_1, median, quartile_3;
  std::int64_t max;
};

struct QueueWithTies {
  Queue queue;
  /// Launches and activities that start together and that it sorts in the other order. Each makes
  /// the sum of its lengths 2 smaller.
  int ties;
};

struct Stream {
  std::string number;
  IdleTime idle;
  QueueWithTies queue;
};

struct Gold {
  std::string file;
  TimeByKind time;
  std::optional<double> overlap_percent;
  Launches launches;
  std::vector<Stream> streams;
};

std::vector<Gold> all_gold() {
  return {
      {"amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
       {8911.887, 110.881, 38.161, 8762.845},
       std::nullopt,
       {0, 0.000, 0.000, 0.000},
       {
           {"0", {8762.84, 0.00, 0.00}, {{32, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
       }},
      {"critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz",
       {16464339.000, 10676.000, 39287.000, 16414376.000},
       std::nullopt,
       {98, 4260778.000, 49816.000, 10264.000},
       {
           {"7", {15976739.00, 91.00, 0.00}, {{182, 0.9175824175824175, 0.0, 1.0, 1.0, 5}, 1}},
           {"20", {13582776.00, 8.00, 0.00}, {{14, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
       }},
      {"mtia_inference_trace/mtia_inference_rank_0.json.gz",
       {443275.704, 419693.063, 4536.876, 19045.765},
       std::nullopt,
       {73, 487.195, 306399.395, 530857.914},
       {
           {"101", {278728.98, 192.74, 30578.74}, {{16, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"102", {223988.03, 371.67, 154638.79}, {{32, 0.75, 0.0, 1.0, 1.0, 3}, 0}},
           {"103", {262085.70, 128.70, 69152.16}, {{6, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"104", {304927.17, 308.05, 94359.40}, {{20, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"105", {361832.43, 136.08, 213.90}, {{4, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"106", {314107.78, 278.75, 24662.71}, {{8, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"107", {242298.65, 267.56, 8262.25}, {{4, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"108", {228209.47, 516.81, 60154.81}, {{12, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"109", {202223.70, 384.45, 16993.02}, {{12, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"110", {232672.25, 311.75, 32112.27}, {{10, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"111", {208054.70, 449.42, 91659.24}, {{14, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
           {"112", {299048.71, 333.72, 36798.52}, {{8, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
       }},
      {"nccl_parser_config/nccl_data.json.gz",
       {660551.006, 115655.847, 41844.167, 503050.991},
       15.61,
       {3774, 35864.776, 165185.838, 103192.246},
       {
           {"7", {540091.32, 2150.34, 0.00}, {{7506, 0.8141486810551559, 0.0, 1.0, 1.0, 10}, 0}},
           {"40", {583924.26, 0.00, 0.00}, {{42, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
       }},
      {"trace_diff/control/control.json.gz",
       {464594.000, 281336.000, 107251.000, 76007.000},
       46.24,
       {9450, 139446.000, 501567.000, 20056883.000},
       {
           {"7",
            {133311.00, 17152.00, 32751.00},
            {{17928, 36.36646586345382, 1.0, 16.0, 43.0, 288}, 182}},
           {"20", {424456.00, 739.00, 9684.00}, {{564, 2.5815602836879434, 1.0, 1.0, 4.0, 10}, 1}},
           {"21", {285806.00, 78.00, 0.00}, {{120, 0.75, 0.0, 1.0, 1.0, 2}, 0}},
           {"22", {340772.00, 1515.00, 0.00}, {{288, 10.57638888888889, 5.0, 10.0, 16.0, 22}, 0}},
       }},
      {"trace_diff/test/test.json.gz",
       {744514.000, 514576.000, 178246.000, 51692.000},
       69.07,
       {9972, 413783.000, 640119.000, 389462704.000},
       {
           {"7",
            {2960.00, 51853.00, 48809.00},
            {{18960, 544.6310126582279, 363.0, 558.0, 684.0, 1013}, 86}},
           {"14", {684265.00, 1299.00, 15297.00}, {{576, 2.3194444444444446, 1.0, 1.0, 3.0, 9}, 0}},
           {"15", {413501.00, 169.00, 51125.00}, {{120, 1.6, 0.0, 1.0, 3.0, 5}, 0}},
           {"16", {521074.00, 982.00, 0.00}, {{288, 10.972222222222221, 5.0, 11.0, 17.0, 23}, 0}},
       }},
      {"trace_filter/sampled_rank-0.json.gz",
       {1222847.000, 210320.000, 337336.000, 675191.000},
       14.95,
       {1204, 11050.000, 607844.000, 20539698.000},
       {
           {"7",
            {397917.00, 3765.00, 598335.00},
            {{2104, 25.458174904942965, 3.0, 22.0, 42.0, 80}, 0}},
           {"23", {1214793.00, 160.00, 34.00}, {{252, 0.626984126984127, 0.0, 1.0, 1.0, 4}, 0}},
           {"25", {560120.00, 35.00, 100413.00}, {{32, 4.0, 2.0, 4.0, 6.0, 8}, 0}},
           {"84", {794901.00, 6.00, 3142.00}, {{16, 0.625, 0.0, 1.0, 1.0, 2}, 0}},
           {"203", {558073.00, 0.00, 0.00}, {{4, 0.5, 0.0, 0.5, 1.0, 1}, 0}},
       }},
  };
}

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

Trace read(const Gold& gold) {
  ReadOptions options;
  options.arguments = {ArgumentGroup::placement};
  Result<Trace> trace =
      read_trace(std::string(TBTRACE_SHARED) + "/traces/hta/" + gold.file, options);
  EXPECT_TRUE(trace.ok());
  return *std::move(trace);
}

TEST(HtaGold, TimeByKindAndOverlap) {
  for (const Gold& gold : all_gold()) {
    SCOPED_TRACE(gold.file);
    const auto rows = analyses::hta_gpu_use(read(gold));
    ASSERT_EQ(rows->size(), 1U);
    const GpuUse& use = rows->front();
    EXPECT_NEAR(us(use.window_ns), gold.time.kernel_time, kMostApartUs);
    EXPECT_NEAR(us(use.computation_ns), gold.time.compute_time, kMostApartUs);
    EXPECT_NEAR(us(use.busy_ns - use.computation_ns), gold.time.non_compute_time, kMostApartUs);
    EXPECT_NEAR(us(use.idle_ns), gold.time.idle_time, kMostApartUs);
    EXPECT_EQ(use.communication_ns > 0, gold.overlap_percent.has_value());
    if (use.communication_ns == 0 || !gold.overlap_percent) continue;
    const double percent =
        100 * static_cast<double>(use.overlap_ns) / static_cast<double>(use.communication_ns);
    EXPECT_NEAR(percent, *gold.overlap_percent, kTwoDecimals);
  }
}

void expect_queue(const std::optional<analyses::QueueChanges>& found,
                  const QueueWithTies& expected) {
  ASSERT_TRUE(found.has_value());
  const Queue& queue = expected.queue;
  EXPECT_EQ(found->count, queue.count);
  const double sum = static_cast<double>(queue.count) * queue.mean + 2 * expected.ties;
  EXPECT_NEAR(static_cast<double>(found->count) * found->mean, sum, 1e-6);
  EXPECT_EQ(found->quartile_1, queue.quartile_1);
  EXPECT_EQ(found->median, queue.median);
  EXPECT_EQ(found->quartile_3, queue.quartile_3);
  EXPECT_EQ(found->max, queue.max);
}

TEST(HtaGold, IdleTimeAndQueues) {
  for (const Gold& gold : all_gold()) {
    SCOPED_TRACE(gold.file);
    const auto rows = analyses::hta_gpu_use(read(gold), {.by_stream = true});
    ASSERT_EQ(rows->size(), gold.streams.size());
    for (std::size_t row = 0; row < rows->size(); ++row) {
      const analyses::HtaGpuUse& use = (*rows)[row];
      const Stream& stream = gold.streams[row];
      SCOPED_TRACE(stream.number);
      EXPECT_EQ(use.stream, stream.number);
      EXPECT_NEAR(us(use.idle_host_wait_ns), stream.idle.host_wait, kTwoDecimals);
      EXPECT_NEAR(us(use.idle_kernel_wait_ns), stream.idle.kernel_wait, kTwoDecimals);
      EXPECT_NEAR(us(use.idle_other_ns), stream.idle.other, kTwoDecimals);
      expect_queue(use.queue_changes, stream.queue);
    }
  }
}

TEST(HtaGold, Launches) {
  for (const Gold& gold : all_gold()) {
    SCOPED_TRACE(gold.file);
    const auto rows = analyses::hta_kernel_launches(read(gold));
    EXPECT_EQ(rows->size(), gold.launches.count);
    std::int64_t call_ns = 0;
    std::int64_t kernel_ns = 0;
    std::int64_t delay_ns = 0;
    for (const KernelLaunch& launch : *rows) {
      call_ns += launch.launch_call_ns;
      kernel_ns += launch.duration_ns;
      delay_ns += launch.launch_delay_ns;
    }
    EXPECT_NEAR(us(call_ns), gold.launches.cpu_duration, kMostApartUs);
    EXPECT_NEAR(us(kernel_ns), gold.launches.gpu_duration, kMostApartUs);
    // Each delay is the difference of two rounded times.
    EXPECT_NEAR(us(delay_ns), gold.launches.launch_delay, 20 * kMostApartUs);
  }
}

}  // namespace
}  // namespace tbtrace::reference
