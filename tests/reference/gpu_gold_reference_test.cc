// Device use against figures that HolisticTraceAnalysis 0.5.0 printed for its own test data, with
// HTA_DISABLE_NS_ROUNDING=1 and include_last_profiler_step=True. Its other two traces have steps
// in which it counts activities several times. tests/e2e/hta/figures_test.py runs it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>

namespace tbtrace::reference {
namespace {

// It prints microseconds, shares with two decimals. Its times are doubles, here rounded to the
// nanosecond.
constexpr double kTwoDecimals = 0.005 + 1e-6;
constexpr double kMostApartUs = 0.002;

struct Gold {
  std::string file;
  double window_us, idle_us;
  /// nullopt for MTIA, whose copies have names that HTA takes for computation.
  std::optional<double> computation_us;
  std::optional<double> overlap_percent;
};

const std::vector<Gold> kGold = {
    {"amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz", 8911.887, 8762.845, 110.881, {}},
    {"mtia_inference_trace/mtia_inference_rank_0.json.gz", 443275.704, 19045.765, {}, {}},
    {"nccl_parser_config/nccl_data.json.gz", 660551.006, 503050.991, 115655.847, 15.61},
    {"trace_diff/control/control.json.gz", 464594.000, 76007.000, 281336.000, 46.24},
    {"trace_filter/sampled_rank-0.json.gz", 1222847.000, 675191.000, 210320.000, 14.95},
};

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

TEST(GpuUse, IsThatOfHolisticTraceAnalysis) {
  for (const Gold& gold : kGold) {
    SCOPED_TRACE(gold.file);
    ReadOptions options;
    options.arguments = {ArgumentGroup::copies, ArgumentGroup::launches, ArgumentGroup::placement};
    const Result<Trace> trace =
        read_trace(std::string(TBTRACE_SHARED) + "/traces/hta/" + gold.file, options);
    ASSERT_TRUE(trace.ok());
    const auto rows = gpu_use(*trace);
    ASSERT_EQ(rows->size(), 1U);
    const GpuUse& use = rows->front();
    EXPECT_NEAR(us(use.window_ns), gold.window_us, kMostApartUs);
    EXPECT_NEAR(us(use.idle_ns), gold.idle_us, kMostApartUs);
    if (gold.computation_us) {
      EXPECT_NEAR(us(use.computation_ns), *gold.computation_us, kMostApartUs);
    }
    EXPECT_EQ(use.communication_ns > 0, gold.overlap_percent.has_value());
    if (use.communication_ns == 0 || !gold.overlap_percent) continue;
    const double percent =
        100 * static_cast<double>(use.overlap_ns) / static_cast<double>(use.communication_ns);
    EXPECT_NEAR(percent, *gold.overlap_percent, kTwoDecimals);
  }
}

}  // namespace
}  // namespace tbtrace::reference
